"""The contents of a workbook's file, read within limits; and tables in its first worksheet that has any cells."""

import io
import re
import warnings
import zipfile
from typing import Any

from robustbo import limits
from robustbo.errors import SheetError

LOST = re.compile(
    "xl/(drawings/drawing|charts|media|threadedComments|slicer|timeline|ctrlProps|activeX|embeddings|richData"
    "|queryTables|connections|model|vbaProject|metadata)"
)


def load(data: bytes, name: str, **options: Any) -> tuple[Any, list[str]]:
    """Read a workbook by openpyxl.

    Args:
        data: The file.
        name: The file's, for errors.
        options: Those of ``openpyxl.load_workbook``.

    Returns:
        The book, and what of the file openpyxl would lose if the book were saved.

    Raises:
        SheetError: If it cannot be read, is beyond a limit, or openpyxl is not there.
    """
    openpyxl = openpyxl_for(name)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as members:
            sizes = {part.filename: part.file_size for part in members.infolist()}
        if sum(sizes.values()) > limits.WORKBOOK_BYTES:
            raise SheetError(
                f"{name}: must unpack to at most {limits.WORKBOOK_BYTES:,} bytes; keep trials by themselves"
            )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            book = openpyxl.load_workbook(io.BytesIO(data), **options)
        _check_sizes(book, name)
    except SheetError:
        raise
    except Exception as error:  # of a broken file openpyxl raises anything
        advice = "save it as .xlsx, without a password"
        reason = str(error).partition("\n")[0]
        raise SheetError(f"{name}: cannot be read as a workbook; {advice} ({reason})") from None
    lost = sorted({match[1] for part in sizes if (match := LOST.match(part))})
    return book, lost + [str(warning.message) for warning in caught if "removed" in str(warning.message)]


def _check_sizes(book: Any, name: str) -> None:
    for sheet in book.worksheets:
        if sheet.max_row * sheet.max_column > limits.WORKBOOK_CELLS:
            size = f"{sheet.max_row:,} rows of {sheet.max_column:,} cells"
            must = f"a worksheet must have at most {limits.WORKBOOK_CELLS:,} cells, {sheet.title!r} has {size}"
            raise SheetError(f"{name}: {must}; delete the cells far below or beside the trials")


def table_in(data: bytes, name: str) -> dict[int, list[Any]]:
    """The rows of the first worksheet that has any, by their numbers in it; of formulas their results.

    A cell is a number, a truth, a text or a time; None is empty. Rows and last columns without any are left out.

    Raises:
        SheetError: As `load`.
    """
    book, _ = load(data, name, data_only=True)
    for sheet in book.worksheets:
        cells = {i: [*row] for i, row in enumerate(sheet.iter_rows(values_only=True), 1)}
        rows = {i: row for i, row in cells.items() if any(cell is not None for cell in row)}
        width = max((1 + at for row in rows.values() for at, cell in enumerate(row) if cell is not None), default=0)
        if rows:
            return {i: row[:width] for i, row in rows.items()}
    return {}


def openpyxl_for(name: str) -> Any:
    """The package openpyxl, which a file is read or written by.

    Raises:
        SheetError: If it is not there.
    """
    try:
        import openpyxl
    except ImportError:
        raise SheetError(
            f"{name}: workbooks need openpyxl, which comes with the extra robustbo[xlsx]; install it, or name a .csv"
        ) from None
    return openpyxl
