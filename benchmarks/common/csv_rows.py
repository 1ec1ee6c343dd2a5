"""A CSV that a benchmark goes on with: what it has is not computed again, and each row is on the disk at once."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a CSV, none where there is no file."""
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines())) if path.exists() else []


@contextmanager
def row_writer(path: Path, columns: Sequence[str]) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A way to add rows to a CSV, which is begun, folder and header, if it is not there.

    The header of the file decides the order of columns.

    Raises:
        ValueError: If the file has other columns.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.is_file()  # a null device has no header
    header = list(columns) if is_new else list(pd.read_csv(path, nrows=0))
    if set(header) != set(columns):
        raise ValueError(f"{path} must have the columns {', '.join(columns)}, got {', '.join(header)}")
    with path.open("a", encoding="utf-8") as file:
        writer = csv.DictWriter(file, header, lineterminator="\n")
        if is_new:
            writer.writeheader()

        def append(row: dict[str, Any]) -> None:
            writer.writerow(row)
            file.flush()

        yield append


def append_row(row: Mapping[str, Any], path: Path) -> None:
    """Add a row to a CSV, whose columns are those of the row if it is not there."""
    with row_writer(path, list(row)) as append:
        append(dict(row))


def record_missing(
    path: Path, key: Sequence[str], cases: Iterable[tuple[Any, ...]], run: Callable[..., Mapping[str, Any]]
) -> None:
    """Compute the rows of a CSV that are not there, one after another, each kept at once, and print them.

    Args:
        path: The CSV.
        key: The columns that say which case a row is of.
        cases: The cases, each the values of these columns and the arguments of ``run``.
        run: From a case to its row.
    """
    finished = {tuple(row) for row in pd.read_csv(path)[list(key)].to_numpy()} if path.is_file() else set()
    for case in cases:
        if case not in finished:
            row = run(*case)
            append_row(row, path)
            print(pd.DataFrame([row]).to_string(header=False, index=False), flush=True)
