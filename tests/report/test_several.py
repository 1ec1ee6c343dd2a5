"""The page and the pictures of several outcomes."""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

import robustbo as rb
from robustbo.loop.best.front import Front
from robustbo.loop.best.measured_points import FrontPoint
from robustbo.report.charts import fronts, one_outcome, several_charts, timeline
from robustbo.report.charts.chart import Axis, Chart
from robustbo.report.charts.marks import OUTSIDE
from robustbo.report.page import journal_page, journals
from robustbo.trials.outcomes import OutcomeGoal
from robustbo.trials.trial import Trial
from robustbo.view.view import View

SPACE = rb.Space(**{"<x>": rb.Float(0, 1), "y": rb.Float(0, 1), "k": rb.Choice("u", "v")})
WRONG, BOUND, MISSING, BROKEN = 7, 9, 11, 12  # trials: two with a wrong value, one without a "p", one that failed


def told(objectives=None, count=18, space=SPACE, **given):
    """Every point is of a Sobol sequence."""
    objectives = objectives or {"a & b": "maximize", "c": "minimize"}
    opt = rb.Optimizer(
        space, objectives=objectives, outcome_constraints=["p >= 0.1"], seed=0, acquisition="sobol", **given
    )
    for trial in opt.ask(count) if count else ():
        x, y = trial.params["<x>"], trial.params["y"]
        values = {"a & b": math.sin(3 * x) + y + 30 * (trial.number == WRONG), "c": x * x + y * y}
        if trial.number != MISSING:
            values["p"] = x - y + 0.5 + 9 * (trial.number == BOUND)
        if trial.number == BROKEN:
            opt.fail(trial, "the pump has stopped")
        else:
            opt.tell(trial, {name: value for name, value in values.items() if name in {*objectives, "p"}})
    return opt


class Charts(NamedTuple):
    points: Sequence[FrontPoint]
    fronts: list[Chart]
    timelines: list[Chart]


def charts_of(opt):
    view = View(opt.settings, opt.history)
    singles = one_outcome.single_outcomes(view)
    front, timelines = several_charts.front_charts(view, singles), several_charts.timelines(view, singles)
    return Charts(view.credible_points(), front, timelines)


@pytest.fixture(scope="module")
def opt():
    return told()


@pytest.fixture(scope="module")
def known(opt):
    return charts_of(opt)


def by_label(chart):
    return {kind.label: kind for kind in chart.dots}


def page(opt):
    return journal_page.page("j", View(opt.settings, opt.history))


class TestFronts:
    def test_every_point_is_of_one_kind_and_the_wrong_ones_of_none(self, opt, known):
        (chart,) = known.fronts
        dots = by_label(chart)
        inside = {point.trial.number for point in opt.front()}
        assert len(dots["on the front"].x) == len(inside)
        likely = [point for point in known.points if point.probability_feasible >= 0.5]
        assert len(dots["believed"].x) == len(likely) - len(inside)
        assert len(dots[OUTSIDE].x) == len(known.points) - len(likely) > 0
        assert len(known.points) == 18 - 3  # two are doubted, one has failed
        assert (chart.x.label, chart.y.label) == ("a & b (maximize)", "c (minimize)")

    def test_a_wrong_value_is_joined_to_where_the_others_expect_it(self, opt, known):
        (chart,) = known.fronts
        dots, values = by_label(chart), opt.history[WRONG].values
        assert (dots["called wrong"].x, dots["called wrong"].y) == (values["a & b"], values["c"])
        expected = dots["where the others expect it"]
        assert expected.x == pytest.approx(values["a & b"] - 30, abs=0.5)
        assert expected.y == values["c"]
        (line,) = [line for line in chart.lines if line.dash == "2 3" and len({*line.x}) > 1]
        assert line.x.tolist() == [values["a & b"], expected.x[0]]
        assert chart.x.high < 5  # the frame is around what is believed
        assert dots["another outcome called wrong"].x == opt.history[BOUND].values["a & b"]

    def test_the_steps_are_those_of_what_the_front_dominates(self):
        points = [
            FrontPoint(Trial(i, {}), {"a": a, "b": b}, {"a": 0.1, "b": 0.1})
            for i, (a, b) in enumerate([(3, 5), (1, 2)])
        ]
        settings = rb.Optimizer(SPACE, objectives={"a": "maximize", "b": "minimize"}, seed=0).settings
        (chart,) = fronts.charts(settings, points, Front(tuple(points), {"a": 0.0, "b": 6.0}, 1.0), ())
        (steps,) = [line for line in chart.lines if line.low is not None]
        corners = [*dict.fromkeys(zip(steps.x.tolist(), steps.y.tolist(), strict=True))]
        assert corners == [(3, 6), (3, 5), (1, 5), (1, 2), (0, 2)]
        assert {*steps.low} == {6}
        area = -np.sum(np.diff(steps.x) * (steps.low - steps.y)[1:])
        assert area == 3 * 1 + 1 * 3
        assert fronts.compromise(settings, Front(tuple(points), {"a": 0.0, "b": 6.0}, 1.0)) is points[1]

    def test_what_does_not_beat_the_reference_point_dominates_nothing(self):
        points = [FrontPoint(Trial(0, {}), {"a": 1.0, "b": 1.0}, {"a": 0.1, "b": 0.1})]
        settings = rb.Optimizer(SPACE, objectives={"a": "maximize", "b": "maximize"}, seed=0).settings
        (chart,) = fronts.charts(settings, points, Front(tuple(points), {"a": 2.0, "b": 0.0}, 0.0), ())
        assert not any(line.low is not None for line in chart.lines)

    def test_three_objectives_have_a_chart_for_each_pair(self):
        opt = told({"a & b": "maximize", "c": "minimize", "p": "maximize"})
        charts = charts_of(opt).fronts
        pairs = [(chart.x.label[:1], chart.y.label[:1]) for chart in charts]
        assert pairs == [("a", "c"), ("a", "p"), ("c", "p")]
        assert not any(line.low is not None and np.isfinite(line.y).all() for chart in charts for line in chart.lines)

    def test_the_hypervolume_is_drawn_in_steps(self):
        (line,) = fronts.progress([0.0, 2.0]).lines
        assert [*zip(line.x.tolist(), line.y.tolist(), strict=True)] == [(0, 0), (1, 0), (1, 2), (2, 2), (2, 2)]


