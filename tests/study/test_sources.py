"""Sources as people tell them, ask by them and speak of them; the journal has it all."""

import json
import socket

import pandas as pd
import pytest

import robustbo as rb
from robustbo.loop.observations.correction import SourceShift
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.numerics.sources.errors import SourceError
from robustbo.trials.history import History
from robustbo.trials.tree import Trials

SPACE = rb.Space(x=rb.Float(0.0, 1.0))


def begin(path=None, **options):
    return rb.Optimizer(SPACE, direction="minimize", seed=0, journal=path, **options)


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_source_is_told_and_resumed(tmp_path):
    path = tmp_path / "study.jsonl"
    opt = begin(path, blocks=["plate"])
    opt.tell({"x": 0.1}, 1.0, source="R3")
    opt.tell({"x": 0.2}, 2.0, source={"reactor": "R3", "plate": 7})
    opt.tell({"x": 0.3}, 3.0)
    assert [trial.sources for trial in opt.history] == [{"source": "R3"}, {"reactor": "R3", "plate": "7"}, {}]
    again = rb.Optimizer.resume(path)
    assert again.history == opt.history
    assert again.settings.blocks == ("plate",)
    assert again.settings == opt.settings
    assert all(trial.told_at is not None and trial.told_by is not None for trial in again.history)


def test_nothing_is_written_where_nothing_is_said(tmp_path):
    path = tmp_path / "study.jsonl"
    opt = begin(path)
    opt.tell(opt.ask(), 1.0)
    opt.tell({"x": 0.25}, 1.0, source={"reactor": None})
    header, *events = lines(path)
    assert "blocks" not in header["settings"]
    assert not any("source" in event or "elsewhere" in event for event in events)
    assert opt.frame(evidence=False).columns[-1] == "asked_at"


def test_other_blocks_are_another_study(tmp_path):
    begin(tmp_path / "study.jsonl", blocks=["plate"])
    with pytest.raises(rb.JournalError, match="blocks"):
        begin(tmp_path / "study.jsonl", if_exists="resume")


def test_a_table_has_columns_of_sources():
    frame = pd.DataFrame({"x": [0.1, 0.2, 0.3], "value": [1.0, 2.0, 3.0], "reactor": ["R1", None, "R3"], "plate": 7})
    opt = begin()
    opt.tell_frame(frame, source=["reactor", "plate"])
    assert [t.sources for t in opt.history] == [
        {"reactor": "R1", "plate": "7"},
        {"plate": "7"},
        {"reactor": "R3", "plate": "7"},
    ]
    columns = opt.frame(evidence=False)
    assert columns["source.reactor"].tolist() == ["R1", None, "R3"]
    other = begin()
    other.tell_frame(columns, source=["reactor", "plate"], ignore_extra=True)
    assert [t.sources for t in other.history] == [t.sources for t in opt.history]


def test_a_table_must_have_the_columns_and_labels_in_them():
    frame = pd.DataFrame({"x": [0.1, 0.2], "value": [1.0, 2.0], "plate": [0.5, 1.0]})
    opt = begin()
    with pytest.raises(rb.SpaceError, match="a column 'reactor'"):
        opt.tell_frame(frame, source="reactor", ignore_extra=True)
    with pytest.raises(rb.SpaceError, match="is a parameter"):
        opt.tell_frame(frame, source="x", ignore_extra=True)
    with pytest.raises(rb.SpaceError, match=r"1 of 2 rows break a rule:\nrow 0: the label of source 'plate'"):
        opt.tell_frame(frame, source="plate")
    assert not len(opt.history)


def test_a_column_of_values_is_no_source():
    frame = pd.DataFrame({"x": [0.1, 0.2], "pH": [6.5, 7.0], "sd": 0.1, "reactor": ["R1", "R2"]})
    opt = begin(outcome=rb.Outcome("pH"))
    for column in ("pH", "sd"):
        with pytest.raises(rb.SpaceError, match=rf"source: '{column}' has values, or their noise"):
            opt.tell_frame(frame, source=[column])
    with pytest.raises(rb.SpaceError, match="time: 'pH' has values"):
        opt.tell_frame(frame, source="reactor", time="pH")
    with pytest.raises(rb.SpaceError, match="did you mean 'reactor'"):
        opt.tell_frame(frame, source="reactr")
    several = rb.Optimizer(SPACE, objectives={"pH": "minimize", "cost": "minimize"}, seed=0)
    with pytest.raises(rb.SpaceError, match=r"source: 'pH\.sd' has values"):
        several.tell_frame(frame.assign(cost=1.0, **{"pH.sd": 0.1}), source="pH.sd", ignore_extra=True)
    assert not len(opt.history)


