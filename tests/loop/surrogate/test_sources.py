"""The errors of sources in the loop: values are corrected by what is believed of them."""

import math

import numpy as np
import pytest
import torch

import robustbo as rb
from robustbo.errors import NumericsWarning
from robustbo.loop.belief.outcome_models import use_models
from robustbo.loop.belief.outliers import outliers
from robustbo.loop.best.incumbent import incumbent
from robustbo.loop.decide import step
from robustbo.loop.observations.correction import SourceCorrection
from robustbo.loop.observations.expectation import expectation_of
from robustbo.loop.observations.table import Observations, observations
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fit import fit_to
from robustbo.trials.history import History
from robustbo.trials.schema import check
from robustbo.trials.settings import Settings
from robustbo.view.view import View

N, ERROR = 40, -60.0
X = torch.quasirandom.SobolEngine(2, scramble=True, seed=3).draw(N, dtype=torch.float64).numpy()
SOURCES = np.random.default_rng(1).permutation(np.arange(N) % 4)
NOISE = 2 * np.random.default_rng(2).normal(size=N)
SETTINGS = Settings(rb.Space(x=rb.Float(0.0, 1.0), y=rb.Float(0.0, 1.0)), seed=0, direction="minimize")
OFF = SOURCES == 2
FITS = FitCache()
R1, R2 = (("reactor", "R1"),), (("reactor", "R2"),)


def objective(x):
    return 100 * (np.sin(4 * x[..., 0]) + x[..., 1] ** 2) + 500


def history(is_off=OFF, *, has_sources=True, **changes):
    values = objective(X) + NOISE + ERROR * is_off
    events = []
    for i in range(N):
        event = {"event": "tell", "trial": i, "params": {"x": X[i, 0], "y": X[i, 1]}, "value": values[i], "sd": None}
        source = {"source": {"reactor": f"R{SOURCES[i]}"}} if has_sources else {}
        events.append(event | source | changes.get(f"trial{i}", {}))
    return History().apply_all(events)


def fitted(told, settings=SETTINGS):
    return fit_to(settings, observations(settings, told), FITS)


