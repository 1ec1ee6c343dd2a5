"""Shares of studies in which a source in error could be named, at hyperparameters that its error did not bend.

The studies are those of benchmarks/sources/run.py. The surrogate is fitted to the values without the error, and the
atoms are weighed at its hyperparameters with the error. The source is named where the likeliest atom is one of its own,
and more probable than none. What is missed by this is too small for the data.

    python -m benchmarks.sources.bound --work W/bound.csv --page runs/sources-detection/tables.md
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch

from benchmarks.common import csv_rows, pages
from benchmarks.common.commands import parser_of_studies
from benchmarks.sources.run import OFF, PROBLEMS, Cell, cells_of, objective_of, run_study
from robustbo.loop.observations.source_labels import source_labels
from robustbo.loop.surrogate.fit import fit
from robustbo.numerics.linalg.lapack import Array
from robustbo.numerics.sources.candidates import all_candidates
from robustbo.numerics.sources.place import place_at
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.pursuit.sources import straight_problem, unit_of
from robustbo.trials.history import History

BY = ["case", "size", "noise"]


def bound(*values: Any) -> dict[str, Any]:
    """Return whether the source of a cell would be named by one who knew the hyperparameters."""
    cell = Cell(*values)
    torch.set_num_threads(1)
    started, objective = time.process_time(), objective_of(cell)
    wrong, right = (run_study(c, objective)[0] for c in (cell, cell._replace(size=0.0)))
    unlabelled = History().apply_all([_without_source(trial) for trial in right.history])
    fitted = fit(right.settings, unlabelled)
    numbers = fitted.observations.numbers
    labels, model = source_labels(wrong.history.trials, numbers), fitted.model
    assert labels is not None
    assert isinstance(model, RelevancePursuitGP)
    errors = _values(wrong.history, numbers) - _values(right.history, numbers)
    with torch.no_grad():
        problem, level, _ = straight_problem(model, labels)
        y = problem.model.y + torch.from_numpy(errors) / (fitted.units.slope * unit_of(model))
        problem = problem._replace(model=problem.model._replace(y=y))
        place = place_at(problem, (), np.zeros((len(y), 0)), level)
    best = max(all_candidates(place.precision, problem.lines, problem.blocks), key=lambda c: c.score)
    is_named = best.score > 0 and best.atom.key[:2] == (0, OFF)
    log_odds = round(best.score, 2)
    seconds = round(time.process_time() - started, 2)
    return cell._asdict() | {"named": is_named, "log_odds": log_odds, "seconds": seconds}


def _values(history: History, numbers: Sequence[int]) -> Array:
    return np.array([history[number].value for number in numbers], dtype=float)


def _without_source(trial: Any) -> dict[str, Any]:
    return {"event": "tell", "trial": trial.number, "params": dict(trial.params), "value": trial.value, "sd": None}


def main(arguments: Sequence[str] | None = None) -> None:
    """Judge the cells, and print or write the shares."""
    parser = parser_of_studies(__doc__, PROBLEMS, 20)
    o = parser.parse_args(arguments)
    cells = [cell for cell in cells_of("points", o.problems, o.replications) if cell.size]
    csv_rows.record_missing(o.work, Cell._fields, cells, bound)
    rows = pd.read_csv(o.work)
    shares = rows.pivot_table("named", BY, "problem", margins=True, margins_name="all").round(2).reset_index()
    pages.put(o.page, {"bound": pages.markdown(shares.to_dict("records"))})


if __name__ == "__main__":
    main()
