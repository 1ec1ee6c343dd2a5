import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from robustbo.sklearn import RobustGPRegressor, outliers

WRONG = [4, 19]


def curve(n=30, noise=0.05):
    """Rows of quite different ranges, one sixth of a wave, and two values that are far off."""
    rng = np.random.default_rng(3)
    X = rng.random((n, 2)) * [1000.0, 0.01]
    y = np.sin(X[:, 0] / 200) + 100 * X[:, 1] + noise * rng.standard_normal(n)
    right = y.copy()
    y[WRONG] += [6.0, -5.0]
    return X, y, right


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = curve()
    return RobustGPRegressor().fit(X, y)


@pytest.mark.slow
def test_it_is_an_estimator():
    checks = check_estimator(RobustGPRegressor(), on_fail=None, on_skip=None)
    failed = {check["check_name"] for check in checks if check["status"] not in ("passed", "skipped")}
    # a row of weight 2 is the mean of two measurements; the row twice says that they are equal, too: less noise
    assert failed <= {"check_sample_weight_equivalence_on_dense_data"}
    assert sum(check["status"] == "passed" for check in checks) > 45


def test_it_names_what_is_wrong_and_predicts_without_it(fitted):
    X, _, right = curve()
    assert np.flatnonzero(fitted.outlier_mask_).tolist() == WRONG
    assert (fitted.probability_wrong_[WRONG] > 0.9).all()
    assert fitted.probability_wrong_[fitted.outlier_mask_ == 0].max() < 0.5
    assert np.abs(fitted.predict(X) - right).max() < 0.3
    assert fitted.evidence_.shape == fitted.expected_.shape == fitted.expected_sd_.shape == (30,)
    assert fitted.approximation_ == "exact, 30 values"
    assert fitted.method_ == "relevance-pursuit"


def test_quantiles_are_of_a_new_measurement_and_deviations_of_the_function(fitted):
    rng = np.random.default_rng(9)
    new = rng.random((200, 2)) * [1000.0, 0.01]
    truth = np.sin(new[:, 0] / 200) + 100 * new[:, 1]
    measured = truth + 0.05 * rng.standard_normal(200)
    mean, ends = fitted.predict(new, quantiles=[0.05, 0.5, 0.95])
    assert (np.diff(ends, axis=1) > 0).all()
    assert ((ends[:, 0] < measured) & (measured < ends[:, 2])).mean() > 0.85
    assert np.median(ends[:, 2] - ends[:, 0]) < 3 * 2 * 1.645 * 0.05
    _, sd = fitted.predict(new, return_std=True)
    assert (np.abs(truth - mean) < 3 * sd).mean() > 0.9
    assert (sd < (ends[:, 2] - ends[:, 0]) / 2).all()
    _, covariance = fitted.predict(new[:9], return_cov=True)
    np.testing.assert_allclose(np.sqrt(covariance.diagonal()), sd[:9], rtol=1e-3)
    samples = fitted.sample_y(new[:3], 2000, random_state=1)
    assert samples.shape == (3, 2000)
    np.testing.assert_allclose(samples.std(1), sd[:3], rtol=0.15)
    assert (fitted.sample_y(new[:3], 5, random_state=1) == fitted.sample_y(new[:3], 5, random_state=1)).all()


@pytest.mark.parametrize("method", ["standard", "student-t", "conjugate", "committee", "student-t-process"])
def test_each_method_has_the_same_manners(method):
    X, y, _ = curve()
    regressor = RobustGPRegressor(method).fit(X, y)
    mean, ends = regressor.predict(X[:5], quantiles=[0.1, 0.9])
    assert ((ends[:, 0] < mean) & (mean < ends[:, 1])).all()
    assert regressor.predict(X[:5], return_cov=True)[1].shape == (5, 5)
    assert regressor.outlier_mask_.dtype == bool
    assert regressor.method_ == method


def test_of_many_rows_some_are_learned_from_and_all_are_judged(monkeypatch):
    monkeypatch.setattr("robustbo.sklearn.regressor.EXACT", 20)
    X, y, right = curve()
    regressor = RobustGPRegressor(random_state=0).fit(X, y)
    assert regressor.approximation_ == "exact, 20 values; 10 more are judged by these"
    assert np.flatnonzero(regressor.outlier_mask_).tolist() == WRONG
    assert np.abs(regressor.expected_ - right).max() < 0.6
    light = np.where(np.arange(30) < 15, 1.0, 0.0)
    assert RobustGPRegressor().fit(X, y, light).approximation_ == "exact, 15 values; 15 more are judged by these"


def test_a_committee_says_how_many_experts_it_has():
    X, y, _ = curve()
    small = RobustGPRegressor("committee", method_options={"num_experts": 3}).fit(X, y)
    assert small.approximation_ == "3 experts, about 10 of 30 values each"


def frame():
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"heat": rng.random(40) * 90, "solvent": rng.choice(["water", "ether", "none"], 40)})
    y = 0.1 * X["heat"] + X["solvent"].map({"water": 3.0, "ether": -3.0, "none": 0.0}) + 0.05 * rng.standard_normal(40)
    y[7] = 30.0
    return X, y


