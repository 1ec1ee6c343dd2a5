import re
from functools import cache

import pytest

from robustbo import Float, Optimizer, Space
from robustbo.errors import RobustBOError
from robustbo.report.charts import timeline
from robustbo.report.page import journal_page, journals
from robustbo.report.page.journals import NamedView
from robustbo.report.summary.overview import overview
from robustbo.report.summary.text_summary import how_far, tables
from robustbo.view.view import View

OFF = {2: 60.0, 5: -40.0}


@cache  # nobody changes it
def told(seed, *, is_wrong=True):
    """Twelve values, two of which lie far from the others; one trial has failed, one is excluded, one is pending."""
    opt = Optimizer(Space(x=Float(0, 1)), direction="minimize", seed=seed)
    for i in range(12):
        opt.tell({"x": i / 11}, (i / 11 - 0.4) ** 2 + OFF.get(i, 0.0) * is_wrong)
    opt.fail(opt.ask(), "Traceback (most recent call last):\n  File <lab>\nValueError: no flow")
    opt.exclude(9)
    opt.ask()
    return NamedView(f"lab {seed}", View(opt.settings, opt.history)), opt


def test_the_incumbent_is_the_same_everywhere():
    found, opt = told(0)
    best, so_far = opt.best(), found.view.bests()
    numbers = [each.trial.number for each in so_far]
    assert numbers == sorted(numbers)
    assert so_far[-1] == best
    *_, line = timeline.values(found.view).lines
    assert line.y[-1] == best.mean
    assert f"The best point by the posterior is that of trial {best.trial.number}: " in journals.page([found])


def test_trials_without_a_value_that_counts_are_listed_and_a_traceback_is_whole_only_when_opened():
    text = journals.page([told(0)[0]])
    for title in ("Being measured", "Excluded"):
        assert f"<h3>{title}</h3>" in text
    assert re.search(r"ValueError: no flow<details><summary>all of it</summary><pre>Traceback", text)
    assert "File &lt;lab&gt;" in text


def test_a_value_beyond_the_frame_says_its_number_and_measured_values_are_on_the_slices():
    found, _ = told(0)
    chart = timeline.values(found.view)
    assert {note.text for note in chart.notes} == {"60", "-40"}
    assert all(chart.y.low <= note.y <= chart.y.high for note in chart.notes)
    slices = journals.page([found]).split("<h2>The surrogate")[1]
    assert slices.count("<circle") >= 8


@pytest.mark.slow
def test_several_are_on_one_page_and_compared(tmp_path):
    reads = [told(0)[0], told(1, is_wrong=False)[0]]
    journals.write(reads, tmp_path / "both.html")
    text = (tmp_path / "both.html").read_text()
    assert [f"<h2>{name}</h2>" in text for name in ("Best so far", "lab 0", "lab 1")] == [True] * 3
    assert [text.split("<h2>lab 0")[0].count(f'class="j{i}"') for i in range(2)] == [1, 1]
    assert text.count("<h3>The best recipe</h3>") == 2
    with pytest.raises(RobustBOError, match="a picture shows one journal, got 2"):
        journals.write(reads, tmp_path / "both.png")


def test_an_outcome_that_is_excluded_alone_is_counted():
    opt = Optimizer(Space(x=Float(0, 1)), objectives={"a": "maximize", "b": "maximize"}, seed=0)
    for i in range(4):
        opt.tell({"x": i / 3}, {"a": float(i), "b": float(-i)})
    opt.exclude(1, outcome="b")
    assert how_far(overview(View(opt.settings, opt.history))).endswith("0 excluded, 1 excluded in some outcomes")


def test_why_a_value_is_excluded_is_said_where_somebody_said_so():
    opt = Optimizer(Space(x=Float(0, 1)), direction="minimize", seed=0)
    for i in range(4):
        opt.tell({"x": i / 3}, float(i))
    opt.exclude(1)
    assert [list(row) for row in tables(overview(View(opt.settings, opt.history)))["excluded"]] == [
        ["trial", "value", "at"]
    ]
    opt.exclude(2, reason="the sensor was off\nfrom 9 to 11")
    rows = tables(overview(View(opt.settings, opt.history)))["excluded"]
    assert [(row["trial"], row["reason"]) for row in rows] == [(1, "-"), (2, "the sensor was off")]
    assert "<td>the sensor was off</td>" in journal_page.page("lab", View(opt.settings, opt.history))


def test_a_frame_has_a_failures_reason_in_a_line():
    _, opt = told(0)
    assert opt.frame()["reason"][12] == "ValueError: no flow"
