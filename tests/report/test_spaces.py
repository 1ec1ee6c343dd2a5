"""Constraints, steps, orders, conditions and pools on the pages and in the terminal."""

import itertools
import math
import re

import numpy as np
import pandas as pd
import pytest

import robustbo as rb
from robustbo.errors import SpaceWarning
from robustbo.report.charts import timeline
from robustbo.report.charts.slices import across, curves, guide, shades, slices
from robustbo.report.page import journal_page
from robustbo.report.summary import text_space as words
from robustbo.report.summary.overview import overview
from robustbo.view.view import View

MIXED = rb.Space(
    x=rb.Float(0, 1),
    t=rb.Float(20, 60, step=10),
    size=rb.Ordinal("small", "medium", "large"),
    long=rb.Ordinal(*(f"a value of a long name {i}" for i in range(6))),
    ch=rb.Choice(1, 2, 3),
    one=rb.Choice("z"),
    constraints=["(x - 0.5)**2 >= 0.01", "x + ch <= 2.5"],
)
HERE = {"x": 0.25, "t": 30.0, "size": "medium", "long": "a value of a long name 0", "ch": 1, "one": "z"}


def page(opt):
    return journal_page.page("j", View(opt.settings, opt.history))


def told(space, values=6, **options):
    opt = rb.Optimizer(space, **{"direction": "minimize", "seed": 0, "surrogate": "standard", **options})
    for trial in opt.ask(values):
        opt.tell(trial, float(trial.number))
    return opt


def of(space, params):
    return {each.name: each for each in slices(space, params)}


class TestSlices:
    def test_each_point_of_a_slice_is_as_the_space_says(self):
        for name, each in of(MIXED, HERE).items():
            for unit, row, keeps in zip(each.units, each.rows, each.keeps, strict=True):
                point = MIXED.from_unit(row)
                assert {**point, name: None} == {**HERE, name: None}
                assert point[name] == each.parameter.from_unit(unit)
                assert keeps == (not MIXED.broken(point))

    def test_a_curve_has_a_gap_where_a_constraint_is_broken_and_gray_fills_it(self):
        x = of(MIXED, HERE)["x"]
        left, right = curves(x, x.units)
        assert (left.x[0], right.x[-1]) == (0, 1)
        assert left.x[-1] <= 0.4 < 0.6 <= right.x[0]
        (gray,) = shades(x, across(x))
        assert gray.x == pytest.approx([0.4, 0.6], abs=0.02)
        assert np.isnan(gray.y).all()

    def test_a_parameter_of_one_value_has_none(self):
        assert "one" not in of(MIXED, HERE)
        assert "Of one value, without a slice: one is 'z'." in guide(MIXED)

    def test_an_ordinal_has_its_values_along_the_axis_or_a_table_where_they_have_no_room(self):
        found = of(MIXED, HERE)
        assert [text for _, text in across(found["size"]).names] == ["small", "medium", "large"]
        assert not found["size"].is_table
        assert found["long"].is_table
        many = rb.Space(n=rb.Ordinal(*range(100)), x=rb.Float(0, 1))
        names = [text for _, text in across(of(many, {"n": 3, "x": 0})["n"]).names]
        assert (len(names), names[0]) == (8, "0")

    @pytest.mark.parametrize(
        ("parameter", "texts"),
        [
            (rb.Float(20, 90), ["20", "40", "60", "80"]),
            (rb.Float(0.13, 0.97), ["0.2", "0.4", "0.6", "0.8"]),
            (rb.Float(1e-4, 1e-1, log=True), ["0.0001", "0.001", "0.01", "0.1"]),
            (rb.Int(1, 3), ["1", "2", "3"]),
            (rb.Int(0, 9), ["0", "2", "4", "6", "8"]),
            (rb.Int(1, 64, log=True), ["1", "2", "5", "10", "20", "50"]),
            (rb.Int(3, 66, step=7), ["3", "17", "31", "45", "59"]),
            (rb.Float(20, 60, step=10), ["20", "30", "40", "50", "60"]),
        ],
    )
    def test_values_along_the_axis_are_round_and_where_they_are(self, parameter, texts):
        (along,) = slices(rb.Space(x=parameter), {"x": parameter.low})
        names = across(along).names
        assert [text for _, text in names] == texts
        assert [parameter.to_unit(float(text)) for text in texts] == pytest.approx([place for place, _ in names])

    def test_what_does_not_exist_is_said_and_what_begins_to_is_in_its_middle(self):
        space = rb.Space(k=rb.Choice("t", "d"), rate=rb.Float(0, 1, when={"k": "d"}), x=rb.Float(0, 1))
        at = of(space, {"k": "t", "x": 0.5})
        assert at["rate"].note == "Exists only where k is 'd': not at the incumbent"
        assert not len(at["rate"].units)
        assert [space.from_unit(row) for row in at["k"].rows] == [
            {"k": "t", "x": 0.5},
            {"k": "d", "rate": 0.5, "x": 0.5},
        ]
        there = of(space, {"k": "d", "rate": 0.25, "x": 0.5})["rate"]
        assert (there.note, len(there.units)) == ("", 61)

    def test_in_a_mixture_another_part_makes_up_for_it(self):
        space = rb.Space(a=rb.Float(0, 1), b=rb.Float(0, 1), c=rb.Float(0, 1), constraints=["a + b + c == 1"])
        found = of(space, {"a": 0.25, "b": 0.25, "c": 0.5})
        assert found["a"].note == "Follows from b and c by the constraints"
        assert found["b"].note == "As it moves, a follows by the constraints"
        kept = np.array(found["b"].rows)[found["b"].keeps]
        assert kept.sum(1) == pytest.approx(1)
        assert kept[:, 2] == pytest.approx(0.5)
        assert kept[:, 1].max() == pytest.approx(0.5, abs=1e-9)


