"""A fitted surrogate, for all who look at it."""

import math
from dataclasses import replace

import pytest

import robustbo as rb
from robustbo.loop.belief.outliers import outliers
from robustbo.loop.best.incumbent import incumbent
from robustbo.loop.observations.table import observations
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fit import fit, fit_to
from robustbo.surrogates.common import contract


def test_whoever_looks_again_samples_no_more(monkeypatch):
    opt = rb.Optimizer(rb.Space(x=rb.Float(0.0, 1.0)), direction="minimize", seed=0)
    for i in range(12):
        opt.tell({"x": i / 11}, math.sin(6 * i / 11) + 3.0 * (i == 5))
    sampled, right = [], contract.probability_right
    monkeypatch.setattr(contract, "probability_right", lambda model: sampled.append(model) or right(model))
    fits = FitCache()
    first = outliers(opt.settings, opt.history, fits)
    incumbent(opt.settings, opt.history, fits)
    assert outliers(opt.settings, opt.history, fits) == first
    assert len(sampled) == 1
    fitted = fit_to(opt.settings, observations(opt.settings, opt.history), fits)
    assert replace(fitted, quarantined=(3,)).probability_wrong is fitted.probability_wrong  # which is the model's
    assert len(sampled) == 1
    opt.tell({"x": 0.5}, 0.1)
    outliers(opt.settings, opt.history, fits)
    assert len(sampled) == 2


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_a_value_that_it_was_not_fitted_to_is_judged_alike_in_all_units(unit):
    appraisals = []
    for c in (1.0, unit):
        opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="maximize", seed=0)
        for i in range(14):
            opt.tell({"x": i / 13}, c * math.sin(6 * i / 13), sd=0.05 * c)
        fitted = fit(opt.settings, opt.history)
        opt.tell({"x": 0.4}, -5.0 * c, sd=0.05 * c)
        one = fitted.appraise(observations(opt.settings, opt.history).all_observations().of({14}))[14]
        appraisals.append((one.sd / c, one.evidence, one.wrong))
    assert appraisals[0][0] > 0.05
    assert appraisals[1] == pytest.approx(appraisals[0], rel=1e-6)
