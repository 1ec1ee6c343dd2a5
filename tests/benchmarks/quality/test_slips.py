import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def slips(load):
    return load("quality.slips")


def replicates(name):
    """Twenty replicates at each of six points, whose logarithm is normal, in whole numbers."""
    rng, x = np.random.default_rng(1), np.repeat(np.arange(6) / 5, 20)
    noise = 0.28 * rng.standard_normal(120) + 0.25 * np.repeat(rng.standard_normal(20), 6)
    return pd.DataFrame({"x": x, "kind": np.where(x > 0.5, "a", "b"), name: np.round(np.exp(3.3 + noise))})


def test_a_row_has_what_is_said_with_the_factor_and_without(slips, monkeypatch):
    monkeypatch.setattr(slips, "table", replicates)
    row = slips.row(0, "skewed")
    assert row["n"] == 120
    assert row["p, with"] > 0.95
    assert row["p, with"] >= row["p, without"]
    assert row["false, with"] == 0


def test_the_table_has_the_sets_that_differ_and_all(slips):
    rows = pd.DataFrame(
        {
            "seed": [0, 1, 0],
            "table": ["cake", "cake", "cpus"],
            "p, with": [1.0, 0.9, 0.9],
            "false, with": [0, 1, 2],
            "p, without": [0.2, 0.9, 0.8],
            "false, without": [0, 1, 2],
        }
    )
    (table,) = slips.tables(rows).values()
    assert table["table"].tolist() == ["cake", "all 2 tables"]
    assert table["found, with"].tolist() == [2, 3]
    assert table["found, without"].tolist() == [1, 2]
    assert table["others flagged, with"].tolist() == [1, 3]
