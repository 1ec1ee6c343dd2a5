import math

import numpy as np
import pytest

from robustbo_problems.regression_corruptions import CORRUPTIONS

N = 40
ROWS = np.array([5, 30, 2, 17])


@pytest.fixture
def clean():
    """40 x 3 inputs on different scales, targets of standard deviation 2 or so, and their standard deviation."""
    generator = np.random.default_rng(0)
    y = 2 * generator.standard_normal(N) + 7
    return generator.standard_normal((N, 3)) * [1, 10, 100], y, y.std()


def corrupted(kind, clean, seed=0, rows=ROWS):
    X, y, _ = clean
    return CORRUPTIONS[kind](X, y, rows, np.random.default_rng(seed))


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


class TestEveryCorruption:
    @pytest.mark.parametrize("kind", CORRUPTIONS)
    def test_changes_its_rows_and_nothing_else(self, kind, clean):
        X, y, _ = clean
        before = X.copy(), y.copy()
        X_after, y_after = corrupted(kind, clean)
        assert same((X, y), before), "the clean data are still there"
        assert set(np.flatnonzero(y_after != y)) == set(ROWS)
        changed = set(np.flatnonzero((X_after != X).any(1)))
        assert changed == (set(ROWS) if kind == "focused" else set())

    @pytest.mark.parametrize("kind", CORRUPTIONS)
    def test_of_no_rows_changes_nothing(self, kind, clean):
        assert same(corrupted(kind, clean, rows=ROWS[:0]), clean[:2])

    @pytest.mark.parametrize("kind", CORRUPTIONS)
    def test_is_by_its_generator(self, kind, clean):
        first = corrupted(kind, clean)
        assert same(first, corrupted(kind, clean))
        assert same(first, corrupted(kind, clean, seed=3)) == (kind == "constant")

    @pytest.mark.parametrize("kind", [kind for kind in CORRUPTIONS if kind != "neal"])  # whose noise has its own
    def test_follows_the_units(self, kind, clean):
        X, y, _ = clean
        X_after, y_after = corrupted(kind, clean)
        X_scaled, y_scaled = corrupted(kind, (8 * X, 8 * y + 3, 0))
        np.testing.assert_allclose(X_scaled, 8 * X_after, rtol=1e-12)
        np.testing.assert_allclose(y_scaled, 8 * y_after + 3, rtol=1e-12)


class TestCorruptions:
    many = np.arange(N)

    def shifts(self, kind, clean, seeds=50):
        """seeds x n, in standard deviations."""
        _, y, s = clean
        return np.array([(corrupted(kind, clean, seed, self.many)[1] - y) / s for seed in range(seeds)])

    def test_uniform_shifts_by_3_to_9_sd_up_and_down(self, clean):
        shifts = self.shifts("uniform", clean)
        assert 3 <= np.abs(shifts).min() < 3.1
        assert 8.9 < np.abs(shifts).max() <= 9
        assert 0.45 < (shifts > 0).mean() < 0.55
        assert all(0 < up < N for up in (shifts > 0).sum(1))
        assert np.abs(shifts).mean() == pytest.approx(6, abs=0.15)

    def test_asymmetric_shifts_by_3_to_9_sd_all_one_way(self, clean):
        shifts = self.shifts("asymmetric", clean)
        assert 3 <= np.abs(shifts).min() < 3.1
        assert 8.9 < np.abs(shifts).max() <= 9
        assert set((shifts > 0).sum(1)) == {0, N}
        assert 0.25 < (shifts[:, 0] > 0).mean() < 0.75

    def test_focused_is_a_cluster_about_the_middle_row_and_3_sd_below(self):
        x = np.array([4.0, 0, 2, 3, 1, 5])  # sorted position 3 holds 3, of row 3; median 2.5, MAD 1.5
        X, y = np.stack([x, -10 * x], 1), np.array([10.0, 0, 8, 6, 3, 4])  # position 3 of -10 x holds -20, of row 2
        runs = [CORRUPTIONS["focused"](X, y, np.arange(6), np.random.default_rng(seed)) for seed in range(500)]
        offsets = np.concatenate([(X_after - [3, -20]) / (0.1 * 2 * np.array([1.5, 15])) for X_after, _ in runs])
        assert -0.5 <= offsets.min() < -0.49
        assert 0.49 < offsets.max() <= 0.5
        assert abs(np.corrcoef(offsets.T)[0, 1]) < 0.1
        top = (6 + 8) / 2 - 3 * np.std(y)
        below = np.concatenate([(top - y_after) / (0.1 * 2.5) for _, y_after in runs])  # y: median 5, MAD 2.5
        assert 0 <= below.min() < 0.01
        assert 0.99 < below.max() <= 1

    def test_constant_is_one_value_15_sd_over_the_mean(self, clean):
        _, y, s = clean
        np.testing.assert_allclose(corrupted("constant", clean)[1][ROWS], y.mean() + 15 * s, rtol=1e-12)

    def test_student_t_has_its_quartiles_and_tail(self, clean):
        shifts = np.abs(self.shifts("student-t", clean, 500)) / 3
        assert np.median(shifts) == pytest.approx(math.sqrt(2 / 3), rel=0.04)  # the quartile of t with 2 degrees
        assert (shifts > 4.302653).mean() == pytest.approx(0.05, rel=0.15)  # its 97.5 % quantile

    def test_laplace_has_its_median_and_tail(self, clean):
        shifts = np.abs(self.shifts("laplace", clean, 500)) / 3
        assert np.median(shifts) == pytest.approx(math.log(2), rel=0.04)
        assert (shifts > math.log(20)).mean() == pytest.approx(0.05, rel=0.15)

    def test_neals_noise_has_a_standard_deviation_of_1_with_the_usual_one(self, clean):
        _, y, _ = clean
        shifts = np.array([corrupted("neal", clean, seed, self.many)[1] - y for seed in range(500)])
        assert shifts.std() ** 2 + 0.1**2 == pytest.approx(1.0, rel=0.02)
        assert abs(shifts.mean()) < 0.02
