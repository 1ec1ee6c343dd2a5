"""Sources of real measurements: what is said of batches, blocks, experimenters, and of sensors beside sensors.

All values of a set are told in their order with the labels that it has, and the reports are printed beside what its
owners say. Sets that --work has are not fitted again.

    python -m benchmarks.sources.real --data ../shared/data --work W/real.csv \
        --page runs/sources-detection/tables.md
"""

import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from benchmarks.common import csv_rows, pages
from benchmarks.common.commands import add_page
from benchmarks.common.parsers import parser_of
from benchmarks.sources.data import SourcedSet, real_sets
from robustbo.errors import SourceWarning
from robustbo.loop.sources.source_report import BLOCK, SourceReport
from robustbo.optimizer import Optimizer


def report_on(dataset: SourcedSet) -> dict[str, Any]:
    """A row of what is said of a set."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", SourceWarning)
    started = time.process_time()
    study = Optimizer(dataset.space, direction="minimize", seed=0, blocks=list(dataset.blocks))
    study.tell_frame(dataset.table, source=list(dataset.sources))
    named = [report for report in study.view.sources() if report.is_doubtful or report.kind == BLOCK]
    levels = dataset.table[list(dataset.sources)].nunique().sum()
    return {
        "set": dataset.name,
        "values": len(dataset.table),
        "sources": levels,
        "known": dataset.owners_word,
        "said": "; ".join(map(_claim, named)) or "nothing",
        "seconds": round(time.process_time() - started, 1),
    }


def _claim(report: SourceReport) -> str:
    since = "" if report.since is None else f" since {report.since} ({len(report.trials)} values)"
    apart = ", not told from the objective" if report.status == "not distinguishable" else ""
    size = f"{report.error:.3g} +- {report.sd:.1g}"
    return f"{report.level or 'all'}: {report.kind} {size}{since}, {report.probability:.3f}{apart}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Report on each set, and print or write the table."""
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, help="the folder of files")
    parser.add_argument("--sets", nargs="+", help="names of sets; all unless given")
    parser.add_argument("--work", type=Path, required=True, help="the rows, which it goes on with")
    add_page(parser)
    o = parser.parse_args(arguments)
    by_name = {dataset.name: dataset for dataset in real_sets(o.data)}
    names = [(name,) for name in o.sets or by_name]
    csv_rows.record_missing(o.work, ["set"], names, lambda name: report_on(by_name[name]))
    rows = pd.read_csv(o.work).drop(columns="seconds")
    pages.put(o.page, {"real": pages.markdown(rows.to_dict("records"))})


if __name__ == "__main__":
    main()
