"""Pruned trials in our sampler: as it comes, by their last reports as they are, and without them; and TPE.

Each replication is ``study.optimize`` of 30 trials on Branin's function, with 27 reports each; one report in a seventh
of the trials, and a tenth of the final values, are wrong by 300 up or down, the same for all samplers. How reports lead
to the final value f is one of

    decay    f plus an error that falls, faster for some parameters than for others
    sum      f * step / 27: a sum that grows
    cross    f plus an error that falls and depends on the parameters: the early order is not the last

The row has the true values of two trials that ran to their end: of the recommended one (``best(study)`` for ours,
``study.best_trial`` for TPE), and of the best. Rows that are there already are not computed again.

    python -m benchmarks.quality.optuna_pruned --replications 0 4 --out runs/optuna/pruned.csv
    python -m benchmarks.quality.optuna_pruned --table runs/optuna/pruned.csv --page runs/optuna/tables.md
"""

import math
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pandas as pd
import torch
from optuna.trial import TrialState

from benchmarks.common.commands import add_page
from benchmarks.common.csv_rows import record_missing
from benchmarks.common.pages import put, table
from benchmarks.common.parsers import parser_of
from benchmarks.quality.failures import mean_and_error
from robustbo.optuna import RobustSampler, best, pruned
from robustbo_problems.synthetic import branin

TRIALS, STEPS = 30, 27
CASES = ("decay", "sum", "cross")
PRUNERS = {
    "halving": lambda: optuna.pruners.SuccessiveHalvingPruner(),
    "median": lambda: optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=3),
}
SAMPLERS = ("robustbo", "as reported", "left out", "TPESampler")
KEY = ["case", "pruner", "values", "sampler", "replication"]
SIZE = 300.0  # of an error
LEAST = 1e-6  # regret that is none


def report(case: str, value: float, x: float, y: float, step: int) -> float:
    """Report of a trial of a final value at a step."""
    left = 1 - step / STEPS
    match case:
        case "decay":
            return value + 20 * math.exp(-4 * step / STEPS) * (0.5 + x)
        case "sum":
            return value * step / STEPS
        case "cross":
            return value + 15 * left * math.cos(6 * x + 2 * y)
    raise AssertionError(case)


def sampler(name: str, seed: int) -> optuna.samplers.BaseSampler:
    """A sampler of the benchmark."""
    if name == "TPESampler":
        return optuna.samplers.TPESampler(seed=seed)
    return RobustSampler(seed=seed, consider_pruned_trials=name != "left out")


def run(case: str, pruner: str, values: str, name: str, replication: int) -> dict[str, Any]:
    """A row: one study from its first trial to its last."""
    pruned.LEAST = 10**9 if name == "as reported" else 3
    clean: dict[int, float] = {}
    assert branin.best is not None

    def objective(trial: optuna.Trial) -> float:
        x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
        f = clean[trial.number] = branin.objective(branin.space.from_unit([x, y])) - branin.best[1]
        draw = np.random.default_rng([replication, trial.number])
        size = float(draw.choice([-SIZE, SIZE])) if values == "wrong" else 0.0
        struck, is_wrong = int(draw.integers(1, STEPS + 1)) * (draw.random() < 1 / 7), draw.random() < 0.1
        for step in range(1, STEPS + 1):
            trial.report(report(case, f, x, y, step) + size * (step == struck), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return f + size * is_wrong

    study = optuna.create_study(sampler=sampler(name, replication), pruner=PRUNERS[pruner]())
    started = time.process_time()
    study.optimize(objective, n_trials=TRIALS)
    seconds = time.process_time() - started
    recommended = study.best_trial.number if name == "TPESampler" else best(study).number
    complete = [trial.number for trial in study.get_trials(states=(TrialState.COMPLETE,))]
    figures = {"recommended": clean[recommended], "measured": min(clean[number] for number in complete)}
    row = dict(zip(KEY, (case, pruner, values, name, replication), strict=True))
    row |= {key: float(f"{value:.6g}") for key, value in figures.items()}
    return row | {"complete": len(complete), "cpu_s": round(seconds, 2)}


def record(file: Path, replications: range, values: list[str]) -> None:
    """Compute the rows that are not there, one after another, each kept at once."""
    cases = product(replications, values, CASES, PRUNERS, SAMPLERS)
    record_missing(file, KEY, ((case, pruner, value, name, i) for i, value, case, pruner, name in cases), run)


def lines(rows: pd.DataFrame) -> list[list[str]]:
    """Cells of a table: mean log10 regrets of what is recommended, and how the others differ from ours, paired."""
    logs = rows.assign(regret=np.log10(rows["recommended"].clip(lower=LEAST)))
    texts = []
    for key, of_case in [*logs.groupby(KEY[:3], sort=False), (("all", "", ""), logs)]:
        wide = of_case.pivot_table(index=KEY[:3] + KEY[4:], columns="sampler", values="regret").dropna()
        cells = [*key, str(len(wide))]
        for name in SAMPLERS:
            cell = _mean_text(wide[name], "")
            if name != SAMPLERS[0]:
                cell += f" ({_mean_text(wide[name] - wide[SAMPLERS[0]], '+')})"
            cells.append(cell)
        texts.append(cells)
    return texts


def _mean_text(values: pd.Series, sign: str) -> str:
    mean, error = mean_and_error(values)
    return f"{mean:{sign}.2f} ± {math.nan if error is None else error:.2f}"


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("--replications", type=int, nargs=2, default=(0, 4), help="from, and up to")
    parser.add_argument("--values", nargs="+", choices=("clean", "wrong"), default=["clean", "wrong"])
    parser.add_argument("--out", type=Path, help="the file of rows")
    parser.add_argument("--table", type=Path, help="a file of rows, whose table is made")
    add_page(parser)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if arguments.out:
        record(arguments.out, range(*arguments.replications), arguments.values)
    if arguments.table:
        head = ["reports", "pruner", "values", "studies", *SAMPLERS]
        put(arguments.page, {"pruned": table(head, lines(pd.read_csv(arguments.table)))})
