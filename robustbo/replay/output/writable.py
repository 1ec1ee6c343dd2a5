"""Paths of output files: their folders are made, and no journal is written over."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from robustbo.errors import RobustBOError
from robustbo.trials.storage.places import check_file
from robustbo.trials.storage.reading import is_journal


@contextmanager
def writable(path: Path) -> Iterator[Path]:
    """Make the folder of a file that is to be written; where one cannot be written, that is told in a line.

    Raises:
        RobustBOError: If it cannot be; if there is a journal, which nothing is written over; or if it is an address.
    """
    check_file(path)
    try:
        if path.is_file() and is_journal(path):
            raise RobustBOError(
                f"{path}: is a journal, and robustbo never overwrites a journal; name another file with --out"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        yield path
    except OSError as error:
        raise RobustBOError(f"{error.filename or path}: cannot be written: {error.strerror or error}") from None
