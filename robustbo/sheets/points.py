"""Tables of points, such as a catalogue: the cells of a CSV file in whatever dialect, or of a workbook, as values."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

from robustbo import limits
from robustbo.foreign.reading import bytes_in
from robustbo.formulas import restore_text
from robustbo.lazy import Module
from robustbo.searchspace.parameters import Choice, Ordinal, Parameter
from robustbo.searchspace.parameters.text import number, whole_number
from robustbo.sheets.cells import number_of
from robustbo.sheets.delimited import decode
from robustbo.sheets.workbook_file import table_in
from robustbo.validation import short_list

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = Module("pandas")

DECIMAL_COMMA = re.compile(r"[-+]?[0-9]+,[0-9]+([eE][-+]?[0-9]+)?")
SEPARATORS = ",;\t"
AS_CSV = "save it again with decimal points, or with semicolons between the cells"


class TableBytes(io.BytesIO):
    """The content of a file that has been read, with its name, which says what it is."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name


def frame_of(file: IO[bytes], parameters: Mapping[str, Parameter]) -> pd.DataFrame:
    """The table in a CSV file or a workbook, its rows labelled by those of the file; only an empty cell is missing.

    A text that is guarded from being a formula is restored. A column of texts is of whole numbers, of numbers, of true
    and false, or of words: of the first that all its cells are. Where semicolons or tabs part the cells, decimals may
    have commas. Between commas a column of numbers with decimal commas is refused, unless they are known to be words.

    Args:
        file: It.
        parameters: By column, where known: of words, a cell such as 007 is one.

    Raises:
        ValueError: If it cannot be read; the message begins with its name.
    """
    decimal = "."
    if file.name.lower().endswith(".xlsx"):
        rows = table_in(bytes_in(file, limits.TABLE_BYTES), file.name)
    else:
        rows, decimal = _csv_rows(file)
    if not rows:
        raise ValueError(f"{file.name}: there must be a line with the names of the columns, the file is empty")
    header = ["" if name is None else restore_text(str(name)) for name in rows.pop(min(rows))]
    for line, row in rows.items():
        if len(row) != len(header):
            rule = f"must have {len(header)} cells, as the first line"
            raise ValueError(f"{file.name}, line {line}: {rule}, got {short_list(row)}")
    cells = zip(*rows.values(), strict=True) if rows else [()] * len(header)
    columns = [
        _column(f"{file.name}: {name}", column, decimal, is_words=name in parameters and is_words(parameters[name]))
        for name, column in zip(header, cells, strict=True)
    ]
    frame = pd.DataFrame(dict(enumerate(columns)), index=list(rows), dtype=object)
    return frame.set_axis(header, axis=1)


def _csv_rows(file: IO[bytes]) -> tuple[dict[int, list[Any]], str]:
    """The cells of a CSV file, by the lines of the file, and what separates decimals."""
    _, _, text = decode(bytes_in(file, limits.TABLE_BYTES), file.name)
    first = next((line for line in text.splitlines() if line.strip()), "")
    separator = max(SEPARATORS, key=first.count)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        rows = dict((reader.line_num, row) for row in reader if row)
    except csv.Error as error:
        raise ValueError(f"{file.name}: cannot be read as CSV: {error}") from None
    return rows, "." if separator == "," else ","


def is_words(parameter: Parameter) -> bool:
    """Return whether a parameter has words as its values, such as 007."""
    return isinstance(parameter, Choice | Ordinal) and all(isinstance(value, str) for value in parameter.values)


def _column(name: str, cells: Sequence[Any], decimal: str, *, is_words: bool) -> list[Any]:
    """A column's values; None where a cell is empty."""
    texts = ["" if cell is None else restore_text(cell) if isinstance(cell, str) else cell for cell in cells]
    if is_words:
        return [str(text) or None for text in texts]
    if not all(isinstance(text, str) for text in texts):  # a workbook's
        return [None if text == "" else text for text in texts]
    if decimal == "," and any(map(DECIMAL_COMMA.fullmatch, texts)):
        try:
            texts = [_with_point(text) for text in texts]
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    texts_there = [text for text in texts if text]
    if texts_there and all(map(DECIMAL_COMMA.fullmatch, texts_there)):
        advice = f"{AS_CSV}; or say that it is a choice of words in the file of the space"
        raise ValueError(f"{name} must have numbers with a decimal point, got {texts_there[0]!r}; {advice}")
    for kind in (whole_number, number, _flag):
        try:
            return [None if text == "" else kind(text) for text in texts]
        except (ValueError, KeyError):
            continue
    return [text or None for text in texts]


def _with_point(text: str) -> str:
    """A number of a column with decimal commas, with a decimal point; other texts as they are.

    Raises:
        ValueError: If its point may separate decimals or thousands.
    """
    grouped = number_of(text, ",") if "." in text else None
    return text.replace(",", ".") if DECIMAL_COMMA.fullmatch(text) else text if grouped is None else repr(grouped)


def _flag(text: str) -> bool:
    return {"true": True, "false": False}[text.lower()]
