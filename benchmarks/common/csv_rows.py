"""A CSV that a benchmark goes on with: what it has is not computed again, and each row is on the disk at once."""

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a CSV, none where there is no file."""
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines())) if path.exists() else []


@contextmanager
def row_writer(path: Path, columns: Sequence[str]) -> Iterator[Callable[[dict[str, Any]], None]]:
    """A way to add rows to a CSV, which is begun, folder and header, if it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    with path.open("a", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        if is_new:
            writer.writeheader()

        def append(row: dict[str, Any]) -> None:
            writer.writerow(row)
            file.flush()

        yield append
