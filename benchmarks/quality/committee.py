"""Accuracy and calibration of committees: their rules, one expert, and other methods in their place.

`known`: functions drawn from a Gaussian process whose hyperparameters everybody is told, normal noise, 4,096 values,
experts of 256: the rules, the surest expert at each point, and the exact process. `fitted`: Hartmann6, Friedman's
function and a product of waves in two inputs, n values with noise of a twentieth of the function's standard deviation,
a tenth of which have been moved by 3 to 9 of these, up or down; each method finds its own hyperparameters, a committee
from 16 experts at most. "default" is `Optimizer`'s, from the same values, "computation-aware" has 200 iterations, and
"student-t" and "standard" take all values as one process. Judged at 1,000 new points by the function itself: root mean
squared error in standard deviations of the function, share within two predicted standard deviations, mean log density
(normal), seconds of the processor for fit and prediction.

    python -m benchmarks.quality.committee known --seeds 0 1 2 --out runs/committee/calibration-known.csv
    python -m benchmarks.quality.committee fitted --sizes 1000 4000 --out runs/committee/calibration-fitted.csv
    python -m benchmarks.quality.committee misfit --sizes 4000 --out runs/committee/calibration-misfit.csv
    python -m benchmarks.quality.committee_page --rows runs/committee --page runs/committee/tables.md

A row that the CSV has is not computed again.
"""

import itertools
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from torch import Tensor

import robustbo as rb
from benchmarks.common.csv_rows import read, row_writer
from benchmarks.common.parsers import parser_of
from robustbo.numerics.committee import evidence
from robustbo.numerics.committee.aggregation import COMBINE, latent
from robustbo.numerics.committee.evidence import SharedHyperparameters
from robustbo.numerics.committee.partition import random_parts, shard
from robustbo.surrogates.baselines.standard import StandardGP
from robustbo.surrogates.committee.model import CommitteeGP
from robustbo.surrogates.common.contract import fit, outcome_transform
from robustbo.surrogates.common.units import in_outcome_units
from robustbo.surrogates.iterative.model import ComputationAwareGP
from robustbo.surrogates.student_t.model import StudentTGP
from robustbo_problems.regression_functions import FUNCTIONS

COLUMNS = ("problem", "n", "seed", "method", "rmse", "coverage", "log_density", "seconds")
RULES = ("calibrated", "rbcm", "normalized-entropy-gpoe")
TEST_POINTS, NOISE, RATE, KNOWN_SIZE, EXPERT_SIZE = 1000, 0.05, 0.1, 4096, 256
FIT_EXPERTS = 16  # hyperparameters of a committee from so many experts at most
GAUSSIAN_PROCESSES = {  # inputs, length-scale, noise variance; the signal's variance is 1
    "d = 1, l = 0.1, s2 = 0.1": (1, 0.1, 0.1),
    "d = 2, l = 0.1, s2 = 0.1": (2, 0.1, 0.1),
    "d = 2, l = 0.3, s2 = 0.01": (2, 0.3, 0.01),
    "d = 4, l = 0.5, s2 = 0.01": (4, 0.5, 0.01),
    "d = 6, l = 2, s2 = 0.01": (6, 2.0, 0.01),
    "d = 6, l = 0.7, s2 = 1": (6, 0.7, 1.0),
    "d = 10, l = 1, s2 = 0.01": (10, 1.0, 0.01),
}
# What the rest of a committee's misfit is due to, on Hartmann6: the share of gross values, and options.
VARIANTS: dict[str, tuple[float, dict[str, Any]]] = {
    "no gross value, normal noise": (0.0, {"noise": "normal"}),
    "no gross value, Student-t noise": (0.0, {}),
    "a tenth gross": (RATE, {}),
    "a tenth gross, dof learned": (RATE, {"dof": None}),
    "a tenth gross, experts of 512, dof learned": (RATE, {"dof": None, "expert_size": 512, "fit_experts": 2}),
    "a tenth gross, clustered, dof learned": (RATE, {"dof": None, "partition": "clustered"}),
}


def waves(X: np.ndarray) -> np.ndarray:
    """sin(6 x1) cos(9 x2) + x1 of ``... x 2`` inputs."""
    return np.sin(6 * X[..., 0]) * np.cos(9 * X[..., 1]) + X[..., 0]


PROBLEMS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], int]] = {
    "hartmann6": (FUNCTIONS["hartmann6"].of, 6),
    "friedman5": (FUNCTIONS["friedman5"].of, 5),
    "waves": (waves, 2),
}


