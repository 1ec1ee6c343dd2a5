"""Our maximizer of noisy expected improvement beside BoTorch's: which leads higher, and how long each takes.

Both maximize the same function, that of the default surrogate fitted to n values of which one in ten is wrong, from the
same seed: ours as in an ask, BoTorch's `optimize_acqf` (4 restarts, 256 raw samples and as many near the best) or, in a
mixed space, its alternating optimizer. Compared are the function's values at the points that would be asked for. In
some cases trials fail in a corner, and the function counts by the probability of a value. One process, one thread;
timed is the maximization alone, in turns, in seconds of the processor.

    python -m benchmarks.speed.maximizer --out runs/maximizer/results.csv
"""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch

import robustbo as rb
from benchmarks.common.parsers import parser_of
from benchmarks.common.timing import time_call
from robustbo.loop.acquisition.build import maximize_with_botorch
from robustbo.loop.candidates.search import Search
from robustbo.loop.candidates.target import SingleTarget
from robustbo.loop.feasibility.model import feasibility_model
from robustbo.loop.observations.table import observations
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fit import fit_to
from robustbo.searchspace.encoding import decode
from robustbo.seeds import derive
from robustbo.surrogates.common.contract import quiet
from robustbo.tasks.problem import Problem
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo_problems.hartmann6 import hartmann6
from robustbo_problems.synthetic import ackley, branin, levy

WRONG = 0.1  # of the values, uniform over twice the range of all
NEARLY = 1e-3  # nats below which a lower value counts as as good
HIGH = 0.6  # of the unit interval: trials fail where two parameters are beyond
Params = dict[str, Any]


class Case(NamedTuple):
    """A space, and what is minimized there; whether some trials fail."""

    kind: str
    space: rb.Space
    objective: Callable[[Mapping[str, Any]], float]
    fails: bool = False


def plain(problem: Problem, *, fails: bool = False) -> Case:
    """A problem as it is."""
    sign = -1 if problem.direction == "maximize" else 1
    kind = "continuous, failures" if fails else "continuous"
    return Case(kind, problem.space, lambda params: sign * problem.objective(params), fails)


def change_parameters(problem: Problem, kind: str, words: Mapping[str, float], **parameters: Any) -> Case:
    """A problem some of whose parameters have few values; words stand for numbers, and 0 for what does not exist."""
    sign = -1 if problem.direction == "maximize" else 1

    def objective(params: Mapping[str, Any]) -> float:
        complete = {name: params.get(name, 0.0) for name in problem.space.names}
        return sign * problem.objective({name: words.get(value, value) for name, value in complete.items()})

    return Case(kind, rb.Space.from_dict({**dict(problem.space.parameters), **parameters}), objective)


THIRDS = {"low": 0.2, "middle": 0.5, "high": 0.8}
SIZES = {"s": -8.0, "m": 0.5, "l": 9.0}
CASES: dict[str, Case] = {
    "hartmann6": plain(hartmann6),
    "levy 6": plain(levy(6)),
    "branin": plain(branin),
    "ackley 6": plain(ackley(6)),
    "hartmann6, failures": plain(hartmann6, fails=True),
    "branin, failures": plain(branin, fails=True),
    "levy 6, mixed": change_parameters(levy(6), "mixed", {}, x5=rb.Int(-10, 10), x6=rb.Ordinal(-10, -3, 0, 1, 3, 10)),
    "ackley 6, mixed": change_parameters(
        ackley(6), "mixed", SIZES, x4=rb.Int(-30, 30), x5=rb.Choice(*SIZES), x6=rb.Float(-30, 30, step=2.5)
    ),
    "hartmann6, mixed": change_parameters(
        hartmann6, "mixed", THIRDS, x2=rb.Float(0, 1, step=0.1), x4=rb.Choice(*THIRDS), x5=rb.Ordinal(0, 0.3, 0.4, 1)
    ),
    "levy 4, conditional": change_parameters(
        levy(4), "mixed", SIZES, x1=rb.Choice(*SIZES), x2=rb.Float(-10, 10, when={"x1": ["m", "l"]}), x3=rb.Int(-10, 10)
    ),
    "branin, discrete": change_parameters(branin, "discrete", {}, x1=rb.Int(-5, 10), x2=rb.Float(0, 15, step=0.25)),
    "levy 4, discrete": change_parameters(
        levy(4), "discrete", SIZES, x1=rb.Int(-9, 9), x2=rb.Int(-9, 9), x3=rb.Choice(*SIZES), x4=rb.Ordinal(-5, 0, 1, 5)
    ),
}