def error_of_prediction(model):
    grid = torch.rand(200, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    means, _ = model.predict(model.encoded(grid))
    return float(np.sqrt(np.mean((np.array(means) - objective(grid.numpy())) ** 2)))


def test_the_source_that_is_off_is_named():
    model = fitted(history())
    by_level = {error.level: error for error in model.source_errors}
    assert {*by_level} >= {"R0", "R1", "R2", "R3", None}
    error = by_level["R2"]
    assert (error.source, error.kind, error.since, error.distinguishable) == ("reactor", "offset", None, True)
    assert error.probability > 0.95
    assert abs(error.error - ERROR) < 4 * error.sd < 20
    assert {model.observations.numbers[row] for row in error.rows} == {*np.flatnonzero(OFF).tolist()}


def test_no_other_source_is_named():
    assert all(error.probability < 0.5 for error in fitted(history()).source_errors if error.level != "R2")


def test_a_source_that_measured_one_region_only_is_known_as_such():
    regional = {error.level for error in fitted(history(np.zeros(N))).source_errors if error.is_regional}
    assert not regional
    sources = [f"R{k}" if x < 0.75 else "R9" for k, x in zip(SOURCES, X[:, 0], strict=True)]
    changes = {f"trial{i}": {"source": {"reactor": source}} for i, source in enumerate(sources)}
    regional = {error.level for error in fitted(history(np.zeros(N), **changes)).source_errors if error.is_regional}
    assert regional == {"R9"}


def test_predictions_are_of_the_objective_without_the_error():
    assert error_of_prediction(fitted(history())) < 0.5 * error_of_prediction(fitted(history(has_sources=False)))


def test_a_prediction_at_a_source_has_its_error():
    view, point = View(SETTINGS, history(), FITS), {"x": 0.4, "y": 0.6}
    of_objective, of_off = view.predict(point), view.predict(point, R2)
    assert of_off.mean - of_objective.mean == pytest.approx(ERROR, abs=15)
    assert of_off.sd > of_objective.sd
    assert view.predict(point, R1) == of_objective
    frame = view.predict([point, {"x": 0.1, "y": 0.2}], R2)
    assert frame["mean"][0] == pytest.approx(of_off.mean, rel=1e-12)


def test_what_is_expected_of_a_trial_has_the_error_of_who_will_measure_it():
    told = history()
    plain, of_off, of_right = (step(SETTINGS, told, N, FITS, (), by) for by in ((), R2, R1))
    assert (of_off.params, of_off.expected) == (plain.params, plain.expected)
    assert of_right.decision == plain.decision
    predicted = View(SETTINGS, told, FITS).predict(of_off.params, R2, is_noisy=True)
    assert of_off.expected_error.mean == pytest.approx(ERROR, abs=15)
    event = of_off.events(N)[-1]
    check(event, SETTINGS)
    trial = told.apply(event)[N]
    assert trial.expectation[0] == pytest.approx(of_off.expected.mean + of_off.expected_error.mean)
    assert trial.expectation[1] > of_off.expected.sd
    assert trial.expectation == pytest.approx(tuple(predicted))
    assert trial.expected_measurement_sd == trial.expected_sd
    assert expectation_of(trial)[:3] == of_off.expected[:3]


def test_reports_have_values_as_they_were_told():
    told = history()
    reports = outliers(SETTINGS, told, FITS)
    assert [report.value for report in reports] == [told[report.trial.number].value for report in reports]
    assert not any(report.flagged for report in reports)
    off = {bool(OFF[report.trial.number]): report.expected - report.value for report in reports}
    assert all(abs(apart) < 15 for apart in off.values())


def test_the_best_is_none_that_a_source_makes_look_better():
    best = incumbent(SETTINGS, history(), FITS)
    assert best.mean == pytest.approx(objective(np.array([best.params["x"], best.params["y"]])), abs=10)
    assert objective(np.array([best.params["x"], best.params["y"]])) < np.sort(objective(X))[4]


def test_the_table_of_a_model_is_corrected_once():
    data = observations(SETTINGS, history())
    (model,), _ = use_models(SETTINGS, data, tuple, FITS)
    assert model.data.correction is model.fitted.observations.correction
    assert model.data.with_correction(model.data.correction) is model.data
    row = int(np.flatnonzero(OFF)[0])
    assert model.data.trials[row].value == pytest.approx(data.trials[row].value - ERROR, abs=15)


def test_without_sources_there_is_nothing_of_them():
    model = fitted(history(has_sources=False))
    assert model.source_errors == ()
    assert model.observations.correction is None


def test_where_nothing_is_wrong_nothing_is_corrected():
    model = fitted(history(np.zeros(N)))
    assert model.observations.correction is None
    assert all(error.probability < 0.5 for error in model.source_errors)
    assert len(model.source_errors) >= 5


def test_a_value_that_the_user_vouches_for_says_whose_level_is_right():
    first, second = np.flatnonzero(OFF)[:2].tolist()
    verdicts = [{"event": "exclude", "trial": first}, {"event": "include", "trial": first, "vouch": True}]
    correction = fitted(history().apply_all(verdicts)).observations.correction
    assert correction.error_of([first]) == [0.0]
    others = np.flatnonzero(~OFF).tolist()
    assert correction.error_of([second, *others]) == pytest.approx([0.0, *[-ERROR] * len(others)], abs=15)


def test_a_surrogate_that_takes_no_sources_says_so():
    settings = Settings(SETTINGS.space, seed=0, direction="minimize", surrogate="standard")
    with pytest.warns(NumericsWarning, match="standard takes no sources"):
        model = fitted(history(), settings)
    assert model.source_errors == ()


def test_observations_are_corrected_by_number():
    told = Observations((4, 2, 7), ((0.0,), (0.5,), (1.0,)), (1.0, 2.0, 3.0), None)
    correction = SourceCorrection((2, 7), (0.5, -1.0), ((0.1,), (0.2,)))
    result = told.with_correction(correction)
    assert result.values == (1.0, 1.5, 4.0)
    assert result.take([2, 0]).correction.shares_of([7, 4]) == [(0.2,), (0.0,)]
    assert hash(result) != hash(told)
    assert math.isclose(result.first(2).values[1], 1.5)
