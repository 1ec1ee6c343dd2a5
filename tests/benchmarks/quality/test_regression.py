import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm


@pytest.fixture(scope="module")
def regression(load):
    pytest.importorskip("sklearn")
    return load("quality.regression")


def test_all_methods_meet_the_same_rows_of_which_a_tenth_is_wrong(regression):
    case = regression.Case("diabetes", "asymmetric", 1)
    rows, again, clean = (
        regression.rows_of(case),
        regression.rows_of(case),
        regression.rows_of(case._replace(kind="none")),
    )
    assert all((a == b).all() for a, b in zip(rows, again, strict=True))
    assert len(rows.y) + len(rows.y_test) == 442
    assert rows.is_wrong.sum() == round(0.1 * len(rows.y))
    assert ((rows.y != clean.y) == rows.is_wrong).all()
    assert not clean.is_wrong.any()
    assert (rows.y_test == clean.y_test).all()


def test_the_density_of_quantiles_is_that_of_the_distribution(regression):
    y = np.array([-4.0, -1.0, 0.3, 2.0, 5.0])
    ends = np.tile(1 + 2 * norm.ppf(regression.LEVELS), (len(y), 1))
    np.testing.assert_allclose(regression.log_density_of_quantiles(ends, y), norm.logpdf(y, 1, 2), atol=1e-9)


@pytest.mark.parametrize("method", ["Huber", "RANSAC", "boosting, Huber", "student-t"])
def test_a_method_has_a_row(method, monkeypatch, regression):
    monkeypatch.setattr(regression, "MOST", 90)
    row = regression.measure("diabetes", "uniform", 0, method)
    assert 0.4 < row["rmse"] < 2
    assert row["rows"] == 72
    assert np.isnan(row["log_density"]) == (method != "student-t")
    assert np.isnan(row["flagged"]) == (method == "boosting, Huber")


def test_tables_have_a_line_a_method(regression):
    base = {"rows": 10, "rmse": 0.5, "log_density": np.nan, "flagged": 2.0, "hits": 1.0, "wrong": 1, "seconds": 1.0}
    rows = [
        {"table": table, "kind": kind, "seed": 0, "method": "Huber"} | base
        for table in regression.TABLES
        for kind in regression.KINDS
    ]
    found = regression.tables(pd.DataFrame(rows))
    assert found["methods"].splitlines()[2] == "| Huber | 0.500 |  | 0.500 |  | 0.500 |  | 0.50 | 1.00 | 1 |"
    assert found["tables"].count("| Huber |") == 3
