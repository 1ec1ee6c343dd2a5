"""The hash that says which recorded cell may be continued, and what differs where it may not."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robustbo.errors import SpecError


def digest(cell: Mapping[str, Any]) -> str:
    """The hash of a cell's specification: a recorded cell is continued only where it agrees."""
    return hashlib.sha256(json.dumps(cell, sort_keys=True).encode()).hexdigest()[:16]


def check(path: Path, header: Mapping[str, Any], description: Mapping[str, Any]) -> None:
    """Raise a SpecError that shows the difference, if a cell was recorded with another specification."""
    if header["hash"] != digest(description):
        shown = "\n  ".join(differences(header["cell"], description))
        if not shown:
            raise SpecError(f"{path}: its hash is not that of its specification; get another copy, or delete it")
        raise SpecError(f"{path}: recorded with another spec; choose another --out, or undo this:\n  {shown}")


def differences(recorded: Mapping[str, Any], description: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Differences of two specs, a line a key."""
    lines = []
    for key in sorted({*recorded, *description}):
        old, new = recorded.get(key), description.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            lines += differences(old, new, f"{prefix}{key}.")
        elif old != new:
            lines.append(f"{prefix}{key}: recorded {old!r}, now {new!r}")
    return lines
