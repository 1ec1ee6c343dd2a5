import itertools
import re

import numpy as np
import pytest

from robustbo.report.charts import matplotlib_canvas, svg
from robustbo.report.charts.chart import (
    GRAY,
    Axis,
    Chart,
    Dots,
    Line,
    Note,
    Strip,
    axis,
    decades,
    labels,
    round_values,
    strips,
    ticks,
)


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([0.0, 0.5, 1.0], ["0", "0.5", "1"]),
        ([1e6, 1e6 + 2, 1e6 + 4], ["1000000", "1000002", "1000004"]),
        ([1e-14, 2e-14], ["1e-14", "2e-14"]),
    ],
)
def test_labels_tell_their_values_apart(values, texts):
    assert labels(values) == texts


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 1e-14), (0.0, 1.0), (20.0, 100.0), (-3.2, 3.3), (0.001, 0.0013), (1e5, 1e6)]
)
def test_ticks_are_round_and_within(low, high):
    found = ticks(low, high)
    assert 2 <= len(found) <= 7
    assert low <= found[0]
    assert found[-1] <= high


@pytest.mark.parametrize(("low", "high"), [(-0.03, 3.03), (0.5, 1.5), (-0.9, 90.9), (2.0, 2.9)])
def test_marks_of_whole_numbers_are_whole_and_steps_are_one_two_or_five(low, high):
    found = Axis("trial", low, high, is_whole=True).ticks()
    assert found
    assert all(value == round(value) and text == f"{value:g}" for value, text in found)
    steps = {round(b - a, 9) for (a, _), (b, _) in itertools.pairwise(found)}
    assert len(steps) <= 1
    assert steps <= {k * 10**n for k in (1, 2, 5) for n in range(3)}


def test_a_log_scale_has_few_marks_and_within_a_decade_even_ones():
    assert round_values(1e-30, 1e30, is_log=True) == pytest.approx([10.0 ** (8 * k - 30) for k in range(8)])
    assert round_values(1.0, 64.0, is_log=True) == [1, 2, 5, 10, 20, 50]
    assert round_values(1.1, 1.9, is_log=True) == [1.2, 1.4, 1.6, 1.8]


def test_a_legend_has_what_is_there_and_each_mark_its_title():
    x, nothing = np.array([0.0, 1.0]), np.array([])
    kinds = [
        Dots("right <", "#000000", "none", x, x, titles=["trial 0: 1 < 2", "trial 1"]),
        Dots("none", "#000000", "none", nothing, nothing),
    ]
    lines = [Line("best", "#009E73", x, x), Line("", "#009E73", x, x), Line("bound", GRAY, x, x * np.nan, x, x)]
    chart = Chart("", axis("x", x), axis("y", x), lines, kinds)
    found = re.findall(r"</svg> ([^<]*)</span>", svg.legend(chart))
    assert found == ["right &lt;: 2", "best", "bound"]
    assert re.findall(r"</svg> ([^<]*)</span>", svg.legend(chart, chart)) == ["right &lt;", "best", "bound"]
    assert re.findall(r"<circle [^>]*><title>([^<]*)</title></circle>", svg.draw(chart)) == [
        "trial 0: 1 &lt; 2",
        "trial 1",
    ]
    assert svg.legend(Chart("", axis("x"), axis("y"))) == ""


def test_a_frame_of_one_value_or_none_has_a_width():
    assert axis("", np.array([3.0]), np.array([np.nan]))[1:3] == (2.5, 3.5)


def test_an_axis_holds_all_finite_values_and_a_margin():
    found = axis("", np.array([1.0, np.inf]), None, np.array([3.0, np.nan]), margin=0.1)
    assert (found.low, found.high) == (pytest.approx(0.8), pytest.approx(3.2))
    assert axis("", np.array([-1e308, 1e308])).high < np.inf


