"""Time of a GP with Student-t noise: ours against GPy's Laplace and GPyTorch's variational one, side by side.

Same data (Hartmann6, 10 % of the values replaced by uniform ones, robustly standardized), Matern-5/2 with ARD, one
process, one thread. An evaluation is the evidence and its gradient with the mode found from that of a place nearby, one
evaluation after the other, as within a fit. Fits begin from nothing. Against GPy priors and mean are left out; the
evidence is then compared in one convention (clamped curvatures, at a stationary mode), since GPy's own stops short of
the mode.

    pip install GPy
    python -m benchmarks.speed.student_t --out runs/speed-fit
"""

import math
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

from benchmarks.common.parsers import parser_of
from robustbo import seeds
from robustbo.numerics.gp.covariance import Covariance, stationary
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.parameters import LogNormal, LogNormals
from robustbo.numerics.student_t.map_fit import HeavyModel, evaluate, search, slopes
from robustbo.report.summary.tables import render
from robustbo.surrogates.baselines.student_t_variational import StudentTVariationalGP
from robustbo.surrogates.common.contract import fit
from robustbo.surrogates.student_t.model import DOF, StudentTGP
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize
from robustbo.tasks.corruption import Uniform
from robustbo_problems.hartmann6 import hartmann6

try:
    import GPy
except ImportError:
    GPy = None

MOVES = 20  # places at which evidence and gradient are evaluated, each 5 % from the last
Row = dict[str, Any]


class Flat(NamedTuple):
    """No prior, in the place of one."""

    log_mode: float
    scale: float = math.inf

    def log_density(self, log_x: float) -> float:
        """Zero."""
        return 0.0

    def slope(self, log_x: float) -> float:
        """Zero."""
        return 0.0

    @property
    def precision(self) -> float:
        """Zero."""
        return 0.0


def standardized_data(n: int, seed: int) -> tuple[Tensor, Tensor]:
    """Hartmann6 at n uniform points, each value replaced with probability 0.1, robustly standardized."""
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(n, 6, generator=generator, dtype=torch.float64)
    uniform = Uniform(probability=0.1, low=-3.0, high=3.0)
    rows = [dict(zip(hartmann6.space.names, x, strict=True)) for x in X.tolist()]
    values = [
        uniform.apply(hartmann6(row), row, seeds.generator(seed, i, "corruption"))[0] for i, row in enumerate(rows)
    ]
    return X, RobustStandardize(m=1)(torch.tensor(values, dtype=torch.float64).unsqueeze(-1))[0]


class ZeroMean(HeavyModel):
    """A model whose mean stays zero, as GPy's does."""

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Bounds of x."""
        return [*super().bounds[:-1], (0.0, 0.0)]


def without_priors(X: Tensor, Y: Tensor) -> ZeroMean:
    """Objective of our search, with flat priors."""
    prior = LogNormal(1.0, 1.0)  # whose mode is 1, where the search begins, and which is taken out again
    function, priors = stationary(X, "matern52", prior, prior), LogNormals([prior] * (X.shape[-1] + 1))

    def at(theta: Tensor) -> Covariance:
        covariance, slopes = function.at(theta), torch.from_numpy(priors.slopes(theta.numpy()))
        return covariance._replace(log_prior=0.0, pullback=lambda G: covariance.pullback(G) - slopes)

    covariance = function._replace(at=at, prior_precision=torch.zeros_like(function.starts[0]))
    return ZeroMean(Model(Y.squeeze(-1), covariance, Flat(math.log(0.05))), DOF)  # type: ignore[arg-type]


def gpy(X: Tensor, Y: Tensor) -> Any:
    """GPy's model from the same start."""
    kernel = GPy.kern.Matern52(6, ARD=True, lengthscale=np.ones(6))
    model = GPy.core.GP(
        X.numpy(),
        Y.numpy(),
        kernel,
        GPy.likelihoods.StudentT(deg_free=DOF, sigma2=0.05),
        inference_method=GPy.inference.latent_function_inference.Laplace(),
    )
    model.likelihood.deg_free.fix()
    return model


