"""Peers on values of four workers of whom one is off: how well does each predict the objective?

The studies are those of benchmarks/sources/run.py, 60 space-filling points each. Every model is fitted to the same
values, and predicts the objective at other points: the root of the mean squared error there, in standard deviations of
the objective. Ours is told who measured ("told"), or not ("hidden"), or is told the values without the error
("corrected"). BoTorch's default GP knows no sources. Its MultiTaskGP has a task a worker, and Optuna's GP a categorical
parameter: neither says which worker is right, so the mean over the workers is taken; and, as somebody would who knows
one that is right, the prediction for that one ("right worker").

    python -m benchmarks.sources.peers --work W/peers.csv --page runs/sources-detection/tables.md
"""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from botorch.exceptions.warnings import OptimizationWarning
from botorch.fit import fit_gpytorch_mll
from botorch.models import MultiTaskGP, SingleTaskGP
from botorch.optim.fit import fit_gpytorch_mll_scipy
from gpytorch.mlls import ExactMarginalLogLikelihood

from benchmarks.common import csv_rows, pages
from benchmarks.common.commands import parser_of_studies
from benchmarks.sources.run import NUM_VALUES, PROBLEMS, WORKERS, Cell, Objective, objective_of, run_study
from robustbo.errors import SourceWarning
from robustbo.numerics.linalg.lapack import Array
from robustbo.optimizer import Optimizer
from robustbo.searchspace.sobol import sobol_rows

CASES = (("offset", 1.0), ("offset", 0.5), ("step", 1.0), ("none", 0.0))
NOISE = 0.02
RIGHT = 0  # a worker that is right in all cases
TARGETS = 500  # points at which the objective is predicted
SEED = 5555  # of these points
CLIMBED = 200  # iterations of a fit of a MultiTaskGP: BoTorch's own way took half a minute for 60 values


class Values(NamedTuple):
    """Values of a study, for somebody else's model.

    Attributes:
        X: ``n x d`` points in the unit cube.
        y: ``n`` values, of mean 0 and standard deviation 1.
        worker: ``n`` workers.
        at: ``m x d`` points at which the objective is predicted.
    """

    X: torch.Tensor
    y: torch.Tensor
    worker: torch.Tensor
    at: torch.Tensor


def singletask(values: Values, worker: int | None = None) -> Array:
    """BoTorch's default GP, which knows no workers."""
    model = SingleTaskGP(values.X, values.y[:, None])
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    with torch.no_grad():
        return model.posterior(values.at).mean[:, 0].numpy()


def multitask(values: Values) -> Array:
    """BoTorch's GP with a task a worker: predictions ``WORKERS x m``."""
    model = MultiTaskGP(torch.cat([values.X, values.worker[:, None]], dim=1), values.y[:, None], task_feature=-1)
    fit_gpytorch_mll_scipy(ExactMarginalLogLikelihood(model.likelihood, model), options={"maxiter": CLIMBED})
    column = torch.ones(len(values.at), 1, dtype=values.X.dtype)
    with torch.no_grad():
        at = [torch.cat([values.at, worker * column], dim=1) for worker in range(WORKERS)]
        return np.stack([model.posterior(X).mean[:, 0].numpy() for X in at])


def categorical(values: Values) -> Array:
    """Optuna's GP with the worker as a categorical parameter: predictions ``WORKERS x m``."""
    from optuna._gp.gp import fit_kernel_params
    from optuna._gp.prior import DEFAULT_MINIMUM_NOISE_VAR, default_log_prior

    X = torch.cat([values.X, values.worker[:, None]], dim=1).numpy()
    is_categorical = np.arange(X.shape[1]) == X.shape[1] - 1
    model = fit_kernel_params(
        X,
        values.y.numpy(),
        is_categorical,
        log_prior=default_log_prior,
        minimum_noise=DEFAULT_MINIMUM_NOISE_VAR,
        deterministic_objective=False,
    )
    column = torch.ones(len(values.at), 1, dtype=values.X.dtype)
    with torch.no_grad():
        at = [torch.cat([values.at, worker * column], dim=1) for worker in range(WORKERS)]
        return np.stack([model.posterior(x)[0].numpy() for x in at])


