"""Recompute recorded runs from their seeds and compare bit for bit: their cells, and the tables that follow from them.

Of an optimization's own journal, which has no truth beside it, the asks are recomputed.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from robustbo.errors import JournalError, ReplayMismatch, RobustBOError
from robustbo.replay import kinds
from robustbo.replay.cells.cell import Cell
from robustbo.replay.check.asks import salvaged, verify_journal
from robustbo.replay.output.report import recorded_rows, rows_text, text_of
from robustbo.replay.spec.reading import SPEC_FILE, load
from robustbo.trials.storage.places import is_address, shown

THE_SAME = "the same, bit for bit"
SPEC, JOURNAL = ".toml", ".jsonl"


def is_journal(place: str) -> bool:
    """Whether it is the journal of an optimization, and no recorded run."""
    path = Path(place)
    return is_address(place) or path.suffix == JOURNAL or (path.is_file() and path.suffix != SPEC)


def verdicts(places: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Verify recorded runs and journals: a row a cell or journal as soon as it is done, and one a folder.

    Raises:
        SpecError: If a folder has no cells; before any is verified.
        JournalError: If there is no such journal; as soon.
    """
    for place in filter(is_journal, places):
        if not (is_address(place) or Path(place).exists()):
            raise JournalError(f"{place}: there is no such journal")
    found = {place: () if is_journal(place) else kinds.recorded(Path(place)) for place in places}
    for place, its_cells in found.items():
        if is_journal(place):
            row: dict[str, Any] = {"run": shown(place), "method": "(journal)", "replication": None}
            found_here = row | _verdict(verify_journal, place)
            if found_here["verdict"] == THE_SAME and (count := salvaged(place)):
                found_here["verdict"] = f"{THE_SAME}; {count} salvaged asks not checked"
            yield found_here
            continue
        for cell in its_cells:
            row = {"run": place, "method": cell.method, "replication": cell.replication}
            yield row | _verdict(verify, cell)
        row = {"run": place, "method": "(cells and rows)", "replication": None}
        yield row | _verdict(verify_folder, Path(place), its_cells)


def _verdict(check: Callable[..., int | None], *arguments: Any) -> dict[str, Any]:
    try:
        return {"asks": check(*arguments), "verdict": THE_SAME}
    except RobustBOError as error:
        return {"asks": None, "verdict": str(error)}


def verify(cell: Cell) -> int:
    """Recompute a recorded cell, event by event.

    Returns:
        The number of asks, or fits, that were recomputed and are the same to the last bit.

    Raises:
        ReplayMismatch: At the first difference; says where it is, both values, and which libraries have changed.
        JournalError: If the record is damaged.
    """
    return kinds.kind_of(cell).check(cell)


def verify_folder(folder: Path, found: Sequence[Cell]) -> None:
    """Compare what lies in a folder beside its cells: all the cells of its spec, and the rows that follow from them.

    Raises:
        ReplayMismatch: If a cell is missing, or the rows are not those of the cells.
    """
    if (folder / SPEC_FILE).exists():
        there = {(cell.method, cell.replication): len(cell.entries()) for cell in found}
        spec = load(folder, is_recorded=True)
        for cell in kinds.kind_of(spec).cells(spec, folder):
            count = there.get((cell.method, cell.replication), 0)
            if count < spec.trials:
                where = f"{cell.method}, replication {cell.replication}"
                raise ReplayMismatch(f"{where}: {SPEC_FILE} asks for {spec.trials} trials, recorded are {count}")
    path = recorded_rows(folder)
    if path is not None and (written := text_of(path)) != (made := rows_text(kinds.rows_of(found))):
        lines = zip_longest(made.split("\n"), written.split("\n"), fillvalue="nothing")
        number, (must, is_there) = next((n, pair) for n, pair in enumerate(lines, start=1) if pair[0] != pair[1])
        raise ReplayMismatch(f"{path}, line {number}: must be {must!r}, as the cells say, and is {is_there!r}")
