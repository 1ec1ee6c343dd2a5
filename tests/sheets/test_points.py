"""Tables of points: numbers with decimal commas, and what may be either."""

import pytest

from robustbo.sheets.points import TableBytes, frame_of


def column(*cells):
    text = "a;b\n" + "".join(f"{cell};1\n" for cell in cells)
    return frame_of(TableBytes(text.encode(), "catalogue.csv"), {})["a"].tolist()


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1,5", "12,25"], [1.5, 12.25]),
        (["1.234,5", "12,5"], [1234.5, 12.5]),
        (["1,5", "3"], [1.5, 3.0]),
        (["1.234", "12.5"], [1.234, 12.5]),  # no decimal comma in it
        (["DMF", "1,4-dioxane"], ["DMF", "1,4-dioxane"]),
    ],
)
def test_numbers_are_read_as_they_are_meant(cells, expected):
    assert column(*cells) == expected


def test_a_point_that_may_mean_thousands_is_asked_about():
    with pytest.raises(ValueError, match=r"catalogue\.csv: a: got '1\.234', which may be 1,234 or 1234"):
        column("1.234", "12,5")
