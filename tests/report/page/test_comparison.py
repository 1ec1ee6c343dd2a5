"""Optimizations beside each other: who is drawn with whom, and by which reference point."""

import pytest

import robustbo as rb
from robustbo.report.page.comparison import NamedView, compare


def several(seed, count=8, *, direction="minimize"):
    opt = rb.Optimizer(
        rb.Space(x=rb.Float(0, 1), y=rb.Float(0, 1)),
        objectives={"gain": "maximize", "cost": direction},
        outcome=[rb.Outcome("gain", unit="g"), rb.Outcome("cost", unit="EUR")],
        surrogate="standard",
        acquisition="sobol",
        seed=seed,
    )
    for trial in opt.ask(count):
        x, y = trial.params["x"], trial.params["y"]
        opt.tell(trial, {"gain": 2 * x + y, "cost": 1 + x * x + y})
    return NamedView(f"study {seed}", opt.view)


def single(seed):
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", surrogate="standard", seed=seed)
    for trial in opt.ask(4):
        opt.tell(trial, trial.params["x"])
    return NamedView(f"study {seed}", opt.view)


def test_studies_of_the_same_objectives_have_their_hypervolumes_in_one_chart():
    first, second, third = several(0), several(1, 12), several(2, direction="maximize")
    result = compare([first, single(5), second, third])
    title, chart, guide = result.charts[0]
    assert title == "gain (g, maximize) and cost (EUR, minimize): the hypervolume so far"
    assert [line.label for line in chart.lines] == ["1: study 0", "3: study 1"]
    assert "better than gain" in guide
    assert "EUR" in guide
    ends = [line.y[-1] for line in chart.lines]
    for end, of, row in zip(ends, (first, second), (result.table.rows[0], result.table.rows[2]), strict=True):
        assert row[3] == f"a front of {len(of.view.front())} points"
        assert float(row[4].removeprefix("hypervolume ")) == pytest.approx(end, rel=1e-3)
    assert [row[0] for row in result.table.rows] == [*result.keys]
    assert [chart.title for chart in result.charts[1:]] == [
        "value (minimize): the best so far",
        "gain (g, maximize) and cost (EUR, maximize): the hypervolume so far",
    ]


def test_the_reference_point_is_shared_so_that_a_study_that_found_more_is_above():
    small, large = several(0, 4), several(0, 16)  # the first points are the same
    _, chart, _ = compare([small, large]).charts[0]
    assert chart.lines[0].y[-1] <= chart.lines[1].y[-1]
    alone = compare([small]).charts[0].chart.lines[0].y[-1]
    assert alone != pytest.approx(chart.lines[0].y[-1])  # by its own points alone the reference point is another


def test_what_has_no_value_yet_has_a_row_and_no_curve():
    empty = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), objectives={"gain": "maximize", "cost": "minimize"}, seed=0)
    result = compare([NamedView("empty", empty.view)])
    assert (result.charts, result.table.rows[0][2:]) == ([], [0, "-", "-", "-"])
