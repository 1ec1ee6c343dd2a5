import numpy as np
import pandas as pd
import pytest
import torch
from scipy.linalg import lapack

SECONDS = ("median_s", "cpu_s", "first_s", "first_cpu_s")


@pytest.fixture(scope="module")
def as_in_a_run(load):
    return load("common.measured_values")


@pytest.fixture(scope="module")
def factorizations(load):
    return load("speed.factorizations")


@pytest.fixture(scope="module")
def speed_table(load):
    return load("speed.sizes_table")


@pytest.mark.parametrize("wrong", ["uniform", "random-point", "constant"])
def test_fewer_values_are_the_first_of_more(as_in_a_run, wrong):
    few, more = (as_in_a_run.data("branin", n, 3, wrong) for n in (41, 80))
    for mine, theirs in zip(few, more, strict=True):
        np.testing.assert_array_equal(mine, theirs[:41])
    assert (more.y == more.clean)[~more.is_wrong].all()
    assert 1 <= more.is_wrong.sum() <= 16


def test_every_second_point_is_about_an_optimum(as_in_a_run):
    clean = as_in_a_run.data("rosenbrock", 200, 0).clean
    assert np.median(clean[1::2]) < np.median(clean[::2]) / 2


def test_arithmetic_is_counted_in_factorizations(factorizations):
    B, V = 2 * np.eye(40), np.ones((40, 10))
    with factorizations.count_calls(40) as counts:
        C, _ = lapack.dpotrf(B)
        assert counts["work"] == pytest.approx(1)
        lapack.dpotri(C)
        assert counts["work"] == pytest.approx(1 + 2)
        lapack.dpotrs(C, V)
        assert counts["work"] == pytest.approx(1 + 2 + 6 * 10 / 40)
        torch.linalg.cholesky(torch.eye(40).expand(3, 40, 40))
        assert counts["work"] == pytest.approx(1 + 2 + 6 * 10 / 40 + 3)
        lapack.dpotrf(np.eye(10))  # small: its arithmetic counts, as a factorization of an n x n matrix it does not
    assert factorizations.num_factorizations(counts) == 2
    assert counts["work"] == pytest.approx(7.5 + (10 / 40) ** 3)
    lapack.dpotrf(B)  # and no longer
    assert factorizations.num_factorizations(counts) == 2


@pytest.mark.parametrize("competitor", ["standard", "optuna"])
def test_a_row_has_times_and_of_ours_what_can_be_looked_at(load, competitor):
    speed_sizes = load("speed.sizes")
    row = speed_sizes.measure("branin", 12, 0, competitor, 2)
    there = speed_sizes.COLUMNS if competitor == "standard" else (*speed_sizes.KEY, *speed_sizes.TIMES, "peak_mib")
    assert set(row) == set(there)
    assert all(row[key] > 0 for key in there[4:])
    assert row["slowest_s"] >= row["median_s"]


def test_the_exponent_is_that_of_a_power(speed_table):
    n = pd.Series([200, 500, 1000, 2000])
    assert speed_table.exponent(n, 3e-7 * n**2.4) == pytest.approx(2.4)
    assert np.isnan(speed_table.exponent(n[:1], n[:1]))


def test_ratios_are_of_the_same_seed(speed_table):
    rows = [
        {"function": "levy", "n": 50, "seed": seed, "competitor": name} | dict.fromkeys(SECONDS, s)
        for seed, name, s in ((0, "default", 1.0), (0, "optuna", 2.0), (1, "default", 8.0), (1, "optuna", 4.0))
    ]
    (row,) = speed_table.side_by_side(pd.DataFrame(rows)).to_dict("records")
    assert row["default / Optuna"] == row["first / first"] == pytest.approx(1.0)
    assert row["default_s"] == 4.5


def test_tables_are_shown_where_nothing_of_ours_was_measured(speed_table, capsys):
    speed_table.show([{"function": "levy", "n": 50, "seed": 0, "competitor": "ax"} | dict.fromkeys(SECONDS, 1.0)])
    assert "seconds of an ask" in capsys.readouterr().out