class TestOutcome:
    def test_each_has_its_values_bounds_and_ticks(self, opt, known):
        first, second, third = known.timelines
        assert [chart.y.label for chart in known.timelines] == ["a & b", "c", "p"]
        assert by_label(first)["called wrong"].x.tolist() == [WRONG]
        assert by_label(third)["called wrong"].x.tolist() == [BOUND]
        assert "called wrong" not in by_label(second)
        assert by_label(second)["not measured"].x.tolist() == [BROKEN]
        assert by_label(third)["not measured"].x.tolist() == [MISSING, BROKEN]
        assert [line.y.tolist() for line in third.lines if line.label == "bound"] == [[0.1, 0.1]]
        assert not first.lines

    def test_the_best_so_far_of_one_objective_keeps_the_bounds(self):
        opt = told({"c": "minimize"})
        found = charts_of(opt)
        (best,) = [line for line in found.timelines[0].lines if line.label == "best so far"]
        assert (np.diff(best.y) <= 0).all()
        assert best.y[-1] == opt.best().mean
        likely = [point for point in found.points if point.probability_feasible >= 0.5]
        assert best.x[0] == likely[0].trial.number
        assert not found.fronts

    @pytest.mark.parametrize(
        ("low", "high", "gray"),
        [
            (-math.inf, math.inf, []),
            (0.25, math.inf, [(0, 0.25)]),
            (-1, 0.75, [(0.75, 1)]),
            (0.25, 0.75, [(0, 0.25), (0.75, 1)]),
            (5, 7, [(0, 5)]),  # all of the frame
            (-7, -5, [(-5, 1)]),
        ],
    )
    def test_gray_is_what_breaks_a_bound(self, low, high, gray):
        frame, wanted = Axis("", 0.0, 1.0), OutcomeGoal("p", None, low, high)
        for is_upright in (False, True):
            lines = one_outcome.limits(wanted, frame, frame, is_upright=is_upright)
            shades = [line for line in lines if line.low is not None]
            ends = [(line.x[0], line.x[1]) if is_upright else (line.low[0], line.high[0]) for line in shades]
            assert ends == gray
            drawn = [line.x[0] if is_upright else line.y[0] for line in lines if line.low is None]
            assert drawn == [bound for bound in (low, high) if 0 <= bound <= 1]