class Data(NamedTuple):
    """Training data, and test points with the function's values and its standard deviation."""

    X: Tensor
    y: Tensor
    X_test: Tensor
    f_test: Tensor
    sd: float


class Forecast(NamedTuple):
    """Means and standard deviations of the function at the test points, and seconds."""

    mean: Tensor
    sd: Tensor
    seconds: float


def predict_at_true_hyperparameters(name: str, n: int, seed: int, _: list[str]) -> Iterator[tuple[str, Data, Forecast]]:
    """Forecast of each rule, one expert and the exact process for a drawn function, told the hyperparameters."""
    d, length, s2 = GAUSSIAN_PROCESSES[name]
    generator = torch.Generator().manual_seed(seed)
    m = TEST_POINTS
    X = torch.rand(n + m, d, generator=generator, dtype=torch.float64)
    unit = X.new_ones(())
    shared = SharedHyperparameters("matern52", X.new_full((d,), length), unit, s2 * unit, None, 0 * unit)
    K, identity = shared.covariance(X, X), torch.eye(n + m, dtype=X.dtype)
    draw, noise = (torch.randn(count, generator=generator, dtype=X.dtype) for count in (n + m, n))
    f = torch.linalg.cholesky(K + 1e-9 * identity) @ draw
    y = f[:n] + math.sqrt(s2) * noise
    data = Data(X[:n], y, X[n:], f[n:], 1.0)
    shards = shard(data.X, y, random_parts(n, n // EXPERT_SIZE, generator))
    experts = evidence.build_experts(shards, shared)
    v0 = X.new_ones(m)
    k = shared.covariance(data.X_test, shards.X.flatten(0, 1)).unflatten(1, shards.y.shape).movedim(1, 0)
    mu, v = latent(k, experts, v0)
    rho = evidence.error_correlation(shards, experts, shared, data.X_test)
    for rule in RULES:
        mean, variance = COMBINE[rule](mu, v, v0, rho)
        yield rule, data, Forecast(mean, variance.sqrt(), math.nan)
    surest = v.argmin(0, keepdim=True)
    yield "the surest expert", data, Forecast(mu.gather(0, surest)[0], v.gather(0, surest)[0].sqrt(), math.nan)
    L = torch.linalg.cholesky(K[:n, :n] + s2 * identity[:n, :n])
    T = torch.linalg.solve_triangular(L, K[:n, n:], upper=False)
    white = torch.linalg.solve_triangular(L, y.unsqueeze(-1), upper=False).squeeze(-1)
    yield "exact", data, Forecast(T.mT @ white, (1 - T.square().sum(0)).sqrt(), math.nan)


def draw_data(problem: str, n: int, seed: int, rate: float = RATE) -> Data:
    """Values of a function, some of them gross."""
    of, d = PROBLEMS[problem]
    generator = np.random.default_rng(seed)
    sd = of(generator.random((20_000, d))).std()
    X, X_test = generator.random((n, d)), generator.random((TEST_POINTS, d))
    y = of(X) + NOISE * sd * generator.standard_normal(n)
    moved = generator.uniform(3, 9, n) * generator.choice([-1, 1], n) * sd
    y = np.where(generator.random(n) < rate, y + moved, y)
    return Data(*(torch.from_numpy(np.asarray(part)) for part in (X, y, X_test, of(X_test))), float(sd))


def committee(data: Data, **options: Any) -> Iterator[tuple[str, Forecast]]:
    """One fit, and what each rule and the surest expert make of it."""
    started = time.process_time()
    options = {"fit_experts": FIT_EXPERTS} | options
    model: Any = CommitteeGP(data.X, data.y.unsqueeze(-1), **options)
    fit(model)
    fitted = time.process_time() - started
    for rule in RULES:
        model.options = replace(model.options, combine=rule)
        yield rule, predict(model, data, fitted)
    _, shards, shared, experts, _ = model.committee
    v0 = shared.s2f.expand(TEST_POINTS)
    X = data.X_test
    k = shared.covariance(X, shards.X.flatten(0, 1)).unflatten(1, shards.y.shape).movedim(1, 0)
    mu, v = latent(k * shards.mask.unsqueeze(-2), experts, v0)
    surest = v.argmin(0, keepdim=True)
    mean, sd = mu.gather(0, surest)[0] + shared.m, v.gather(0, surest)[0].sqrt()
    yield "the surest expert", Forecast(*in_outcome_units(outcome_transform(model), mean, sd), fitted)


def predict(model: Any, data: Data, fitted: float) -> Forecast:
    """Prediction of a fitted model at the test points, a hundred at a time: a posterior is joint."""
    started = time.process_time()
    with torch.no_grad():
        posteriors = [model.posterior(part) for part in data.X_test.split(100)]
        mean = torch.cat([posterior.mean.squeeze(-1) for posterior in posteriors])
        sd = torch.cat([posterior.variance.squeeze(-1).sqrt() for posterior in posteriors])
    return Forecast(mean, sd, fitted + time.process_time() - started)


def alone(cls: Any, data: Data, **options: Any) -> Forecast:
    """One model of all values."""
    started = time.process_time()
    model = fit(cls(data.X, data.y.unsqueeze(-1), **options))
    return predict(model, data, time.process_time() - started)


def default(data: Data) -> Forecast:
    """The default optimizer's."""
    names = [f"x{i}" for i in range(data.X.shape[-1])]
    old = pd.DataFrame(data.X.numpy(), columns=names).assign(value=data.y.numpy())
    started = time.process_time()
    optimizer = rb.Optimizer(
        rb.Space(**{name: rb.Float(0.0, 1.0) for name in names}), direction="maximize", prior_data=old, seed=0
    )
    predictions: Any = optimizer.predict(pd.DataFrame(data.X_test.numpy(), columns=names))
    mean, sd = (torch.tensor(predictions[column].to_list(), dtype=torch.float64) for column in ("mean", "sd"))
    return Forecast(mean, sd, time.process_time() - started)


def predict_with_fits(problem: str, n: int, seed: int, methods: list[str]) -> Iterator[tuple[str, Data, Forecast]]:
    """Forecast of each method for a function of which a tenth of the values is gross."""
    data = draw_data(problem, n, seed)
    single: dict[str, Callable[[], Forecast]] = {
        "default": lambda: default(data),
        "computation-aware": lambda: alone(ComputationAwareGP, data, iterations=200),
        "student-t": lambda: alone(StudentTGP, data),
        "standard": lambda: alone(StandardGP, data),
    }
    for method in methods:
        if method == "committee":
            for rule, prediction in committee(data):
                yield rule, data, prediction
        else:
            yield method, data, single[method]()


def misfit(name: str, n: int, seed: int, _: list[str]) -> Iterator[tuple[str, Data, Forecast]]:
    """Forecast of committees of Hartmann6's values, other values and options; hyperparameters of four experts."""
    rate, options = VARIANTS[name]
    data = draw_data("hartmann6", n, seed, rate)
    for rule, prediction in committee(data, **{"fit_experts": 4, **options}):
        yield rule, data, prediction


def scores(problem: str, seed: int, method: str, data: Data, prediction: Forecast) -> dict[str, Any]:
    """A row."""
    e, sd = (prediction.mean - data.f_test) / data.sd, prediction.sd / data.sd
    numbers = {
        "rmse": e.square().mean().sqrt().item(),
        "coverage": (e.abs() < 2 * sd).double().mean().item(),
        "log_density": -(0.5 * math.log(2 * math.pi) + sd.log() + 0.5 * (e / sd).square()).mean().item(),
        "seconds": prediction.seconds,
    }
    row = {"problem": problem, "n": len(data.y), "seed": seed, "method": method}
    return row | {name: f"{value:.4g}" for name, value in numbers.items()}


def main() -> None:
    """Compute what is missing."""
    parser = parser_of(__doc__)
    parser.add_argument("part", choices=("known", "fitted", "misfit"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000])
    parser.add_argument("--problems", nargs="+", default=None)
    parser.add_argument("--methods", nargs="+", default=["committee", "default"])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    finished = {tuple(row[name] for name in COLUMNS[:4]) for row in read(options.out)}
    parts: dict[str, tuple[Any, Any, list[int], list[str]]] = {
        "known": (predict_at_true_hyperparameters, GAUSSIAN_PROCESSES, [KNOWN_SIZE], ["exact"]),
        "fitted": (predict_with_fits, PROBLEMS, options.sizes, options.methods),
        "misfit": (misfit, VARIANTS, options.sizes, ["committee"]),
    }
    said_by, problems, sizes, methods = parts[options.part]
    with row_writer(options.out, COLUMNS) as append:
        for problem, n, seed in itertools.product(options.problems or problems, sizes, options.seeds):
            names = {"committee": RULES[0]}  # of a committee's rows one is looked for
            left = [m for m in methods if (problem, str(n), str(seed), names.get(m, m)) not in finished]
            for method, data, prediction in said_by(problem, n, seed, left) if left else ():
                append(row := scores(problem, seed, method, data, prediction))
                print(row, file=sys.stderr)


if __name__ == "__main__":
    main()
