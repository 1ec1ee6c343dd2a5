"""Cells that are recorded at once, each into a file of its own: compressed JSON, there as a whole or not at all."""

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks.common.provenance import about
from robustbo.replay.cells.peer import silence

Entry = dict[str, Any]


def read_entry(file: Path) -> Entry | None:
    """Record of a cell; None where there is none yet."""
    return json.loads(gzip.decompress(file.read_bytes())) if file.exists() else None


def record_entry(
    file: Path, run: Callable[[], Entry], commit: str, libraries: Sequence[str] = ()
) -> tuple[Entry | None, str]:
    """Run a cell on one thread, and write its record, with what it was made by; None, and why, where it failed."""
    torch.set_num_threads(1)
    try:
        with silence():
            entry = run()
    except Exception as error:  # any library's: the cell is said to have failed, and the others go on
        return None, f"{type(error).__name__}: {error}"
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_bytes(gzip.compress(json.dumps(entry | {"about": about(commit, libraries)}).encode(), mtime=0))
    part.replace(file)
    return entry, ""
