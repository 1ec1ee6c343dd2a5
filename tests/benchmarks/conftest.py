import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def load():
    """A benchmark script as a module."""

    def loaded(name):
        path = Path(__file__).parents[2] / "benchmarks" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"benchmark_{name}", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # dataclasses and pickles look there
        spec.loader.exec_module(module)
        return module

    return loaded