def test_an_axis_by_powers_of_ten_is_even_in_them():
    found = axis("", np.array([0.1, 1000.0, 0.0]), margin=0.0, is_log=True)
    assert found.share(10.0) == pytest.approx(0.5)
    assert found.share(0.0) == 0.0
    assert [name for _, name in Axis("", 0.05, 200.0, is_log=True).ticks()] == ["0.1", "1", "10", "100"]
    assert decades(1.5, 6.0) == [2.0, 5.0]


def test_what_is_beyond_an_axis_is_at_its_edge_and_an_axis_may_go_down():
    assert [Axis("", 0.0, 2.0).share(value) for value in (-9.0, 1.0, 9.0)] == [0.0, 0.5, 1.0]
    assert Axis("", 4.0, 0.0).share(1.0) == 0.75


@pytest.fixture
def chart():
    x, nothing = np.array([0.0, 1.0, 2.0]), np.array([])
    line = Line("a < b", "#0072B2", x, np.array([0.0, np.nan, 1.0]), x - 1, x + 1, "8 4", "m0")
    dots = [Dots(shape, "#000000", "none", x, np.array([0.0, 5.0, -1e300]), shape) for shape in "oXDs"]
    empty = Dots("none", "none", "#000000", nothing, nothing)
    return Chart("T", axis("x", x), axis("y", x), [line], [*dots, empty], [Note("here", 1.0, 1.0)], about="all & more")


def test_a_page_has_every_mark_of_a_chart(chart):
    text = svg.draw(chart)
    assert text.count("<circle") == 3
    assert text.count("<path") == 9
    assert 'aria-label="all &amp; more"' in text
    assert 'class="m0"' in text
    assert "nan" not in text
    assert ">here</text>" in text


def test_a_picture_has_every_mark_of_a_chart(chart, tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    drawn = []
    monkeypatch.setattr(
        "robustbo.report.charts.matplotlib_canvas.finish", lambda figure, path, labels: drawn.append((figure, labels))
    )
    assert matplotlib_canvas.draw([[chart, chart], [chart]], tmp_path / "p.png", "title")
    ((figure, found),) = drawn
    assert [*found] == ["a < b", "o", "X", "D", "s", "none"]
    left, right, below = figure.axes
    assert (left.get_xlim(), left.get_ylim()) == ((chart.x.low, chart.x.high), (chart.y.low, chart.y.high))
    assert (left.get_ylabel(), right.get_ylabel()) == ("y", "")  # which is said once
    assert below.get_subplotspec().colspan == range(2)
    assert all(isinstance(mark, matplotlib.artist.Artist) for mark in found.values())
    matplotlib.pyplot.close(figure)


def test_strips_have_a_row_each_and_a_bar_at_the_mean():
    given = [
        Strip("first", "#000000", "m0", np.array([1.0, 3.0, np.nan])),
        Strip("none", "#0072B2", "m1", np.array([])),
    ]
    found = strips("", given, axis("value", np.array([1.0, 3.0])))
    assert [name for _, name in found.y.ticks()] == ["first", "none"]
    assert found.y.share(0.0) > found.y.share(1.0)  # from top to bottom
    (bar,) = found.lines
    assert bar.x.tolist() == [2.0, 2.0]
    assert svg.draw(found).count("<circle") == 2


def test_what_is_written_along_an_axis_is_within_the_picture():
    log = axis("x", np.array([1e-4, 1e3]), margin=0.0, is_log=True)
    found = svg.draw(Chart("", log, axis("y", np.array([123456789.0, 123456790.0]))))
    for x, anchor, text in re.findall(r'<text x="([\d.]+)" y="[\d.]+" text-anchor="(\w+)">([^<]*)</text>', found):
        width = svg.LETTER * len(text)
        left = float(x) - {"middle": width / 2, "end": width}[anchor]
        assert 0 <= left <= svg.WIDTH - width


def test_notes_at_one_edge_do_not_lie_on_each_other():
    notes = [Note("123", x, 1.0) for x in (0.5, 0.501, 0.502)]
    found = svg.draw(Chart("", axis("x", np.array([0.0, 1.0])), Axis("y", 0.0, 1.0), notes=notes))
    assert len(set(re.findall(r'y="([\d.]+)" text-anchor="start" class="note"', found))) == 3
