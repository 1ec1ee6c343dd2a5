"""What a search does with wrong scores and with fits that fail, and what its users may expect of any search."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import robustbo as rb
from robustbo.sklearn import RobustSearchCV

pytestmark = pytest.mark.filterwarnings("ignore:One or more of the (test|train) scores are non-finite:UserWarning")

X = np.arange(24.0).reshape(12, 2)
Y = np.arange(12) % 2
UNIT = {"x": rb.Float(0.0, 1.0)}


class Bowl(BaseEstimator):
    """Its score is best at x = 0.3; to fit it fails where x is large, or on the fold without the first row."""

    def __init__(self, x=0.0, fails_above=2.0, fails_on_a_fold_above=2.0):
        self.x = x
        self.fails_above = fails_above
        self.fails_on_a_fold_above = fails_on_a_fold_above

    def fit(self, X, y=None, sample_weight=None):
        first = np.asarray(X)[0, 0]
        if self.x > self.fails_above or (self.x > self.fails_on_a_fold_above and first > 0):
            raise MemoryError(f"no memory at {self.x}")
        self.weight_ = None if sample_weight is None else sample_weight.sum()
        self.seen_ = len(X)
        return self

    def predict(self, X):
        return np.full(len(X), self.x)

    def score(self, X, y=None):
        return 1 - (self.x - 0.3) ** 2


class Flaky:
    """A scorer that is wrong for some candidates, by their numbers, on all three folds."""

    def __init__(self, *numbers, value):
        self.numbers, self.value, self.calls = numbers, value, 0

    def __call__(self, estimator, X, y=None):
        number, self.calls = self.calls // 3, self.calls + 1
        return self.value if number in self.numbers else estimator.score(X, y)


def search_of(estimator=None, space=UNIT, **options):
    given = {"n_trials": 12, "cv": 3, "random_state": 0, "surrogate": "standard"} | options
    return RobustSearchCV(Bowl() if estimator is None else estimator, space, **given)


@pytest.mark.few(1)
@pytest.mark.parametrize("value", [1000.0, -1000.0])
def test_a_wrong_score_is_flagged_and_wins_nothing(value):
    found = search_of(scoring=Flaky(3, 8, value=value), replicate="never", surrogate="auto").fit(X, Y)
    results = found.cv_results_
    is_wrong = results["mean_test_score"] == value
    assert np.flatnonzero(is_wrong).tolist() == [3, 8]
    assert np.array_equal(results["is_outlier"], is_wrong)
    assert found.best_params_["x"] == pytest.approx(0.3, abs=0.03)
    assert found.best_index_ == results["rank_believed_test_score"].argmin()
    assert found.best_score_ == results["mean_test_score"][found.best_index_]
    assert found.best_mean_ == pytest.approx(found.best_score_, abs=0.01)
    assert set(results["rank_believed_test_score"]) == set(range(1, 13))
    assert results["rank_believed_test_score"][is_wrong].min() == 11
    assert (results["evidence_test_score"][is_wrong] > 5).all()
    assert np.allclose(results["expected_test_score"][is_wrong], 0.9, atol=0.2)
    assert results["is_failed"].sum() == 0
    assert results["rank_test_score"][3] == (1 if value > 0 else 11)  # as measured


@pytest.mark.slow
def test_candidates_that_fail_are_kept_and_kept_away_from():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = search_of(Bowl(fails_above=0.6), n_trials=15).fit(X, Y)
    failed = [str(each.message) for each in caught if each.category is FitFailedWarning]
    assert all("MemoryError: no memory at" in text for text in failed)
    assert len(failed) == found.cv_results_["is_failed"].sum()
    assert sum("non-finite" in str(each.message) for each in caught) == 1  # at the end
    results = found.cv_results_
    x = results["param_x"].data.astype(float)
    assert len(x) == 15
    assert np.array_equal(results["is_failed"], x > 0.6)
    assert np.array_equal(results["n_failed_splits"], 3 * (x > 0.6))
    assert np.isnan(results["split1_test_score"][x > 0.6]).all()
    assert results["failure_looks_like"].mask.tolist() == (x <= 0.6).tolist()
    assert set(results["failure_looks_like"].compressed()) == {"region"}
    assert x[7:].max() < 0.7
    assert found.optimizer_.failures()[0].trial.reason.startswith("MemoryError: no memory at 0.")
    assert [found.optimizer_.history[i].params["x"] for i in range(15)] == x.tolist()


def test_one_fold_that_fails_is_a_failure_whatever_stands_in_its_place():
    with pytest.warns(FitFailedWarning, match="1 fits failed out of a total of 3"):
        found = search_of(Bowl(fails_on_a_fold_above=0.6), n_trials=6, error_score=5.0).fit(X, Y)
    results = found.cv_results_
    is_failed = results["param_x"].data > 0.6
    assert is_failed.any()
    assert np.array_equal(results["n_failed_splits"], is_failed)
    assert results["mean_test_score"][is_failed].max() > 2
    assert not is_failed[found.best_index_]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_search_of_which_everything_fails_says_so():
    with pytest.raises(ValueError, match=r"none of 4 has.[^$]*fits failed[^$]*MemoryError: no memory at") as said:
        search_of(Bowl(fails_above=-1.0), n_trials=4).fit(X, Y)
    assert str(said.value).count("\n3 fits failed with") == 3  # the fourth error is one of the others
    assert "and 1 other errors" in str(said.value)
    with pytest.raises(MemoryError, match="no memory"):
        search_of(Bowl(fails_above=-1.0), error_score="raise").fit(X, Y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_fold_that_fails_for_every_candidate_is_told_with_its_error():
    search = search_of(Bowl(fails_on_a_fold_above=-1.0), n_trials=3)
    with pytest.raises(ValueError, match=r"none of 3 has.[^$]*1 fits failed[^$]*MemoryError: no memory at 0"):
        search.fit(X, Y)


def test_scores_that_are_never_finite():
    with pytest.raises(ValueError, match=r"none of 3 has: the first has scores that are not finite: \[nan, nan, nan\]"):
        search_of(scoring=lambda *_: np.nan, n_trials=3).fit(X, Y)


def test_an_error_that_is_no_failed_fit_ends_the_search():
    with pytest.raises(ValueError, match="Invalid parameter 'nonsense'"):
        search_of(space={"nonsense": rb.Float(0, 1)}).fit(X, Y)


def both(estimator, X, y=None):
    return {"low": -estimator.x, "high": estimator.score(X, y)}


@pytest.mark.few(1)
@pytest.mark.parametrize("scoring", [both, {"low": lambda e, *_: -e.x, "high": lambda e, *a: e.score(*a)}])
def test_several_metrics(scoring):
    high = search_of(scoring=scoring, refit="high").fit(X, Y)
    assert high.best_params_["x"] == pytest.approx(0.3, abs=0.03)
    assert high.score(X, Y) == pytest.approx(1.0, abs=1e-3)
    assert "believed_test_high" in high.cv_results_
    assert "mean_test_low" in high.cv_results_
    low = search_of(scoring=scoring, refit=False).fit(X, Y)
    assert low.cv_results_["param_x"][7:].min() < 0.02  # the first is optimized
    assert not hasattr(low, "best_index_")
    with pytest.raises(AttributeError, match="has no best_mean_"):
        _ = low.best_mean_
    with pytest.raises(ValueError, match="refit must be set to a scorer key"):
        search_of(scoring=scoring).fit(X, Y)


@pytest.mark.slow
def test_several_metrics_of_candidates_that_fail():
    with pytest.warns(FitFailedWarning):
        found = search_of(Bowl(fails_above=0.6), scoring=both, refit="high", return_train_score=True).fit(X, Y)
    is_failed = found.cv_results_["is_failed"]
    assert is_failed.any()
    assert np.isnan(found.cv_results_["mean_test_low"][is_failed]).all()
    assert np.isnan(found.cv_results_["split0_train_high"][is_failed]).all()


@pytest.mark.slow
def test_a_callable_chooses():
    found = search_of(refit=lambda results: int(results["param_x"].argmin())).fit(X, Y)
    assert found.best_params_["x"] == found.cv_results_["param_x"].min()
    assert not hasattr(found, "best_score_")
    assert found.best_mean_ < 1


@pytest.mark.few(1)
@pytest.mark.parametrize("random_state", [3, np.random.RandomState(3)])
def test_the_same_random_state_gives_the_same_search(random_state):
    search = search_of(random_state=random_state)
    search.set_params(n_trials=7)
    copies = [clone(search), clone(search)]
    first, second = (copy.fit(X, Y).cv_results_["param_x"].tolist() for copy in copies)
    assert first == second
    if isinstance(random_state, int):
        assert copies[0].fit(X, Y).cv_results_["param_x"].tolist() == first


def test_numpys_own_seed_serves_where_there_is_none():
    found = []
    for _ in range(2):
        np.random.seed(5)  # noqa: NPY002 - what scikit-learn's users do
        found.append(search_of(random_state=None, n_trials=3).fit(X, Y).cv_results_["param_x"].tolist())
    assert found[0] == found[1]


@pytest.mark.slow
def test_jobs_and_batches():
    search = search_of(LogisticRegression(), {"C": rb.Float(0.1, 10, log=True)}, batch_size=4, n_trials=8)
    found = [clone(search).set_params(n_jobs=jobs).fit(X, Y).cv_results_["param_C"].tolist() for jobs in (None, 2)]
    assert found[0] == found[1]
    assert len(set(found[0])) == 8


def test_a_worker_needs_no_torch():
    code = "import sys, robustbo.sklearn; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_batch_that_fails_as_a_whole():
    with pytest.warns(FitFailedWarning, match=r"All fits of \[.*\] failed; the search goes on"):
        found = search_of(Bowl(fails_above=0.9), {"x": [0.1, 0.2, 1.0]}, batch_size=1, n_trials=3).fit(X, Y)
    assert sorted(found.cv_results_["n_failed_splits"]) == [0, 0, 3]
    for name in ("mean_fit_time", "mean_score_time"):  # numbers, as with any search of scikit-learn's
        assert (found.cv_results_[name] >= 0).all()


@pytest.mark.few(1)
@pytest.mark.parametrize("space", [{"x": [0.2]}, {"x": range(1, 2)}, {"x": {"only": 0.2}}, {"x": [0.2], "y": [3]}, {}])
def test_a_space_of_one_candidate_is_that_candidate(space):
    class Named(Bowl):
        def __init__(self, x=0.0, fails_above=2.0, fails_on_a_fold_above=2.0, y=1):
            super().__init__(x, fails_above, fails_on_a_fold_above)
            self.y = y

    with pytest.warns(UserWarning, match="The space has 1 candidate, fewer than n_trials=12"):
        found = search_of(Named(), space).fit(X, Y)
    theirs = GridSearchCV(Named(), {k: [*(v.values() if isinstance(v, dict) else v)] for k, v in space.items()}, cv=3)
    assert found.best_params_ == theirs.fit(X, Y).best_params_
    assert found.best_score_ == found.best_mean_ == pytest.approx(theirs.best_score_)
    several = search_of(n_trials=3).fit(X, Y).cv_results_
    assert {*found.cv_results_} - {"param_x", "param_y"} == {*several} - {"param_x"}
    assert found.cv_results_["rank_believed_test_score"].tolist() == [1]
    assert found.optimizer_ is None


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore:The space has 1:UserWarning")
def test_the_only_candidate_may_fail():
    with pytest.raises(ValueError, match=r"none of 1 has.[^$]*MemoryError"):
        search_of(Bowl(fails_above=0.1), {"x": [0.2]}).fit(X, Y)


def test_a_list_is_evaluated_once():
    with pytest.warns(UserWarning, match="The space has 3 candidates, fewer than n_trials=9"):
        found = search_of(space={"x": [0.1, 0.2, 0.4]}, n_trials=9, batch_size=2).fit(X, Y)
    assert sorted(found.cv_results_["param_x"]) == [0.1, 0.2, 0.4]


@pytest.mark.slow
def test_nothing_is_evaluated_twice_but_what_failed():
    space = {"x": rb.Int(0, 4), "fails_above": [2.0, 9.0, 10.0, 11.0]}  # of which three do nothing
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        found = search_of(space=space, n_trials=18, num_initial=5, replicate="never").fit(X, Y)
    given = [tuple(params.values()) for params in found.cv_results_["params"]]
    again = found.cv_results_["repeats"].compressed()
    assert len(given) == 18 == len(set(given)) + len(again)
    assert found.cv_results_["is_failed"][again].all()  # only what failed is tried again


@pytest.mark.slow
def test_a_doubtful_score_is_measured_again_where_that_is_wanted():
    found = search_of(scoring=Flaky(3, 8, value=1.5), n_trials=14, replicate="flagged", surrogate="auto").fit(X, Y)
    results = found.cv_results_
    again = results["repeats"].tolist().index(8)
    assert results["params"][again] == results["params"][8]
    assert results["is_outlier"][[3, 8]].all()
    assert found.best_params_["x"] == pytest.approx(0.3, abs=0.03)


def test_the_folds_are_those_of_the_first_candidate():
    folds = KFold(3, shuffle=True)
    found = search_of(scoring=lambda e, X, y=None: X[:, 0].mean() + e.x * 0, cv=folds, n_trials=3).fit(X, Y)
    assert np.ptp(found.cv_results_["split0_test_score"]) == 0


def test_data_frames_groups_weights_and_copies():
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = make_pipeline(StandardScaler(), LogisticRegression())
    search = search_of(model, {"logisticregression__C": rb.Float(0.1, 10, log=True)}, n_trials=3, cv=GroupKFold(3))
    found = search.fit(frame, Y, groups=np.arange(12) // 2)
    assert found.feature_names_in_.tolist() == ["a", "b"]
    assert found.n_features_in_ == 2
    assert found.classes_.tolist() == [0, 1]
    again = pickle.loads(pickle.dumps(found))
    assert np.array_equal(again.predict(frame), found.predict(frame))
    assert again.optimizer_.best().params == found.best_params_
    assert "RobustSearchCV" in found._repr_html_()
    with pytest.warns(UserWarning, match="does not support sample_weight"):
        weighed = search_of(n_trials=2, scoring=lambda e, *_: e.x).fit(X, Y, sample_weight=np.ones(12))
    assert weighed.best_estimator_.weight_ == 12


def test_metadata_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=True)
        search = search_of(model, {"C": rb.Float(0.1, 10)}, n_trials=2, cv=GroupKFold(3), scoring=scorer)
        found = search.fit(X, Y, groups=np.arange(12) // 2, sample_weight=np.arange(12.0))
        assert found.score(X, Y, sample_weight=1.0 * (found.predict(X) == Y)) == 1


class Recorder:
    """A callback that keeps the names of the tasks that it is told of."""

    def __init__(self):
        self.begun, self.ended = [], []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **_):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context, **_):
        self.ended.append(context.task_name)


def test_callbacks_are_told():
    recorder = Recorder()
    search_of(n_trials=3, batch_size=2, n_jobs=1).set_callbacks(recorder).fit(X, Y)
    assert recorder.begun.count("search") == 1
    assert recorder.begun.count("batch") == 2
    assert recorder.begun.count("candidate-split-evaluation") == 9
    assert sorted(recorder.begun) == sorted(recorder.ended)


def test_a_search_within_a_cross_validation():
    scores = cross_val_score(search_of(n_trials=3), X, Y, cv=2)
    assert scores.shape == (2,)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"n_trials": 0}, ValueError, "n_trials must be a whole number of at least 1, got 0"),
        ({"batch_size": 0}, ValueError, "batch_size must be a whole number of at least 1, got 0"),
        ({"surrogate": "magic"}, ValueError, "magic"),
        ({"replicate": "often"}, ValueError, "replicate must be one of"),
        ({"failures": "hide"}, ValueError, "failures must be one of"),
        (
            {"space": [{"x": [1, 2]}]},
            TypeError,
            "space must be a robustbo.Space, or a dict .*got list; say with `when`",
        ),
        ({"random_state": "dice"}, ValueError, "'dice' cannot be used to seed"),
    ],
)
def test_bad_arguments_are_told_before_anything_is_fitted(options, error, match):
    with pytest.raises(error, match=match):
        search_of(Bowl(fails_above=-1.0), **options).fit(X, Y)


def test_folds_are_sources_of_the_scores():
    search = RobustSearchCV(Bowl(), UNIT, n_trials=7, cv=KFold(3), random_state=0)
    with pytest.raises(AttributeError, match="before fit has seen"):
        search.fold_sources()
    frame = search.fit(X, Y).fold_sources()
    concerned = {number for numbers in frame["trials"] for number in numbers}
    assert {*frame["source"]} <= {"fold", ""}
    assert {*frame["level"].dropna()} == {"0", "1", "2"}
    assert max(concerned) == 3 * 7 - 1
