import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def warp_origin(load):
    return load("quality.warp_origin")


def test_the_origin_is_worth_something_where_values_are_skewed(warp_origin, monkeypatch):
    x = np.linspace(0, 1, 60)
    noise = 0.2 * np.random.default_rng(0).standard_normal(60)
    frame = pd.DataFrame({"x": x, "y": np.exp(2 * np.sin(5 * x) + noise)})
    monkeypatch.setattr(warp_origin.slips, "table", lambda name: frame)
    row = warp_origin.row(0, "cake", "standard")
    assert row["log density"] > 0.02


def test_what_is_held_out_was_not_fitted(warp_origin):
    ((X, y, others, values),) = warp_origin.folds(0, "Branin")
    assert (len(X), len(others)) == (40, 380)
    assert not {*map(tuple, X)} & {*map(tuple, others)}
    assert len(y) == 40
    assert len(values) == 380


def test_the_table_has_a_line_for_tables_and_one_for_functions(warp_origin):
    rows = pd.DataFrame(
        {
            "seed": 0,
            "set": ["cake", "cpus", "Branin", "Ackley"],
            "method": "standard",
            "log density": [0.1, 0.3, 0.0, 0.2],
            "log error": 0.0,
            "time": [1.0, 1.2, 1.1, 1.1],
        }
    )
    (table,) = warp_origin.tables(rows).values()
    assert table["sets"].tolist() == ["2 tables", "2 functions"]
    assert table.iloc[0, 2] == "+0.200 ± 0.100"
