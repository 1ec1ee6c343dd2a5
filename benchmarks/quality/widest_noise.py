"""Values with the widest noise count as wrong: what the probabilities gain by that, and what they lose.

Random points of six functions, noise of 2 % of the spread, and a tenth of the values wrong in one of four ways: within
the range of the values, off by half of their spread, off by twenty; or none wrong, with normal noise and with the tails
of three degrees of freedom. Each data set is told to an optimizer twice, with the rule (docs/equations.md, 19.13) and
without. A row has the sums of the log losses of `probability_wrong`, flags, and how many of these are right.

    python -m benchmarks.quality.widest_noise --work runs/widest-noise/rows.csv --page docs/evidence/doubt.md
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import product
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import torch
from botorch.test_functions import Branin, Hartmann, Levy, Rosenbrock, SixHumpCamel, StyblinskiTang

import robustbo as rb
from benchmarks.common.commands import parser_of_seeds, record_seeds
from benchmarks.common.tables import log_loss
from robustbo import seeds
from robustbo.numerics.belief import densities, gibbs, population, probability

FUNCTIONS: dict[str, Callable[[], Any]] = {
    "branin": Branin,
    "camel": SixHumpCamel,
    "levy": lambda: Levy(4),
    "styblinski-tang": lambda: StyblinskiTang(3),
    "hartmann3": lambda: Hartmann(3),
    "rosenbrock": lambda: Rosenbrock(4),
}
KINDS = {
    "clean": "none, normal noise",
    "tails": "none, noise with tails",
    "in-range": "within the range",
    "tails, in-range": "within the range, noise with tails",
    "half": "half a spread off",
    "gross": "twenty spreads off",
}
SIZES = (20, 40, 80)
RATE, NOISE, DOF = 0.1, 0.02, 3
KEY = ["seed", "function", "kind", "n"]
RULES: dict[str, Callable[[float], float]] = {"with": densities.silent_share, "without": lambda rate: 0.0}


def data(seed: int, name: str, kind: str, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points of the unit cube, measured values, and which of these are wrong."""
    function = FUNCTIONS[name]().to(torch.float64)
    rng = np.random.default_rng(seeds.derive(seed, n, f"{name} {kind}"))
    X = rng.random((n, function.dim))
    low, high = function.bounds.numpy()
    y = function(torch.from_numpy(low + X * (high - low))).numpy()
    spread, reach = y.std(), np.ptp(y)
    y = y + NOISE * spread * (rng.standard_t(DOF, n) if "tails" in kind else rng.standard_normal(n))
    is_wrong = rng.random(n) < (0.0 if kind in ("clean", "tails") else RATE)
    sign = np.sign(rng.standard_normal(n))
    errors = {"half": y + 0.5 * spread * sign, "gross": y + 20 * spread * rng.standard_normal(n)}
    wrong = errors.get(kind, y.min() + reach * rng.random(n))
    return X, np.where(is_wrong, wrong, y), is_wrong


def probabilities(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The probability that each value is wrong."""
    names = [f"x{i}" for i in range(X.shape[1])]
    space = rb.Space(**{name: rb.Float(0, 1) for name in names})
    table = pd.DataFrame(X, columns=names).assign(value=y)
    reports = rb.Optimizer(space, direction="minimize", seed=0, prior_data=table).outliers()
    by_trial = {report.trial.number: report.probability_wrong for report in reports}
    return np.array([by_trial[i] for i in range(len(y))])


def row(seed: int, name: str, kind: str, n: int) -> Mapping[str, Any]:
    """Scores of the probabilities, with the rule and without."""
    X, y, is_wrong = data(seed, name, kind, n)
    line: dict[str, Any] = dict(zip(KEY, (seed, name, kind, n), strict=True)) | {"wrong": int(is_wrong.sum())}
    for rule, share in RULES.items():
        with ExitStack() as stack:
            for module in (population, gibbs, probability):
                stack.enter_context(mock.patch.object(module, "silent_share", share))
            p = pd.Series(probabilities(X, y))
        line[f"loss, {rule}"] = round(n * log_loss(p, pd.Series(is_wrong)), 4)
        line |= {f"flags, {rule}": int((p > 0.5).sum()), f"right, {rule}": int(((p > 0.5) & is_wrong).sum())}
    return line


def tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Sums by kind of error, and the mean gain of a data set in nats, with its standard error."""
    gain = rows["loss, without"] - rows["loss, with"]
    lines = []
    for kind, part in rows.assign(gain=gain).groupby("kind", sort=False):
        line: dict[str, Any] = {"wrong values": KINDS[str(kind)], "data sets": len(part), "wrong": part["wrong"].sum()}
        line["gain, nats"] = f"{part['gain'].mean():+.2f} ± {part['gain'].sem():.2f}"
        for rule in RULES:
            line[f"found, {rule}"] = part[f"right, {rule}"].sum()
            line[f"false flags, {rule}"] = (part[f"flags, {rule}"] - part[f"right, {rule}"]).sum()
        lines.append(line)
    return {"WIDEST": pd.DataFrame(lines)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute the rows that are missing, and put the table where it is wanted."""
    options = parser_of_seeds(__doc__, 5).parse_args(arguments)
    record_seeds(options, KEY, product(options.seeds, FUNCTIONS, KINDS, SIZES), row, tables)


if __name__ == "__main__":
    main()
