"""A recorded run, read."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from robustbo import limits
from robustbo.errors import FileError, SpecError
from robustbo.foreign.access import confine_access as reading_a_record
from robustbo.foreign.tables import check_columns
from robustbo.replay.cells.cell import CELLS
from robustbo.replay.kinds import kind_of, read_cells, rows_of
from robustbo.replay.output.report import ROWS, rows_file, rows_in
from robustbo.replay.sections.section import Loaded
from robustbo.replay.spec import reading
from robustbo.replay.spec.reading import AnySpec


def load(run: Path, allowed: Sequence[Path] = ()) -> Loaded:
    """A recorded run: a folder with rows or cells in it and a spec in it or beside it, or that spec.

    Args:
        run: It.
        allowed: Files and folders that it may name beside those below the folder of its spec.

    Raises:
        SpecError: If there is no spec, or nothing is recorded.
        FileError: If its rows cannot be read.
        DataError: If it names a file that is not allowed.
    """
    path = reading.find(run)
    folder = path.parent if path.name == reading.SPEC_FILE else path.with_suffix("")
    with reading_a_record(path.parent, allowed):
        spec = reading.load(run, is_recorded=True)
        if (folder / CELLS).is_dir():
            rows = rows_of(read_cells(folder))
        elif (written := rows_file(folder)) is not None:
            rows = _rows_in(written, spec)
        else:
            hint = "replay makes it"
            raise SpecError(f"{folder}: expected a recorded run ({ROWS} or {CELLS}/), found none; robustbo {hint}")
        return Loaded(folder.name, path, spec, kind_of(spec).tables(rows, spec))


def _rows_in(path: Path, spec: AnySpec) -> pd.DataFrame:
    """The rows in a file of somebody else's, of the columns and kinds that `replay` writes."""
    rows, kind = rows_in(path), kind_of(spec)
    check_columns(rows, kind.columns(rows), str(path))
    if "trial" in rows and rows["replication"].nunique() * rows["trial"].nunique() > limits.TABLE_CELLS:
        raise FileError(f"{path}: must have at most {limits.TABLE_CELLS} pairs of replication and trial, and has more")
    return rows