def ours_at(model: Any) -> Tensor:
    """The place of GPy's hyperparameters in our search."""
    parts = [np.log(model.kern.lengthscale), np.log(model.kern.variance), np.log(model.likelihood.sigma2)]
    return torch.from_numpy(np.concatenate([*map(np.atleast_1d, parts), [0.0]]))


def seconds(action: Callable[[], Any]) -> float:
    """Seconds of an evaluation."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def evaluations(X: Tensor, Y: Tensor) -> tuple[float, float]:
    """Median seconds of an evaluation at the same places in a row, ours and GPy's."""
    model, theirs = without_priors(X, Y), gpy(X, Y)
    generator = torch.Generator().manual_seed(0)
    start = torch.cat([model.starts[0][:-1], Y.new_zeros(1)])
    moves = 0.05 * torch.randn(MOVES, len(start) - 1, generator=generator, dtype=start.dtype)
    places = start + torch.cat([moves.cumsum(0), moves.new_zeros(MOVES, 1)], dim=-1)
    evaluation, ours = evaluate(model, start), list[float]()
    for x in places:
        started = time.perf_counter()
        evaluation = evaluate(model, x, evaluation.x[-1] + evaluation.laplace.f)
        slopes(model, evaluation)
        ours.append(time.perf_counter() - started)
    hyperparameters = [(x[:6].exp().numpy(), x[6].exp().item(), x[7].exp().item()) for x in places]
    return statistics.median(ours), statistics.median(seconds(partial(_set, theirs, *at)) for at in hyperparameters)


def _set(model: Any, lengths: np.ndarray, s2f: float, s2: float) -> None:
    model.update_model(False)
    model.kern.lengthscale[:], model.kern.variance[:], model.likelihood.sigma2[:] = lengths, s2f, s2
    model.update_model(True)  # evidence and gradient


def compare(n: int, seed: int, *, with_variational: bool) -> Row:
    """One data set."""
    X, Y = standardized_data(n, seed)
    row: Row = {"n": n, "seed": seed}
    times = [seconds(lambda: fit(StudentTGP(X, Y, outcome_transform=None))) for _ in range(3)]
    row["fit_s"] = statistics.median(times)
    if with_variational:
        row["variational_s"] = seconds(lambda: fit(StudentTVariationalGP(X, Y, outcome_transform=None)))
        row["variational_ratio"] = row["variational_s"] / row["fit_s"]
    if GPy is not None:
        row["evaluation_s"], row["gpy_evaluation_s"] = evaluations(X, Y)
        row["evaluation_ratio"] = row["gpy_evaluation_s"] / row["evaluation_s"]
        model, theirs = without_priors(X, Y), gpy(X, Y)
        row["flat_fit_s"] = seconds(lambda: row.update(evidence=search(model).F))
        row["gpy_fit_s"] = seconds(lambda: theirs.optimize(messages=False))
        row["gpy_evidence"] = evaluate(model, ours_at(theirs)).F
        row["gpy_says"] = float(theirs.log_likelihood())
    return {key: round(value, 5) for key, value in row.items()}


def main() -> None:
    """Measure, print a row a data set, and write them."""
    parser = parser_of(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 100, 200])
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(10)))
    parser.add_argument("--variational-up-to", type=int, default=100, help="sizes beyond get none")
    parser.add_argument("--out", type=Path, default=None, help="a folder")
    options = parser.parse_args()
    torch.set_num_threads(1)
    threadpool_limits(1)
    warnings.simplefilter("ignore")
    fit(StudentTGP(*standardized_data(10, 0)))  # what a first call loads is not the fit's time
    rows = []
    for n in options.sizes:
        for seed in options.seeds:
            rows.append(compare(n, seed, with_variational=n <= options.variational_up_to))
            print(rows[-1], file=sys.stderr)
    for key in ("variational_ratio", "evaluation_ratio"):
        for n in options.sizes:
            if ratios := [math.log(row[key]) for row in rows if row["n"] == n and key in row]:
                print(f"{key}, n = {n}: {math.exp(statistics.mean(ratios)):.1f}")
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "student-t.csv").write_text(render(rows, "csv"), encoding="utf-8")


if __name__ == "__main__":
    main()
