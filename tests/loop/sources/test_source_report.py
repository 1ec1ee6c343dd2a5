"""Reports on sources: from the errors that a model names, and the words of people."""

from datetime import UTC, datetime

import numpy as np
import pytest

from robustbo.loop.sources.source_report import SourceReport, source_reports
from robustbo.loop.sources.unjudged_sources import TAKES_NONE, reports_without_belief
from robustbo.numerics.sources.errors import SourceError
from robustbo.trials.history import History
from robustbo.trials.outcome import Outcome

AT = "2026-11-24T14:{:02}:00+00:00"


@pytest.fixture
def history():
    tells = (
        {"event": "tell", "trial": i, "params": {"x": i / 8}, "value": 1.0 * i, "sd": None, "at": AT.format(i)}
        | {"source": {"reactor": f"R{i % 2}"}}
        for i in range(8)
    )
    return History().apply_all(tells)


def error(level="R1", kind="step", since=2, probability=0.998, **more):
    rest = {"error": 4.83, "sd": 0.61, "evidence": 9.0, "rows": (2, 3), "distinguishable": True} | more
    return SourceError("reactor" if level else "", level, kind, since, probability=probability, **rest)


NUMBERS = [1, 0, 3, 5]  # of the rows


def reports_of(errors, history, *of):
    return source_reports(errors, NUMBERS, history.trials, history.verdicts, *of)


def test_rows_become_trials_with_their_times(history):
    (report,) = reports_of([error()], history)
    assert (report.since, report.trials, report.status) == (3, (3, 5), "in doubt")
    assert report.since_at == datetime(2026, 11, 24, 14, 3, tzinfo=UTC)
    assert report.text == (
        "reactor R1 reads 4.8 +- 0.6 too high since trial 3 (Tue 24 Nov 2026, 14:03 UTC), probability 0.998"
    )


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (error(kind="offset", since=None, error=-0.25, sd=0.03), "reactor R1 reads 0.25 +- 0.03 too low, probability"),
        (error(level=None), "everything reads 4.8 +- 0.6 too high since trial 3"),
        (error(kind="drift"), "reactor R1 drifts since trial 3 (Tue 24 Nov 2026, 14:03 UTC): it reads 4.8 +- 0.6 too"),
        (
            error(kind="broken", since=None),
            "reactor R1 is broken: each of its values has an error of its own, of sd",
        ),
        (error(kind="block", since=None), "reactor R1 reads 4.8 +- 0.6 higher than the others of its kind"),
        (error(probability=0.02), "reactor R1: nothing wrong is known, probability 0.02"),
        (error(probability=1.0), "probability 0.9999"),
        (error(distinguishable=False), "it measured one region only"),
        (error(level=None, distinguishable=False), "measured since lies elsewhere, so that it may be the objective"),
        (error(is_regional=True, probability=0.01), "reactor R1: nothing wrong is known, but it measured one region"),
    ],
)
def test_each_is_a_sentence(history, entry, text):
    (report,) = reports_of([entry], history)
    assert text in report.text


def test_a_sentence_has_the_unit_and_the_outcome(history):
    quantity = Outcome("yield", unit="%")
    (report,) = source_reports(
        [error(since=None, kind="offset")], NUMBERS, history.trials, history.verdicts, "yield", quantity
    )
    assert report.text.startswith("yield: reactor R1 reads 4.8 +- 0.6 % too high")


@pytest.mark.parametrize(
    ("entry", "status"),
    [
        (error(), "in doubt"),
        (error(probability=0.5), "fine"),
        (error(distinguishable=False), "not distinguishable"),
        (error(distinguishable=False, probability=0.3), "not distinguishable"),
        (error(distinguishable=False, probability=0.1), "fine"),
        (error(is_regional=True, probability=0.1), "not distinguishable"),
        (error(kind="block"), "block"),
    ],
)
def test_a_status_is_a_word(history, entry, status):
    (report,) = reports_of([entry], history)
    assert report.status == status
    assert report.is_doubtful == (status in ("in doubt", "not distinguishable") and entry.probability > 0.2)


def test_the_most_probable_error_is_first(history):
    entries = [error("R0", probability=0.1), error("R1", probability=0.7), error("R1", "drift", probability=0.9)]
    reports = source_reports(
        [*entries, error("R0", "block", probability=0.99)], NUMBERS, history.trials, history.verdicts
    )
    assert [report.probability for report in reports] == [0.9, 0.7, 0.99, 0.1]


def word(verdict, since=3, level="R1", **more):
    return {"event": "verdict", "trial": 8, "verdict": verdict, "source": {"reactor": level}, "since": since, **more}


def test_words_of_people_are_reported_where_the_model_has_nothing(history):
    judged = history.apply(word("exclude")).apply(word("correct", None, "R0", error=0.5))
    first, second = source_reports([], [], judged.trials, judged.verdicts)
    assert (first.source, first.level, first.status, first.trials) == ("reactor", "R1", "excluded", (3, 5, 7))
    assert np.isnan(first.probability)
    assert first.text == "reactor R1 is excluded by your word since trial 3 (Tue 24 Nov 2026, 14:03 UTC)"
    assert (second.level, second.error, second.status) == ("R0", 0.5, "corrected")
    again = judged.apply(word("include", None)).apply(word("include", None, "R0"))
    assert source_reports([], [], again.trials, again.verdicts) == []


def test_a_word_holds_unless_an_error_is_left(history):
    judged = history.apply(word("correct", error=4.8))
    assert [r.status for r in reports_of([error(probability=0.1)], judged)] == ["corrected"]
    assert [r.status for r in reports_of([error(probability=0.9)], judged)] == ["in doubt"]


def test_no_error_is_not_in_doubt():
    report = SourceReport("source", "R3", "", np.nan, np.nan, None, None, np.nan, np.nan, "excluded", ())
    assert not report.is_doubtful
    assert report.text == "R3 is excluded by your word"


def test_what_is_not_judged_is_said_with_the_reason(history):
    few = {"event": "tell", "trial": 8, "params": {"x": 0.9}, "value": 1.0, "sd": None, "source": {"reactor": "R7"}}
    told = history.apply(few)
    reports = source_reports([error("R0")], NUMBERS, told.trials)
    first, second = reports_without_belief(told.trials, reports)
    assert (first.level, first.status, first.trials) == ("R1", "not judged", (1, 3, 5, 7))
    assert first.text == f"reactor R1 is not judged: {TAKES_NONE}"
    assert second.text == "reactor R7 is not judged: that takes 3 values of it and 3 of others, there are 1 and 8"
    assert not second.is_doubtful
    alone = History().apply(few | {"trial": 0, "source": {"computer": "lab7"}})
    assert reports_without_belief(alone.trials, []) == []  # the only computer is no source