class TestPage:
    def test_all_kinds(self):
        text = page(told(MIXED))
        assert "Gray: a constraint is broken there." in text
        assert "<code>(x - 0.5)**2 &gt;= 0.01</code>" in text
        assert text.count("prediction through the incumbent") == 3  # x, t and size
        assert "breaks a constraint" in text  # a row of ch or another value
        for shown in ("20 to 60 by 10", "&#39;small&#39; &lt; &#39;medium&#39;", "0 to 1"):
            assert f">{shown}" in text

    def test_a_trial_that_breaks_a_constraint_is_marked_and_not_the_best(self):
        opt = told(rb.Space(x=rb.Float(0, 1), y=rb.Float(0, 1), constraints=["x + y <= 1"]))
        text = page(opt)
        assert "break a constraint" not in text
        with pytest.warns(SpaceWarning, match="keeps it, because it was measured"):
            opt.tell({"x": 1.0, "y": 0.75}, -50.0)
        text = page(opt)
        assert "break a constraint: 1</span>" in text
        assert "Trial 6 breaks &#39;x + y &lt;= 1&#39;: kept, since measured, but never the best." in text
        assert overview(View(opt.settings, opt.history))["breaking"] == [{"trial": 6, "constraints": ["x + y <= 1"]}]
        assert timeline.values(View(opt.settings, opt.history)).lines[-1].y.min() == opt.best().mean

    def test_conditions(self):
        space = rb.Space(k=rb.Choice("t", "d"), rate=rb.Float(0, 1, when={"k": "d"}), n=rb.Int(1, 5, when={"k": "t"}))
        opt = told(space)
        for i in range(4):
            opt.fail({"k": "d", "rate": i / 4}, "broke")
        text = page(opt)
        assert "only where k is &#39;d&#39;" in text
        assert ": not at the incumbent.</p>" in text
        assert "Where trials fail" in text

    def test_before_anything_is_told(self):
        opt = rb.Optimizer(MIXED, direction="minimize", seed=0)
        text = page(opt)
        assert "Nothing has been told yet" in text
        assert "<h2>The space</h2>" in text


FRAME = pd.DataFrame([{"x": x / 10, "acid": a} for x, a in itertools.product(range(11), ["HCl", "HNO3"])])


