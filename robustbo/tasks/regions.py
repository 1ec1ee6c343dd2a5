"""Regions where every trial fails, by name: some shapes in the unit cube, and those that a problem has of its own.

A region says of a point u of the unit cube [0, 1]^d whether a trial there fails. Shares are of the cube's volume, and
exact.

Notation: a the normal of a plane, ``d`` numbers, not all 0; q(p) the height below which a share p of the cube lies.
"""

import math
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import brentq

from robustbo.tasks.problem import Problem
from robustbo.validation import one_of

MOST = 10  # inputs that a plane may depend on: 2^10 corners

Region = Callable[[Mapping[str, Any]], bool]  # of a point's parameters
Shape = Callable[[np.ndarray], bool]  # of ``d`` coordinates in the unit cube


def region(name: str, problem: Problem, options: Mapping[str, float]) -> Region:
    """The region of that name.

    Args:
        name: One of `SHAPES`, or of the problem's own regions.
        problem: Whose space it is in.
        options: What the shape takes; of vectors an entry a number, as in ``center_1``, counted from 1.

    Raises:
        ValueError: If there is no such region, an option is unknown or missing, or does not go with the others.
    """
    if both := sorted({*SHAPES} & {*problem.regions}):
        raise ValueError(f"{problem.name}'s regions must have names of their own, got {both[0]!r}; rename it")
    one_of("region", name, sorted([*SHAPES, *problem.regions]))
    if name in problem.regions:
        if options:
            raise ValueError(f"{problem.name}'s region {name} has no options, got {sorted(options)}")
        return problem.regions[name]
    shape = _build_shape(name, len(problem.space), options)
    return lambda params: shape(np.array(problem.space.to_unit(params)))


def disc(center: np.ndarray, *, radius: float) -> Shape:
    """All points nearer than a radius to a center (center_1, ..., 0.5 where unsaid) fail."""
    if not radius > 0:
        raise ValueError(f"radius must be positive, got {radius!r}")
    return lambda u: bool(np.linalg.norm(u - center) < radius)


def half_space(normal: np.ndarray, *, share: float) -> Shape:
    """A share of the cube, beyond a plane that its normal (normal_1, ..., 0 where unsaid) points at, fails."""
    bound = height(normal, 1 - _share("share", share))
    return lambda u: bool(normal @ u > bound)


def slab(normal: np.ndarray, *, share: float, below: float) -> Shape:
    """All fails but a share of the cube, between two planes of that normal; a share of it lies below the lower one."""
    if _share("share", share) + _share("below", below) > 1:
        raise ValueError(f"share and below must not exceed 1 together, got {share!r} and {below!r}")
    low, high = height(normal, below), height(normal, below + share)
    return lambda u: not low <= normal @ u <= high


def checkerboard(none: np.ndarray, *, cells: float) -> Shape:
    """Every other one of a number of cells a side fails, which no smooth model learns."""
    if cells != int(cells) or cells < 1:
        raise ValueError(f"cells must be a whole number, at least 1, got {cells!r}")
    return lambda u: bool(np.minimum(np.floor(u * cells), cells - 1).sum() % 2 == 1)


# A shape, the vector that it is told of, what the entries of that are where unsaid, and its other options.
SHAPES: dict[str, tuple[Callable[..., Shape], str, float, tuple[str, ...]]] = {
    "disc": (disc, "center", 0.5, ("radius",)),
    "half-space": (half_space, "normal", 0.0, ("share",)),
    "slab": (slab, "normal", 0.0, ("share", "below")),
    "checkerboard": (checkerboard, "", 0.0, ("cells",)),
}


def share_below(a: np.ndarray, b: float) -> float:
    """The share of the unit cube with a'u <= b, of any a but 0.

    A sum over the corners s of the cube: sum (-1)^|s| max(b - a's, 0)^d / (d! prod a), where all a are positive; others
    are turned around, and inputs that do not matter left away.

    References:
        Barrow and Smith (1979), Spline notation applied to a volume problem.
    """
    b, a = b - a[a < 0].sum(), np.abs(a[a != 0])
    corners = np.array(list(product((0, 1), repeat=len(a))))
    terms = (-1.0) ** corners.sum(1) * np.maximum(b - corners @ a, 0.0) ** len(a)
    return float(np.clip(terms.sum() / (math.factorial(len(a)) * a.prod()), 0.0, 1.0))


def height(a: np.ndarray, share: float) -> float:
    """The b with a share of the unit cube below, a'u <= b.

    Raises:
        ValueError: If a is 0, or has too many entries that are not: the sum over corners is long, and cancels.
    """
    if not a.any():
        raise ValueError("normal must not be 0, got no normal_1, normal_2, ...; give at least one")
    if np.count_nonzero(a) > MOST:
        raise ValueError(f"normal must have at most {MOST} entries that are not 0, got {np.count_nonzero(a)}")
    low, high = float(a[a < 0].sum()), float(a[a > 0].sum())
    if share in (0.0, 1.0):
        return low if share == 0 else high
    return float(brentq(lambda b: share_below(a, b) - share, low, high, xtol=1e-14))


def _build_shape(name: str, d: int, options: Mapping[str, float]) -> Shape:
    make, vector, default, required = SHAPES[name]
    entries = [f"{vector}_{i}" for i in range(1, d + 1)] if vector else []
    if unknown := [key for key in options if key not in (*required, *entries)]:
        raise ValueError(f"region {name} has the options {[*required, *entries]}, got {unknown[0]!r}")
    if missing := [key for key in required if key not in options]:
        raise ValueError(f"region {name} needs the option {missing[0]!r}, got {sorted(options)}")
    vector_value = np.array([options.get(entry, default) for entry in entries], dtype=float)
    return make(vector_value, **{key: options[key] for key in required})


def _share(name: str, share: float) -> float:
    if not 0 <= share <= 1:
        raise ValueError(f"{name} must lie in [0, 1], got {share!r}")
    return share
