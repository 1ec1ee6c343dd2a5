"""Sheets as workbooks (.xlsx), through openpyxl. What openpyxl would lose is never saved over."""

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from robustbo.errors import SheetError
from robustbo.searchspace.labels import parts
from robustbo.sheets.grid import Place, header_of
from robustbo.sheets.workbook_file import load, openpyxl_for

NEW_TITLE = "trials"
DECIMALS = 10  # of a percentage: beyond are errors of rounding


class Workbook:
    """The cells of the worksheet that has a column "trial"; the others are left alone.

    Args:
        data: The file; empty where there is none yet.
        name: The file's, for errors.

    Attributes:
        rows: The text in each cell, a list a row; of a formula its result.
        labels: Where each row is, for people.
        decimal: Numbers are numbers here.
        uncomputed: The cells whose formulas have no result in the file.

    Raises:
        SheetError: If it cannot be read, or openpyxl is not there.
    """

    decimal = "."

    def __init__(self, data: bytes, name: str) -> None:
        self._name, self._data = name, data
        self._lost: list[str] = []
        if not data:
            self._book = openpyxl_for(name).Workbook()
            self._sheet = self._book.active
            self._sheet.title = NEW_TITLE
            self.rows: list[list[str]] = []
            self.uncomputed: frozenset[Place] = frozenset()
        else:
            self._book, self._lost = load(data, name, rich_text=True)
            results, _ = load(data, name, data_only=True)
            self._sheet, self.rows = self._with_trials(results)
            self.uncomputed = frozenset(
                (cell.row - 1, cell.column - 1)
                for row in self._sheet.iter_rows()
                for cell in row
                if cell.data_type == "f" and results[self._sheet.title].cell(cell.row, cell.column).value is None
            )
        end = 1 + max((row for row, _ in self.uncomputed), default=-1)  # below all values, too
        self.rows += [[""] * self._sheet.max_column for _ in range(len(self.rows), end)]
        self.labels = [f"row {index + 1}" for index in range(len(self.rows))]

    def _with_trials(self, results: Any) -> tuple[Any, list[list[str]]]:
        """The worksheet that has them, the first if none has, and its cells."""
        first = None
        for sheet in results.worksheets:
            rows = [[_text(cell) for cell in row] for row in sheet.iter_rows(values_only=True)]
            while rows and not any(rows[-1]):  # only formats
                rows.pop()
            first = first or (self._book[sheet.title], rows)
            if (header := header_of(rows)) is not None:
                _write_percents(sheet, rows, header)
                return self._book[sheet.title], rows
        if first is None:
            raise SheetError(f"{self._name}: has no worksheet of cells")
        return first

    def with_decimal_of(self, places: Iterable[Place]) -> "Workbook":
        """Return itself: numbers are numbers here."""
        return self

    def check_extensible(self) -> None:
        """Raise a `SheetError` where something else in the file would be lost by saving it."""
        if self._lost:
            raise SheetError(
                f"{self._name}: has content that robustbo would lose ({', '.join(self._lost)}); keep the trials in "
                "a separate workbook, or in a .csv file"
            )

    def with_changes(self, cells: Mapping[Place, object], rows: Sequence[Sequence[object]]) -> bytes:
        """The file with values in cells that are empty, and rows below all others.

        Raises:
            SheetError: If something else in the file would be lost, or a cell cannot have its value.
        """
        self.check_extensible()
        last = max((c.row for row in self._sheet.iter_rows() for c in row if c.value is not None), default=0)
        below = {(last + i, column): value for i, row in enumerate(rows) for column, value in enumerate(row)}
        for (row, column), value in {**cells, **below}.items():
            if value is not None:
                self._put(self._sheet.cell(row + 1, column + 1), value)
        file = io.BytesIO()
        self._book.save(file)
        return file.getvalue()

    def _put(self, cell: Any, value: object) -> None:
        assert cell.value is None or not str(cell.value).strip(), f"a cell that is filled in is never written: {cell}"
        try:
            cell.value = value
        except Exception as error:  # part of a merged cell; a text with control characters
            raise SheetError(f"{self._name}: cannot have {value!r} in {cell.coordinate}: {error}") from None
        if isinstance(value, str):  # a text, whatever it begins with
            cell.data_type = "s"
            cell.quotePrefix = True


def _write_percents(sheet: Any, rows: list[list[str]], header: int) -> None:
    """Write numbers that are shown as percentages like that, in columns of %: 45 % is 0.45 in a workbook."""
    in_percent = [column for column, label in enumerate(rows[header]) if parts(label)[1] == "%"]
    for place, row in enumerate(rows[header + 1 :], header + 1):
        for column in in_percent:
            cell = sheet.cell(place + 1, column + 1)
            if isinstance(cell.value, int | float) and "%" in cell.number_format:
                row[column] = f"{round(100 * cell.value, DECIMALS)!r}%"


def _text(cell: object) -> str:
    """The text of a cell."""
    return "" if cell is None else repr(cell) if isinstance(cell, float) else str(cell)
