"""Marks of a pool's rows: where they stand, that none hides another, and their colors by value."""

import itertools

import numpy as np
import pandas as pd
import pytest

import robustbo as rb
from robustbo.report.charts.maps import BLUES
from robustbo.report.charts.pool_maps import APART, LARGEST, SMALLEST, row_marks

WELLS = [
    {"acid": acid, "dose": dose, "heat": heat}
    for acid, dose, heat in itertools.product(("HCl", "HNO3"), (0.1, 0.5, 1.0), (20, 40, 60, 80))
]


@pytest.fixture(scope="module")
def pool():
    return rb.Pool(pd.DataFrame(WELLS))


def test_rows_at_one_place_stand_side_by_side_nearer_to_it_than_to_any_other(pool):
    of = row_marks(pool, pool.unit, "acid", "dose")
    assert len({(round(x, 9), round(y, 9)) for x, y in zip(of.x, of.y, strict=True)}) == len(WELLS)
    places = np.unique(pool.unit[:, :2], axis=0)
    marks = np.stack([of.x, of.y], -1)
    nearest = np.abs(marks[:, None] - places[None]).max(-1).argmin(-1)
    assert np.array_equal(places[nearest], pool.unit[:, :2])
    assert of.across.low < of.x.min() < of.x.max() < of.across.high


def test_a_row_alone_stands_where_its_values_say(pool):
    rows = pool.unit[[0, 13]]
    of = row_marks(pool, rows, "acid", "heat")
    assert np.array_equal(np.stack([of.x, of.y], -1), rows[:, [0, 2]])
    assert of.size == LARGEST


@pytest.mark.parametrize("count", [2, 10, 500])
def test_marks_are_as_large_as_there_is_room(count):
    frame = pd.DataFrame({"acid": ["A"] * count, "base": ["B"] * count, "dose": np.linspace(0, 1, count)})
    pool = rb.Pool(frame)
    of = row_marks(pool, pool.unit, "acid", "base")
    assert SMALLEST <= of.size <= LARGEST
    assert np.ptp(of.x) <= 1.0
    if count == 2:
        assert np.ptp(of.x) == pytest.approx(APART)


def test_each_row_has_the_color_of_its_band_and_its_words(pool):
    of = row_marks(pool, pool.unit, "dose", "heat")
    values = np.arange(len(WELLS), dtype=float)
    dots = of.dots(values, BLUES, [f"row {k}" for k in range(len(WELLS))])
    assert [dots[0].label, dots[-1].label] == ["0 to 5", "20 to 25"]
    assert (dots[0].fill, dots[-1].fill) == (BLUES[0], BLUES[-1])
    assert [title for kind in dots for title in kind.titles] == [f"row {k}" for k in range(len(WELLS))]
    assert sum(len(kind.x) for kind in dots) == len(WELLS)
