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


def put(files: Sequence[Path] | None, tables: Mapping[str, str]) -> None:
    """Put each text between the marks ``<!-- NAME -->`` and ``<!-- /NAME -->`` of the one file that has them.

    The files are a page of the documentation, with the tables that it needs, and a file beside the rows, with all
    others. Without files the texts are printed.

    Raises:
        SystemExit: If the marks of a text are in no file, in two, or in disorder; no file is changed then.
    """
    if files is None:
        print("\n".join(f"{name}:\n\n{text}" for name, text in tables.items()))
        return
    written = {file: file.read_text(encoding="utf-8") for file in files}
    for place, text in tables.items():
        holders = [file for file in files if f"<!-- {place} -->\n" in written[file]]
        if len(holders) != 1:
            names = " or ".join(map(str, files))
            raise SystemExit(f"{names} must have one line <!-- {place} -->, got {len(holders)} files with one")
        written[holders[0]] = fill_marks(written[holders[0]], {place: text}, str(holders[0]))
    for file, page in written.items():
        file.write_text(page, encoding="utf-8")


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
