"""Hostile histories, a few hundred of them; `run.py` beside this file makes as many as you have time for."""

import os

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.fuzz.machine import Hostile

EXAMPLES = int(os.environ.get("ROBUSTBO_FUZZ", "300"))


def test_hostile_histories():
    chosen = settings(
        max_examples=EXAMPLES,
        stateful_step_count=12,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Hostile, settings=chosen)