def test_a_parameter_may_be_called_source():
    opt = rb.Optimizer(rb.Space(source=rb.Float(0, 1)), direction="minimize", seed=0)
    opt.tell({"source": 0.5}, 1.0, source="R3")
    assert opt.frame(evidence=False).columns[0] == "params.source"
    assert opt.frame(evidence=False)["source"].tolist() == ["R3"]


def test_prior_data_keep_their_sources():
    first = begin()
    first.tell({"x": 0.1}, 1.0, source={"reactor": "R3"})
    assert begin(prior_data=first).history[0].sources == {"reactor": "R3"}


def test_so_does_a_table_of_prior_data_with_the_times():
    first = begin()
    first.tell({"x": 0.1}, 1.0, source={"reactor": "R3", "source": "ann"}, measured_at="2026-11-24 14:10")
    first.tell({"x": 0.2}, 2.0, labels={"lot": 7})
    prior = begin(prior_data=first.frame(evidence=False)).history
    for trial, of in zip(prior, first.history, strict=True):
        assert (trial.sources, trial.measured_at, trial.labels) == (of.sources, of.measured_at, of.labels)


def test_a_column_of_a_table_that_names_no_source_and_no_time_is_a_label():
    table = pd.DataFrame({"x": [0.1, 0.2], "value": [1.0, 2.0], "source": [1.5, 2.5], "measured_at": ["dawn", "noon"]})
    trial = begin(prior_data=table).history[0]
    assert (trial.sources, trial.measured_at, trial.labels) == ({}, None, {"source": 1.5, "measured_at": "dawn"})


def test_who_will_measure_is_said_as_one_asks(tmp_path):
    opt = begin(tmp_path / "study.jsonl")
    opt.tell({"x": 0.9}, 1.0, source={"reactor": "R1"})
    trial = opt.ask(by="R3")
    assert (trial.asked_by, trial.sources) == ("R3", {"reactor": "R3"})
    assert opt.tell(trial, 1.0).sources == {"reactor": "R3"}
    both = opt.ask(2, by={"reactor": "R3", "operator": "B"})
    assert [t.sources for t in both] == [{"reactor": "R3", "operator": "B"}] * 2
    opt.enqueue({"x": 0.5})
    assert opt.ask(by="R1").sources == {"reactor": "R1"}


def test_a_prediction_is_at_a_source_that_was_told(monkeypatch):
    opt = begin()
    opt.tell({"x": 0.9}, 1.0, source={"reactor": "R1"})
    with pytest.raises(ValueError, match=r"one that was told.*R1"):
        opt.predict({"x": 0.5}, by="R2")
    monkeypatch.setattr(FittedSurrogate, "source_shift", lambda _, by: SourceShift(0.5, 0.0) if by else None)
    assert opt.predict({"x": 0.5}, by="R1").mean == opt.predict({"x": 0.5}).mean + 0.5


def test_several_outcomes_have_an_expected_error_each():
    events = [
        {"event": "ask", "trial": 0, "params": {"x": 0.5}, "source": {"reactor": "R1"}},
    ]
    events[0] |= {"expected": {"a": 1.0, "b": 2.0}, "expected_sd": {"a": 0.3, "b": 0.1}}
    events[0] |= {"expected_error": {"a": 0.5}, "expected_error_sd": {"a": 0.4}}
    trial = History().apply_all(events)[0]
    assert trial.expectations == {"a": (1.5, pytest.approx(0.5)), "b": (2.0, 0.1)}


def test_all_values_of_a_source_are_excluded_corrected_and_as_told_again(tmp_path):
    opt = begin(tmp_path / "study.jsonl")
    for i in range(6):
        opt.tell({"x": 0.1 * i}, 1.0 * i, source={"reactor": f"R{i % 2}"})
    before = opt.history
    excluded = opt.exclude(source="R1", since=3, reason="lamp")
    assert [(trial.number, trial.state, trial.note) for trial in excluded] == [
        (3, "excluded", "lamp"),
        (5, "excluded", "lamp"),
    ]
    corrected = opt.correct(source={"reactor": "R1"}, error=0.5, since=opt.history[3])
    assert [(trial.value, trial.as_told) for trial in corrected] == [(2.5, 3.0), (4.5, 5.0)]
    assert opt.tell({"x": 0.9}, 9.0, source={"reactor": "R1"}).value == 8.5
    assert [verdict.text for verdict in opt.history.verdicts] == [
        "reactor R1 is excluded since trial 3",
        "reactor R1 is corrected by -0.5 since trial 3",
    ]
    assert rb.Optimizer.resume(tmp_path / "study.jsonl").history == opt.history
    opt.include(source="R1")
    assert opt.history.trials[:6] == before.trials[:]


