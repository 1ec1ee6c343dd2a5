"""Rover trajectory planning, maximized: drive from start to goal past square obstacles, at most 5 for a free ride.

The input gives control points, a cubic spline through or near them is the trajectory, sampled at 1000 equally spaced
parameters. Its cost is the integral of a density (0.05, and 20 more in an obstacle or off the map) along it, by the
trapezoidal rule, plus a penalty for missing an end; the reward is 5 less that. Lengths are in units of the map's side.

References:
    Wang et al. (2018), Batched large-scale Bayesian optimization in high-dimensional spaces ("ebo_small", "ebo_large");
    Maus et al. (2022), Discovering many diverse solutions with Bayesian optimization ("robot"); the relevance pursuit
    paper, appendix D.2, for "robot" in 20 dimensions and the breakdowns.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.interpolate import splev, splprep

from robustbo.searchspace.parameters import Float
from robustbo.searchspace.space import Space
from robustbo.tasks.problem import Problem

FREE_RIDE = 5.0  # the reward of no cost at all: `reward_offset_f_max`
T = np.linspace(0.0, 1.0, 1000)
REPEAT = 1e-12  # nearer control points are one: their distance is rounding, and a spline has no direction there
BREAKDOWN_PENALTY = 10.0  # where the goal cannot be missed otherwise: as in "ebo_large"
CHUNK = 64  # trajectories at a time, so that they stay in the processor's cache

VARIANTS = {  # seconds per evaluation, and the best reward of a million evaluations of CMA-ES and a local search
    "robot": (2.5e-4, 4.935168966355979),
    "ebo_small": (4e-4, 4.928013069903437),
    "ebo_large": (4e-4, 4.921948551708507),
}
BEST_SEEN_AT = {  # in units of 1e-5
    "robot": """7940 16786 2633 3870 4750 4891 19982 19849 6368 6342 8190 8214 14886 15013 4441 4336 3974 2731 16836
7968""",
    "ebo_small": """48530 40340 15540 1246 43329 7295 41841 -6024 72433 77476 61019 26940 105583 42906 93857 26217
57998 53347 90141 88591""",
    "ebo_large": """12721 6325 22514 21870 13139 43488 26730 56701 30665 59977 29320 81090 49014 73000 53507 83538
