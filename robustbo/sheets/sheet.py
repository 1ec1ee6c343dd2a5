"""A sheet of a study: a file, its cells, and which of its columns is what."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from robustbo.errors import SheetError
from robustbo.searchspace.measured_columns import COUNT
from robustbo.sheets import file
from robustbo.sheets.columns import Columns, Names, build_columns, columns_of, names_of, row_of
from robustbo.sheets.delimited import Delimited
from robustbo.sheets.filled import FilledRow, rows_with_values
from robustbo.sheets.grid import Grid, missing_column_error
from robustbo.sheets.points import is_words
from robustbo.sheets.workbook import Workbook
from robustbo.trials.history import Trial
from robustbo.trials.settings import Settings

SEPARATORS = {".csv": ",", ".txt": ",", ".tsv": "\t"}  # of new ones


@dataclass(frozen=True)
class Sheet:
    """A sheet as it was read.

    Attributes:
        path: The file.
        before: What was in it; None where there was none.
        grid: Its cells.
        columns: Which is what.
        names: What they are called.
        is_empty: Whether it has no header yet.
    """

    path: Path
    before: bytes | None
    grid: Grid
    columns: Columns
    names: Names
    is_empty: bool

    def check_writable(self) -> None:
        """Raise a `SheetError` where it cannot be written, as far as that can be known before."""
        file.check_free(self.path)
        self.grid.check_extensible()

    def check_whole(self, names: Iterable[str], purpose: str) -> None:
        """Raise a `SheetError` where one of these parameters has no column, for what it must have one."""
        for name in names:
            if name not in self.columns.parameters:
                error = missing_column_error(
                    self.columns.names, self.columns.places, self.names.parameters[name], purpose
                )
                raise SheetError(f"{self.path}: {error}")

    def read_rows(self, errors: list[str]) -> list[FilledRow]:
        """The rows with something filled in; see `robustbo.sheets.filled.rows_with_values`."""
        return rows_with_values(self.grid, self.columns, errors)

    def notes(self) -> list[str]:
        """Sentences on how the sheet is read, where that may surprise people, and on what waits in it."""
        advice = "if it says how many measurements each value is the mean of, rename it to"
        numbering = f"the column {COUNT!r} is taken for a numbering of the rows, and kept as a label; {advice}"
        names = self.names.explicit_counts if self.columns.has_numbering else []
        return [f"{numbering} {name!r}" for name in names] + self.pending_formulas()

    def pending_formulas(self) -> list[str]:
        """The rows whose values are formulas without a result, for people."""
        values = self.columns.values.values()
        rows = sorted({row for row, column in self.grid.uncomputed if column in values})
        advice = "open it in the spreadsheet program and save it"
        return [f"{self.grid.labels[row]}: waits for the result of its formula; {advice}" for row in rows]

    def add_rows(self, numbers: Mapping[int, int], trials: Sequence[Trial]) -> bool:
        """Write trials' numbers into rows that have none, and rows below all others.

        Returns:
            False, and nothing is done, where the file is not as it was read any more.

        Raises:
            SheetError: If it cannot be written, or would lose something.
        """
        cells = {(row, self.columns.trial): number for row, number in numbers.items()}
        rows: list[Sequence[object]] = [row_of(trial, self.columns) for trial in trials]
        if self.is_empty:
            rows = [self.names.header, *rows]
        if not cells and not rows:
            return True
        return file.replace(self.path, self.before, self.grid.with_changes(cells, rows))


def open_sheet(path: Path, settings: Settings, value: str | None = None) -> Sheet:
    """A study's sheet, or an empty one where there is no such file.

    Args:
        path: The file.
        settings: Those of the study.
        value: The column of values, where there is one outcome; by default, its name and unit.

    Raises:
        SheetError: If it cannot be read, or lacks a column.
    """
    return read_sheet(path, file.read(path), settings, value)


def read_sheet(path: Path, before: bytes | None, settings: Settings, value: str | None = None) -> Sheet:
    """A study's sheet in the contents of a file, which need not be there; raises as `open_sheet`."""
    grid = _grid(path, before or b"")
    is_empty = not any(cell.strip() for row in grid.rows for cell in row)
    names = names_of(settings.space.names, settings.quantities, value, has_sources=bool(settings.sources))
    try:
        columns = (
            build_columns(len(grid.rows), names.header, names, _positions(names))
            if is_empty
            else columns_of(grid, names)
        )
    except SheetError as error:
        raise SheetError(f"{path}: {error}") from None
    is_of_words = {name: is_words(parameter) for name, parameter in settings.space.parameters}
    of_numbers = [at for name, at in columns.parameters.items() if not is_of_words[name]]
    of_numbers += [*columns.values.values(), *columns.sds.values()]
    grid = grid.with_decimal_of((row, at) for row in range(columns.header + 1, len(grid.rows)) for at in of_numbers)
    return Sheet(path, before, grid, columns, names, is_empty)


def _positions(names: Names) -> dict[str, int]:
    return {name: at for at, name in enumerate(names.header)}


def _grid(path: Path, data: bytes) -> Grid:
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        return Workbook(data, str(path))
    if suffix in SEPARATORS:
        return Delimited(data, str(path), SEPARATORS[suffix])
    raise SheetError(f"{path}: a sheet must be one of {[*SEPARATORS, '.xlsx']}, got {path.suffix!r}; save it as such")


def new_sheet(name: str, settings: Settings, trials: Sequence[Trial]) -> bytes:
    """The contents of a new sheet with a row for each of some trials, for people to fill in."""
    sheet = read_sheet(Path(name), None, settings)
    return sheet.grid.with_changes({}, [sheet.names.header, *(row_of(trial, sheet.columns) for trial in trials)])