def test_a_value_that_is_not_possible_is_excluded_with_its_source_too():
    opt = begin(outcome=rb.Outcome("yield", low=0.0))
    opt.tell({"x": 0.1}, 1.0, source="R3")
    opt.exclude(source="R3")
    assert opt.tell({"x": 0.2}, -1.0, source="R3", out_of_range="exclude").state == "excluded"
    opt.include(source="R3")
    assert [trial.state for trial in opt.history] == ["told", "excluded"]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda opt: opt.exclude(source="R4"), ValueError, r"\['R3'\], got 'R4'; did you mean 'R3'"),
        (
            lambda opt: opt.exclude(source={"operator": "R3"}),
            ValueError,
            r"a kind that was told, \['reactor'\], got 'op",
        ),
        (lambda opt: opt.exclude(source={"reacto": "R3"}), ValueError, "got 'reacto'; did you mean 'reactor'"),
        (lambda opt: opt.predict({"x": 0.5}, by={"reacto": "R3"}), ValueError, "^by must be .*did you mean 'reactor'"),
        (lambda opt: opt.correct(source={"reacto": "R3"}, error=1.0), ValueError, "did you mean 'reactor'"),
        (lambda opt: opt.correct(source="R3", error=1.0, since=-1), ValueError, "^since must be"),
        (
            lambda opt: opt.correct(source="R3", error=1.0, since="one"),
            TypeError,
            "^since must be a Trial or its number",
        ),
        (lambda opt: opt.tell({"x": 0.5}, 1.0, source=" "), ValueError, "source must not be an empty text, got ' '"),
        (lambda opt: opt.ask(by=""), ValueError, "must not be an empty text"),
        (lambda opt: opt.tell({"x": 0.5}, 1.0, measured_at=""), ValueError, "measured_at must be a time"),
        (lambda opt: opt.exclude(), ValueError, "a trial, a source or since"),
        (lambda opt: opt.exclude(0, source="R3"), ValueError, "got both"),
        (lambda opt: opt.exclude(source="R3", since=5), ValueError, "since must be 0, the only one so far, got 5"),
        (lambda opt: opt.correct(source="R3", error=float("nan")), ValueError, "must be finite"),
        (lambda opt: opt.correct(source="R3", error="much"), TypeError, "a real number"),
        (lambda opt: opt.correct(error=1.0), ValueError, "a source"),
        (lambda opt: opt.tell({"x": 0.5}, 1.0, source=[1, 2]), TypeError, "must be a text"),
        (lambda opt: opt.ask(by=1.5), TypeError, "must be a text"),
    ],
)
def test_what_does_not_hold_is_said_and_not_recorded(call, error, words):
    opt = begin()
    opt.tell({"x": 0.1}, 1.0, source={"reactor": "R3"})
    with pytest.raises(error, match=words):
        call(opt)
    assert len(opt.history) == 1
    assert opt.history.verdicts == ()


def test_a_mere_label_is_of_the_same_kind_wherever_it_is_named():
    opt = begin()
    opt.tell({"x": 0.1}, 1.0, source={"reactor": "R1"})
    assert opt.tell({"x": 0.2}, 1.0, source="R3").sources == {"reactor": "R3"}
    assert opt.ask(by="R2").sources == {"reactor": "R2"}
    opt.tell({"x": 0.3}, 1.0, source={"plate": "7"})
    assert opt.tell({"x": 0.4}, 1.0, source=7).sources == {"plate": "7"}
    opt.tell({"x": 0.5}, 1.0, source={"plate": "R1"})
    with pytest.raises(ValueError, match=r"source must name the kind of 'R1', which .*\{'plate': 'R1'\}"):
        opt.tell({"x": 0.6}, 1.0, source="R1")
    with pytest.warns(rb.SourceWarning, match=r"'R9' is of none of the kinds.*write \{'reactor': 'R9'\}"):
        assert opt.tell({"x": 0.6}, 1.0, source="R9").sources == {"source": "R9"}


@pytest.mark.parametrize(
    "call",
    [
        lambda opt: opt.ask(by={"prob": "A"}),
        lambda opt: opt.tell({"x": 0.5}, 1.0, source={"prob": "A"}),
    ],
)
def test_a_kind_that_is_nearly_another_is_said_to_be(call):
    opt = begin()
    opt.tell({"x": 0.1}, 1.0, source={"probe": "A"})
    with pytest.warns(rb.SourceWarning, match="begins a kind of source, 'prob': did you mean 'probe'"):
        assert call(opt).sources == {"prob": "A"}
    opt.tell({"x": 0.7}, 1.0, source={"operator": "B"})  # which nobody has mistyped: no warning


def test_a_tell_looks_at_no_more_trials_the_more_there_are(monkeypatch):
    opt = begin()
    for i in range(40):
        opt.tell({"x": i / 40}, 1.0, source={"reactor": "R1"})
    seen = []
    monkeypatch.setattr(Trials, "__iter__", lambda trials: seen.append(len(trials)) or iter(()))
    assert opt.tell({"x": 0.99}, 1.0, source="R2").sources == {"reactor": "R2"}
    assert not seen


