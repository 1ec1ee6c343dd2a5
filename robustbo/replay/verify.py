"""Recompute recorded runs from their seeds and compare: their cells, and the tables that follow from them.

For an optimization's own journal, which has no truth beside it, the asks are recomputed. Each decision is made again
from the recorded history, not from what was recomputed before it, so that one which differs changes no other. The fits
that are kept meanwhile, and those that others begin at, are fits to recorded values.

There are four verdicts: the same to the last bit; the same to rounding, as on another processor; another point, and as
good; different.
"""

import csv
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from robustbo import limits
from robustbo.errors import DataError, FileError, JournalError, ReplayMismatch, RobustBOError, SpecError
from robustbo.foreign.access import confine_access
from robustbo.foreign.reading import text_of
from robustbo.loop.observations.units import center_and_scale
from robustbo.replay import kinds
from robustbo.replay.cells.cell import Cell
from robustbo.replay.check.asks import num_salvaged, verify_journal
from robustbo.replay.check.comparison import ACCEPTED, Agreement, Match, apart
from robustbo.replay.check.rounding import Scales, values
from robustbo.replay.output.report import rows_file, rows_text
from robustbo.replay.spec.reading import SPEC_FILE, load
from robustbo.trials.storage.places import display_name, is_address
from robustbo.trials.storage.reading import no_journal

SPEC, JOURNAL = ".toml", ".jsonl"


def is_journal(place: str) -> bool:
    """Return whether a place is the journal of an optimization, and no recorded run."""
    path = Path(place)
    return is_address(place) or path.suffix == JOURNAL or (path.is_file() and path.suffix != SPEC)


def verdicts(places: Sequence[str], allowed: Sequence[Path] = ()) -> Iterator[dict[str, Any]]:
    """Verify recorded runs and journals: a row a cell or journal as soon as it is done, and one a folder.

    Args:
        places: Their folders and files.
        allowed: Files and folders that recorded runs may read beside those below their own.

    Raises:
        SpecError: If a folder has no cells; before any is verified.
        JournalError: If there is no such journal; as soon.
    """
    for place in filter(is_journal, places):
        if not (is_address(place) or Path(place).exists()):
            raise no_journal(place)
    cells_by_place = {place: () if is_journal(place) else _cells(Path(place), allowed) for place in places}
    for place, its_cells in cells_by_place.items():
        if is_journal(place):
            row: dict[str, Any] = {"run": display_name(place), "method": "(journal)", "replication": None}
            found_here = row | _verdict(verify_journal, place)
            if found_here["agreement"] in ACCEPTED and (count := num_salvaged(place)):
                found_here["verdict"] += f"; {count} salvaged asks not checked"
            yield found_here
            continue
        for cell in its_cells:
            row = {"run": place, "method": cell.method, "replication": cell.replication}
            with confine_access(Path(place), allowed):
                row |= _verdict(verify, cell)
            yield row
        row = {"run": place, "method": "(cells and rows)", "replication": None}
        with confine_access(Path(place), allowed):
            row |= _verdict(verify_folder, Path(place), its_cells) | {"asks": None}
        yield row


def _cells(folder: Path, allowed: Sequence[Path]) -> Sequence[Cell]:
    with confine_access(folder, allowed):
        return kinds.read_cells(folder)


def _verdict(check: Callable[..., Agreement], *arguments: Any) -> dict[str, Any]:
    try:
        agreement = check(*arguments)
    except (JournalError, SpecError, DataError, FileError) as error:
        return {"asks": None, "agreement": Match.UNREADABLE.value, "verdict": str(error)}
    except RobustBOError as error:
        return {"asks": None, "agreement": Match.DIFFERENT.value, "verdict": str(error)}
    return {"asks": agreement.count, "agreement": agreement.verdict.value, "verdict": str(agreement)}


def verify(cell: Cell, *, to_the_end: bool = False) -> Agreement:
    """Recompute a recorded cell, event by event.

    Args:
        cell: Which one.
        to_the_end: Whether to go on after a difference, and count.

    Returns:
        How many asks, or fits, were recomputed and are the same to the last bit, or to rounding.

    Raises:
        ReplayMismatch: At the first difference; says where it is, both values, and which libraries have changed.
        JournalError: If the record is damaged.
    """
    return kinds.kind_of(cell).check(cell, to_the_end=to_the_end)


def verify_folder(folder: Path, cells: Sequence[Cell]) -> Agreement:
    """Compare what lies in a folder beside its cells: all the cells of its spec, and the rows that follow from them.

    Raises:
        ReplayMismatch: If a cell is missing, or the rows are not those of the cells.
    """
    if (folder / SPEC_FILE).exists():
        counts = {(cell.method, cell.replication): len(cell.entries()) for cell in cells}
        spec = load(folder, is_recorded=True)
        for cell in kinds.kind_of(spec).cells(spec, folder):
            count = counts.get((cell.method, cell.replication), 0)
            if count < spec.trials:
                where = f"{cell.method}, replication {cell.replication}"
                raise ReplayMismatch(f"{where}: {SPEC_FILE} asks for {spec.trials} trials, recorded are {count}")
    path = rows_file(folder)
    if path is None or (written := text_of(path, limits.TABLE_BYTES)) == (
        recomputed := rows_text(kinds.rows_of(cells))
    ):
        return Agreement()
    return _rows_to_rounding(path, written.split("\n"), recomputed.split("\n"))


def _rows_to_rounding(path: Path, written: Sequence[str], recomputed: Sequence[str]) -> Agreement:
    """Compare rows, some of which differ, as numbers."""
    rows = [dict(enumerate(map(_read, row))) for row in csv.reader(recomputed)]  # whose spread nobody can have changed
    columns = {i: [x for row in rows if isinstance(x := row.get(i), float) and math.isfinite(x)] for i in rows[0]}
    scales: Scales = {str(i): center_and_scale(tuple(column))[1] for i, column in columns.items() if column}
    largest = (0.0, "")
    for number, (must, is_there) in enumerate(zip_longest(recomputed, written, fillvalue="nothing"), start=1):
        if must == is_there:
            continue
        before, now = (dict(enumerate(map(_read, next(csv.reader([text]), [])))) for text in (is_there, must))
        off = apart(before, now, values(scales))
        if off is not None and off.share > 1:
            raise ReplayMismatch(f"{path}, line {number}: must be {must!r}, as the cells say, and is {is_there!r}")
        largest = largest if off is None else max(largest, (off.share, f"{off.text}, {path}, line {number}"))
    return Agreement(verdict=Match.ROUNDING, largest=largest[1])


def _read(text: str) -> str | float:
    """Value of a table's cell, a number if it is one."""
    try:
        return text if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return text
