"""Measurements of all kinds mixed: nothing is lost, nothing asked that the space forbids, and resumed to the same bits.

10,000 asks: `ROBUSTBO_FUZZ=600 pytest tests/fuzz/test_measured_studies.py`.
"""

import os

import pytest

import robustbo as rb
from robustbo.replay.verify import verdicts
from tests.fuzz.measured_studies import Lab

STUDIES = int(os.environ.get("ROBUSTBO_FUZZ", "12"))
BY_MODEL = max(1, STUDIES // 12)


@pytest.mark.parametrize("number", range(STUDIES))
def test_nothing_is_lost_and_nothing_asked_that_the_space_forbids(tmp_path, number):
    lab = Lab(number, tmp_path / "j.jsonl", acquisition="sobol")
    lab.run(40)
    assert rb.Optimizer.resume(tmp_path / "j.jsonl").history == lab.opt.history


@pytest.mark.filterwarnings("ignore::robustbo.errors.NumericsWarning")  # as of values that are many times the same
@pytest.mark.parametrize("number", range(1000, 1000 + BY_MODEL))
def test_by_a_model_too_and_each_ask_is_found_again(tmp_path, number):
    lab = Lab(number, tmp_path / "j.jsonl")
    lab.run(16)
    space = lab.opt.settings.space
    if any(trial.state == "told" and not space.broken(trial.params) for trial in lab.opt.history):
        assert space.allows(lab.opt.best().params)
    assert [row["agreement"] for row in verdicts([str(tmp_path / "j.jsonl")])] == ["bits"]
