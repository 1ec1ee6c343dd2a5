"""Maps of two parameters: which points they have, and how they are drawn."""

import numpy as np
import pytest

import robustbo as rb
from robustbo.report.charts import svg
from robustbo.report.charts.chart import Axis, Cells, Chart
from robustbo.report.charts.maps import POINTS, band_ends, grid, movable

SPACE = rb.Space(
    heat=rb.Float(20, 80),
    stages=rb.Int(1, 3),
    acid=rb.Choice("A", "B"),
    share=rb.Float(0, 1, when={"acid": ["B"]}),
    constraints=["heat <= 60 + 10 * stages"],
)
POINT = {"heat": 30.0, "stages": 2, "acid": "A"}


def test_rows_are_the_point_with_two_coordinates_exchanged():
    of = grid(SPACE, POINT, "heat", "stages")
    assert of.shape == (3, POINTS)
    points = [SPACE.from_unit(row) for row in of.rows]
    assert {(point["acid"], "share" in point) for point in points} == {("A", False)}
    assert [point["stages"] for point in points[:: len(of.x) - 1]] == [1, 2, 3]
    kept = np.array([SPACE.allows(point) for point in points])
    assert np.array_equal(kept, of.keeps)
    assert not kept.all()


def test_only_parameters_that_exist_and_are_free_can_move():
    assert movable(SPACE, POINT) == ["heat", "stages", "acid"]
    mixture = rb.Space(a=rb.Float(0, 1), b=rb.Float(0, 1), constraints=["a + b == 1"])
    assert movable(mixture, {"a": 0.5, "b": 0.5}) == ["b"]


@pytest.mark.parametrize(
    "values", [[0.0, 1.0], [-3e9, 7e9], [5.0, 5.0], [1.0, 1.0 + 1e-12], [np.nan], [0.2, 0.3, np.nan]]
)
def test_bands_hold_all_values(values):
    ends = band_ends(np.array(values))
    finite = [value for value in values if np.isfinite(value)]
    assert ends == sorted({*ends})
    assert all(ends[0] <= value <= ends[-1] for value in finite)


def test_cells_of_one_color_are_drawn_together_and_those_left_out_are_not():
    values = np.array([[1.0, 1.0, 9.0], [np.nan, 9.0, 9.0]])
    edges = np.linspace(0, 1, 4)
    cells = Cells("y", edges, edges[:3], values, [0.0, 5.0, 10.0], ["#aaaaaa", "#bbbbbb"])
    chart = Chart("", Axis("a", 0, 1), Axis("b", 0, 1), cells=cells)
    drawn = svg.draw(chart)
    assert (drawn.count("#aaaaaa"), drawn.count("#bbbbbb")) == (1, 2)
    assert "0 to 5" in svg.legend(chart)
    assert "5 to 10" in svg.legend(chart)
