import sys

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from benchmarks.league.protocol import PeerProcess


@pytest.fixture(scope="module")
def regression(load):
    pytest.importorskip("sklearn")
    return load("regression.run")


@pytest.fixture(scope="module")
def rows_module(regression, load):
    return load("regression.rows")


@pytest.fixture(scope="module")
def methods(regression, load):
    return load("regression.methods")


@pytest.fixture(scope="module")
def page(regression, load):
    return load("regression.page")


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


def test_of_labelled_rows_the_wrong_ones_are_all_trained_on_and_the_disputed_ones_not_scored(rows_module, tmp_path):
    labels = [0] * 20 + [1, 2]
    table = pd.DataFrame({"side": ["left", "right"] * 11, "hours": np.arange(22.0), "value": np.arange(22.0)})
    table.assign(label=labels).to_csv(tmp_path / "it.csv", index=False)
    table.assign(label=0).to_csv(tmp_path / "clean.csv", index=False)
    assert rows_module.labelled_names(tmp_path, 22) == ["it"]
    assert rows_module.labelled_names(tmp_path, 21) == []
    rows = rows_module.rows_of(rows_module.Case("it", rows_module.LABELLED, 0), tmp_path)
    assert rows.X.shape == (18, 3)
    assert rows.y[rows.is_wrong].tolist() == [20.0]
    assert rows.y[~rows.is_scored].tolist() == [21.0]
    assert (rows.y_test < 20).all()


def test_the_reading_that_nobody_labelled_is_trained_on_and_not_scored(rows_module, tmp_path):
    (name,) = rows_module.UNLABELLED
    table = pd.DataFrame({"hours": np.arange(20.0), "value": np.arange(20.0), "label": [0] * 19 + [1]})
    table.to_csv(tmp_path / f"{name}.csv", index=False)
    for seed in range(5):
        rows = rows_module.rows_of(rows_module.Case(name, rows_module.LABELLED, seed), tmp_path)
        assert rows.y[~rows.is_scored].tolist() == [0.0]


def test_the_density_of_quantiles_is_that_of_the_distribution(methods):
    y = np.array([-4.0, -1.0, 0.3, 2.0, 5.0])
    ends = np.tile(1 + 2 * norm.ppf(methods.LEVELS), (len(y), 1))
    np.testing.assert_allclose(methods.log_density_of_quantiles(ends, y), norm.logpdf(y, 1, 2), atol=1e-9)


@pytest.mark.parametrize("method", ["Huber", "RANSAC", "boosting, Huber", "student-t"])
def test_a_method_has_a_row(method, monkeypatch, regression, rows_module):
    monkeypatch.setattr(rows_module, "MOST", 90)
    row = regression.measure("diabetes", "uniform", 0, method)
    assert 0.4 < row["rmse"] < 2
    assert row["rows"] == 72
    assert np.isnan(row["log_density"]) == (method != "student-t")
    assert np.isnan(row["flagged"]) == (method == "boosting, Huber")


class Standing(PeerProcess):
    """A peer that predicts a standard normal variable, and says after its name which values it flags."""

    def __init__(self, python, name):
        self.name, self.asked = name, []

    def call(self, do, **message):
        self.asked.append(do)
        if do == "begin":
            return {"seconds": 5.0}
        assert np.allclose(np.mean(message["X"], 0), 0)
        assert np.allclose(np.std(message["X"], 0), 1)
        assert np.median(message["y"]) == pytest.approx(0, abs=1e-12)
        z = np.array(message["y_test"])
        flags = [value > 3 for value in message["y"]] if self.name == "flags" else None
        answer = {"mean": [0.0] * len(z), "log_density": norm.logpdf(z).tolist(), "is_flagged": flags}
        return answer | {"seconds": 70.0}

    def close(self):
        assert self.asked == ["begin", "predict"]


@pytest.mark.parametrize("name", ["flags", "silent"])
def test_a_peer_of_another_python_answers_in_the_units_of_the_rows(name, regression, methods, monkeypatch):
    rows = regression.rows_of(regression.Case("diabetes", "uniform", 0))
    monkeypatch.setattr(methods, "PeerProcess", Standing)
    prediction = methods.by_peer(sys.executable, name, rows)
    low, center, high = np.quantile(rows.y, [0.25, 0.5, 0.75])
    sd = (high - low) / (2 * norm.ppf(0.75))
    np.testing.assert_allclose(prediction.mean, center)
    np.testing.assert_allclose(prediction.log_density, norm.logpdf(rows.y_test, center, sd))
    assert prediction.seconds == 70
    flags = prediction.is_flagged
    assert flags is None if name == "silent" else (flags == (rows.y > center + 3 * sd)).all()


def test_peers_of_another_python_are_refused_without_one(regression, tmp_path, capsys):
    with pytest.raises(SystemExit):
        regression.main(["--methods", "RobustGP", "Huber", "--out", str(tmp_path / "rows.csv")])
    assert "--python must name an environment that has RobustGP\n" in capsys.readouterr().err


def a_row(method, seed=0, **scores):
    base = {"rows": 10, "rmse": 0.5, "log_density": np.nan, "flagged": 2.0, "hits": 1.0, "wrong": 1, "seconds": 1.0}
    return {"table": "boston", "kind": "uniform", "seed": seed, "method": method} | base | scores


def test_tables_have_a_line_a_method(page):
    cases = [{"table": table, "kind": kind} for table in page.TABLES for kind in page.KINDS]
    tables = page.tables(pd.DataFrame([a_row("Huber") | case for case in cases]))
    assert tables["methods"].splitlines()[2] == "| Huber | 15 | 0.500 |  | 0.500 |  | 0.500 |  | 0.50 | 1.00 | 1 |"
    assert tables["tables"].count("| Huber |") == 3


def test_methods_are_compared_on_the_seeds_that_both_have(page):
    ours = [a_row(page.OURS, seed, rmse=rmse, seconds=0.5) for seed, rmse in enumerate([0.30, 0.32, 0.9])]
    others = [a_row("RANSAC", seed, rmse=rmse) for seed, rmse in enumerate([0.31, 0.31])]
    tables = page.tables(pd.DataFrame([*ours, *others, a_row("Huber", 0, rmse=0.4)]))
    assert tables["pairs"].splitlines()[2:] == [
        "| Huber | -0.288 ± nan |  | 0.000 ± nan | 1 | 2 |",
        "| RANSAC | -0.001 ± nan |  | 0.000 ± nan | 1 | 2 |",
    ]
    best = {line.split(" | ")[0]: line.split(" | ")[1] for line in tables["best"].splitlines()[2:]}
    assert best == {f"| {page.OURS}": "1 of 1", "| RANSAC": "1 of 1", "| Huber": "0 of 1"}
