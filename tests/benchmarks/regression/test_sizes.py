import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def sizes(load):
    pytest.importorskip("sklearn")
    return load("regression.sizes")


def test_rows_of_a_file_of_ones_own_are_split_and_a_tenth_of_the_targets_is_wrong(sizes, tmp_path, monkeypatch):
    monkeypatch.setattr(sizes, "HELD_OUT", 10)
    X, file = np.arange(60.0)[:, None], str(tmp_path / "mine.npz")
    np.savez(file, X=X, y=X[:, 0])
    train, y, is_wrong, X_test, y_test = sizes.rows_of(file, 50, 0.1, 0)
    assert sorted([*train[:, 0], *X_test[:, 0]]) == list(range(60))
    assert ((y != train[:, 0]) == is_wrong).all()
    assert is_wrong.sum() == 5
    assert (y_test == X_test[:, 0]).all()
    with pytest.raises(SystemExit, match=r"must have 61 rows for a size of 51, has 60; name a smaller size"):
        sizes.rows_of(file, 51, 0.0, 0)


def test_a_method_has_a_row_and_the_page_a_line(sizes, monkeypatch):
    monkeypatch.setattr(sizes, "HELD_OUT", 20)
    monkeypatch.setattr("robustbo.sklearn.regressor.EXACT", 30)
    row = sizes.measure_here("friedman5", 40, 0.1, 0, "auto")
    assert row["wrong"] == 4
    assert 0 < row["rmse"] < 1.5
    line = sizes.tables(pd.DataFrame([row | {"rate": 0.1}]))["sizes"].splitlines()[2]
    assert line.startswith("| friedman5 | 40 | auto |  | ")
