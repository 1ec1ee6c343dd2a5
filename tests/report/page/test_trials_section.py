"""The page's order, its table of all trials, old data, and the time at which it was made."""

import dataclasses
import re
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

import robustbo as rb
from robustbo.loop.belief.judge import Outlier
from robustbo.report.charts import timeline
from robustbo.report.charts.marks import BEFORE, count_before
from robustbo.report.page import journal_page, trials_section
from robustbo.rounding import format_number
from robustbo.trials.history import History, Trial
from robustbo.view.view import View

SPACE = rb.Space(x=rb.Float(0, 1), k=rb.Choice("u", "v"))
YIELD = rb.Outcome("yield", unit="%", low=0, high=100)
MADE = datetime(2026, 1, 5, 14, 3, tzinfo=UTC)


@pytest.fixture(scope="module")
def opt():
    """Six old values, then six asked for, of which one is wrong; one failed, one excluded, one pending."""
    old = pd.DataFrame({"x": np.arange(6) / 5, "k": ["u", "v"] * 3})
    old["yield"] = 60 + 10 * old["x"]
    opt = rb.Optimizer(SPACE, seed=0, direction="maximize", outcome=YIELD, acquisition="sobol", prior_data=old)
    for trial in opt.ask(6):
        opt.tell(trial, 60 + 10 * trial.params["x"] - 40 * (trial.number == 8))
    opt.fail(opt.ask(), "the pump has stopped")
    opt.tell({"x": 0.35, "k": "u"}, 820, out_of_range="exclude")
    opt.ask()
    return opt


@pytest.fixture(scope="module")
def page(opt):
    return journal_page.page("lab", View(opt.settings, opt.history), place="lab.jsonl", made_at=MADE)


def table(page):
    rows = re.findall(r"<tr>(.*?)</tr>", page.split("<h2>All trials</h2>")[1].split("</table>")[0])
    return [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in rows]


def test_the_best_recipe_and_what_to_do_next_come_first(opt, page):
    titles = re.findall(r"<h2>([^<]*)</h2>", page)
    assert titles[:4] == ["The best recipe", "What to do next", "Progress", "Values that look wrong, and why"]
    assert len(titles) == len({*titles})
    best = opt.best()
    recipe = page.split("<h2>What to do next")[0]
    assert f"is that of trial {best.trial.number}: yield {format_number(best.mean, 4, best.sd)} % (sd " in recipe
    assert f"<td>x</td><td>{best.params['x']:.6g}</td>" in recipe
    assert "robustbo amend lab.jsonl 8 VALUE" in page


def test_every_trial_is_in_the_table_with_what_is_believed_of_it(opt, page):
    header, *rows = table(page)
    assert header == ["trial", "x", "k", "yield (%)", "expected", "status", "probability wrong", "note"]
    assert [int(row[0]) for row in rows] == [trial.number for trial in opt.history]
    judged = {o.trial.number: o for o in opt.outliers()}
    for row, trial in zip(rows, opt.history, strict=True):
        assert row[1:3] == [f"{trial.params['x']:.6g}", trial.params["k"]]
        if (o := judged.get(trial.number)) is not None:
            assert row[3:7] == [
                f"{o.value:.6g}",
                f"{o.expected:.4g} (sd {o.sd:.2g})",
                o.status,
                f"{o.probability_wrong:.2g}",
            ]
    assert [row[-1] for row in rows[:6]] == [BEFORE] * 6
    assert rows[12][3:] == ["", "", "failed", "", "the pump has stopped"]
    assert rows[13][3:] == ["820", "", "excluded", "", "outside the possible range [0, 100] %"]
    assert rows[14][5] == "being measured"


def test_old_data_are_drawn_apart(opt):
    chart = timeline.values(View(opt.settings, opt.history))
    old = next(kind for kind in chart.dots if kind.label == BEFORE)
    assert old.x.tolist() == [0, 1, 2, 3, 4, 5]
    band = chart.lines[0]
    assert (band.x.tolist(), band.low[0], band.high[0]) == ([-0.5, 5.5], chart.y.low, chart.y.high)
    assert all(len(kind.titles) == len(kind.x) for kind in chart.dots)
    wrong = next(kind for kind in chart.dots if kind.label == "called wrong")
    (title,) = wrong.titles
    assert re.match(r"trial 8, yield: measured [\d.]+ %, expected .* %; flagged, wrong with probability", title)


def test_what_was_enqueued_is_no_old_data_and_before_the_first_ask_nothing_is():
    trials = [Trial(i, {"x": i / 5}, "told", 1.0) for i in range(3)]
    assert count_before(History(tuple(trials))) == 0
    assert count_before(History((*trials, Trial(3, {"x": 1.0}, origin="sobol", handouts=1)))) == 3
    waiting = dataclasses.replace(trials[0], state="queued")
    assert count_before(History((waiting, *trials[1:]))) == 0
    assert count_before(History((dataclasses.replace(trials[0], handouts=1), *trials[1:]))) == 0


def test_the_page_says_when_it_was_made_and_else_follows_from_the_history_alone(opt, page):
    assert "This page was made at 2026-01-05 14:03 UTC." in page
    pages = [journal_page.page("lab", View(opt.settings, opt.history)) for _ in range(2)]
    assert pages[0] == pages[1]
    assert " ago" not in pages[0]
    assert "was made at" not in pages[0]


def test_of_very_many_trials_the_last_and_the_doubtful_ones_are_shown():
    trials = tuple(Trial(i, {"x": 0.5}, "told", 1.0) for i in range(trials_section.FULL))
    assert trials_section.select_trials(History(trials), [3])[1] == ""
    more = (*trials, Trial(trials_section.FULL, {"x": 0.5}, "told", 1.0))
    shown, text = trials_section.select_trials(History(more), [3, 290])
    assert [t.number for t in shown] == [3, *range(len(more) - trials_section.LAST, len(more))]
    assert text == "These are the last 100 of 301 trials, and the one before them whose value is doubtful."
    assert "doubtful" not in trials_section.select_trials(History(more), [])[1]


def test_several_outcomes_have_columns_each():
    opt = rb.Optimizer(SPACE, objectives={"a": "maximize", "b": "minimize"}, seed=0)
    opt.tell({"x": 0.5, "k": "u"}, {"a": 1.5})
    (trial,) = opt.history
    o = Outlier(trial.of("a"), 1.5, 1.25, 0.5, 0.1, 0.02, "inlier", outcome="a")
    section = trials_section.trials_section(View(opt.settings, opt.history), [o], {"outliers": []})
    header, (row,) = section.table
    assert header[3:-1] == [
        *("a", "expected, a", "status, a", "probability wrong, a"),
        *("b", "expected, b", "status, b", "probability wrong, b"),
    ]
    assert row[3:-1] == ["1.5", "1.25 (sd 0.5)", "inlier", "0.02", "", "", "not measured", ""]
