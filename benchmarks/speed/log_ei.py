"""Time of the logarithm of Student-t expected improvement, and of an acquisition function made of it.

A million evaluations with their gradient, against BoTorch's Gaussian `_log_ei_helper` on the same tensor; and a whole
maximization in six dimensions after 100 values of Hartmann6 (one in ten replaced by a uniform one), against BoTorch's
LogEI: on the same model, and on BoTorch's own. One process, one thread, medians of several repetitions.

    python -m benchmarks.speed.log_ei --out runs/speed-log-ei/results.csv
"""

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from botorch.acquisition import AcquisitionFunction, LogExpectedImprovement
from botorch.acquisition.analytic import _log_ei_helper
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.gpytorch import GPyTorchModel
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

from benchmarks.common.parsers import parser_of
from robustbo.loop.acquisition.build import incumbent_value, maximize_with_botorch
from robustbo.loop.acquisition.log_nei import StudentTLogExpectedImprovement
from robustbo.numerics.improvement.student_t import log_improvement
from robustbo.report.summary.tables import render
from robustbo.surrogates.common.contract import fit, quiet
from robustbo.surrogates.student_t_process.model import StudentTProcess
from robustbo_problems.hartmann6 import hartmann6

MILLION = 1_000_000
TENSORS = {
    "a grid on [-1000, 10]": torch.linspace(-1000, 10, MILLION, dtype=torch.float64),
    "a grid on [-10, 10]": torch.linspace(-10, 10, MILLION, dtype=torch.float64),
    "standard normal": torch.randn(MILLION, generator=torch.Generator().manual_seed(0), dtype=torch.float64),
}
Row = dict[str, Any]


def seconds(action: Callable[[], Any]) -> float:
    """Seconds of an action."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def with_gradient(function: Callable[[Tensor], Tensor], z: Tensor) -> None:
    """Evaluate a function of each element, and its gradient."""
    function(z.clone().requires_grad_()).sum().backward()


def evaluations(name: str, df: float, repetitions: int) -> Row:
    """A million evaluations, in turns."""
    z, nu = TENSORS[name], torch.tensor(df, dtype=torch.float64)
    pairs = [
        (
            seconds(partial(with_gradient, partial(log_improvement, nu=nu), z)),
            seconds(partial(with_gradient, _log_ei_helper, z)),
        )
        for _ in range(repetitions)
    ]
    return row(f"{name}, df = {df:g}", pairs)


def values(n: int, seed: int) -> tuple[Tensor, Tensor]:
    """Hartmann6 at uniform points, one value in ten replaced by a uniform one."""
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(n, 6, generator=generator, dtype=torch.float64)
    clean = [hartmann6(dict(zip(hartmann6.space.names, x, strict=True))) for x in X.tolist()]
    wrong = torch.rand(n, generator=generator) < 0.1
    uniform = 6 * torch.rand(n, generator=generator, dtype=torch.float64) - 3
    return X, torch.where(wrong, uniform, torch.tensor(clean, dtype=torch.float64)).unsqueeze(-1)


def plain(X: Tensor, Y: Tensor) -> GPyTorchModel:
    """BoTorch's own model with its defaults."""
    model = SingleTaskGP(X, Y)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def maximizations(n: int, seed: int, repetitions: int) -> list[Row]:
    """Whole maximizations, in turns."""
    X, Y = values(n, seed)
    with quiet():
        ours, theirs = fit(StudentTProcess(X, Y)), plain(X, Y)
        student_t = StudentTLogExpectedImprovement(ours, incumbent_value(ours, X))
        other_models = {
            "LogEI on the same model": LogExpectedImprovement(ours, incumbent_value(ours, X)),
            "LogEI on SingleTaskGP": LogExpectedImprovement(theirs, incumbent_value(theirs, X)),
        }
        rows = []
        for name, other in other_models.items():
            pairs = [
                (
                    seconds(partial(maximize_from_seed, student_t, seed=i)),
                    seconds(partial(maximize_from_seed, other, seed=i)),
                )
                for i in range(repetitions)
            ]
            rows.append(row(f"maximization, n = {n}, seed {seed}: {name}", pairs))
    return rows


def maximize_from_seed(function: AcquisitionFunction, seed: int) -> None:
    """Maximize from points of a seed."""
    torch.manual_seed(seed)
    maximize_with_botorch(function, hartmann6.space)


def row(label: str, pairs: list[tuple[float, float]]) -> Row:
    """Median seconds of ours and theirs, and their ratio."""
    ours, theirs = (statistics.median(times) for times in zip(*pairs, strict=True))
    return {"what": label, "ours_s": round(ours, 5), "botorch_s": round(theirs, 5), "ratio": round(ours / theirs, 3)}


def main() -> None:
    """Measure, print a row each, and write them."""
    parser = parser_of(__doc__)
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = [evaluations(name, df, options.repetitions) for name in TENSORS for df in (5.0, 105.0)]
    for seed in options.seeds:
        rows += maximizations(100, seed, options.repetitions)
    for line in rows:
        print(line, file=sys.stderr)
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(render(rows, "csv"), encoding="utf-8")


if __name__ == "__main__":
    main()