@pytest.mark.few(2)
@pytest.mark.parametrize("said", ["from_dtype", ["solvent"], [1], [False, True]])
def test_categories_are_columns_of_their_own(said):
    X, y = frame()
    regressor = RobustGPRegressor(categorical_features=said).fit(X, y)
    assert np.flatnonzero(regressor.outlier_mask_).tolist() == [7]
    assert list(regressor.feature_names_in_) == ["heat", "solvent"]
    rows = pd.DataFrame({"heat": [50.0, 50.0, 50.0], "solvent": ["water", "ether", "brine"]})
    water, ether, unknown = regressor.predict(rows)
    assert water - ether == pytest.approx(6, abs=0.5)
    assert ether < unknown < water


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (["solvant"], "must be columns of X"),
        ([2], "must be places of 2 columns"),
        ([True], "a boolean for each of 2 columns"),
        ("all", "must be 'from_dtype'"),
    ],
)
def test_columns_that_are_not_there_are_refused(said, why):
    with pytest.raises(ValueError, match=why):
        RobustGPRegressor(categorical_features=said).fit(*frame())


def test_a_known_noise_counts():
    X, y, _ = curve()
    sds = np.full(len(y), 0.05)
    sds[4] = 10.0
    regressor = RobustGPRegressor().fit(X, y, noise_sd=sds)
    assert np.flatnonzero(regressor.outlier_mask_).tolist() == [19]
    sds[:] = np.nan
    sds[4] = 10.0
    assert np.flatnonzero(RobustGPRegressor().fit(X, y, noise_sd=sds).outlier_mask_).tolist() == [19]
    with pytest.raises(ValueError, match="known for all rows or for none with 'student-t'"):
        RobustGPRegressor("student-t").fit(X, y, noise_sd=sds)
    with pytest.raises(ValueError, match="noise_sd must be a positive number, or one for each of 30 rows"):
        RobustGPRegressor().fit(X, y, noise_sd=[0.1, 0.2])


def test_a_weight_divides_the_noise_and_only_ratios_count(fitted):
    X, y, _ = curve()
    even = RobustGPRegressor("standard").fit(X, y)
    assert (RobustGPRegressor("standard").fit(X, y, sample_weight=np.full(30, 7.0)).predict(X) == even.predict(X)).all()
    weight = np.ones(30)
    weight[WRONG] = 1e-6
    light = RobustGPRegressor("standard").fit(X, y, sample_weight=weight)
    assert light.predict(X) == pytest.approx(RobustGPRegressor("standard").fit(X, y, 3 * weight).predict(X))
    assert light.predict(X)[WRONG] == pytest.approx(fitted.predict(X)[WRONG], abs=0.3)
    assert not light.outlier_mask_[WRONG].any()
    known = RobustGPRegressor("standard").fit(X, y, sample_weight=weight, noise_sd=0.05)
    assert known.predict(X)[WRONG] == pytest.approx(fitted.predict(X)[WRONG], abs=0.3)


def test_a_row_of_no_weight_is_judged_and_not_learned_from(fitted):
    X, y, right = curve()
    weight = np.ones(30)
    weight[[4, 7]] = 0
    regressor = RobustGPRegressor().fit(X, y, sample_weight=weight)
    counts = weight > 0
    assert regressor.predict(X) == pytest.approx(RobustGPRegressor().fit(X[counts], y[counts]).predict(X))
    assert np.flatnonzero(regressor.outlier_mask_).tolist() == WRONG
    assert regressor.expected_[[4, 7]] == pytest.approx(right[[4, 7]], abs=0.3)
    assert regressor.probability_wrong_[4] > 0.9 > 0.1 > regressor.probability_wrong_[7]


@pytest.mark.parametrize("weight", [[1.0, 2.0], np.full(30, -1.0), np.full(30, np.inf)])
def test_weights_that_cannot_be_are_refused(weight):
    with pytest.raises(ValueError, match="sample_weight must be a number of at least 0 for each of 30 rows"):
        RobustGPRegressor().fit(*curve()[:2], sample_weight=weight)


def test_weights_are_refused_where_none_counts_or_the_method_takes_none():
    with pytest.raises(ValueError, match="Sample weights must contain at least one non-zero number"):
        RobustGPRegressor().fit(*curve()[:2], sample_weight=np.zeros(30))
    with pytest.raises(ValueError, match="taken by 'relevance-pursuit' and 'standard', got 'student-t'"):
        RobustGPRegressor("student-t").fit(*curve()[:2], sample_weight=np.arange(30.0))


def test_it_goes_where_estimators_go(fitted):
    X, y, right = curve()
    for twin in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert (twin.predict(X) == fitted.predict(X)).all()
    pipeline = make_pipeline(StandardScaler(), TransformedTargetRegressor(RobustGPRegressor(), func=None))
    of_others = cross_val_predict(pipeline, X, y, cv=3)
    assert np.median(np.abs(of_others - right)) < 0.1
    assert (RobustGPRegressor().fit(X, y).predict(X) == fitted.predict(X)).all()


