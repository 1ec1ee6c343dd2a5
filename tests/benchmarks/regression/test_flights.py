import pandas as pd
import pytest

from benchmarks.regression.flights import arrays_of


def test_rows_have_hours_ages_and_days_and_the_unknown_ones_are_left_out():
    flights = pd.DataFrame(
        {
            "year": [2013] * 4,
            "month": [1, 12, 1, 1],
            "day": [1, 31, 1, 1],
            "tailnum": ["N1", "N2", "N3", "N1"],
            "dep_time": [517.0, 2400.0, 100.0, None],
            "arr_time": [830.0, 45.0, 200.0, 900.0],
            "distance": [1400, 200, 300, 1400],
            "air_time": [227.0, 40.0, 60.0, 220.0],
            "arr_delay": [11.0, -20.0, 5.0, 3.0],
        }
    )
    planes = pd.DataFrame({"tailnum": ["N1", "N2"], "year": [1999.0, 2012.0]})  # the third is unknown
    X, y = arrays_of(flights, planes)
    assert y.tolist() == [11.0, -20.0]
    assert X[0] == pytest.approx([14, 1400, 227, 5 + 17 / 60, 8.5, 1, 1, 1])
    assert X[1] == pytest.approx([1, 200, 40, 24, 0.75, 1, 31, 12])
