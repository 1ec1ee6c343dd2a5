"""Values that all read as the limit: taken for bounds where that explains them best, and said."""

import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import robustbo as rb
from robustbo.errors import NumericsWarning
from robustbo.loop.observations.table import Observations
from robustbo.loop.surrogate.heaps import find_heaps


def table(n, d, seed):
    """Points, and a smooth function with noise there, of spread 1."""
    rng = np.random.default_rng(seed)
    X, w = rng.random((n, d)), rng.standard_normal(d)
    f = np.sin(3 * X @ w / np.sqrt(d)) + 0.7 * X @ w + 0.05 * rng.standard_normal(n)
    return X, (f - f.mean()) / f.std()


def flagged(X, values, direction="maximize", **options):
    """The trials that are flagged, and the warnings."""
    names = [f"x{i}" for i in range(X.shape[1])]
    opt = rb.Optimizer(rb.Space(**{name: rb.Float(0, 1) for name in names}), direction=direction, seed=0, **options)
    opt.tell_frame(pd.DataFrame(X, columns=names).assign(value=values))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reports = opt.outliers()
        opt.best()
        again = opt.outliers()
    assert [o.trial.number for o in again] == [o.trial.number for o in reports]
    texts = [str(w.message) for w in caught if issubclass(w.category, NumericsWarning)]
    return {o.trial.number for o in reports if o.flagged}, texts


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("n", "d", "share", "unit", "side"),
    [(120, 2, 0.3, 1.0, 1), (60, 4, 0.5, 1e-6, 1), (40, 1, 0.2, 1e3, -1), (40, 2, 0.3, 1.0, -1)],
)
def test_good_values_beside_a_heap_at_a_limit_are_not_flagged(n, d, share, unit, side):
    X, f = table(n, d, seed=1)
    values = unit * (3 + side * np.maximum(side * f, np.quantile(side * f, share)))
    doubted, texts = flagged(X, values)
    end, bound = ("smallest", "Below") if side == 1 else ("largest", "Above")
    heap = np.flatnonzero(values == (values.min() if side == 1 else values.max()))
    assert not doubted & {*heap.tolist()}
    assert len(doubted) <= n // 50
    (text,) = texts  # once
    assert text.startswith(f"{len(heap)} of {n} values are ")
    assert f", the {end} of all: the surrogate takes them for" in text
    assert f"rb.{bound}(" in text


@pytest.mark.few(2)
@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("code", [1e3, 1e9, 1e200, sys.float_info.max])
def test_failures_that_were_told_as_a_number_are_wrong_however_large_it_is(code):
    X, f = table(40, 2, seed=2)
    failed = np.arange(0, 40, 7)
    f[failed] = code
    doubted, texts = flagged(X, f, direction="minimize")
    assert {*failed.tolist()} <= doubted
    assert not texts


@pytest.mark.few(1)
@pytest.mark.parametrize("share", [0.12, 0.25])
def test_a_stuck_sensor_is_no_limit(share):
    X, f = table(60, 2, seed=5)
    is_wrong = np.random.default_rng(0).random(60) < share
    doubted, texts = flagged(X, np.where(is_wrong, f.min() - 1, f))
    assert doubted == {*np.flatnonzero(is_wrong).tolist()}
    assert texts == []


def test_numbers_of_few_digits_make_no_heap():
    X, f = table(60, 2, seed=7)
    assert flagged(X, np.round(f, 1))[1] == []


def test_what_is_vouched_for_is_no_limit():
    values = (0.5,) * 5 + (1.0, 2.0, 3.5, 4.0, 5.0, 6.0, 6.5, 7.0, 8.0, 9.0)
    points = tuple((i / 15,) for i in range(15))
    (heap,) = find_heaps(Observations(tuple(range(15)), points, values, None))
    assert heap == ("<", 0.5, (0, 1, 2, 3, 4))
    assert find_heaps(Observations(tuple(range(15)), points, values, None, frozenset({0, 1, 2}))) == []


@pytest.mark.parametrize(
    "values",
    [
        (0.5, 0.5, 1.0, 2.0, 3.5, 4.0, 5.0, 6.0, 7.0, 7.5, 8.0, 8.5, 9.0, 9.5),  # two
        (0.5, 0.5, 0.5, 1.0, 1.0, 2.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 8.5, 9.0),  # others coincide too
        (0.5, 0.5, 0.5, 0.5, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0),  # too few beside
        (2.0, 2.0, 2.0, 1.0, 3.0, 4.0, 5.0, 6.0, 7.0, 7.5, 8.0, 8.5, 9.0, 9.5),  # not at the end
    ],
)
def test_too_few_are_no_heap(values):
    points = tuple((i / 10,) for i in range(14))
    assert find_heaps(Observations(tuple(range(14)), points, values, None)) == []


def test_replicates_at_one_point_are_no_heap():
    points = ((0.0,),) * 4 + tuple((i / 10,) for i in range(1, 7))
    assert find_heaps(Observations(tuple(range(10)), points, (0.5,) * 4 + (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), None)) == []