class TestPage:
    @pytest.mark.slow
    def test_it_says_all(self, opt):
        text, front = page(opt), opt.front()
        assert "Maximize a &amp; b, minimize c, p &gt;= 0.1 with relevance-pursuit, seed 0" in text
        assert f"hypervolume {front.hypervolume:.4g} beyond a &amp; b " in text
        for number, name in ((WRONG, "a &amp; b"), (BOUND, "p")):
            assert re.search(rf"(?s)<td>{number}</td><td>{name}</td>.*called wrong", text)
        for point in front:
            assert re.search(
                rf">{point.trial.number}: &lt;x&gt;=[^<]*</div></td><td>{point.means['a & b']:.4g} \(sd ", text
            )
        here = fronts.compromise(opt.settings, front).trial.number
        assert f"The surrogates, through the point of trial {here}" in text
        assert text.count(f"prediction through the point of trial {here}") == 2 * 3
        assert 'k</th><th scope="col">a &amp; b</th><th scope="col">± 2 sd</th><th scope="col">c</th>' in text
        assert "Probability of a value" not in text  # of one failure there is nothing to say
        assert "incumbent" not in text.lower()
        assert text.index("The best recipes") < text.index("What to do next") < text.index("<h2>The front</h2>")
        assert f"robustbo amend JOURNAL {WRONG} &#39;a &amp; b=VALUE&#39;" in text
        assert not re.search(r"\b(nan|inf)\b", text)
        assert text == page(opt)

    @pytest.mark.slow
    def test_a_trial_that_failed_as_a_whole_is_said_to(self):
        opt = told(count=0)
        for trial in opt.ask(18):
            x, y, off = trial.params["<x>"], trial.params["y"], 0.9 * (trial.number == WRONG)
            opt.tell(trial, {"a & b": math.sin(3 * x) + y + off, "c": x * x + y * y + off, "p": x - y + 0.5 - off})
        text = page(opt)
        assert re.search(rf"<td>{WRONG}</td>.*the trial failed as a whole with probability", text)
        assert by_label(charts_of(opt).timelines[2])["called wrong"].x == WRONG

    @pytest.mark.slow
    def test_of_one_objective_it_has_the_incumbent(self):
        opt = told({"c": "minimize"})
        text, best = page(opt), opt.best()
        assert f"The best point by the posterior is that of trial {best.trial.number}: c {best.mean:.4g} (sd " in text
        assert re.search(rf"<td>c, believed</td><td>{best.mean:.6g} \(sd ", text)
        assert text.count("prediction through the incumbent") == 2 * 2
        assert "the best point measured up to each trial" in text
        assert "Hypervolume" not in text

    def test_nothing_or_not_every_outcome_has_been_told(self, tmp_path):
        opt = told(count=0)
        assert "Nothing has been told yet." in page(opt)
        opt.fail(opt.ask(), "broken")
        assert "1 trial failed" in page(opt)
        for trial in opt.ask(3):
            opt.tell(trial, {"c": 1.0 + trial.number})
        text = page(opt)
        assert "No value of a &amp; b and of p has been told yet." in text
        assert "c by trial" in text
        timeline.draw(View(opt.settings, opt.history), tmp_path / "a.svg")

    def test_no_point_keeps_the_bounds(self):
        opt = rb.Optimizer(
            SPACE, objectives={"a": "maximize", "b": "minimize"}, outcome_constraints=["b >= 1000"], seed=0
        )
        for trial in opt.ask(4):
            opt.tell(trial, {"a": trial.params["y"], "b": trial.params["y"] ** 2})
        text = page(opt)
        assert "The front is empty: no point measured probably keeps the bounds." in text
        assert "It is the point that most probably keeps all bounds." in text

    def test_an_excluded_value_is_not_shown(self):
        opt = told()
        opt.exclude(WRONG, outcome="a & b")
        found = charts_of(opt)
        assert "called wrong" not in by_label(found.fronts[0])
        assert "called wrong" not in by_label(found.timelines[0])

    @pytest.mark.slow
    def test_a_pool_has_its_rows_that_are_left(self):
        rows = pd.DataFrame({"<x>": [i / 30 for i in range(30)], "y": [(i * 7 % 30) / 30 for i in range(30)]})
        opt = told(space=rb.Pool(rows))
        text = page(opt)
        assert text.count("predicted from all other values") == 3
        table = text.split("The best rows not yet measured")[1]
        first = [float(cell) for cell in re.findall(r"<td>([^<]*)</td>", table)[:8]]
        assert first[6] > 0.1  # p
        assert re.search(r"<p>\d+ rows are left|These are all that are left", table)

    def test_values_that_cannot_be_fitted_make_a_page(self):
        opt = told(count=0)
        for trial, value in zip(opt.ask(5), (0.0, 0.0, 1e300, -1e300, 0.0), strict=True):
            opt.tell(trial, {"a & b": value, "c": 0.0, "p": 1.0})
        assert "The front" in page(opt)


@pytest.mark.slow
def test_pictures(opt, tmp_path):
    pytest.importorskip("matplotlib")
    rows = several_charts.rows(View(opt.settings, opt.history))
    assert [len(row) for row in rows] == [1, 1, 1, 1, 1]
    timeline.draw(View(opt.settings, opt.history), tmp_path / "a.svg")
    assert (tmp_path / "a.svg").stat().st_size > 1000


@pytest.mark.slow
def test_it_is_drawn_in_a_browser(opt, tmp_path, in_a_browser):
    path = tmp_path / "page.html"
    journals.write([journals.NamedView("a study", View(opt.settings, opt.history))], path)
    drawn = in_a_browser(path)
    assert drawn.count('role="img"') == 1 + 1 + 3 + 6
