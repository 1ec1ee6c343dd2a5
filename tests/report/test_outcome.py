"""Pages and pictures with an outcome's name, unit and possible range."""

import re

import numpy as np
import pytest

import robustbo as rb
from robustbo.report.charts import several_charts, timeline
from robustbo.report.charts.one_outcome import single_outcomes
from robustbo.report.charts.slices import slices
from robustbo.report.page import journal_page, journals
from robustbo.report.page.slices_section import Surface, predict_along
from robustbo.trials.outcome import Outcome
from robustbo.view.view import View

SPACE = rb.Space(x=rb.Float(0, 1))
YIELD = rb.Outcome("yield", unit="%", low=0, high=100)
WRONG = 4


def rising(x):
    return 99 - 60 * (0.7 - x) - 40 * (0.7 - x) ** 2


def told(**given):
    opt = rb.Optimizer(SPACE, seed=0, **given)
    for i in range(8):
        value = rising(i / 10) - 30 * (i == WRONG)
        opt.tell({"x": i / 10}, {"yield": value, "cost": 1 + i} if "objectives" in given else value)
    return opt


@pytest.fixture(scope="module")
def one():
    opt = told(direction="maximize", outcome=YIELD)
    opt.tell({"x": 0.35}, 820, out_of_range="exclude")
    return opt


@pytest.fixture(scope="module")
def several():
    wanted = {"yield": "maximize", "cost": "minimize"}
    return told(objectives=wanted, outcome=[YIELD, rb.Outcome("cost", unit="EUR")])


def texts(page):
    return re.findall(r"<(?:text|th|td)[^>]*>([^<]*)<", page)


def test_the_page_has_name_and_unit_on_axes_in_headings_and_in_cells(one):
    page = journal_page.page("lab", View(one.settings, one.history))
    words = texts(page)
    assert words.count("yield (%)") >= 2  # the timeline's axis, and the slice's
    assert "measured value" not in words
    assert "predicted value" not in words
    assert "820 %" in words
    assert "outside the possible range [0, 100] %" in words
    assert "Maximize yield with relevance-pursuit" in page
    row = next(line for line in page.split("<tr>") if line.startswith("<td>yield, believed</td>"))
    assert " % (sd " in row


def test_without_a_word_the_page_is_as_it_was():
    opt = told(direction="maximize")
    words = texts(journal_page.page("lab", View(opt.settings, opt.history)))
    assert {"measured value", "predicted value", "value"} <= {*words}


def test_the_picture_and_the_comparison_too(one):
    chart = timeline.values(View(one.settings, one.history))
    assert (chart.y.label, chart.title) == ("yield (%)", "relevance-pursuit, maximize yield, 9 trials")
    assert chart.lines[-1].y.max() <= 100
    other = journals.NamedView("other", View(one.settings, one.history))
    assert "yield (%, maximize)" in texts(journals.page([other, other]))


@pytest.mark.few(1)
@pytest.mark.parametrize(("quantity", "is_kept"), [(Outcome("yield", high=90), True), (Outcome(), False)])
def test_slices_end_where_nothing_is_possible(several, quantity, is_kept):
    """The surrogate itself goes beyond."""
    (of, _) = single_outcomes(View(several.settings, several.history))
    (along,) = slices(SPACE, {"x": 0.5})
    mean, low, high = predict_along(Surface(of.fitted, quantity), along)
    assert (high.max() == 90) == is_kept
    assert np.all((low <= mean) & (mean <= high))
    assert (mean.max() == 90) == is_kept


def test_of_several_outcomes_each_has_its_label(several):
    page = journal_page.page("lab", View(several.settings, several.history))
    words = texts(page)
    assert words.count("yield (%)") >= 2
    assert words.count("cost (EUR)") >= 2
    assert {"yield (%, maximize)", "cost (EUR, minimize)"} <= {*words}
    charts = [chart for row in several_charts.rows(View(several.settings, several.history)) for chart in row]
    assert [chart.y.label for chart in charts] == ["cost (EUR, minimize)", "hypervolume", "yield (%)", "cost (EUR)"]
    front = several.front()
    assert all(0 <= point.means["yield"] <= 100 for point in front)
    assert re.search(r"yield [\d.]+ ± [\d.e-]+ %, cost [\d.]+ ± [\d.e-]+ EUR", str(front))