def history(case: Case, n: int, seed: int) -> History:
    """Trials as they come from a run: half of them spread out, half near the best of these."""
    rng, space = np.random.default_rng([seed, n]), case.space
    points = [space.sobol(seed, i) for i in range(n - n // 2)]
    best = np.array(space.to_unit(min(points, key=case.objective)))
    moves = 0.15 * rng.standard_normal((n // 2, len(best))) * (rng.random((n // 2, len(best))) < 0.6)
    points += [space.from_unit(row) for row in np.clip(best + moves, 0, 1).tolist()]
    values = np.array([case.objective(point) for point in points])
    low, width = values.min(), np.ptp(values)
    wrong = rng.random(n) < WRONG
    values[wrong] = rng.uniform(low - width / 2, low + 1.5 * width, wrong.sum())
    return History().apply_all(
        [event(case, i, *observation) for i, observation in enumerate(zip(points, values.tolist(), strict=True))]
    )


def event(case: Case, trial: int, params: Params, value: float) -> dict[str, Any]:
    """Event that ends a trial."""
    if case.fails and min(case.space.to_unit(params)[:2]) > HIGH:
        return {"event": "fail", "trial": trial, "params": params, "reason": "too far"}
    return {"event": "tell", "trial": trial, "params": params, "value": value, "sd": None}


def build_search(case: Case, n: int, seed: int) -> Search:
    """The search for the next point."""
    settings, fits = Settings(case.space, seed=seed, num_initial=5), FitCache()
    data = observations(settings, history(case, n, seed))
    viable = feasibility_model(data, seed, fits)
    fitted = fit_to(settings, data, fits)
    unknown = data.rows_of([*(trial.number for trial in data.pending), *sorted(fitted.quarantined)])
    return Search("auto", SingleTarget(fitted), viable, unknown, data.region, derive(seed, n, "acquisition"))


def botorchs(searching: Search) -> Params:
    """The point that BoTorch's optimizer finds."""
    space = searching.target.fitted.space
    with searching._apart(), quiet():
        x = maximize_with_botorch(searching._function(), space)
        return space.from_unit(decode(space, x.unsqueeze(0))[0])


def build_s(searching: Search) -> float:
    """Seconds that the function takes before it is maximized."""
    with searching._apart(), quiet():
        return time_call(searching._function).cpu_s


def row(name: str, n: int, seed: int) -> dict[str, Any]:
    """One ask by both."""
    searching = build_search(CASES[name], n, seed)
    searching.next_point()  # what is made once is not an ask's time
    both = {"ours": searching.next_point, "botorch": partial(botorchs, searching)}
    order = sorted(both, reverse=bool(seed % 2))
    points, seconds = {}, {}
    for library in order:
        points[library], _, seconds[library] = time_call(both[library])
    rows = [searching.region.space.to_unit(points[library]) for library in ("ours", "botorch")]
    ours, theirs = searching.values_at(rows).tolist()
    less = build_s(searching)
    times = {f"{library}_s": round(seconds[library] - less, 4) for library in both}
    line = {"case": name, "kind": CASES[name].kind, "n": n, "seed": seed, "ours": round(ours, 5)}
    return line | {"botorch": round(theirs, 5), "gain": round(ours - theirs, 5)} | times


def summary(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """A row a kind of space."""
    table = pd.DataFrame(rows)
    table = table.assign(as_good=table["gain"] >= -NEARLY, better=table["gain"] > NEARLY)
    table = table.assign(ratio=table["ours_s"] / table["botorch_s"])
    named = {"asks": ("n", "size"), "as_good": ("as_good", "mean"), "better": ("better", "mean")}
    named |= {"median_gain": ("gain", "median"), "worst": ("gain", "min"), "ours_s": ("ours_s", "median")}
    return table.groupby("kind").agg(**named, botorch_s=("botorch_s", "median"), ratio=("ratio", "median")).round(4)


def main() -> None:
    """Measure, print a row each and the summary, and write the rows."""
    parser = parser_of(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 50, 100, 200])
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(7)))
    parser.add_argument("--only", choices=sorted(CASES), nargs="+", default=list(CASES))
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for name in options.only:
        for n in options.sizes:
            for seed in options.seeds:
                rows.append(row(name, n, seed))
                print(rows[-1], file=sys.stderr, flush=True)
    print(summary(rows).to_string())
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows).to_csv(options.out, index=False)


if __name__ == "__main__":
    main()
