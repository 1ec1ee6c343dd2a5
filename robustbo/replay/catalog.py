"""The list of all that can be run, kept for the next who asks: to make it loads all problems, which takes seconds."""

import os
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from robustbo.lazy import Module
from robustbo.replay.spec import SPEC_FILE
from robustbo.report.summary import cache
from robustbo.report.summary.tables import Rows
from robustbo.tasks.registered import PROBLEMS, REGRESSION

if TYPE_CHECKING:
    from robustbo.replay import listing
else:
    listing = Module("robustbo.replay.listing")


def catalog() -> Rows:
    """A row a name, what is chosen most first: its kind, and what it is in a line; the specs under runs/ last."""
    key = cache.key_of("catalog", os.environ.get("ROBUSTBO_DATA"), _registrations())
    if (entry := cache.read(key)) is None:
        entry = {"rows": listing.catalog()}
        if listing.is_whole(entry["rows"]):
            cache.put(key, entry)
    specs = [*Path("runs").glob(f"*/{SPEC_FILE}"), *Path("runs").glob("*.toml")]
    runs = sorted(str(path.parent if path.name == SPEC_FILE else path) for path in specs)
    return [*entry["rows"], *({"kind": "run", "name": name, "about": ""} for name in runs)]


def _registrations() -> list[tuple[str, ...]]:
    """Names and places of all problems and tasks, and digests of the packages that have them."""
    points = [point for group in (PROBLEMS, REGRESSION) for point in entry_points(group=group)]
    packages = sorted({point.value.partition(":")[0].partition(".")[0] for point in points})
    return [*sorted((point.name, point.value) for point in points), *((name, _digest(name)) for name in packages)]


def _digest(package: str) -> str:
    """Digest of a package's files; of one that cannot be found, nothing."""
    spec = find_spec(package)
    folders = [] if spec is None else spec.submodule_search_locations or [str(Path(spec.origin or "").parent)]
    return " ".join(cache.digest_of(Path(folder)) for folder in folders)
