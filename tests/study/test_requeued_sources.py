"""Trials of declared sources that are taken back: they keep their source, whoever tells them, and wait for it."""

import pytest

import robustbo as rb
from robustbo.replay.check.asks import verify_journal
from robustbo.trials.history import History

SPACE = rb.Space(x=rb.Float(0.0, 1.0))
SOURCES = {"lab": rb.Source(target=True), "sim": rb.Source(cost=0.05), "old": rb.Source(ask=False)}
OF_SIM = {"source": "sim"}


def study(**options):
    return rb.Optimizer(SPACE, direction="maximize", seed=0, num_initial=3, sources=SOURCES, **options)


def test_a_late_answer_is_of_the_source_that_was_asked():
    opt = study()
    trial = opt.ask(source="sim")
    opt.requeue(trial)
    assert opt.tell(trial.number, 999.0).sources == OF_SIM
    with pytest.raises(ValueError, match="at least one told value"):
        opt.best(raw=True)


def test_a_withdrawal_that_is_taken_back_keeps_the_source():
    opt = study()
    trial = opt.ask(source="sim")
    opt.withdraw(trial)
    opt.requeue(trial)
    assert opt.ask().sources == OF_SIM


def test_a_trial_that_was_taken_back_waits_for_its_source():
    opt = study()
    trial = opt.ask(source="sim")
    opt.requeue(trial)
    assert opt.ask(source="lab").number == 1
    assert opt.ask(source="sim").number == trial.number
    opt.requeue(1)
    assert opt.ask(source="sim").number == 2
    again = opt.ask()
    assert (again.number, again.source) == (1, "lab")


def test_a_value_at_the_point_ends_the_trial_of_its_source_alone():
    opt = study()
    trial = opt.ask(source="sim")
    opt.requeue(trial)
    assert opt.tell(trial.params, 1.0, source="lab").number == 1
    assert opt.tell(trial.params, 2.0, source="sim").number == trial.number


def test_whoever_was_given_a_trial_tells_its_own_source():
    opt = rb.Optimizer(SPACE, direction="maximize", seed=0)
    of_first = opt.ask(by={"reactor": "R3"})
    opt.requeue(of_first)
    of_second = opt.ask(by={"reactor": "R4"})
    assert opt.tell(of_first, 1.0).sources == {"reactor": "R3"}
    late = opt.tell(of_second, 2.0)
    assert (late.repeats, late.sources) == (of_first.number, {"reactor": "R4"})


@pytest.mark.parametrize("with_trial", [True, False])
def test_a_further_value_of_a_simulation_is_one_too(with_trial):
    opt = study(outcome=rb.Outcome(low=0.0, high=1.0))
    trial = opt.ask(source="sim")
    opt.requeue(trial)
    again = opt.ask(source="sim")
    opt.tell(again, 1.0)
    late = opt.tell(again if with_trial else again.number, 7.0)  # which the target could not read
    assert (late.repeats, late.sources) == (trial.number, OF_SIM)


def test_a_point_waits_for_the_source_that_is_to_measure_it(tmp_path):
    path = tmp_path / "study.jsonl"
    opt = study(journal=path)
    opt.enqueue({"x": 0.5}, source="sim")
    assert opt.ask(source="lab").number == 1
    assert rb.Optimizer.resume(path).ask().sources == OF_SIM
    assert verify_journal(path).bits == 1
    with pytest.raises(ValueError, match="ask=False"):
        opt.enqueue({"x": 0.5}, source="old")


def test_in_an_old_journal_a_trial_that_was_taken_back_has_no_source():
    events = [
        {"event": "ask", "trial": 0, "params": {"x": 0.5}, "source": OF_SIM},
        {"event": "requeue", "trial": 0},
        {"event": "tell", "trial": 0, "value": 1.0, "sd": None},
    ]
    assert History().apply_all(events)[0].sources == {}
