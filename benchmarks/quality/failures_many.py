"""Models of failures made of the most telling of many trials: is it as good as one of all places?

In the problems of the runs `failures-*` half of the trials are anywhere, and half around the two best of 400 points.
What is said of 1,000 other points, spread alike, is scored by the mean negative log probability of what is the case
there; beside it the same by a model of all places, and the seconds of the processor of either fit, in one process.

    python -m benchmarks.quality.failures_many --sizes 300 --seeds 2 --out runs/failures
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pandas as pd
import torch

from benchmarks.common.parsers import parser_of
from benchmarks.common.tables import log_loss, put
from benchmarks.quality.failures import NAMES, RUNS
from robustbo.loop.feasibility import model
from robustbo.replay.spec.optimization import RunSpec
from robustbo.replay.spec.reading import load
from robustbo.tasks.failing import InjectedFailure

LOOKED_AT, NUM_TEST = 400, 1000
REACH = (0.03, 0.1, 0.2)  # standard deviations around the best, of the unit interval


class Ended(NamedTuple):
    """Inputs of the model, and whether each of the trials there gave a value."""

    X: torch.Tensor
    is_ok: np.ndarray


def trial_sampler(spec: RunSpec, seed: int) -> Callable[[int], Ended]:
    """Trials of a run's problem, as many as are asked for."""
    problem, failing, generator = spec.load_problem(), spec.build_corruption(), np.random.default_rng(seed)
    assert isinstance(failing, InjectedFailure)
    space, sign = problem.space, -1.0 if problem.direction == "maximize" else 1.0

    def loss(u: np.ndarray) -> float:
        params = space.from_unit(list(u))
        return np.inf if failing.fails_at(params) else sign * problem(params)

    best = np.array(sorted(generator.random((LOOKED_AT, len(space))), key=loss)[:2])

    def trials(count: int) -> Ended:
        U = generator.random((count, len(space)))
        reach = generator.choice(REACH, size=(count // 2, 1))
        around = best[np.arange(count // 2) % 2] + reach * generator.normal(size=(count // 2, len(space)))
        U[: count // 2] = np.clip(around, 0, 1)
        points = [space.from_unit(list(u)) for u in generator.permutation(U)]
        is_flake = generator.random(count) < failing.probability
        is_ok = np.array([not failing.fails_at(point) for point in points]) & ~is_flake
        return Ended(model.inputs(space, [tuple(space.to_unit(point)) for point in points]), is_ok)

    return trials


def score_model(training: Ended, test: Ended, seed: int) -> tuple[float, float]:
    """The log loss of what is said of others, and how long the fit took."""
    started = time.process_time()
    fitted_model = model.fitted(training.X, training.is_ok.tolist(), [False] * len(training.X), seed)
    seconds = time.process_time() - started
    p = fitted_model.log_viable(test.X)[0].exp().numpy()
    return log_loss(pd.Series(p), pd.Series(test.is_ok)), seconds


def main() -> None:
    """Fit, print and write the table, and the paired difference over all rows and without the checkerboard."""
    parser = parser_of(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[300])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--out", type=Path, default=None, help="a folder")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = list[dict[str, Any]]()
    for n, name, seed in ((n, name, s) for n in options.sizes for name in NAMES for s in range(options.seeds)):
        spec = load(RUNS / f"failures-{name}.toml")
        assert isinstance(spec, RunSpec)
        trials = trial_sampler(spec, seed)
        training, test = trials(n), trials(NUM_TEST)
        few, few_s = score_model(training, test, seed)
        with mock.patch.multiple(model, LEARNED=n, MODELLED=n):
            every, every_s = score_model(training, test, seed)
        row = {"run": name, "n": n, "seed": seed, "values": round(float(training.is_ok.mean()), 3)}
        row |= {"loss": round(few, 4), "loss_of_all": round(every, 4)}
        rows.append(row | {"fit_s": round(few_s, 3), "fit_of_all_s": round(every_s, 3)})
    put({"many": pd.DataFrame(rows)}, options.out)
    table = pd.DataFrame(rows)
    for label, mine in (("all runs", table), ("without the checkerboard", table[table["run"] != "checkerboard"])):
        difference = mine["loss"] - mine["loss_of_all"]
        error = difference.std() / np.sqrt(len(difference))
        print(f"{label}: {difference.mean():.4f} ± {error:.4f}, {(mine['fit_s'] / mine['fit_of_all_s']).median():.2f}")


if __name__ == "__main__":
    main()
