from dataclasses import replace

import pytest
import torch
from botorch.models import SingleTaskGP

import robustbo as rb
from robustbo.loop.belief.judge import judge
from robustbo.loop.belief.outliers import outliers
from robustbo.loop.best.incumbent import incumbent
from robustbo.loop.decide import step
from robustbo.loop.observations.table import observations
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fit import fit, fit_to
from robustbo.loop.surrogate.warm_start import ROOT
from robustbo.numerics.gp.map_fit import climb
from robustbo.numerics.pursuit import search, support_fit
from robustbo.searchspace.parameters import Float
from robustbo.searchspace.space import Space
from robustbo.surrogates.registry import name_of
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo.trials.tree import Trials

SPACE = Space(x=Float(0.0, 1.0), y=Float(0.0, 1.0))


def history(n, wrong=()):
    made = History()
    for i in range(n):
        params = SPACE.sobol(3, i)
        value = params["x"] ** 2 - params["y"] + 50.0 * (i in wrong)
        made = made.apply({"event": "tell", "trial": i, "params": params, "value": value, "sd": None})
    return made


def fitted(n, surrogate="relevance-pursuit", wrong=(), fits=None):
    return fit(Settings(SPACE, surrogate=surrogate), history(n, wrong), fits)


def outlying(found):
    """The trials that the model calls outliers."""
    return sorted(found.observations.numbers[i] for i in found.model.support)


def theta(found):
    return [p.tolist() for p in found.model.parameters()]


@pytest.mark.few(1)
@pytest.mark.parametrize("surrogate", ["relevance-pursuit", "standard"])
def test_a_fit_is_the_same_whether_a_run_went_on_or_is_resumed(surrogate):
    settings = Settings(SPACE, surrogate=surrogate)
    fits = FitCache()
    for n in range(14, 18):
        made = history(n, wrong=(3, 12))
        going_on = fit(settings, made, fits)
        for look in (outliers, incumbent):  # what a run does in between
            look(settings, made, fits)
        step(settings, made, n, fits)
    resumed = fitted(17, surrogate, wrong=(3, 12))
    assert theta(going_on) == theta(resumed)
    assert torch.equal(going_on.model.map_estimate.rho, resumed.model.map_estimate.rho)


@pytest.mark.slow
def test_a_known_number_of_outliers_needs_no_more_observations_than_that():
    settings = Settings(SPACE, surrogate="relevance-pursuit", options='{"num_outliers": 3}')
    for n in (3, 5, 13, 15):
        assert len(fit(settings, history(n, wrong=(0, 2, 11))).model.support) <= 3
    assert outlying(fit(settings, history(15, wrong=(0, 2, 11)))) == [0, 2, 11]


def test_a_warm_search_is_no_longer_and_ends_as_high(monkeypatch):
    evaluations = []

    def counted(*args, **options):
        found = climb(*args, **options)
        evaluations.append(found[0].num_evaluations)
        return found

    monkeypatch.setattr(support_fit, "climb", counted)
    fits = FitCache()
    fitted(70, wrong=(3, 12), fits=fits)
    evaluations.clear()
    warm = fitted(71, wrong=(3, 12), fits=fits).model
    effort = sum(evaluations)
    monkeypatch.setattr("robustbo.loop.surrogate.warm_start.ROOT", 71)
    evaluations.clear()
    cold = fitted(71, wrong=(3, 12)).model
    assert effort < 1.1 * sum(evaluations)
    assert warm.map_estimate.F >= cold.map_estimate.F - 0.1
    assert warm.support == cold.support


def test_a_new_outlier_is_found_from_a_warm_start():
    assert outlying(fitted(ROOT + 1, wrong=(ROOT,))) == [ROOT]


def test_a_value_that_changes_the_scale_starts_the_search_anew():
    settings = Settings(SPACE, surrogate="relevance-pursuit")
    made = history(2)
    for i, value in enumerate([1e12, 3e12, 5e12, 2e12], start=2):
        made = made.apply({"event": "tell", "trial": i, "params": SPACE.sobol(3, i), "value": value, "sd": None})
    assert fit(settings, made).units.scale > 1e11


def test_a_model_that_cannot_continue_is_fitted_from_nothing():
    settings = Settings(SPACE, surrogate=name_of(SingleTaskGP))
    fits = FitCache()
    assert isinstance(fit(settings, history(7), fits).model, SingleTaskGP)
    assert len(fits) == 1


