"""Overviews of journals as they are now, kept for the next who looks: in a folder of the user's that may be deleted.

So is whatever else follows from the code alone, and takes seconds: the list of all that can be run.

An overview follows from the journal and the code alone, except for who is still there; making it again takes seconds.
With a journal of 100 values in three dimensions `robustbo show` takes 6.9 s of a processor without the cache, of which
3.9 s are imports (torch above all), which a faster fit would not save; with it, 0.4 s (medians of four runs each, on a
busy machine). That is why there is a folder with a format of its own: whoever looks again and again, as `--watch`, a
prompt or a script does, should not wait for a fit that says the same.
"""

import hashlib
import json
import os
import tempfile
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from robustbo.trials import worker
from robustbo.trials.storage.places import Place, contents

COUNT = 64  # overviews kept, the last used
CODE = Path(__file__).parents[2]  # the package
BENEATH = ("torch", "gpytorch", "botorch", "linear_operator", "numpy", "scipy")


def folder() -> Path:
    """The folder of overviews: ``robustbo/overviews`` in the user's folder of what may be deleted (XDG_CACHE_HOME).

    Raises:
        RuntimeError: If the user has no home.
    """
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "robustbo" / "overviews"


def key(place: Place) -> str | None:
    """The key of a journal as it is now and of the code that looks at it; None while a line is torn.

    Raises:
        JournalError: If it cannot be read.
    """
    journal = contents(place)
    if journal.torn:
        return None
    return key_of(journal.header, journal.events)


def key_of(*parts: Any) -> str:
    """The key of what follows from these parts, as JSON has them, and from the code that computes it."""
    return _digest(json.dumps([*parts, *_code()]))


@cache
def _code() -> tuple[str, ...]:
    """Digest of this code, versions of the libraries beneath it, and the machine, on which rounding depends."""
    return digest_of(CODE), *map(_version, BENEATH), os.uname().nodename if hasattr(os, "uname") else ""


def digest_of(package: Path) -> str:
    """Digest of the sizes and times of a package's modules."""
    files = [(path.relative_to(package).as_posix(), path.stat()) for path in sorted(package.rglob("*.py"))]
    return _digest(repr([(name, stat.st_size, stat.st_mtime_ns) for name, stat in files]))


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def get(key: str) -> dict[str, Any] | None:
    """The overview kept under a key, with those who have ended since; None where there is none that can be read."""
    if (overview := read(key)) is None:
        return None
    for trial in overview["pending"]:
        trial["has_ended"] = trial["asked_by"] is not None and worker.is_gone(trial["asked_by"])
    return overview


def read(key: str) -> dict[str, Any] | None:
    """The entry under a key, as it was put there; None where there is nothing that can be read."""
    try:
        path = folder() / f"{key}.json"
        text, _, digest = path.read_text(encoding="utf-8").rpartition("\n")
        if _digest(text) != digest:  # it was changed, or cut short
            return None
        entry: dict[str, Any] = json.loads(text)
        path.touch()
    except (OSError, RuntimeError, ValueError):
        return None
    return entry


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def put(key: str, overview: dict[str, Any]) -> None:
    """Keep an overview, or another entry, for this user's eyes alone; where that cannot be, nothing is kept."""
    try:
        folder().mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=folder(), suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            text = json.dumps(overview)
            file.write(f"{text}\n{_digest(text)}")
        Path(name).replace(folder() / f"{key}.json")
        for path in sorted(folder().iterdir(), key=lambda path: path.stat().st_mtime)[:-COUNT]:
            path.unlink(missing_ok=True)
    except (OSError, RuntimeError):
        return
