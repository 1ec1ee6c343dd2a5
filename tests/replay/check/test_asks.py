"""Asks that differ from what was recorded, and what is lost by them."""

import pytest

import robustbo as rb
from robustbo.errors import ReplayMismatch
from robustbo.loop.decide import rival
from robustbo.replay.check.asks import verify_journal
from robustbo.replay.check.comparison import Match
from robustbo.study.recomputing import decisions
from robustbo.trials.codec import fold
from robustbo.trials.storage import places
from robustbo.trials.storage.line import header_line, lines_of


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A journal whose last line is an ask by a model."""
    path = tmp_path_factory.mktemp("asks") / "study.jsonl"
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", journal=path, num_initial=4, seed=3)
    for _ in range(5):
        trial = opt.ask()
        opt.tell(trial, (trial.params["x"] - 0.3) ** 2)
    opt.ask()
    return path


def elsewhere(path, tmp_path, moved, surprise=0.0):
    """The same journal with its last point moved, and what is expected there by the same model."""
    contents = places.contents(path)
    settings, _ = fold("study", contents)
    *_, last = decisions(settings, contents.events)
    point = {"x": last.recorded["params"]["x"] + moved}
    other = rival(settings, last.history, last.recorded["trial"], (last.recomputed["params"], point))
    told = last.recorded | other.suggestion.decision
    ask = told | {"expected": told["expected"] + surprise}
    header, check = header_line(contents.header)
    lines, _ = lines_of([*contents.events[:-1], ask], check)
    there = tmp_path / "study.jsonl"
    there.write_text("\n".join([header, *lines, ""]))
    return there, other.shortfall


def test_a_point_of_the_same_acquisition_is_as_good(recorded, tmp_path):
    there, shortfall = elsewhere(recorded, tmp_path, 1e-5)
    assert 0 <= shortfall < 1e-3
    agreement = verify_journal(there)
    assert (agreement.verdict, agreement.as_good, agreement.count) == (Match.AS_GOOD, 1, 6)
    assert "1 as good (acquisition lower by " in str(agreement)


def test_a_point_of_less_acquisition_is_different(recorded, tmp_path):
    there, shortfall = elsewhere(recorded, tmp_path, 0.2)
    assert shortfall > 1e-3
    with pytest.raises(ReplayMismatch, match=r"acquisition lower by \d"):
        verify_journal(there)


def test_a_point_of_another_model_is_different(recorded, tmp_path):
    there, _ = elsewhere(recorded, tmp_path, 1e-5, surprise=0.1)
    assert verify_journal(there, to_the_end=True).verdict is Match.DIFFERENT
