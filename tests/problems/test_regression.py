import math

import numpy as np
import pytest
from sklearn.preprocessing import RobustScaler

from robustbo_problems import datasets, regression, regression_functions
from robustbo_problems.hartmann6 import hartmann6
from robustbo_problems.regression import Clean, Scaling, robust_scaling, split, task
from robustbo_problems.regression_corruptions import CORRUPTIONS

FUNCTIONS = ["neal", "friedman5", "friedman10", "hartmann6"]


@pytest.fixture
def stored(monkeypatch):
    """Real data sets out of a dictionary, each input of a row being its number."""
    tables = {
        "boston": datasets.Table(np.arange(506.0)[:, None].repeat(13, 1), np.arange(506.0)),
        "california": datasets.Table(np.arange(2000.0)[:, None].repeat(8, 1), np.arange(2000.0)),
    }
    monkeypatch.setattr(regression, "table", tables.__getitem__)
    return tables


@pytest.fixture
def real(real_data, name):
    """The folder with real data, among them those of that name."""
    if not any((real_data / file).exists() for file in datasets.TABLES[name].files):
        pytest.skip(f"no {name} in {real_data}: let ROBUSTBO_DATA name a folder with the real data")


def in_units(given):
    """A task's data before the scaling."""
    inputs, targets = given.X_scaling.in_units, given.y_scaling.in_units
    return Clean(inputs(given.X), targets(given.y), inputs(given.X_test), targets(given.y_test))


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


class TestFunctions:
    def test_neals_at_points_worked_out_by_hand(self):
        x = np.array([[0.0, math.pi / 2.7], [1.0, -1.0]])
        expected = [
            [0.3 + 1.1, 0.3 + 0.4 * math.pi / 2.7 + 1.1 / (1 + (math.pi / 2.7) ** 2)],
            [0.3 + 0.4 + 0.5 * 0.4273798802338298 + 0.55, 0.3 - 0.4 - 0.5 * 0.4273798802338298 + 0.55],
        ]
        np.testing.assert_allclose(regression_functions.neal(x), expected, rtol=1e-12)

    def test_friedmans_at_points_worked_out_by_hand(self):
        X = np.array([[0.5, 1, 0.5, 0, 0], [1, 0.5, 1, 1, 1], [0, 1, 0, 0.5, 0.2], [1, 1 / 6, 0.5, 0.1, 0]])
        np.testing.assert_allclose(regression_functions.friedman(X), [10, 30, 11, 6], rtol=1e-12)

    def test_friedmans_other_inputs_are_idle(self):
        X = np.random.default_rng(0).random((2, 3, 10))
        np.testing.assert_array_equal(regression_functions.friedman(X), regression_functions.friedman(X[..., :5]))
        assert regression_functions.friedman(X).shape == (2, 3)

    def test_hartmann6_is_the_problem(self):
        X = np.random.default_rng(0).random((2, 5, 6))
        expected = [
            [hartmann6(dict(zip(hartmann6.space.names, x, strict=True))) for x in block.tolist()] for block in X
        ]
        np.testing.assert_allclose(regression_functions.hartmann6(X), expected, rtol=1e-12)

    def test_a_wrong_number_of_inputs_is_refused(self):
        with pytest.raises(ValueError, match="X must have at least 5 columns, got 4"):
            regression_functions.friedman(np.zeros((3, 4)))
        with pytest.raises(ValueError, match="X must have 6 columns, got 1"):
            regression_functions.hartmann6(np.zeros((3, 1)))


class TestScaling:
    def test_is_scikit_learns(self):
        X = np.random.default_rng(0).standard_normal((37, 4)) ** 3 * [1, 1e-6, 1e6, 0] + [0, 1, 1e5, 4]
        other = np.random.default_rng(1).standard_normal((5, 4))
        theirs, ours = RobustScaler().fit(X), robust_scaling(X)
        np.testing.assert_allclose(ours.center, theirs.center_, rtol=1e-12)
        np.testing.assert_allclose(ours.scale, theirs.scale_, rtol=1e-12)
        np.testing.assert_allclose(ours.scale_values(other), theirs.transform(other), rtol=1e-9)

    def test_by_hand_and_back(self):
        values = np.array([[1.0, 5], [2, 5], [3, 5], [5, 5], [100, 5]])
        found = robust_scaling(values)
        np.testing.assert_array_equal(found, Scaling(np.array([3, 5]), np.array([3, 1])))
        np.testing.assert_allclose(found.in_units(found.scale_values(values)), values, rtol=1e-12)
        assert robust_scaling(values[:, 0]) == (3, 3)


