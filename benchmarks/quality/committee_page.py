"""Tables of committees' calibration in their page: Markdown between marks of it.

python -m benchmarks.quality.committee_page --rows runs/committee --page runs/committee/tables.md
"""

import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import pages
from benchmarks.common.commands import add_page
from benchmarks.common.csv_rows import read
from benchmarks.common.parsers import parser_of

SCORES = ("rmse", "coverage", "log_density", "seconds")


def table(rows: list[dict[str, Any]]) -> str:
    """Rows in Markdown, means over seeds; by problem, size and method, as they came first."""
    groups: dict[tuple[str, int, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["problem"], int(row["n"]), row["method"]), []).append(row)
    problems = list(dict.fromkeys(problem for problem, *_ in groups))
    lines = ["| | n | method | RMSE | coverage | log density | seconds |", "| --- " * 7 + "|"]
    for key in sorted(groups, key=lambda key: (problems.index(key[0]), key[1])):
        numbers = [statistics.mean(float(row[name]) for row in groups[key]) for name in SCORES]
        cells = [key[0], f"{key[1]:,}", key[2], f"{numbers[0]:.3f}", f"{numbers[1]:.3f}", f"{numbers[2]:.2f}"]
        lines.append(f"| {' | '.join(cells)} | {'-' if math.isnan(numbers[3]) else f'{numbers[3]:.0f}'} |")
    return "\n".join(lines)


def enter(folder: Path, files: Sequence[Path] | None) -> None:
    """Put the tables between the marks of a page or of the file beside the rows, or print them without files."""
    parts = ("known", "fitted", "misfit")
    pages.put(files, {part.upper(): table(read(folder / f"calibration-{part}.csv")) for part in parts})


def main() -> None:
    """Put the tables into the page."""
    parser = parser_of(__doc__)
    parser.add_argument("--rows", type=Path, required=True)
    add_page(parser)
    options = parser.parse_args()
    enter(options.rows, options.page)


if __name__ == "__main__":
    main()