@pytest.fixture(scope="module")
def pool():
    opt = rb.Optimizer(rb.Pool(FRAME, constraints=["x <= 0.9"]), direction="minimize", seed=0, surrogate="standard")
    for trial in opt.ask(8):
        opt.tell(trial, (trial.params["x"] - 0.45) ** 2)
    opt.add_rows(pd.DataFrame({"x": [0.45], "acid": ["HCl"]}))
    return opt


class TestPool:
    def test_the_best_rows_left_are_as_the_optimizer_predicts(self, pool):
        text = page(pool).split("The best rows not yet measured")[1].split("<h2>")[0]
        rows = re.findall(r"<tr><td>([\d.]+)</td><td>(\w+)</td><td>([^<]+)</td>", text)
        measured = {(t.params["x"], t.params["acid"]) for t in pool.history}
        points = [(float(x), acid) for x, acid, _ in rows]
        assert (0.45, "HCl") in points  # which was added
        assert len(rows) == 12
        assert not measured & {*points}
        assert max(x for x, _ in points) <= 0.9
        for (x, acid), (*_, mean) in zip(points, rows, strict=True):
            assert f"{pool.predict({'x': x, 'acid': acid}).mean:.6g}" == mean
        means = [float(mean) for *_, mean in rows]
        assert means == sorted(means)
        assert "13 rows are left" in text

    def test_measured_and_predicted_are_drawn_in_the_place_of_slices(self, pool):
        text = page(pool)
        assert "measured values against what the others predict" in text
        assert "through the incumbent" not in text
        found = overview(View(pool.settings, pool.history))
        assert found["pool"] == {"rows": 23, "added": 1, "told": 8}
        assert words.lines(found)[0] == "chooses from a pool of 23 rows, 1 of them added later; 8 have been told"

    def test_where_rows_fail_their_chance_is_said(self):
        opt = told(rb.Pool(FRAME), values=8)
        for trial in opt.ask(2):
            opt.fail(trial, "broke")
        assert "probability of a value" in page(opt)

    def test_where_none_is_left_that_is_said(self):
        assert "Every row that may be asked for" in page(told(rb.Pool(FRAME.head(4)), values=4))


def test_old_spaces_have_nothing_more_in_json():
    found = overview((lambda o: View(o.settings, o.history))(told(rb.Space(x=rb.Float(0, 1)))))
    assert not {"constraints", "breaking", "pool"} & set(found)


def test_a_frame_has_nan_where_a_number_does_not_exist():
    space = rb.Space(
        k=rb.Choice("t", "d"),
        rate=rb.Float(0, 1, when={"k": "d"}),
        n=rb.Int(1, 5, when={"k": "t"}),
        word=rb.Choice("p", "q", when={"k": "d"}),
    )
    opt = rb.Optimizer(space, direction="minimize", seed=0, surrogate="standard")
    opt.tell({"k": "t", "n": 2}, 1.0)
    for frame in (opt.frame(), opt.frame(evidence=False)):
        assert (str(frame["rate"].dtype), math.isnan(frame["rate"][0])) == ("float64", True)
        assert frame["word"].isna().all()
    opt.tell({"k": "d", "rate": 0.5, "word": "q"}, 2.0)
    frame = opt.frame(evidence=False)
    assert frame["n"].tolist()[0] == 2.0
    assert math.isnan(frame["n"][1])
    again = rb.Optimizer(space, direction="minimize", seed=0, surrogate="standard")
    again.tell_frame(frame, ignore_extra=True)
    assert [t.params for t in again.history] == [t.params for t in opt.history]


@pytest.mark.parametrize(
    ("trials", "said"), [([3], "trial 3 breaks 'a' and 'b': "), ([3, 5], "trials 3, 5 break 'a' or 'b': ")]
)
def test_one_trial_breaks_all_that_is_named_and_each_of_several_some(trials, said):
    (line,) = words.lines({"breaking": [{"trial": number, "constraints": ["a", "b"]} for number in trials]})
    assert line.startswith(said)
