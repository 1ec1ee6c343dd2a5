import importlib
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2]))  # where `benchmarks` lies, which is not installed


@pytest.fixture(scope="session")
def load():
    """A benchmark as a module, by its folder and name: some need libraries that are no extra of ours."""
    return lambda name: importlib.import_module(f"benchmarks.{name}")
