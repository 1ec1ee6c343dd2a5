"""Tables in Markdown that benchmarks write into pages of the documentation, between marks that name them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows with the same keys as a table."""
    if not rows:
        return "nothing is recorded\n"
    return table([*rows[0]], [[str(value) for value in row.values()] for row in rows])


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table of cells."""
    return "".join(f"| {' | '.join(line)} |\n" for line in (header, ["---"] * len(header), *lines))


def put(page: Path | None, tables: Mapping[str, str]) -> None:
    """Put texts between the marks ``<!-- NAME -->`` and ``<!-- /NAME -->`` of a page; print them where there is none.

    Raises:
        SystemExit: If the page lacks a mark, or has one twice.
    """
    if page is None:
        print("\n".join(f"{name}:\n\n{text}" for name, text in tables.items()))
        return
    page.write_text(fill_marks(page.read_text(encoding="utf-8"), tables, str(page)), encoding="utf-8")


def fill_marks(written: str, tables: Mapping[str, str], name: str = "the page") -> str:
    """Put texts between the marks of a page's text.

    Raises:
        SystemExit: If it lacks a mark, or has one twice; the name says whose.
    """
    for place, text in tables.items():
        begin, end = f"<!-- {place} -->\n", f"<!-- /{place} -->"
        if written.count(begin) != 1 or written.count(end) != 1 or written.index(end) < written.index(begin):
            raise SystemExit(f"{name} must have one line {begin.strip()} and one line {end} after it")
        before, after = written.split(begin)[0], written.split(end)[1]
        written = f"{before}{begin}\n{text.strip()}\n\n{end}{after}"
    return written
