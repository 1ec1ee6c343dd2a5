"""Hostile histories, some of them; `run.py` beside this file makes as many as you have time for."""

import os

import pytest

from tests.fuzz.machine import Hostile, run

EXAMPLES = int(os.environ.get("ROBUSTBO_FUZZ", "50"))


@pytest.mark.slow
def test_hostile_histories():
    run(Hostile, EXAMPLES, derandomize=True)
