"""Studies whose values are told in several orders: what is believed of them is a function of the set of values.

A history has 5 to 60 values of a function of 1 to 6 inputs: Sobol points, points about a guess (as a loop measures
them), a grid, or uniform ones; up to a quarter are gross errors, a value that sticks, or those of other points; some
points are measured again; sometimes the noise is known.
"""

from typing import NamedTuple

import numpy as np

import robustbo as rb
from robustbo import seeds

SMALLEST, LARGEST = 5, 60
FUNCTIONS = {
    "valley": lambda X: ((X - 0.3) ** 2).sum(-1) + X[:, 0] * X[:, -1],
    "waves": lambda X: np.sin(7 * X).sum(-1) + X[:, 0],
    "narrow": lambda X: -np.exp(-20 * ((X - 0.6) ** 2).sum(-1)),
    "kink": lambda X: np.abs(X - 0.4).max(-1),
    "steps": lambda X: np.floor(4 * X).sum(-1) + 0.1 * X[:, 0],
    "noise": lambda X: np.zeros(len(X)),
}


class Measured(NamedTuple):
    """What was measured: ``n x d`` points of the unit cube, ``n`` values, their noise if it is known, the direction."""

    X: np.ndarray
    y: np.ndarray
    sd: float | None
    direction: str


class Said(NamedTuple):
    """What is believed of the values, sorted by point, value and belief; of the best point; where to measure next.

    Of values that are the same at one point it is open which has which belief, and of points as good which is best.
    """

    status: list[str]
    wrong: list[float]
    best: float
    asked: dict[str, float] | None


def measured(number):
    """The history of a number."""
    rng = seeds.generator(number, 0, "order")
    n, d = int(rng.integers(SMALLEST, LARGEST + 1)), int(rng.integers(1, 7))
    X = np.round(points(rng, n, d), 3)
    for i in range(1, n):
        if rng.random() < 0.08:
            X[i] = X[rng.integers(i)]
    of, noise = FUNCTIONS[rng.choice(list(FUNCTIONS))], float(rng.choice([0.0, 0.01, 0.1, 0.5]))
    y = of(X) + noise * rng.standard_normal(n)
    is_wrong, scale = rng.random(n) < rng.choice([0.0, 0.05, 0.1, 0.25]), np.ptp(y) + 0.1
    instead = {
        "gross": y + scale * rng.choice([-1, 1], n) * rng.exponential(2.0, n),
        "stuck": np.full(n, y.max() + scale),
        "other": rng.permutation(y),
    }[str(rng.choice(["gross", "stuck", "other"]))]
    y = np.round(np.where(is_wrong, instead, y), 4)
    return Measured(X, y, max(noise, 0.01) if rng.random() < 0.2 else None, str(rng.choice(["minimize", "maximize"])))


def points(rng, n, d):
    """Where a study measures."""
    kind = rng.choice(["sobol", "loop", "grid", "uniform"])
    if kind == "grid":
        return rng.integers(0, 5, (n, d)) / 4
    if kind == "uniform":
        return rng.random((n, d))
    space = rb.Space(**{f"x{i}": rb.Float(0, 1) for i in range(d)})
    X = np.array([list(space.sobol(int(rng.integers(1000)), i).values()) for i in range(n)])
    if kind == "loop":
        about = np.linspace(0.3, 0.02, n)[:, None] * rng.standard_normal((n, d)) + rng.random(d)
        X[n // 3 :: 2] = np.clip(about, 0, 1)[n // 3 :: 2]
    return X


def told(history, order, surrogate="relevance-pursuit"):
    """A study to which the values are told in an order."""
    names = [f"x{i}" for i in range(history.X.shape[1])]
    space = rb.Space(**{name: rb.Float(0, 1) for name in names})
    opt = rb.Optimizer(space, direction=history.direction, seed=0, surrogate=surrogate)
    for i in order:
        opt.tell(dict(zip(names, history.X[i].tolist(), strict=True)), float(history.y[i]), sd=history.sd)
    return opt


def said(history, order, *, is_asking=False, surrogate="relevance-pursuit"):
    """What a study believes to which the values are told in an order."""
    opt = told(history, order, surrogate)
    beliefs = sorted((*o.trial.params.values(), o.value, o.status, o.probability_wrong) for o in opt.outliers())
    *_, status, wrong = map(list, zip(*beliefs, strict=True))
    return Said(status, wrong, opt.best().mean, opt.ask().params if is_asking else None)


def orders(history, number, count):
    """Orders to tell a history in: as it is, the last two swapped, the first at the end, and shuffled ones."""
    rng, n = seeds.generator(number, 1, "order"), len(history.y)
    plain = [*range(n)]
    ways = [plain, [*plain[:-2], n - 1, n - 2], [*plain[1:], 0], *(rng.permutation(n).tolist() for _ in range(count))]
    return ways[:count]