53260 88713 50471 94950 72227 92786 67871 92250 84011 94091 43743 92596 72110 96578 59640 93565 73533 83027 58016
102655 61803 89684 66384 80663 73232 73230 67222 86606 69854 78994 84311 86676 70616 77786 81988 84581 75287 72466
93466 77635 99417 102843 81948 88570""",
}


@dataclass(frozen=True, eq=False)
class Field:
    """A map with its obstacles, and how an input makes a trajectory on it.

    Attributes:
        edges: The two axes' sorted coordinates at which the density may change.
        density: Of the cost, in each cell between edges.
        start, goal: Where the trajectory should begin and end.
        num_pairs: Pairs of coordinates in an input.
        bounds: Of every coordinate of an input.
        is_relative: Whether the pairs are increments from the start, and the trajectory interpolates the points they
            lead to; otherwise they are the points, and it smooths them.
        is_forced: Whether start and goal are control points and the smoothing spline's ends.
        penalties: For beginning away from the start and for ending away from the goal, per unit of L1 distance.
    """

    edges: tuple[np.ndarray, np.ndarray]
    density: np.ndarray
    start: np.ndarray
    goal: np.ndarray
    num_pairs: int
    bounds: tuple[float, float]
    is_relative: bool
    is_forced: bool
    penalties: tuple[float, float]

    @property
    def names(self) -> list[str]:
        """Names of the coordinates of an input, in order."""
        return [f"{'d' * self.is_relative}{axis}{i}" for i in range(1, self.num_pairs + 1) for axis in "xy"]


def _cells(d: Mapping[str, Any]) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """The edges, and the density in the cells: cell i of an axis is [edge i - 1, edge i)."""
    centers, half, world = np.array(d["obstacle_centers"]), d["obstacle_half_width"], np.array(d["world_box"])
    low, high = centers - half, centers + half
    x, y = map(np.unique, np.concatenate([low, high, world]).T)
    corners = np.stack(np.meshgrid(np.append(-np.inf, x), np.append(-np.inf, y), indexing="ij"), axis=-1)
    is_outside = ~((world[0] <= corners) & (corners < world[1])).all(-1)
    is_inside = ((low <= corners[..., None, :]) & (corners[..., None, :] < high)).all(-1).any(-1)
    return (x, y), d["constant_cost"] + d["obstacle_cost"] * (is_outside | is_inside)


@cache
def load_field(variant: str) -> Field:
    """The field of a variant, from the numbers in ``rover.json``."""
    d = json.loads(Path(__file__).with_name("rover.json").read_text(encoding="utf-8"))[variant]
    is_relative, is_forced = variant == "robot", variant == "ebo_small"
    low, high = d["bounds_dim20"] if is_relative else (point[0] for point in d["control_point_range"])
    return Field(
        *_cells(d),
        start=np.array(d["start"]),
        goal=np.array(d["goal"]),
        num_pairs=10 if is_relative else d["n_control_points"],
        bounds=(low, high),
        is_relative=is_relative,
        is_forced=is_forced,
        penalties=(d.get("start_miss_cost_l1_factor", 0.0), d.get("goal_miss_cost_l1_factor", BREAKDOWN_PENALTY)),
    )


def control_points(field: Field, X: np.ndarray) -> np.ndarray:
    """``n x m x 2`` control points of inputs ``n x d``, repeated ones and forced ends included."""
    pairs = X.reshape(len(X), -1, 2)
    start, goal = (np.broadcast_to(end, (len(X), 1, 2)) for end in (field.start, field.goal))
    if field.is_relative:
        return np.concatenate([start, pairs], axis=1).cumsum(1)
    return np.concatenate([start, pairs, goal], axis=1) if field.is_forced else pairs


def _lengths(d: np.ndarray) -> np.ndarray:
    return np.sqrt(d[..., 0] ** 2 + d[..., 1] ** 2)


def _slopes(h: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """Derivatives at the knots of the not-a-knot cubic spline (de Boor 1978, A practical guide to splines, chapter IV).

    Args:
        h: ``n x (m - 1)`` distances of the knots, m at least 4.
        delta: ``n x (m - 1) x 2`` divided differences between them.

    Returns:
        ``n x m x 2`` slopes: second derivatives agree at inner knots, third ones at the first and the last of these.
    """
    n, m = len(h), h.shape[1] + 1
    inner, A, b = np.arange(1, m - 1), np.zeros((n, m, m)), np.empty((n, m, 2))
    left, right, h = h[:, :-1], h[:, 1:], h[..., None]
    A[:, inner, inner - 1], A[:, inner, inner], A[:, inner, inner + 1] = right, 2 * (left + right), left
    b[:, 1:-1] = 3 * (h[:, 1:] * delta[:, :-1] + h[:, :-1] * delta[:, 1:])
    for end, near, far in ((0, 0, 1), (-1, -1, -2)):
        w = h[:, near] + h[:, far]
        A[:, end, near], A[:, end, far] = h[:, far, 0], w[:, 0]
        b[:, end] = ((h[:, near] + 2 * w) * h[:, far] * delta[:, near] + h[:, near] ** 2 * delta[:, far]) / w
    return np.linalg.solve(A, b)


def interpolate(P: np.ndarray) -> np.ndarray:
    """Curves ``n x 1000 x 2`` through four or more control points ``n x m x 2``, no two of them repeated in a row.

    The interpolating spline of ``splprep(s=0)`` (its knots spare the second point and the last but one), to rounding.
    """
    n, d = len(P), np.diff(P, axis=1)
    u = np.concatenate([np.zeros((n, 1)), _lengths(d).cumsum(1)], axis=1)
    u /= u[:, -1:]
    h = np.diff(u, axis=1)
    delta = d / h[..., None]
    s, h2 = _slopes(h, delta), h[..., None]
    a = P[:, :-1], s[:, :-1], (3 * delta - 2 * s[:, :-1] - s[:, 1:]) / h2, (s[:, :-1] + s[:, 1:] - 2 * delta) / h2**2
    ends = np.full((n, 1), 0), np.searchsorted(T, u[:, 1:-1]), np.full((n, 1), len(T))
    num_samples = np.diff(np.concatenate(ends, axis=1), axis=1).ravel()  # in each piece
    a0, a1, a2, a3 = (np.repeat(c.reshape(-1, 2), num_samples, axis=0) for c in a)
    z = (np.tile(T, n) - np.repeat(u[:, :-1].ravel(), num_samples))[:, None]
    return (a0 + z * (a1 + z * (a2 + z * a3))).reshape(n, len(T), 2)


def smooth(field: Field, P: np.ndarray) -> np.ndarray:
    """The curve ``1000 x 2`` of one row of control points ``m x 2``, by FITPACK, which takes no repeated points.

    Repeated ones in a row become one that weighs as much as all: the limit of points moved apart. Where fewer than
    four remain, the spline has a lower degree; where one remains, the rover stays there. In "ebo_large" s is 22.3, more
    than the squares of 30 points in its box can sum to about their mean (21.6), so that every curve is a single cubic.
    """
    last = np.flatnonzero(np.append(_lengths(np.diff(P, axis=0)) > REPEAT, True))
    if len(last) == 1:
        return np.tile(P[-1], (len(T), 1))
    s = 0.0 if field.is_relative else len(P) - np.sqrt(2 * len(P))  # the default of splprep
    (t, c, k), _ = splprep(P[last].T, w=np.sqrt(np.diff(last, prepend=-1)), k=min(3, len(last) - 1), s=s)
    if field.is_forced:
        for i in (0, 1):
            c[i][0], c[i][-1] = field.start[i], field.goal[i]
    return np.column_stack(splev(T, (t, c, k)))


def trajectories(field: Field, X: np.ndarray) -> np.ndarray:
    """Curves ``n x 1000 x 2`` of inputs ``n x d``."""
    P = control_points(field, X)
    is_plain = field.is_relative and (_lengths(np.diff(P, axis=1)) > REPEAT).all()
    return interpolate(P) if is_plain else np.stack([smooth(field, points) for points in P])


def densities(field: Field, points: np.ndarray) -> np.ndarray:
    """``...`` densities of the cost at points ``... x 2``."""
    x, y = (np.searchsorted(edges, points[..., i], side="right") for i, edges in enumerate(field.edges))
    return field.density[x, y]


def progress(field: Field, curves: np.ndarray) -> np.ndarray:
    """``n x 1000`` rewards for stopping at each point of curves ``n x 1000 x 2``; the last are the clean ones.

    The cost of the segments up to there, and the penalty for missing the goal from there.
    """
    density = densities(field, curves)
    segments = _lengths(np.diff(curves, axis=1)) * (density[:, 1:] + density[:, :-1]) / 2
    cost = np.abs(curves - field.goal).sum(-1) * field.penalties[1]
    cost += np.abs(curves[:, :1] - field.start).sum(-1) * field.penalties[0]
    cost[:, 1:] += segments.cumsum(1)
    return FREE_RIDE - cost


def rewards(field: Field, X: np.ndarray) -> np.ndarray:
    """The ``n`` rewards of inputs ``n x d``."""
    chunks = (X[i : i + CHUNK] for i in range(0, max(len(X), 1), CHUNK))
    return np.concatenate([progress(field, trajectories(field, chunk))[:, -1] for chunk in chunks])


def reward(field: Field, params: Mapping[str, Any], generator: np.random.Generator | None = None) -> float:
    """The clean reward at a point; given a generator, that of a rover that stops at any of its curve's 1000 points."""
    X = np.array([[params[name] for name in field.names]])
    stop = -1 if generator is None else generator.integers(len(T))
    return float(progress(field, trajectories(field, X))[0, stop])


