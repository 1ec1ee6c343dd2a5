"""Data files: from a folder of the user's, from a cache, or from where they are published.

`ROBUSTBO_DATA` may name a folder, which is looked at first. A file that is not there is downloaded once into a cache.
Every file is checked by the digest of its content, whatever the compression or format it came in; nothing is unpickled.
"""

import hashlib
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from filelock import FileLock

from robustbo.errors import DataError, FileError
from robustbo.foreign import access
from robustbo_problems.formats import Arrays

try:
    import pooch
except ImportError:  # of the extra "problems"
    pooch = None

FOLDER = "ROBUSTBO_DATA"


class DataSource(NamedTuple):
    """The place of a data file, and the digest of its content.

    Attributes:
        files: Names under which it may lie in a folder; a download gets the first.
        url: Where it is published, or None where it is not.
        digest: SHA-256 of its content, see `digest`.
        read: From a file to arrays.
        to_digest: From the arrays to those that are digested.
    """

    files: tuple[str, ...]
    url: str | None
    digest: str
    read: Callable[[Path], Arrays]
    to_digest: Callable[[Arrays], Arrays] = lambda arrays: arrays


def digest(arrays: Arrays) -> str:
    """SHA-256 of the arrays' shapes and bytes, one after another."""
    parts = [str(array.shape).encode() + np.ascontiguousarray(array).tobytes() for array in arrays]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def fetch(source: DataSource) -> Arrays:
    """The arrays of a source: from the user's folder, else from the cache, else downloaded into it.

    Raises:
        DataError: If they are nowhere, cannot be read, or are not what they should be.
    """
    store = cache()
    path = _find_file(source, [*folder(), store])
    return _download(source, store) if path is None else _read_and_check(source, path)


def folder() -> list[Path]:
    """The user's folder, as a list of one; empty without.

    Raises:
        DataError: If it is none.
    """
    if not (named := os.environ.get(FOLDER)):
        return []
    if not (path := Path(named).expanduser()).is_dir():
        raise DataError(f"{FOLDER} must name a folder, got {named}")
    return [path]


def cache() -> Path:
    """The folder of downloads."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "robustbo"


def _find_file(source: DataSource, places: list[Path]) -> Path | None:
    """The first of the places' files that is one of the source's."""
    for path in (place / name for place in places for name in source.files):
        try:
            if stat.S_ISREG(path.stat().st_mode):
                return path
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise DataError(f"{path}: cannot be looked at ({error}); check the folder, or {FOLDER}") from error
    return None


def _read_and_check(source: DataSource, path: Path) -> Arrays:
    try:
        arrays = source.read(path)
    except FileError as error:
        raise DataError(f"{error}; {_by_hand(source)}") from None
    except Exception as error:  # whatever a reader makes of a file that is not what it should be
        raise DataError(f"{path}: cannot be read, perhaps cut short ({error}); {_by_hand(source)}") from error
    actual = digest(source.to_digest(arrays))
    if actual != source.digest or not all(np.isfinite(array).all() for array in arrays):
        raise DataError(f"{path}: its content must have the SHA-256 {source.digest}, got {actual}; {_by_hand(source)}")
    for array in arrays:
        array.flags.writeable = False  # they are kept, and shared by all who ask
    return arrays


def _download(source: DataSource, store: Path) -> Arrays:
    """Download a source, check it, and only then put it into the cache; one process at a time."""
    access.check_download(source.files[0])
    if source.url is None:
        raise DataError(f"{source.files[0]}: not in {_places(store)}, and not published; {_by_hand(source)}")
    if pooch is None:
        raise DataError(f"{source.files[0]}: not in {_places(store)}; to download it, pip install 'robustbo[problems]'")
    name, arriving = source.files[0], store / "arriving"
    try:
        store.mkdir(parents=True, exist_ok=True)
        with FileLock(store / ".lock"):
            if (path := _find_file(source, [store])) is not None:  # another process was faster
                return _read_and_check(source, path)
            shutil.rmtree(arriving, ignore_errors=True)  # of one that was killed
            try:
                pooch.get_logger().setLevel("WARNING")  # of what it says the progress bar is enough
                downloader = pooch.HTTPDownloader(progressbar=True, timeout=30)
                path = Path(pooch.retrieve(source.url, None, fname=name, path=arriving, downloader=downloader))
                arrays = _read_and_check(source, path)
                path.replace(store / name)
                return arrays
            finally:
                shutil.rmtree(arriving, ignore_errors=True)
    except (OSError, ValueError) as error:  # requests' errors are among the first
        raise DataError(f"{name}: not in {_places(store)}, and not to be had ({error}); {_by_hand(source)}") from error


def _places(store: Path) -> str:
    folder = os.environ.get(FOLDER)
    return f"{folder} ({FOLDER}) nor {store}" if folder else f"{store} ({FOLDER} names no other folder)"


def _by_hand(source: DataSource) -> str:
    """Advice for a user who must get the file by hand."""
    where = f"fetch {source.url} by hand" if source.url else "ask whoever has it"
    return f"{where}, name it {source.files[0]}, and put it into {os.environ.get(FOLDER) or cache()}"