@pytest.mark.parametrize("name", FUNCTIONS)
class TestEveryFunctionsTask:
    def test_has_its_sizes(self, name):
        d, m = {"neal": (1, 100), "friedman5": (5, 2000), "friedman10": (10, 2000), "hartmann6": (6, 2000)}[name]
        for n, given in ((100, task(name)), (25, task(name, n=25, corruption="uniform"))):
            assert (given.X.shape, given.X_test.shape) == ((n, d), (m, d))
            assert (given.y.shape, given.is_corrupted.shape, given.y_test.shape) == ((n,), (n,), (m,))

    def test_is_the_function_with_its_noise(self, name):
        functions = {"neal": lambda X: regression_functions.neal(X[:, 0]), "hartmann6": regression_functions.hartmann6}
        of, sd = functions.get(name, regression_functions.friedman), {"neal": 0.1, "hartmann6": 0.02}.get(name, 1.0)
        given = in_units(task(name, n=2000))
        training, test = given.y - of(given.X), given.y_test - of(given.X_test)
        for noise in (training, test):
            assert noise.std() == pytest.approx(sd, rel=0.2)
            assert abs(noise.mean()) < 0.3 * sd
        assert not np.isclose(training[:100], test[:100], rtol=1e-6, atol=0).any(), "drawn apart"
        deciles = (-1.2816, 1.2816) if name == "neal" else (0.1, 0.9)  # of N(0, 1), of U(0, 1)
        np.testing.assert_allclose(np.quantile(given.X, (0.1, 0.9)), deciles, atol=0.1)

    def test_is_by_its_seed(self, name):
        first = task(name, corruption="laplace", seed=4)
        assert same(first[:5], task(name, corruption="laplace", seed=4)[:5])
        other = task(name, corruption="laplace", seed=5)
        assert not any(np.array_equal(a, b) for a, b in zip(first[:5], other[:5], strict=True))

    def test_training_and_test_data_are_not_the_same(self, name):
        given = in_units(task(name))
        assert not np.isclose(given.X[:, None, 0], given.X_test[None, :, 0], rtol=1e-9, atol=1e-9).any()

    @pytest.mark.parametrize("kind", CORRUPTIONS)
    def test_its_clean_part_is_that_of_the_clean_task_and_the_mask_marks_the_rest(self, name, kind):
        given, reference = task(name, corruption=kind, rate=0.25), task(name)
        assert given.is_corrupted.sum() == 25
        assert not reference.is_corrupted.any()
        found, clean = in_units(given), in_units(reference)
        for mine, theirs in zip(found[2:], clean[2:], strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)
        unchanged = np.isclose(found.y, clean.y, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(~unchanged, given.is_corrupted)
        inputs_unchanged = np.isclose(found.X, clean.X, rtol=1e-9, atol=1e-9).all(1)
        np.testing.assert_array_equal(~inputs_unchanged, given.is_corrupted & (kind == "focused"))

    @pytest.mark.parametrize("kind", ["none", *CORRUPTIONS])
    def test_is_scaled_by_its_own_training_data(self, name, kind):
        given = task(name, corruption=kind, rate=0.3)
        for values in (given.X, given.y):
            np.testing.assert_allclose(np.median(values, axis=0), 0, atol=1e-12)
            np.testing.assert_allclose(np.subtract(*np.quantile(values, (0.75, 0.25), axis=0)), 1, rtol=1e-9)

    def test_a_zero_rate_is_the_clean_task(self, name):
        for kind in CORRUPTIONS:
            assert same(task(name, corruption=kind, rate=0)[:5], task(name)[:5])


def test_every_corruption_hits_the_same_rows_and_a_larger_rate_these_and_more():
    masks = [task("friedman5", corruption=kind, rate=0.2).is_corrupted for kind in CORRUPTIONS]
    assert all(np.array_equal(mask, masks[0]) for mask in masks)
    more = task("friedman5", corruption="uniform", rate=0.4).is_corrupted
    assert (more.sum(), (more & masks[0]).sum()) == (40, 20)
    assert task("friedman5", n=25, corruption="uniform", rate=0.19).is_corrupted.sum() == 4  # int(4.75)
    assert task("friedman5", corruption="uniform", rate=1).is_corrupted.all()


def test_other_seeds_corrupt_otherwise():
    tasks = [task("neal", corruption="asymmetric", seed=seed) for seed in range(10)]
    assert {np.sign(given.y[given.is_corrupted].mean()) for given in tasks} == {-1, 1}


def test_fewer_rows_are_the_first_of_more():
    few, many = in_units(task("hartmann6", n=30)), in_units(task("hartmann6", n=90))
    np.testing.assert_allclose(few.X, many.X[:30], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(few.y, many.y[:30], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(few.y_test, many.y_test, rtol=1e-9, atol=1e-9)


class TestSplits:
    def test_a_tenth_to_test_on_and_the_rest_to_train_on(self, stored):
        given = split("boston", None, 0)
        assert (given.X.shape, given.X_test.shape) == ((455, 13), (51, 13))
        assert sorted([*given.y, *given.y_test]) == list(range(506))
        assert list(given.y_test) != sorted(given.y_test), "drawn"
        for X, y in ((given.X, given.y), (given.X_test, given.y_test)):
            np.testing.assert_array_equal(X, y[:, None].repeat(13, 1))

    def test_fewer_training_rows_leave_the_test_rows_as_they_are(self, stored):
        few, all_of_them = split("boston", 50, 1), split("boston", None, 1)
        np.testing.assert_array_equal(few.y_test, all_of_them.y_test)
        np.testing.assert_array_equal(few.y, all_of_them.y[:50])

    def test_california_has_800_to_train_on_and_all_others_to_test_on(self, stored):
        for n, size in ((None, 800), (300, 300)):
            given = split("california", n, 0)
            assert (len(given.y), len(given.y_test)) == (size, 2000 - size)
            assert sorted([*given.y, *given.y_test]) == list(range(2000))

    def test_other_seeds_split_otherwise(self, stored):
        assert set(split("boston", None, 0).y_test) != set(split("boston", None, 1).y_test)

    @pytest.mark.parametrize("kind", CORRUPTIONS)
    def test_the_stored_data_stay_as_they_are_and_test_rows_are_never_corrupted(self, stored, kind):
        before = stored["boston"].X.copy(), stored["boston"].y.copy()
        given = in_units(task("boston", corruption=kind, rate=0.5))
        assert same(stored["boston"], before)
        reference = split("boston", None, 0)
        np.testing.assert_allclose(given.X_test, reference.X_test, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(given.y_test, reference.y_test, rtol=1e-9, atol=1e-9)

    @pytest.mark.parametrize(("name", "n", "most"), [("boston", 456, 455), ("california", 2000, 1999)])
    def test_more_rows_than_there_are_is_refused(self, stored, name, n, most):
        assert len(task(name, n=most).y) == most
        with pytest.raises(ValueError, match=f"n must be at most {most} for {name}, got {n}"):
            task(name, n=n)


@pytest.mark.parametrize(
    ("name", "train", "test", "d"),
    [
        ("boston", 455, 51, 13),
        ("concrete", 927, 103, 8),
        ("energy", 691, 77, 8),
        ("yacht", 277, 31, 6),
        ("california", 800, 19840, 8),
        ("ct-slices-partial", 614, 68, 385),
    ],
)
def test_real_data(real, name, train, test, d):
    given = task(name, corruption="focused", seed=2)
    assert (given.X.shape, given.X_test.shape) == ((train, d), (test, d))
    assert given.is_corrupted.sum() == int(0.1 * train)
    found, kept, (X, y) = in_units(given), ~given.is_corrupted, datasets.table(name)
    stored = {tuple(row) for row in np.column_stack([X, y]).round(6)}
    clean = [np.column_stack([found.X, found.y])[kept], np.column_stack([found.X_test, found.y_test])]
    assert {tuple(row) for row in np.concatenate(clean).round(6)} <= stored
    assert not {tuple(row) for row in np.column_stack([found.X, found.y])[~kept].round(6)} & stored


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "friedman"}, "name must be one of .*'friedman5'.*'yacht'.*, got 'friedman'"),
        ({"corruption": "student_t"}, "corruption must be one of .*'none'.*'student-t'.*, got 'student_t'"),
        ({"rate": 1.1}, r"rate must lie in \[0, 1\], got 1.1"),
        ({"rate": -0.1}, r"rate must lie in \[0, 1\], got -0.1"),
        ({"rate": math.nan}, r"rate must lie in \[0, 1\], got nan"),
        ({"n": 1}, "n must be a whole number of at least 2, got 1"),
        ({"n": 10.5}, "n must be a whole number of at least 2, got 10.5"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        task(**{"name": "neal", **options})
    with pytest.raises(TypeError, match="rate must be a real number, got 'all'"):
        task("neal", rate="all")
