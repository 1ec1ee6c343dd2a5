"""Sheets as text: CSV in whatever dialect a file has. Cells are filled in and rows added; every other byte stays."""

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import NamedTuple

from robustbo.errors import SheetError
from robustbo.formulas import NUMBER, restore_text
from robustbo.sheets.cells import THOUSANDS, cell_text
from robustbo.sheets.grid import HEADER_WITHIN, Place, is_header

MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
SEPARATORS = ",;\t|"
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?')  # a first line by which Excel is told


class TextCell(NamedTuple):
    """A cell's place in the text, and its content."""

    start: int
    end: int
    text: str


class Delimited:
    """The cells of a CSV file.

    Args:
        data: The file; empty where there is none yet.
        name: The file's, for errors.
        separator: What parts the cells of a new one.

    Attributes:
        rows: The text in each cell, a list a row, from the first line of the file on.
        labels: Where each row is in the file, for people.
        decimal: What separates decimals, until `with_decimal_of` looks at numbers: a comma in files with semicolons.
        uncomputed: Nothing: there are no formulas here.

    Raises:
        SheetError: If it cannot be read.
    """

    def __init__(self, data: bytes, name: str, separator: str = ",") -> None:
        self._name = name
        self._mark, self._encoding, self._text = decode(data, name)
        self._separator = _separator(self._text) or separator
        try:
            self._cells = list(_records(self._text, self._separator))
        except ValueError as error:
            raise SheetError(f"{name}, {error}") from None
        self.rows = [[restore_text(cell.text) for cell in row] for row in self._cells]
        lines = _lines(self._text, [row[0].start for row in self._cells])
        self.labels = [f"line {line}" for line in lines]
        self.decimal = "," if self._separator == ";" else "."
        self.uncomputed: frozenset[Place] = frozenset()

    def with_decimal_of(self, places: Iterable[Place]) -> "Delimited":
        """A sheet of these cells whose decimal mark is that of most numbers in some of them."""
        cells = [self.rows[row][column].strip() for row, column in places if column < len(self.rows[row])]
        numbers = [cell for cell in cells if NUMBER.fullmatch(cell) and not THOUSANDS.fullmatch(cell)]
        commas, points = (sum(mark in number for number in numbers) for mark in ",.")
        sheet = copy(self)
        if commas != points:
            sheet.decimal = "," if commas > points and self._separator != "," else "."
        return sheet

    def check_extensible(self) -> None:
        """Accept everything: a text file loses nothing."""

    def with_changes(self, cells: Mapping[Place, object], rows: Sequence[Sequence[object]]) -> bytes:
        """The file with values in cells that are empty, and rows at its end.

        Raises:
            SheetError: If the file's encoding has no such letters.
        """
        newline = _newline(self._text)
        edits = sorted((self._edit(place, value) for place, value in cells.items()), reverse=True)
        text = self._text
        for start, end, new in edits:
            text = text[:start] + new + text[end:]
        if rows and text and not text.endswith(("\r", "\n")):
            text += newline
        text += "".join(self._separator.join(map(self._cell, row)) + newline for row in rows)
        try:
            return self._mark + text.encode(self._encoding)
        except UnicodeEncodeError as error:
            letters = text[error.start : error.end]
            raise SheetError(f"{self._name}: cannot hold {letters!r} in its encoding; save it as UTF-8") from None

    def _edit(self, place: Place, value: object) -> tuple[int, int, str]:
        """The edit (start, end, text) that puts a value into an empty cell, or behind the end of a short row."""
        row, column = place
        cells = self._cells[row]
        if column < len(cells):
            assert not cells[column].text.strip(), f"a cell that is filled in is never written: {cells[column]}"
            return cells[column].start, cells[column].end, self._cell(value)
        end = cells[-1].end
        return end, end, self._separator * (column - len(cells) + 1) + self._cell(value)

    def _cell(self, value: object) -> str:
        text = cell_text(value, self.decimal)
        if text != text.strip() or set(text) & {self._separator, '"', "\r", "\n"}:
            return '"' + text.replace('"', '""') + '"'
        return text


def decode(data: bytes, name: str) -> tuple[bytes, str, str]:
    """The mark at the beginning, the encoding and the text of a CSV file.

    Raises:
        SheetError: If it is none.
    """
    mark, encoding = next(((m, e) for m, e in MARKS if data.startswith(m)), (b"", "utf-8"))
    for candidate in (
        (encoding,) if mark else ("utf-8", "cp1252")
    ):  # the latter is what Excel writes in western countries
        try:
            text = data[len(mark) :].decode(candidate)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return mark, candidate, text
    raise SheetError(f"{name}: cannot be read as CSV; save it as CSV in UTF-8, or as .xlsx")


def _separator(text: str) -> str | None:
    """The separator of cells: what the first line declares, or by what a line has the header's names."""
    if line := SEPARATOR_LINE.match(text):
        return line[1]
    for separator in SEPARATORS:
        try:
            for _, row in zip(range(HEADER_WITHIN), _records(text, separator), strict=False):
                if is_header([restore_text(cell.text) for cell in row]):
                    return separator
        except ValueError:
            continue
    return None


def _records(text: str, separator: str) -> Iterator[list[TextCell]]:
    """The cells of each line; within quotes a line may end."""
    plain = f"[^{re.escape(separator)}\r\n]*"
    pattern = re.compile(f'"([^"]*(?:""[^"]*)*)("?)({plain})|({plain})')
    at, row = 0, list[TextCell]()
    while at < len(text) or row:
        cell = pattern.match(text, at)
        assert cell is not None
        if cell[1] is not None and not cell[2]:
            raise ValueError(f"line {_lines(text, [at])[0]}: has a quote without an end; close it, or delete it")
        content = cell[4] if cell[1] is None else cell[1].replace('""', '"') + cell[3]
        row.append(TextCell(at, cell.end(), content))
        at = cell.end()
        if text[at : at + 1] == separator:
            at += 1
            continue
        yield row
        at, row = at + (2 if text.startswith("\r\n", at) else 1), []


def _lines(text: str, starts: Sequence[int]) -> list[int]:
    """The lines, from 1 on, at which these places are, in order."""
    numbers, line, last = [], 1, 0
    for start in starts:
        line += len(re.findall("\r\n|\r|\n", text[last:start]))
        numbers.append(line)
        last = start
    return numbers


def _newline(text: str) -> str:
    first = re.search("\r\n|\r|\n", text)
    return first[0] if first else "\n"
