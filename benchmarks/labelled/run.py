"""Belief in measurements that people made: real tables and series whose wrong values their owners labelled.

All values of a file are told as prior data of a study (each column a parameter with the range that is in the table, a
column of texts a choice), and each value's `probability_wrong` and flag are scored against the labels, as
benchmarks/labelled/scores.py has it; which sets, and which half of them, is in data.py. What is
predicted of right values is scored on ten folds that are held out in turn, the other folds' wrong values being told:
the 90 % interval, and the mean log density of the measurement in its own units. Beside the surrogates stand, on tables,
the leave-one-out z > 3 of a plain GP, and scikit-learn's Huber and RANSAC regressions (statsmodels' RLM, where it is
installed): lines, which on linear tables are told the truth about the function.

Rows that are in --work are not computed again: another version of the code needs another folder.

    python -m benchmarks.labelled.run --data ../shared/data/labelled --work W --out runs/labelled
    python -m benchmarks.labelled.run --data ../shared/data/labelled --work W --half judged \
        --page docs/evidence/labelled.md runs/labelled/tables.md
"""

import re
import time
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch

from benchmarks.common import pages, recording
from benchmarks.common.commands import add_jobs, add_page
from benchmarks.common.parsers import parser_of
from benchmarks.common.tables import put
from benchmarks.labelled.data import HALVES, KINDS, TABLES, LabelledSet, read_sets
from benchmarks.labelled.reports import (
    BY_DISTANCE,
    LINEAR,
    SURROGATES,
    linear_flags,
    predict_held_out,
    value_reports,
)
from benchmarks.labelled.scores import score_tables

NOT_IN_NAMES = re.compile(r"\W+")  # of files
DIGITS = {"wrong": 5, "low": 6, "high": 6, "log_density": 4}


class Cell(NamedTuple):
    """One method, told one set.

    Attributes:
        dataset: The set.
        method: A name of `SURROGATES`, of the registry, or of `LINEAR`.
        work: Where rows are kept; None where they are not.
    """

    dataset: LabelledSet
    method: str
    work: Path | None


def cells(data: Path, half: str, kinds: Sequence[str], methods: Sequence[str], work: Path | None) -> Iterator[Cell]:
    """All methods of a set before the next one; lines on tables alone."""
    lines = [name for name in LINEAR if name != "RLM" or find_spec("statsmodels")]
    for dataset in (dataset for dataset in read_sets(data, half) if dataset.kind in kinds):
        yield from (Cell(dataset, method, work) for method in methods)
        yield from (Cell(dataset, method, work) for method in lines if dataset.kind == TABLES)


def compute_rows(cell: Cell, is_held_out: bool) -> pd.DataFrame:
    """A row a value: the label, and what the method says of it."""
    dataset, started = cell.dataset, time.process_time()
    about = {"file": dataset.name, "kind": dataset.kind, "method": cell.method}
    measured = pd.DataFrame({"value": dataset.values, "label": dataset.labels}).assign(**about)
    reports = (linear_flags if cell.method in LINEAR else value_reports)(dataset, cell.method)
    seconds = time.process_time() - started
    if is_held_out and cell.method not in (*LINEAR, *BY_DISTANCE):
        predicted = predict_held_out(dataset, cell.method)
    else:
        predicted = pd.DataFrame(np.nan, measured.index, ["log_density", "low", "high"])
    return pd.concat([measured, reports, predicted], axis=1).assign(seconds=round(seconds, 2)).round(DIGITS)


def cell_rows(cell: Cell, is_held_out: bool) -> pd.DataFrame:
    """The rows of a cell, from its file where they are there."""
    torch.set_num_threads(1)
    if cell.work is None:
        return compute_rows(cell, is_held_out)
    file = cell.work / f"{cell.dataset.name}-{NOT_IN_NAMES.sub('-', cell.method)}.csv"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        compute_rows(cell, is_held_out).to_csv(part, index=False)
        part.replace(file)
    return pd.read_csv(file)


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute what is not there, print the tables, write them into a folder or onto a page."""
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of labelled files")
    parser.add_argument(
        "--surrogates", nargs="+", default=list(SURROGATES), help="of the registry, or of our own names"
    )
    parser.add_argument("--half", choices=HALVES, default="all")
    parser.add_argument("--sets", nargs="+", choices=KINDS, default=KINDS, help="kinds of them")
    add_jobs(parser)
    parser.add_argument("--no-folds", action="store_true", help="hold nothing out: ten times as quick")
    parser.add_argument("--work", type=Path, help="where rows are kept, and go on")
    parser.add_argument("--out", type=Path, help="a folder for the tables")
    add_page(parser)
    options = parser.parse_args(arguments)
    todo = list(cells(options.data, options.half, options.sets, options.surrogates, options.work))
    run = partial(cell_rows, is_held_out=not options.no_folds)
    tables = score_tables(pd.concat(recording.run_all(run, todo, options.jobs), ignore_index=True))
    put(tables, options.out)
    if options.page:
        pages.put(options.page, {name: pages.markdown(table.to_dict("records")) for name, table in tables.items()})


if __name__ == "__main__":
    main()
