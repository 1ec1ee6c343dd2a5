"""Our sampler inside Optuna's own loop, beside Optuna's: what a study is worth when some of its values are wrong.

Each replication is ``study.optimize`` on a problem, minimized, by a sampler with its defaults, with the same values
going wrong for all of them:

    clean       none
    too good    one value of -1,000
    too bad     one value of +100,000
    uniform     a tenth, each anywhere in the range of 1,000 random points' values

The single wrong value strikes a trial between a quarter and three quarters of the way, drawn by the replication. A row
has three regrets, true values all: of what the study recommends (``best(study)`` of ours, ``study.best_trial`` of
Optuna's), of what `robustbo.optuna.best` recommends of the same trials, and of the best point that was ever measured.
Rows that are there already are not computed again.

    python -m benchmarks.quality.optuna_loop --replications 0 10 --out runs/optuna/rows.csv
    python -m benchmarks.quality.optuna_loop --table runs/optuna
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pandas as pd
import torch

from benchmarks.common.csv_rows import record_missing
from benchmarks.common.parsers import parser_of
from benchmarks.common.tables import put
from benchmarks.quality.failures import mean_and_error
from robustbo import seeds
from robustbo.optuna import RobustSampler, best
from robustbo.replay.cells.optuna import distribution
from robustbo.searchspace.space import Space
from robustbo.tasks.problem import Problem
from robustbo_problems.conditional import conditional
from robustbo_problems.hartmann6 import hartmann6
from robustbo_problems.synthetic import branin

PROBLEMS: dict[str, tuple[Problem, int]] = {  # and trials
    "branin": (branin, 40),
    "hartmann6": (hartmann6, 80),
    "conditional": (conditional, 40),
}
SETTINGS = ("clean", "too good", "too bad", "uniform")
SAMPLERS: dict[str, Callable[[int], optuna.samplers.BaseSampler]] = {
    "robustbo": lambda seed: RobustSampler(seed=seed),
    "robustbo, deterministic": lambda seed: RobustSampler(seed=seed, deterministic_objective=True),
    "GPSampler": lambda seed: optuna.samplers.GPSampler(seed=seed),
    "GPSampler, deterministic": lambda seed: optuna.samplers.GPSampler(seed=seed, deterministic_objective=True),
    "TPESampler": lambda seed: optuna.samplers.TPESampler(seed=seed),
}
LEAST = 1e-6  # regret that is none
KEY = ["problem", "setting", "sampler", "replication"]
REGRETS = ("recommended", "believed", "measured")


def suggest_point(trial: optuna.Trial, space: Space) -> dict[str, Any]:
    """A point, parameter by parameter: those that depend on others are asked for where they exist."""
    point: dict[str, Any] = {}
    for name, parameter in space.parameters:
        if name in space.existing(point):
            point[name] = trial._suggest(name, distribution(parameter))
    return point


def run(name: str, setting: str, sampler: str, replication: int) -> dict[str, Any]:
    """A row: one study from its first trial to its last."""
    problem, trials = PROBLEMS[name]
    sign = -1.0 if problem.direction == "maximize" else 1.0
    assert problem.best is not None
    floor = sign * problem.best[1]
    spread = [sign * problem.objective(point) for point in problem.space.sobol_points(0, 0, 1000)]
    draw = seeds.generator(replication, 0, f"{name} {setting}")
    struck = int(draw.integers(trials // 4, 3 * trials // 4))
    clean: list[float] = []

    def objective(trial: optuna.Trial) -> float:
        clean.append(sign * problem.objective(suggest_point(trial, problem.space)))
        once = {"too good": -1e3, "too bad": 1e5}.get(setting)
        if once is not None:
            return once if trial.number == struck else clean[-1]
        of_trial = seeds.generator(replication, trial.number, f"{name} {setting}")
        is_wrong = setting == "uniform" and of_trial.random() < 0.1
        return float(of_trial.uniform(min(spread), max(spread))) if is_wrong else clean[-1]

    study = optuna.create_study(sampler=SAMPLERS[sampler](replication))
    started = time.process_time()
    study.optimize(objective, n_trials=trials)
    seconds = time.process_time() - started
    believed = best(study).number
    recommended = believed if sampler.startswith("robustbo") else study.best_trial.number
    values = {"recommended": clean[recommended], "believed": clean[believed], "measured": min(clean)}
    row = dict(zip(KEY, (name, setting, sampler, replication), strict=True))
    return row | {key: float(f"{value - floor:.6g}") for key, value in values.items()} | {"cpu_s": round(seconds, 2)}


def record(file: Path, replications: range, problems: Sequence[str], settings: Sequence[str]) -> None:
    """Compute the rows that are not there, one after another, each kept at once."""
    cases = (
        (n, s, m, replication) for replication in replications for n in problems for s in settings for m in SAMPLERS
    )
    record_missing(file, KEY, cases, run)


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """A problem, a setting and a sampler a row: mean log10 regrets, and how they differ from GPSampler's, paired."""
    logs = rows.assign(**{key: np.log10(rows[key].clip(lower=LEAST)) for key in REGRETS})
    lines = []
    for (name, setting), of_case in logs.groupby(["problem", "setting"], sort=False):
        wide = of_case.pivot(index="replication", columns="sampler", values=list(REGRETS))
        for sampler in [s for s in SAMPLERS if s in set(of_case["sampler"])]:
            row: dict[str, Any] = {"problem": name, "setting": setting, "sampler": sampler}
            row |= {"replications": len(wide)}
            for key in REGRETS:
                mean, error = mean_and_error(wide[key, sampler])
                row |= {f"log10_{key}": mean, f"log10_{key}_error": error}
            for key in ("recommended", "measured"):
                mean, error = mean_and_error(wide[key, sampler] - wide[key, "GPSampler"])
                row |= {f"difference_{key}": mean, f"difference_{key}_error": error, f"ratio_{key}": 10 ** (mean or 0)}
            lines.append(row | {"cpu_s": of_case[of_case["sampler"] == sampler]["cpu_s"].median()})
    return pd.DataFrame(lines).round(4)


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("--replications", type=int, nargs=2, default=(0, 10), help="from, and up to")
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=[*PROBLEMS])
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=[*SETTINGS])
    parser.add_argument("--out", type=Path, help="the file of rows")
    parser.add_argument("--table", type=Path, help="a folder with rows.csv, whose table is made")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if arguments.out:
        record(arguments.out, range(*arguments.replications), arguments.problems, arguments.settings)
    if arguments.table:
        put({"table": table(pd.read_csv(arguments.table / "rows.csv"))}, arguments.table)