def rover(variant: str = "robot") -> Problem:
    """The problem, with a failure ``breakdown``: the rover stops at a random point and misses the goal by what is left.

    The variants of Wang et al. add noise of sd 1e-4 to their inputs at each call; here they do not, as problems are
    deterministic. In "ebo_small", where the end is forced and nothing else can miss the goal, a breakdown takes the
    penalty of "ebo_large", 10 per unit of L1 distance: a rover that never left would else have the best reward of all.

    Args:
        variant: "robot" (20 dimensions: increments), "ebo_small" (20: points) or "ebo_large" (60: points).

    Raises:
        ValueError: If there is no such variant.
    """
    if variant not in VARIANTS:
        raise ValueError(f"variant must be one of {[*VARIANTS]}, got {variant!r}")
    field, (seconds, best) = load_field(variant), VARIANTS[variant]
    return Problem(
        name="rover",
        space=Space(**{name: Float(*field.bounds) for name in field.names}),
        direction="maximize",
        objective=partial(reward, field),
        best_seen=best,
        best_seen_at=dict(zip(field.names, (int(k) / 1e5 for k in BEST_SEEN_AT[variant].split()), strict=True)),
        cost_s=seconds,
        reference="Maus et al. (2022)" if field.is_relative else "Wang et al. (2018)",
        failures={"breakdown": partial(reward, field)},
    )
