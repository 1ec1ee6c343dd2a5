"""Regression of tables with wrong values, by our regressor and by what people would take otherwise.

Which rows: `rows`; which methods: `methods`. All methods meet the same rows. Compared are the
root mean squared error, the mean log density of the rows held out (of methods that predict a distribution), which
training values are called wrong, and seconds of the processor. A row that is there is not computed again.

    ROBUSTBO_DATA=../shared/data python -m benchmarks.regression.run --seeds 0 1 2 3 4 \
        --labelled ../shared/data/labelled --out runs/regression/rows.csv
    python -m benchmarks.regression.run --only-page --out runs/regression/rows.csv \
        --page docs/evidence/regression.md runs/regression/tables.md

Slow methods are run where ``--methods`` names them; those of other libraries in the Python that ``--python`` names, of
an environment that has them (`methods` says which versions). Seconds are without what a library's import
takes.

    ROBUSTBO_DATA=../shared/data python -m benchmarks.regression.run --tables boston yacht --out ROWS \
        --methods "GPy's Student-t" RobustGP "GPflow's variational Student-t" --python ENVIRONMENT/bin/python
"""

import time
import warnings
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from benchmarks.common import pages
from benchmarks.common.commands import add_page
from benchmarks.common.csv_rows import record_missing
from benchmarks.common.parsers import parser_of
from benchmarks.regression.methods import ELSEWHERE, METHODS, NAMES, SLOW, by_peer
from benchmarks.regression.page import tables
from benchmarks.regression.rows import KINDS, LABELLED, TABLES, Case, labelled_names, rows_of

KEY = ("table", "kind", "seed", "method")


def measure(
    table: str, kind: str, seed: int, method: str, labelled: Path | None = None, python: Path | None = None
) -> dict[str, Any]:
    """The row of a method and a case; errors and log densities in standard deviations of the rows held out."""
    torch.set_num_threads(1)
    rows, started = rows_of(Case(table, kind, seed), labelled), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of climbs that end at a bound
        if method in ELSEWHERE:
            assert python is not None
            prediction = by_peer(python, ELSEWHERE[method], rows)
        else:
            prediction = METHODS[method](rows)
    seconds, spread = time.process_time() - started + prediction.seconds, rows.y_test.std()
    row: dict[str, Any] = dict(zip(KEY, (table, kind, seed, method), strict=True))
    row |= {"rows": len(rows.y), "rmse": np.sqrt(np.square(prediction.mean - rows.y_test).mean()) / spread}
    row["log_density"] = np.nan if prediction.log_density is None else prediction.log_density.mean() + np.log(spread)
    flags = None if prediction.is_flagged is None else prediction.is_flagged & rows.is_scored
    row["flagged"] = np.nan if flags is None else int(flags.sum())
    row["hits"] = np.nan if flags is None else int((flags & rows.is_wrong).sum())
    return row | {"wrong": int(rows.is_wrong.sum()), "seconds": seconds}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is not recorded, and write the tables."""
    parser = parser_of(__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--tables", choices=TABLES, nargs="*", default=TABLES)
    parser.add_argument("--labelled", type=Path, help="the folder of labelled tables; none of them without it")
    parser.add_argument("--most", type=int, default=1000, help="rows of a labelled table at most")
    parser.add_argument("--methods", choices=NAMES, nargs="+", default=[name for name in NAMES if name not in SLOW])
    parser.add_argument("--python", type=Path, help="that of an environment with GPy, RobustGP and GPflow")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only-page", action="store_true", help="of what is recorded")
    add_page(parser)
    options = parser.parse_args(arguments)
    if options.python is None and (elsewhere := [name for name in options.methods if name in ELSEWHERE]):
        parser.error(f"--python must name an environment that has {', '.join(elsewhere)}")
    cases = [*product(options.tables, KINDS, options.seeds, options.methods)]
    if options.labelled:
        names = labelled_names(options.labelled, options.most)
        cases += product(names, [LABELLED], options.seeds, options.methods)
    if not options.only_page:
        run = partial(measure, labelled=options.labelled, python=options.python)
        record_missing(options.out, KEY, sorted(cases, key=lambda case: case[2]), run)
    pages.put(options.page, tables(pd.read_csv(options.out)))


if __name__ == "__main__":
    main()
