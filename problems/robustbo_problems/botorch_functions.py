"""Nine of BoTorch's test functions, on their own boxes, minimized; the optima with all digits.

References:
    Surjanovic and Bingham's library of simulation experiments, as in `botorch.test_functions`.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from botorch.test_functions import (
    Beale,
    Bukin,
    DropWave,
    EggHolder,
    Hartmann,
    HolderTable,
    Powell,
    Rastrigin,
    SyntheticTestFunction,
    ThreeHumpCamel,
)

from robustbo.searchspace.parameters import Float
from robustbo.searchspace.space import Space
from robustbo.tasks.problem import Problem
from robustbo.validation import whole_number

DTYPE = torch.float64


def _of(name: str, function: SyntheticTestFunction, optimum: float, optimizer: tuple[float, ...]) -> Problem:
    """A problem of a function, with its minimum and where that is."""
    names = [f"x{i}" for i in range(1, function.dim + 1)]
    bounds = zip(names, function.bounds.T.tolist(), strict=True)
    return Problem(
        name=name,
        space=Space(**{input_name: Float(low, high) for input_name, (low, high) in bounds}),
        direction="minimize",
        objective=partial(_at, function),
        optimum=optimum,
        optimizer=dict(zip(names, optimizer, strict=True)),
        cost_s=1e-4,
        reference=f"BoTorch's {type(function).__name__}",
    )


def _at(function: SyntheticTestFunction, params: Mapping[str, Any]) -> float:
    return float(function(torch.tensor(list(params.values()), dtype=DTYPE)))


def rastrigin(d: int = 3) -> Problem:
    """Rastrigin's function of d inputs in [-5.12, 5.12]: a bowl full of equal basins.

    Raises:
        ValueError: If d is less than 1.
    """
    return _of("rastrigin", Rastrigin(dim=whole_number("d", d, 1), dtype=DTYPE), 0.0, (0.0,) * d)


beale = _of("beale", Beale(dtype=DTYPE), 0.0, (3.0, 0.5))
bukin = _of("bukin", Bukin(dtype=DTYPE), 0.0, (-10.0, 1.0))
drop_wave = _of("drop-wave", DropWave(dtype=DTYPE), -1.0, (0.0, 0.0))
egg_holder = _of("egg-holder", EggHolder(dtype=DTYPE), -959.6406627208509, (512.0, 404.23180482889796))
hartmann3 = _of(
    "hartmann3",
    Hartmann(dim=3, dtype=DTYPE),
    -3.862779860974306,
    (0.11458888297612918, 0.5556488950040055, 0.8525469835599423),
)
holder_table = _of(
    "holder-table", HolderTable(dtype=DTYPE), -19.208502567886747, (8.05502346946259, -9.664590034224467)
)
powell = _of("powell", Powell(dim=4, dtype=DTYPE), 0.0, (0.0,) * 4)
three_hump_camel = _of("three-hump-camel", ThreeHumpCamel(dtype=DTYPE), 0.0, (0.0, 0.0))
