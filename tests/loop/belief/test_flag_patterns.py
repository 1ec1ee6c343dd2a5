import math

import numpy as np
import pytest

from robustbo.loop.belief.flag_patterns import (
    flag_patterns,
    likeliest_stretch,
    probability_of_joins,
    probability_of_stretch,
)
from robustbo.loop.belief.judge import Outlier
from robustbo.trials.trial import Trial


def reports(flags, values=None, expected=None, outcome=None):
    """Reports on values, of which some are flagged."""
    n = len(flags)
    values = np.zeros(n) if values is None else values
    expected = np.zeros(n) if expected is None else expected
    rows = zip(flags, values, expected, strict=True)
    return [
        Outlier(Trial(i, {}), float(y), float(mu), 1.0, 0.0, 0.9 * f, "flagged" if f else "inlier", outcome=outcome)
        for i, (f, y, mu) in enumerate(rows)
    ]


def random_study(seed, n, dim, rate, unit=1.0, shift=0.0):
    """Flags at random, rows, values and expectations of a study without patterns, in some unit."""
    draws = np.random.default_rng(seed)
    expected = unit * draws.normal(size=n) + shift
    values = expected + unit * draws.normal(size=n)
    return draws.random(n) < rate, draws.random((n, dim)), values, expected


def kinds(flags, rows, values=None, expected=None, rate=0.1):
    return [pattern.kind for pattern in flag_patterns(reports(flags, values, expected), rows, rate)]


def text(kind, flags, rows, values=None, expected=None, rate=0.1):
    patterns = flag_patterns(reports(flags, values, expected), rows, rate)
    return next(pattern.text for pattern in patterns if pattern.kind == kind)


class TestNothing:
    @pytest.mark.parametrize("rate", [0.0, 0.02, 0.1])
    def test_is_said_of_random_errors(self, rate):
        patterns = [
            kinds(flags, rows, *rest)
            for seed in range(20)
            for flags, rows, *rest in [random_study(seed, 30 + 15 * seed, 1 + seed % 6, rate, 10.0**seed)]
        ]
        assert sum(map(bool, patterns)) <= 1

    def test_is_said_of_few_flags(self):
        flags = np.zeros(40, dtype=bool)
        flags[20:24] = True
        assert kinds(flags, np.linspace(0, 1, 40)[:, None]) == []

    def test_is_said_of_the_replicates_of_one_point(self):
        flags, rows = np.zeros(60, dtype=bool), np.random.default_rng(0).random((60, 2))
        flags[30:36], rows[30:36] = True, rows[30]
        assert kinds(flags, rows) == []


class TestMany:
    @pytest.mark.parametrize("n", [30, 120, 600])
    def test_is_said_beyond_the_rate_that_was_told(self, n):
        flags, rows, *rest = random_study(1, n, 3, 0.0)
        flags[np.random.default_rng(1).choice(n, n // 3, replace=False)] = True
        assert kinds(flags, rows, *rest) == ["many"]
        assert f"{n // 3} of {n} values" in text("many", flags, rows, *rest)
        assert kinds(flags, rows, *rest, rate=0.3) == []


class TestTime:
    @pytest.mark.parametrize("n", [60, 192, 1000])
    def test_a_noisy_stretch_is_named_by_its_first_and_last_trial(self, n):
        flags, rows, *_ = random_study(2, n, 3, 0.0)
        flags[[20, 21, 23, 24, 25, 27, 28, 29, 31]] = True
        assert "9 of the 9 flagged values are among the 12 measured from trial 20 to 31" in text("time", flags, rows)

    def test_what_goes_on_is_a_step(self):
        flags, rows, *_ = random_study(2, 100, 3, 0.0)
        flags[88::2] = True
        assert "from trial 88 on" in text("time", flags, rows)
        assert "look up what changed at trial 88" in text("time", flags, rows)

    def test_the_probability_bounds_the_share_of_orders_with_one_as_dense(self):
        draws = np.random.default_rng(0)
        orders = [draws.permutation(np.arange(60) < 7) for _ in range(2000)]
        p = np.array([probability_of_stretch(x, *likeliest_stretch(x)) for x in orders])
        for level in (0.3, 0.1, 0.03):
            assert np.mean(p <= level) < 1.5 * level
        exact = 54 / math.comb(60, 7)  # of seven in a row
        assert exact < probability_of_stretch(np.arange(60) < 7, 0, 7) < 10 * exact

    def test_the_likeliest_stretch_leaves_a_single_flag_out(self):
        x = np.zeros(100, dtype=bool)
        x[[3, *range(60, 70)]] = True
        assert likeliest_stretch(x) == (60, 70)


class TestPlace:
    @pytest.mark.parametrize(("n", "dim"), [(60, 1), (120, 3), (500, 6)])
    def test_flags_that_lie_together_are_said(self, n, dim):
        draws = np.random.default_rng(n)
        rows = draws.random((n, dim))
        flags = np.zeros(n, dtype=bool)
        flags[np.linalg.norm(rows - 0.5, axis=-1).argsort()[: n // 8]] = True
        assert "place" in kinds(flags, rows)
        assert kinds(draws.permutation(flags), rows) == []

    def test_as_many_joins_as_random_flags_have_are_common(self):
        draws = np.random.default_rng(0)
        nearest = draws.permutation(200)
        _, p = probability_of_joins(draws.random(200) < 0.2, nearest)
        assert p > 0.01


class TestLevel:
    @pytest.mark.parametrize(("unit", "shift"), [(1.0, 0.0), (1e-6, 5.0), (-300.0, 1e4)])
    def test_flags_where_much_is_expected_are_said(self, unit, shift):
        flags, rows, values, expected = random_study(3, 150, 2, 0.0)
        flags[expected.argsort()[-30::2]] = True
        assert kinds(flags, rows, unit * values + shift, unit * expected + shift) == ["level"]
        side = "or more is expected" if unit > 0 else "or less is expected"
        assert side in text("level", flags, rows, unit * values + shift, unit * expected + shift)


class TestLimit:
    @pytest.mark.parametrize(("sign", "end"), [(1.0, "smallest"), (-1.0, "largest")])
    def test_a_heap_at_the_end_with_flags_on_one_side_is_said(self, sign, end):
        draws = np.random.default_rng(4)
        values = np.maximum(draws.normal(size=120), 0.05)
        expected = np.full(120, 0.05)
        flags = np.zeros(120, dtype=bool)
        flags[draws.permutation(np.flatnonzero(values > 0.05))[:9]] = True
        shown = text("limit", flags, draws.random((120, 2)), sign * values, sign * expected)
        assert f"{(values == 0.05).sum()} of 120 values are {sign * 0.05:g}, the {end} of all" in shown

    def test_no_heap_is_no_limit(self):
        flags, rows, values, expected = random_study(5, 120, 2, 0.0)
        flags[np.flatnonzero(values > expected)[:8]] = True
        assert "limit" not in kinds(flags, rows, values, expected)


def test_of_several_outcomes_each_is_named():
    flags, rows, *rest = random_study(6, 40, 2, 0.0)
    flags[::3] = True
    (pattern,) = flag_patterns(reports(flags, *rest, outcome="yield"), rows, 0.1)
    assert str(pattern).startswith("yield: 14 of 40 values are flagged")
