"""A problem of a user's own: the how-to page's example as a package, installed for real and replayed."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "own-problem.md").read_text(encoding="utf-8")
PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "oven-problem"
version = "1.0"

"""
RUN = """
problem = "oven"
methods = ["sobol", "standard"]
trials = 12
num_initial = 6
replications = 1
seed = 1

[corruption]
kind = "door-open"
probability = 0.4
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plant")
    (code,) = [block for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "Problem(" in block]
    (entry_points,) = re.findall(r"^\[project\.entry-points.*?\n\n", PAGE, re.DOTALL | re.MULTILINE)
    (folder / "source").mkdir()
    (folder / "source" / "oven_problem.py").write_text(code)
    (folder / "source" / "pyproject.toml").write_text(PROJECT + entry_points)
    (folder / "run.toml").write_text(RUN)
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    command = ["-m", "pip", "install", *options, "--target", str(folder / "site"), str(folder / "source")]
    run(command, folder)
    return folder


def run(command, folder):
    environment = {**os.environ, "PYTHONPATH": str(folder / "site"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_it_is_listed(installed):
    assert "oven" in run(["-m", "robustbo.cli", "list"], installed)


@pytest.mark.slow
def test_it_is_replayed_with_its_own_failure_and_verified(installed):
    run(["-m", "robustbo.cli", "replay", "run.toml", "--out", "out"], installed)
    with (installed / "out" / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 24
    hit = np.array([row["corrupted"] == "True" for row in rows])
    clean, value = (np.array([float(row[key]) for row in rows]) for key in ("clean", "value"))
    assert 0 < hit.sum() < 24
    assert (clean == value)[~hit].all()
    share = (value / clean)[hit]
    assert (share > 0.1).all()
    assert (share < 0.5).all()
    assert hit[:12].tolist() == hit[12:].tolist()  # all methods meet the same
    assert "the same" in run(["-m", "robustbo.cli", "verify", "out"], installed)
