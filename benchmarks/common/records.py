"""Records in runs/, by which command and by which version of the code: runs/records.csv, and a page of it.

A line is a folder of runs/ or a file in one. `add` says that something was recorded anew, by the commit that is checked
out; the page is written again. Hours are those of one core; of runs replayed they are deciding alone (fits and
acquisition), without the evaluations, and empty where they were not kept.

    python -m benchmarks.common.records add suite --command "python -m benchmarks.quality.suite ..." --core-hours 1.5
    python -m benchmarks.common.records page
"""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.common.parsers import parser_of
from benchmarks.common.paths import RUNS
from benchmarks.common.provenance import commit

TABLE, PAGE = "records.csv", "README.md"
ABOUT = """# Records

What lies here, the command that records it again, and which version of the code (a commit) recorded it, when and in
how many hours of one core. `robustbo replay` goes on from where it stopped; its hours are those of deciding alone (fits
and acquisition), without the evaluations. A dash: the hours were not kept. In a commit by which older code recorded
a thing, today's command may be unknown: then take that commit's.

This page is written by `python -m benchmarks.common.records page` from `records.csv`. Specs (`*.toml`) without a line
here are those of the suite, which `benchmarks/quality/suite.py` puts problems into.

Pictures are drawn by a command, from rows that lie here (`robustbo replay SPEC --out FOLDER` draws those of a run), and
are not committed, except the few that README and the documentation show.
"""


def table(runs: Path = RUNS) -> pd.DataFrame:
    """The lines, a record a row."""
    return pd.read_csv(runs / TABLE, dtype={"code": str}, index_col="record")


def page(record_lines: pd.DataFrame) -> str:
    """The page of the lines."""
    lines = ["| record | command | code | date | core-hours |", "| --- | --- | --- | --- | --- |"]
    for record, row in record_lines.iterrows():
        hours = "-" if pd.isna(row["core_hours"]) else f"{row['core_hours']:.2g}"
        lines.append(f"| {record} | `{row['command']}` | {row['code']} | {row['date']} | {hours} |")
    return "\n".join([ABOUT, *lines]) + "\n"


def write(lines: pd.DataFrame, runs: Path = RUNS) -> None:
    """Write the lines, and their page."""
    lines.sort_index().to_csv(runs / TABLE, lineterminator="\n")
    (runs / PAGE).write_text(page(lines.sort_index()), encoding="utf-8")


def missing_names(lines: pd.DataFrame, runs: Path = RUNS) -> list[str]:
    """Folders with no line, and lines of what is not there."""
    named = {str(record).split("/")[0] for record in lines.index}
    folders = {path.name for path in runs.iterdir() if path.is_dir()}
    return sorted(folders - named) + sorted(str(record) for record in lines.index if not (runs / str(record)).exists())


def add_line(lines: pd.DataFrame, record: str, line: dict[str, Any]) -> pd.DataFrame:
    """The lines with one more, or with one in another's place."""
    new = pd.DataFrame([line], pd.Index([record], name=lines.index.name))
    return new if lines.empty else pd.concat([lines.drop(index=record, errors="ignore"), new])


def main(arguments: Sequence[str] | None = None) -> None:
    """Add a line, or write the page."""
    parser = parser_of(__doc__)
    commands = parser.add_subparsers(dest="what", required=True)
    adding = commands.add_parser("add")
    adding.add_argument("record", help="a folder of runs/, or a file in one")
    adding.add_argument("--command", required=True)
    adding.add_argument("--core-hours", type=float)
    adding.add_argument("--code", help="the commit that recorded it; the one checked out unless given")
    commands.add_parser("page")
    options = parser.parse_args(arguments)
    lines = table()
    if options.what == "add":
        line = {"command": options.command, "code": options.code or commit(), "date": date.today().isoformat()}
        lines = add_line(lines, options.record, line | {"core_hours": options.core_hours})
    write(lines)
    for name in missing_names(lines):
        print(f"{name}: is there and not in {TABLE}, or the other way round; add it, or drop its line")


if __name__ == "__main__":
    main()
