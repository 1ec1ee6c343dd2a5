"""Labels of measurements."""

import numpy as np
import pytest

from robustbo.numerics.sources.labels import SourceLabels

LABELS = SourceLabels(
    ("operator", "reactor"),
    (("A", "B"), ("R1", "R2", "R3")),
    np.array([[0, 2], [1, 0], [-1, 2], [0, -1]]),
    np.array([3.0, 1.0, 2.0, 0.0]),
)


def test_rows_of_a_level_are_in_the_order_of_their_times():
    assert LABELS.rows_of(0, 0).tolist() == [3, 0]
    assert LABELS.rows_of(1, 2).tolist() == [2, 0]
    assert LABELS.rows_of(1, 1).tolist() == []


def test_among_keeps_all_levels():
    some_rows = LABELS.among(np.array([1, 2]))
    assert some_rows.levels == LABELS.levels
    assert some_rows.codes.tolist() == [[1, 0], [-1, 2]]
    assert some_rows.order.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("code", [-2, 2])
def test_codes_must_name_levels(code):
    with pytest.raises(ValueError, match=f"codes of operator must be from -1 to 1, got {code}"):
        SourceLabels(("operator",), (("A", "B"),), np.array([[code]]), np.zeros(1))


def test_shapes_must_agree():
    with pytest.raises(ValueError, match="a row a measurement and a column a kind of source"):
        SourceLabels(("operator",), (("A", "B"),), np.zeros((2, 2), dtype=int), np.zeros(2))