def test_known_noise_goes_along():
    made = History()
    for i in range(13):
        params = SPACE.sobol(3, i)
        made = made.apply({"event": "tell", "trial": i, "params": params, "value": params["x"], "sd": 0.1 + 0.01 * i})
    found = fit(Settings(SPACE, surrogate="relevance-pursuit"), made)
    _, noise = found.model.outcome_transform.untransform(
        found.model.train_targets.unsqueeze(-1), found.model.likelihood.noise.unsqueeze(-1)
    )
    sds = [(0.1 + 0.01 * number) / found.units.scale for number in found.observations.numbers]
    expected = torch.tensor(sds, dtype=torch.float64).square()
    torch.testing.assert_close(noise.squeeze(-1), expected)


def test_searches_from_nothing_are_of_few_whatever_is_left_out(monkeypatch):
    settings, made, fits = Settings(SPACE), history(83), FitCache()
    calls, cold = [], search.cold_levels
    monkeypatch.setattr(search, "cold_levels", lambda model, plan: calls.append(len(model.y)) or cold(model, plan))
    fit(settings, made, fits)
    without = made.apply({"event": "exclude", "trial": 7})
    going_on = fit(settings, without, fits)
    assert set(calls) == {ROOT}
    assert theta(going_on) == theta(fit(settings, without))


@pytest.mark.slow
def test_a_search_from_nothing_is_made_anew_only_where_its_sample_changes(monkeypatch):
    settings, fits, calls, cold = Settings(SPACE), FitCache(), [], search.cold_levels
    monkeypatch.setattr(search, "cold_levels", lambda model, plan: calls.append(len(model.y)) or cold(model, plan))
    for n in range(33, 57):
        fit(settings, history(n), fits)
    assert len(calls) < 12


def renumbered(data, order):
    """The same trials in another order."""
    number = {old: new for new, old in enumerate(order)}
    trials = [replace(data.trials[old], number=number[old]) for old in order]
    return replace(data, trials=Trials(trials))


@pytest.mark.few(3)
@pytest.mark.parametrize("surrogate", ["relevance-pursuit", "student-t", "conjugate", "filtered", "standard"])
def test_the_order_of_trials_changes_nothing(surrogate):
    settings, n = Settings(SPACE, surrogate=surrogate), 21
    data = observations(settings, history(n, wrong=(3, 12)))
    doubtful = replace(data.trials[5], value=3.0, expected=0.2, expected_sd=0.05)
    data = replace(data, trials=data.trials.with_changes({5: doubtful}))
    order = [*range(1, n), 0]
    reordered = renumbered(data, order)
    one, other = fit_to(settings, data, FitCache()), fit_to(settings, reordered, FitCache())
    assert theta(one) == theta(other)
    assert torch.equal(one.X, other.X)
    assert one.quarantined == tuple(sorted(order[number] for number in other.quarantined))
    assert one.quarantined == ((5,) if surrogate in ("relevance-pursuit", "student-t", "conjugate") else ())
    said = {o.trial.number: (o.status, o.probability_wrong, o.expected) for o in judge(data, one)}
    again = {order[o.trial.number]: (o.status, o.probability_wrong, o.expected) for o in judge(reordered, other)}
    assert said == again


def test_a_diagnosis_in_between_is_one_on_the_first_trials_whatever_their_points():
    settings = Settings(SPACE, surrogate="filtered", options='{"every": 10}')
    found = fit(settings, history(25, wrong=(3, 22)))
    assert found.observations.numbers == tuple(range(25))
    assert found.model.verdict.observations == 20
    assert 3 in found.model.verdict.outliers


@pytest.mark.parametrize("unit", [1.0, 0.1, 1 / 9, 1 / 60, 1.609344])
def test_a_block_of_wrong_values_is_found_whatever_unit_a_parameter_has(unit):
    """The calls of Belgium, of which those from 1964 to 1969 are minutes, and those of 1970 are in part."""
    calls = "0.44 0.47 0.47 0.59 0.66 0.73 0.81 0.88 1.06 1.20 1.35 1.49 1.61 2.12 "
    calls += "11.9 12.4 14.2 15.9 18.2 21.2 4.30 2.40 2.70 2.90"
    years = range(50, 74)
    opt = rb.Optimizer(rb.Space(x=rb.Float(50 * unit, 73 * unit)), direction="maximize", seed=0)
    for year, value in zip(years, calls.split(), strict=True):
        opt.tell({"x": year * unit}, float(value))
    wrong = {50 + one.trial.number for one in opt.outliers() if one.probability_wrong > 0.9}
    assert wrong == {64, 65, 66, 67, 68, 69, 70}
