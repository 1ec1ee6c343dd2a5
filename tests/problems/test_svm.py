import numpy as np
import pytest

from robustbo import seeds
from robustbo.errors import DataError
from robustbo.tasks import problem
from robustbo.tasks.corruption import build
from robustbo_problems import svm as module
from robustbo_problems.svm import Preset, relevant, split, svm

GOOD = {"C": 50.0, "epsilon": 0.1, "gamma": 0.1}
POOR = {"C": 0.01, "epsilon": 1.0, "gamma": 0.001}


@pytest.mark.usefixtures("real_data")
class TestOnRealData:
    def test_values(self):
        made = svm()
        assert 0.5 < made(GOOD) < 0.6
        assert 0.9 < made(POOR) < 1.05
        assert made(GOOD) == made(GOOD)

    def test_the_best_seen_is_the_value_there(self):
        made = svm()
        assert made(made.best_seen_at) == pytest.approx(made.best_seen, rel=1e-6)
        assert made.best_seen < made(GOOD)

    def test_a_failure_trains_on_fewer_rows(self):
        made = svm()
        failed = [made.failures["io-failure"](GOOD, np.random.default_rng(i)) for i in range(8)]
        again = made.failures["io-failure"](GOOD, np.random.default_rng(0))
        assert again == failed[0]
        assert min(failed) > made(GOOD)
        assert len(set(failed)) == 8

    def test_the_corruption_hits_the_trials_that_its_mask_says(self):
        made = svm()
        corruption = build("io-failure", made, probability=0.3)
        clean, hit = made(GOOD), []
        for trial in range(12):
            value, is_corrupted = corruption.apply(clean, GOOD, seeds.generator(5, trial, "corruption"))
            assert (value != clean) == is_corrupted
            assert is_corrupted == (seeds.generator(5, trial, "corruption").random() < 0.3)
            hit.append(is_corrupted)
        assert 0 < sum(hit) < 12

    def test_it_is_scikit_learns_regressor_on_rows_that_do_not_meet(self):
        data = split(module.PRESETS["small"])
        assert data.X.shape == (2000, 8)
        assert data.X_test.shape == (2000, 8)
        assert not {row.tobytes() for row in data.X} & {row.tobytes() for row in data.X_test}
        model = module.SVR(**GOOD).fit(data.X, data.y)
        error = np.sqrt(((model.predict(data.X_test) - data.y_test) ** 2).mean())
        assert svm()(GOOD) == pytest.approx(error, rel=1e-12)

    def test_the_papers_recipe_on_what_there_is_of_its_data(self):
        """682 rows of the CT slices: 100 features are chosen of those that vary."""
        data = split(Preset("ct-slices-partial", 500, 182))
        assert data.X.shape == (500, 100)
        assert data.X_test.shape == (182, 100)
        assert data.X.min() >= -1
        assert data.X.max() <= 1

    def test_other_data_and_fewer_rows_will_do(self):
        made = svm(dataset="ct-slices-partial", train_rows=500, test_rows=182)
        clean = made(GOOD)
        assert clean < 0.5
        failed = [made.failures["io-failure"](GOOD, np.random.default_rng(i)) for i in range(8)]
        assert max(failed) > clean
        assert made.best is None

    def test_too_few_rows_are_refused(self):
        made = svm(dataset="boston")
        with pytest.raises(DataError, match="svm needs 2000 rows to train on and 2000 to test on, boston has 506"):
            made(GOOD)


def test_the_most_relevant_features_are_kept_in_their_order():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((300, 130))
    X[:, 7] = 1.0
    y = X[:, 100:] @ np.ones(30)
    chosen = relevant(X, y)
    assert len(chosen) == 100
    assert set(range(100, 130)) <= set(chosen.tolist())
    assert 7 not in chosen
    assert (np.diff(chosen) > 0).all()


def test_it_is_registered_with_its_options():
    made = problem.load("svm", preset="paper")
    assert made.direction == "minimize"
    assert made.best_seen is None
    p = dict(made.space.parameters)
    assert all(parameter.log for parameter in p.values())
    assert (p["C"].low, p["C"].high) == (1e-2, 1e2)
    assert (p["epsilon"].low, p["epsilon"].high) == (1e-2, 1.0)
    assert (p["gamma"].low, p["gamma"].high) == (1e-3, 1e-1)


def test_bad_options_are_refused():
    with pytest.raises(ValueError, match=r"preset must be one of \['paper', 'small'\], got 'big'"):
        svm("big")
    with pytest.raises(ValueError, match=r"dataset must be one of .*got 'mars'"):
        svm(dataset="mars")
    with pytest.raises(ValueError, match="train_rows must be"):
        svm(train_rows=1)
    with pytest.raises(ValueError, match="test_rows must be"):
        svm(test_rows=0)
    with pytest.raises(ValueError, match=r"'svm' has the options \['preset', 'dataset', .*'test_rows'\], got 'x'"):
        problem.load("svm", x=1)


def test_without_scikit_learn_it_says_what_to_do(monkeypatch):
    monkeypatch.setattr(module, "SVR", None)
    with pytest.raises(DataError, match=r"pip install 'robustbo\[problems\]'"):
        svm()(GOOD)
