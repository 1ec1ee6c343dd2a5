"""The real data that some tests read: in the folder that `ROBUSTBO_DATA` names, or beside this checkout."""

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("ROBUSTBO_DATA") or Path(__file__).parents[2].parent / "shared" / "data")


@pytest.fixture
def real_data(monkeypatch):
    """The folder; the test is skipped where there is none."""
    if not FOLDER.is_dir():
        pytest.skip(f"no real data: there is no folder {FOLDER}, and ROBUSTBO_DATA names no other")
    monkeypatch.setenv("ROBUSTBO_DATA", str(FOLDER))
    return FOLDER
