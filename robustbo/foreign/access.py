"""Access while somebody else's recorded run is read: its folder, what the user names, and no net."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from robustbo.errors import DataError

_places: ContextVar[tuple[Path, ...] | None] = ContextVar("places", default=None)  # None: a run of the user's own


@contextmanager
def confine_access(folder: Path, allowed: Sequence[Path] = ()) -> Iterator[None]:
    """Read a recorded run: paths that it names must lie below its folder or be allowed, and nothing is downloaded.

    Args:
        folder: Of the run.
        allowed: Files and folders that the user has named.
    """
    token = _places.set(tuple(place.resolve() for place in (folder, *allowed)))
    try:
        yield
    finally:
        _places.reset(token)


def check_path(path: Path) -> None:
    """Raise a `DataError` where a recorded run names a path that it must not reach, links followed."""
    places = _places.get()
    if places is not None and not any(path.resolve().is_relative_to(place) for place in places):
        raise DataError(
            f"{path}: a recorded run must name files below its own folder, {places[0]}; where this one is meant, allow "
            f"it: --allow {path}"
        )


def check_paths(value: object) -> None:
    """Raise as `check_path` for each text in a value that is a path: it has a slash, or is the name of a file."""
    if isinstance(value, str):
        if any(mark in value for mark in "/\\~") or "\0" in value or Path(value).is_symlink() or Path(value).exists():
            check_path(Path(value.replace("\0", "\\0")).expanduser())
    elif isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            check_paths(part)


def check_download(name: str) -> None:
    """Raise a `DataError` where a recorded run is read, which connects to nothing."""
    if _places.get() is not None:
        raise DataError(
            f"{name}: is not on this machine, and reading a run downloads nothing; robustbo replay downloads it"
        )
