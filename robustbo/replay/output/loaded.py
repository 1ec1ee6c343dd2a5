"""A recorded run, read."""

from pathlib import Path

from robustbo.errors import SpecError
from robustbo.replay.cells.cell import CELLS
from robustbo.replay.kinds import kind_of, recorded, rows_of
from robustbo.replay.output.report import ROWS, recorded_rows, rows_in
from robustbo.replay.sections.section import Loaded
from robustbo.replay.spec import reading


def load(run: Path) -> Loaded:
    """A recorded run: a folder with rows or cells in it and a spec in it or beside it, or that spec.

    Raises:
        SpecError: If there is no spec, or nothing is recorded.
    """
    path = reading.find(run)
    folder = path.parent if path.name == reading.SPEC_FILE else path.with_suffix("")
    if (folder / CELLS).is_dir():
        rows = rows_of(recorded(folder))
    elif (written := recorded_rows(folder)) is not None:
        rows = rows_in(written)
    else:
        raise SpecError(f"{folder}: expected a recorded run ({ROWS} or {CELLS}/), found none; robustbo replay makes it")
    spec = reading.load(run, is_recorded=True)
    return Loaded(folder.name, path, spec, kind_of(spec).tables(rows, spec))
