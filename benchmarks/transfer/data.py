"""Values of a target and of another source, with a known relation: functions with invented sources, and real tables."""

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from robustbo.searchspace.sobol import sobol_rows
from robustbo.tasks.problem import load

CHOICE = ("branin", "hartmann6", "cosines3", "cosines5")  # of which constants were chosen
JUDGES = ("three-hump-camel", "hartmann3", "cosines4", "cosines6")
CASES = ("identical", "offset", "scaled", "biased", "unrelated", "identical, wrong", "unrelated, wrong")
SIZES = (6, 20)  # values of the target
NUM_SOURCE, NUM_TEST, NUM_SPREAD = 80, 500, 2000
NUM_OPTIMUM = 2**15  # points among which the optimum is taken to be
NOISE = 0.05  # of every value, in standard deviations of the objective
OFFSET, SCALE, SHIFT, BIAS = 1.0, -0.6, 0.5, 0.7
WRONG, LEAST, MOST = 0.1, 2.0, 6.0  # share of the wrong values, and their errors
TABLES = {
    "suzuki": ("suzuki_i", "suzuki_ii", "yield"),
    "photo": ("photo_wf3", "photo_pce10", "degradation"),
}

DATA = "ROBUSTBO_DATA"  # the folder of data that are not ours to ship

Function = Callable[[np.ndarray], np.ndarray]


class Values(NamedTuple):
    """Inputs in the unit cube and values, with those that are wrong."""

    X: np.ndarray
    y: np.ndarray
    is_wrong: np.ndarray


class Case(NamedTuple):
    """Values of a target and of a source, and the objective at points that nobody measured.

    Attributes:
        target, source: What is given.
        test_X: Other points.
        test_y: The objective there; of real tables a measurement.
        test_measured: A measurement there, with noise.
    """

    target: Values
    source: Values
    test_X: np.ndarray
    test_y: np.ndarray
    test_measured: np.ndarray


def cosines(d: int, seed: int, length: float) -> Function:
    """A sum of cosines with Student-t frequencies: a process with a kernel that no surrogate here has."""
    generator = np.random.default_rng([seed, d])
    W, b = generator.standard_t(5, size=(60, d)) / length, generator.uniform(0, 2 * math.pi, 60)
    return lambda X: np.cos(X @ W.T + b).sum(-1)


def objective(name: str) -> tuple[int, Function]:
    """The dimension and the function of a problem."""
    if name.startswith("cosines"):
        d = int(name.removeprefix("cosines"))
        return d, cosines(d, 7, 0.5 + 0.1 * d)
    problem = load(name)
    at = lambda X: np.array([problem(problem.space.from_unit(row)) for row in X.tolist()])  # noqa: E731
    return len(problem.space.names), at


def standardize(f: Function, d: int) -> Function:
    """The function less its mean, in its standard deviations over the unit cube."""
    values = f(np.array(sobol_rows(d, 0, 0, NUM_SPREAD)))
    mean, sd = values.mean(), values.std()
    return lambda X: (f(X) - mean) / sd


def regret(target: Function, d: int, point: Sequence[float]) -> float:
    """The value of a function at a point, less its lowest at many."""
    lowest = target(np.array(sobol_rows(d, 0, 0, NUM_OPTIMUM))).min()
    return float(max(target(np.array([point]))[0] - lowest, 0.0))


def source_function(case: str, g: Function, d: int, seed: int) -> Function:
    """The function that the source of a case measures."""
    if case == "biased":
        bias = standardize(cosines(d, seed, 2.0 + 0.3 * d), d)
        return lambda X: g(X) + 0.3 + BIAS * bias(X)
    if case.startswith("unrelated"):
        return standardize(cosines(d, seed + 100, 0.5 + 0.1 * d), d)
    return {
        "offset": lambda X: g(X) + OFFSET,
        "scaled": lambda X: SCALE * g(X) + SHIFT,
    }.get(case, g)


def measure(f: Function, X: np.ndarray, share: float, generator: np.random.Generator) -> Values:
    """Values with noise, a share of which is wrong."""
    y, wrong = f(X) + NOISE * generator.standard_normal(len(X)), np.zeros(len(X), dtype=bool)
    rows = generator.choice(len(X), math.ceil(share * len(X)), replace=False)
    wrong[rows] = True
    y[rows] += generator.choice([-1, 1], len(rows)) * generator.uniform(LEAST, MOST, len(rows))
    return Values(X, y, wrong)


def case_of(name: str, case: str, n: int, seed: int) -> Case:
    """The values of a case: the same points and errors for every method."""
    if name in TABLES:
        return table_case(name, n, seed)
    d, f = objective(name)
    g = standardize(f, d)
    generator = np.random.default_rng([seed, n, d, CASES.index(case)])
    share = WRONG if "wrong" in case else 0.0
    X = [generator.random((count, d)) for count in (n, NUM_SOURCE, NUM_TEST)]
    target = measure(g, X[0], share, generator)
    source = measure(source_function(case, g, d, seed), X[1], share, generator)
    test = measure(g, X[2], 0.0, generator)
    return Case(target, source, X[2], g(X[2]), test.y)


def table_case(name: str, n: int, seed: int) -> Case:
    """Measurements of one kind for two targets, either the source by turns; rows not drawn are predicted."""
    *files, column = TABLES[name]
    tables = [pd.read_csv(_folder() / f"{file}.csv").drop(columns="turnover", errors="ignore") for file in files]
    if seed % 2:
        tables.reverse()
    inputs = pd.get_dummies(pd.concat(tables).drop(columns=column), dtype=float)
    X: Any = ((inputs - inputs.min()) / (inputs.max() - inputs.min())).to_numpy()
    y = [table[column].to_numpy() for table in tables]
    generator, first = np.random.default_rng([seed, n]), len(tables[0])
    rows, at_source = generator.permutation(first), first + generator.permutation(len(tables[1]))[:NUM_SOURCE]
    center, sd = y[0].mean(), y[0].std()
    z = (np.concatenate(y) - center) / sd
    none = np.zeros(len(z), dtype=bool)
    target, source = (Values(X[at], z[at], none[at]) for at in (rows[:n], at_source))
    test = rows[n : n + NUM_TEST]
    return Case(target, source, X[test], z[test], z[test])


def _folder() -> Path:
    """The folder of real tables: in that which the environment names, or in one beside the repository."""
    folder = Path(os.environ.get(DATA, Path(__file__).parents[2].parent / "shared" / "data")) / "transfer"
    if not folder.is_dir():
        raise FileNotFoundError(f"real tables are in the folder transfer of {DATA}, and {folder} is none")
    return folder