BY_WORKER: dict[str, Callable[[Values], Array]] = {"MultiTaskGP": multitask, "Optuna, categorical": categorical}


def compare(*names: Any) -> dict[str, Any]:
    """The errors of each model's predictions, in standard deviations of the objective."""
    problem, case, size, replication = names
    torch.set_num_threads(1)
    for category in (SourceWarning, OptimizationWarning):
        warnings.simplefilter("ignore", category)
    started = time.process_time()
    cell = Cell(problem, case, size, NOISE, np.inf, NUM_VALUES, replication)
    objective = objective_of(cell)
    study, right = (run_study(c, objective)[0] for c in (cell, cell._replace(size=0.0)))
    points = [objective.space.from_unit(row) for row in sobol_rows(len(objective.space.names), SEED, 0, TARGETS)]
    truth = np.array([objective.at(point) for point in points])
    error = partial(_root_mean_square, truth, objective.sd)
    frame = pd.DataFrame(points)
    row = {"told": error(study.predict(frame)["mean"])}
    row["hidden"] = error(_without_sources(study, objective).predict(frame)["mean"])
    row["corrected"] = error(_without_sources(right, objective).predict(frame)["mean"])
    values, center, scale = _values(study, objective, points)
    row["SingleTaskGP"] = error(center + scale * singletask(values))
    for name, predict in BY_WORKER.items():
        by_worker = center + scale * predict(values)
        row[name] = error(by_worker.mean(0))
        row[f"{name}, right worker"] = error(by_worker[RIGHT])
    seconds = round(time.process_time() - started, 1)
    return {"problem": problem, "case": case, "size": size, "replication": replication} | row | {"seconds": seconds}


def _root_mean_square(truth: Array, sd: float, mean: Any) -> float:
    return round(float(np.sqrt(np.square(np.asarray(mean) - truth).mean())) / sd, 4)


def _without_sources(study: Optimizer, objective: Objective) -> Optimizer:
    """The study as nobody tells who measures."""
    other = Optimizer(objective.space, direction=objective.direction, seed=study.seed)
    for trial in study.history:
        other.tell(trial.params, trial.measured)
    return other


def _values(study: Optimizer, objective: Objective, points: Sequence[Any]) -> tuple[Values, float, float]:
    """The values of a study, and their mean and standard deviation."""
    trials = study.history.trials[:]
    y = np.array([trial.measured for trial in trials])
    X, at = (
        np.array([objective.space.to_unit(params) for params in of]) for of in ([t.params for t in trials], points)
    )
    worker = np.array([float(trial.sources["worker"].removeprefix("W")) for trial in trials])
    center, scale = float(y.mean()), float(y.std())
    tensors = (torch.from_numpy(array) for array in (X, (y - center) / scale, worker, at))
    return Values(*tensors), center, scale


def cases(problems: Sequence[str], replications: Sequence[int]) -> Iterator[tuple[str, str, float, int]]:
    """The studies: replications before problems and cases."""
    for replication in replications:
        for problem in problems:
            for case, size in CASES:
                yield problem, case, size, replication


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean errors of each case over all studies, and those less ours, paired, with standard errors."""
    key = ["problem", "case", "size", "replication"]
    lines = []
    for (case, size), group in rows.groupby(["case", "size"], sort=False):
        for method in [column for column in rows if column not in (*key, "seconds")]:
            more = group[method] - group["told"]
            paired = "" if method == "told" else f"{more.mean():.3f} +- {more.sem():.3f}"
            line = {"case": case, "size": size, "studies": len(group), "model": method}
            lines.append(line | {"error": f"{group[method].mean():.3f}", "more than ours": paired})
    return pd.DataFrame(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare on each study, and print or write the table."""
    parser = parser_of_studies(__doc__, PROBLEMS, 3)
    o = parser.parse_args(arguments)
    key = ["problem", "case", "size", "replication"]
    csv_rows.record_missing(o.work, key, cases(o.problems, o.replications), compare)
    pages.put(o.page, {"peers": pages.markdown(summary(pd.read_csv(o.work)).to_dict("records"))})


if __name__ == "__main__":
    main()
