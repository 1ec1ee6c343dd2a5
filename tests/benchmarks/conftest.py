import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def load():
    """A benchmark script as a module."""

    folder = Path(__file__).parents[2] / "benchmarks"
    sys.path.insert(0, str(folder))  # as Python does for a script: they share a module

    def loaded(name):
        path = folder / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"benchmark_{name}", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # dataclasses and pickles look there
        spec.loader.exec_module(module)
        return module

    return loaded