def test_a_label_of_two_kinds_must_say_which():
    opt = begin()
    opt.tell({"x": 0.1}, 1.0, source={"reactor": "3", "plate": "3"})
    with pytest.raises(ValueError, match=r"\{'reactor': '3'\} or \{'plate': '3'\}"):
        opt.exclude(source="3")
    assert opt.exclude(source={"plate": 3})[0].state == "excluded"


def test_several_outcomes_are_corrected_one_at_a_time():
    opt = rb.Optimizer(SPACE, objectives={"a": "minimize", "b": "maximize"}, seed=0)
    opt.tell({"x": 0.1}, {"a": 1.0, "b": 2.0}, source="R3")
    with pytest.raises(ValueError, match=r"one of \['a', 'b'\]"):
        opt.correct(source="R3", error=1.0)
    (trial,) = opt.correct(source="R3", error=0.5, outcome="a")
    assert trial.values == {"a": 0.5, "b": 2.0}


def test_another_computer_that_tells_is_a_source_without_being_told(monkeypatch):
    opt = begin()
    opt.tell({"x": 0.1}, 1.0)
    opt.tell({"x": 0.2}, 1.0)
    monkeypatch.setattr(socket, "gethostname", lambda: "node7")
    assert opt.tell({"x": 0.3}, 1.0).sources == {"computer": "node7"}
    assert opt.tell({"x": 0.4}, 1.0, source={"reactor": "R1"}).sources == {"reactor": "R1"}
    asked = opt.ask(by="R2")
    assert opt.tell(asked, 1.0).sources == {"reactor": "R2"}
    monkeypatch.undo()
    assert opt.tell({"x": 0.5}, 1.0).sources == {"computer": socket.gethostname()}


def test_since_is_by_the_time_of_measuring_where_that_is_told(tmp_path):
    opt = begin(tmp_path / "study.jsonl")
    days = [3, 1, 2, 4]
    table = pd.DataFrame({"x": [0.1, 0.2, 0.3, 0.4], "value": [1.0, 2.0, 3.0, 4.0], "reactor": "R3"})
    opt.tell_frame(table.assign(day=[f"2026-11-{day:02}" for day in days]), source="reactor", time="day")
    assert [trial.measured_at.day for trial in opt.history] == days
    again = rb.Optimizer.resume(tmp_path / "study.jsonl")
    assert [trial.number for trial in again.correct(source="R3", error=0.5, since=2)] == [0, 2, 3]
    assert again.history[1].value == 2.0
    later = again.tell({"x": 0.5}, 1.0, source={"reactor": "R3"})  # measured now
    assert later.as_told == 1.0
    assert again.tell({"x": 0.6}, 1.0, source={"reactor": "R3"}, measured_at="2026-11-01").as_told is None
    frame = again.frame(evidence=False)
    assert frame["measured_at"][0] == pd.Timestamp("2026-11-03", tz="UTC")
    other = begin()
    other.tell_frame(frame[["x", "value", "measured_at"]].dropna(), time="measured_at")
    assert other.history[0].measured_at == again.history[0].measured_at
    prior = begin(prior_data=again)
    assert prior.history[0].measured_at == again.history[0].measured_at


@pytest.mark.parametrize("time", [3.5, "yesterday", True, "9999-12-31 23:59-05:00"])
def test_a_time_must_be_one(time):
    opt = begin()
    with pytest.raises((ValueError, TypeError), match="measured_at must be a time"):
        opt.tell({"x": 0.5}, 1.0, measured_at=time)
    assert len(opt.history) == 0
    with pytest.raises(rb.SpaceError, match="time: there must be a column 'when'"):
        opt.tell_frame(pd.DataFrame({"x": [0.5], "value": [1.0]}), time="when")


def test_a_warning_says_once_that_a_source_is_in_doubt(monkeypatch):
    opt = begin(num_initial=4)
    for i in range(6):
        opt.tell({"x": i / 6}, (i / 6) ** 2, source={"reactor": f"R{i % 2}"})
    probability = [0.4]

    def errors(fitted):
        row = fitted.observations.numbers.index(3)
        moved_on = SourceError("", None, "drift", row, 1.5, 0.25, 8.0, 0.33, (row,), distinguishable=False)
        return SourceError("reactor", "R1", "step", row, 1.5, 0.25, 8.0, probability[0], (row,), True), moved_on

    monkeypatch.setattr(FittedSurrogate, "source_errors", property(errors))
    opt.tell(opt.ask(), 0.1)  # no warning
    probability[0] = 0.9
    with pytest.warns(rb.SourceWarning, match="reactor R1 reads 1.5"):
        opt.tell(opt.ask(), 0.1)
    opt.tell(opt.ask(), 0.1)  # nor another