def test_frames_of_an_earlier_step_keep_their_names_and_their_fit(fitted):
    X, y, _ = curve()
    pipeline = make_pipeline(FunctionTransformer(feature_names_out="one-to-one"), RobustGPRegressor())
    table = pd.DataFrame(X, columns=["heat", "acid"])
    pipeline.set_output(transform="pandas").fit(table, y)
    assert list(pipeline[-1].feature_names_in_) == ["heat", "acid"]
    assert (pipeline.predict(table) == fitted.predict(X)).all()


def test_the_kernel_reads_as_scikit_learns(fitted):
    assert str(fitted.kernel_).count("Matern") == 1
    assert np.isfinite(fitted.log_marginal_likelihood_value_)


def test_what_cannot_be_asked_is_refused(fitted):
    X, y, _ = curve()
    with pytest.raises(ValueError, match="relevance-pursuit"):
        RobustGPRegressor("relevance-persuit").fit(X, y)
    with pytest.raises(RuntimeError, match="at most one"):
        fitted.predict(X, return_std=True, return_cov=True)
    with pytest.raises(ValueError, match="between 0 and 1"):
        fitted.predict(X, quantiles=[5, 95])
    with pytest.raises(NotFittedError):
        RobustGPRegressor().predict(X)


def test_outliers_are_a_table_in_the_order_of_the_values():
    X, y, _ = curve()
    found = outliers(X, pd.Series(y, index=np.arange(100, 130)))
    assert found.index[found["is_wrong"]].tolist() == [104, 119]
    assert list(found.columns) == ["value", "expected", "sd", "evidence", "probability_wrong", "is_wrong"]


def test_dates_are_numbers_and_a_wrong_value_among_them_is_found():
    t = pd.date_range("2026-01-01", periods=40, freq="h")
    y = np.sin(np.arange(40) / 6)
    y[20] += 1.5
    frames = pd.DataFrame({"t": t}), pd.DataFrame({"t": t.tz_localize("UTC")}), pd.DataFrame({"t": t - t[0]})
    for frame in frames:
        assert np.flatnonzero(outliers(frame, y)["is_wrong"]).tolist() == [20]
    late = RobustGPRegressor().fit(frames[0], y).predict(frames[0].iloc[[3]] + pd.Timedelta(minutes=30))
    assert late[0] == pytest.approx(np.sin(3.5 / 6), abs=0.05)


def test_lists_have_outliers_and_columns_of_one_name_are_refused():
    assert len(outliers([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0])) == 4
    with pytest.raises(ValueError, match="columns of X must have different names"):
        RobustGPRegressor().fit(pd.DataFrame([[0.0, 1.0], [1.0, 2.0]], columns=["a", "a"]), [0.0, 1.0])


@pytest.mark.parametrize("method", ["standard", "student-t", "relevance-pursuit"])
def test_the_units_of_targets_and_columns_do_not_matter(method):
    rng = np.random.default_rng(0)
    X = rng.random((25, 2))
    y = np.sin(4 * X[:, 0]) + X[:, 1] + 0.05 * rng.normal(size=25)
    results = []
    for unit in (1.0, 1e-8, 1e100):
        regressor = RobustGPRegressor(method, random_state=0).fit(X * [1.0, unit**0.9 * 1e-8], unit * y)
        inputs = X[:2] * [1.0, unit**0.9 * 1e-8]
        _, sd = regressor.predict(inputs, return_std=True)
        mean, ends = regressor.predict(inputs, quantiles=[0.05, 0.95])
        covariance = regressor.predict(inputs, return_cov=True)[1]
        results.append(np.column_stack([mean, sd, ends, np.sqrt(np.diag(covariance))]) / unit)
    np.testing.assert_allclose(results[1:], [results[0]] * 2, rtol=1e-3)


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_targets_whose_squares_are_no_numbers_are_refused(unit):
    with pytest.raises(
        ValueError, match=r"y must have values that differ by 1e-150 to 1e\+150, got differences of about"
    ):
        RobustGPRegressor("standard").fit([[0.0], [1.0], [2.0]], np.array([1.0, 2.0, 4.0]) * unit)


@pytest.mark.filterwarnings("ignore:column 0 of X.* 2 values lie far:robustbo.errors.SpaceWarning")
def test_predictions_of_skewed_values_stay_near_them():
    """Where nothing was measured, between a lone group of large values and all others, and next to the largest."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.exponential(0.01, 60), [0.4, 0.7]])[:, None]
    y = np.exp(rng.standard_normal(62) * 1.5 + 2) * np.where(X[:, 0] > 0.3, 60, 1)
    _, quantiles = RobustGPRegressor().fit(X, y).predict(np.linspace(0, 1, 21)[:, None], quantiles=[0.05, 0.95])
    assert np.abs(quantiles).max() < 30 * y.max()
