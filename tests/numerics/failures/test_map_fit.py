import itertools
import math

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from robustbo.numerics.failures import map_fit, propagation
from robustbo.numerics.failures.likelihood import BETA, Outcomes, log_outcome
from robustbo.numerics.failures.map_fit import (
    FINE,
    LOG_E1,
    FailureModel,
    at_mean_flake_rate,
    evaluate,
    height_of,
    search,
    slopes,
)
from robustbo.numerics.failures.predictive import predictor
from robustbo.numerics.failures.propagation import propagate
from robustbo.numerics.failures.sampling import draw_samples
from robustbo.numerics.gp.covariance import stationary
from robustbo.numerics.gp.objective import climb
from robustbo.numerics.gp.parameters import LogNormal

PRIOR = LogNormal(math.sqrt(2) + math.log(2) / 2, math.sqrt(3))
X = torch.rand(60, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
IS_VIABLE = (X[:, 0] * X[:, 1] < 0.3).numpy()
FLAKES = np.flatnonzero((X[:, 0] * X[:, 1] < 0.1).numpy())[[2, 7]]  # far from the boundary
AT = torch.tensor([math.log(0.3), math.log(0.5), math.log(0.05), 0.4], dtype=torch.float64)
ALL = np.arange(60)


def model_of(rows, is_ok, is_sure=None):
    sure = np.zeros(len(rows), bool) if is_sure is None else is_sure
    outcomes = Outcomes(1.0 * is_ok[rows], 1.0 - is_ok[rows], sure)
    return FailureModel(outcomes, stationary(X[rows], "matern52", PRIOR, None))


def with_flakes():
    is_ok = IS_VIABLE.copy()
    is_ok[FLAKES] = False
    return is_ok


def predicts(model, rows, value, seed=0):
    return predictor(model, "matern52", X[rows], value, np.random.default_rng(seed))


class TestEvidence:
    @pytest.mark.parametrize("rows", [ALL[:6], ALL[10:18]])
    def test_it_is_the_integral(self, rows):
        model = model_of(rows, with_flakes())
        at = evaluate(model, AT)
        K, n = at.covariance.K.numpy(), len(rows)
        f = np.linalg.cholesky(K + 1e-9 * np.eye(n)) @ np.random.default_rng(0).normal(size=(n, 200_000))
        e1, m = math.exp(AT[-2]), AT[-1].item()
        t = BETA * model.outcomes.s[:, None] * (m + f)
        log_p = log_outcome(t, model.outcomes.log_b(e1)[:, None], model.outcomes.log_c(e1)[:, None]).sum(0)
        assert pytest.approx(np.log(np.exp(log_p).mean()), abs=0.15) == at.approximation.L

    def test_its_gradient_is_that_of_differences(self, monkeypatch):
        monkeypatch.setattr(propagation, "ENOUGH", 1e-10)
        monkeypatch.setattr(propagation, "SWEEPS", 1000)
        model, step = model_of(ALL[:20], IS_VIABLE), 1e-5
        here = evaluate(model, AT)
        around = [step * unit for unit in torch.eye(4, dtype=torch.float64)]
        numeric = [(evaluate(model, AT + e, here).F - evaluate(model, AT - e, here).F) / (2 * step) for e in around]
        assert_allclose(slopes(model, here), numeric, rtol=1e-3, atol=1e-3)

    def test_one_trial_has_the_probability_that_it_has(self):
        outcomes = Outcomes(np.array([1.0]), np.array([0.0]), np.array([False]))
        found = propagate(np.ones((1, 1)), 0.4, outcomes, 0.05)
        u = BETA * 0.4 / math.sqrt(1 + BETA**2)
        assert pytest.approx(math.log(0.95 * 0.5 * math.erfc(-u / math.sqrt(2))), abs=1e-4) == found.L


class TestSearch:
    def test_it_finds_the_region(self):
        model = model_of(ALL, IS_VIABLE)
        found = search(model)
        assert found.converged
        Z = torch.rand(2000, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
        p = predicts(model, ALL, found.value).log_viable(Z)[0].exp()
        assert ((p > 0.5) == (Z[:, 0] * Z[:, 1] < 0.3)).double().mean() > 0.93

    def test_no_start_is_far_below_the_highest(self):
        model = model_of(ALL, with_flakes())
        ends = [climb(height_of(model), evaluate(model, start), ftol=FINE).F for start in model.starts]
        assert max(ends) - 0.1 <= search(model).F


class TestFlakes:
    @pytest.mark.parametrize("rate", [0.0, 0.2])
    def test_their_rate_is_the_mean_of_its_posterior(self, rate):
        model = model_of(ALL[:30], np.random.default_rng(2).random(60) >= max(rate, 0.04))
        mode = search(model).value
        log_e1 = np.linspace(*LOG_E1, 200)
        x = [torch.cat([mode.x[:-2], mode.x.new_tensor([each, mode.x[-1]])]) for each in log_e1]
        F = np.array([evaluate(model, each, mode).F for each in x])
        w = np.exp(F - F.max() + log_e1)  # F is the density of the rate, not of its logarithm
        found = at_mean_flake_rate(model, mode)
        assert math.exp(found.x[-2]) == pytest.approx((w @ np.exp(log_e1)) / w.sum(), rel=0.07)
        assert found.x[-2] > mode.x[-2] + 0.2
        assert found.x[[0, 1, -1]].tolist() == mode.x[[0, 1, -1]].tolist()

    def test_where_no_sites_settle_at_the_mean_the_mode_stands(self, monkeypatch):
        model = model_of(ALL[:30], with_flakes())
        mode, counted = evaluate(model, AT), itertools.count()

        def settles_on_the_grid(*at):
            return evaluate(*at)._replace(**{} if next(counted) <= map_fit.RATES else {"F": -math.inf})

        monkeypatch.setattr(map_fit, "evaluate", settles_on_the_grid)
        assert at_mean_flake_rate(model, mode) is mode

    def test_they_are_told_from_the_region(self):
        model = model_of(ALL, with_flakes())
        odds = predicts(model, ALL, search(model).value).log_odds
        is_flake, failed = np.isin(ALL, FLAKES), ~with_flakes()
        assert odds[is_flake].min() > 0
        assert odds[failed & ~is_flake].max() < odds[is_flake].min()
        assert (odds[failed & ~is_flake] < 0).mean() > 0.9

    def test_one_that_somebody_says_is_none_shuts_its_surroundings(self):
        is_sure = np.isin(ALL, FLAKES)
        there = X[FLAKES]
        said, unsaid = model_of(ALL, with_flakes(), is_sure), model_of(ALL, with_flakes())
        p = [predicts(m, ALL, evaluate(m, AT)).log_viable(there)[0].exp() for m in (said, unsaid)]
        assert (p[0] < p[1] - 0.3).all()


class TestPredictions:
    def test_the_gradient_is_that_of_differences(self):
        model = model_of(ALL, IS_VIABLE)
        found = predicts(model, ALL, evaluate(model, AT))
        Z = torch.rand(6, 2, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
        for reach in (1.0, 5.0):  # far in the tail too
            far = found._replace(al=reach * found.al)
            units = 1e-6 * torch.eye(2, dtype=torch.float64)
            numeric = torch.stack([(far.log_viable(Z + e)[0] - far.log_viable(Z - e)[0]) / 2e-6 for e in units], -1)
            torch.testing.assert_close(far.log_viable(Z)[1], numeric, rtol=1e-2, atol=1e-3)

    def test_they_are_those_of_many_samples_that_went_far(self, monkeypatch):
        model = model_of(ALL[:30], with_flakes())
        value = evaluate(model, AT)
        few = predicts(model, ALL[:30], value)
        monkeypatch.setattr("robustbo.numerics.failures.predictive.SAMPLES", 1000)
        monkeypatch.setattr("robustbo.numerics.failures.predictive.STEPS", 100)
        many = predicts(model, ALL[:30], value, seed=1)
        Z = torch.rand(200, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
        p, q = few.log_viable(Z)[0].exp(), many.log_viable(Z)[0].exp()
        assert (p - q).square().mean().sqrt() < 0.05
        assert (p - q).mean().abs() < 0.02

    def test_a_point_that_failed_for_sure_is_more_surely_so_than_a_normal_posterior_says(self):
        model = model_of(ALL, IS_VIABLE)
        value = evaluate(model, AT)
        failed = X[~IS_VIABLE]
        p = predicts(model, ALL, value).log_viable(failed)[0].exp()
        K, found = value.covariance.K, value.approximation
        mu, R = AT[-1] + K @ torch.from_numpy(found.a), torch.from_numpy(found.R)
        v = (K - K @ R @ K).diagonal().clamp_min(0)
        normal = torch.special.ndtr(mu / (v + BETA**-2).sqrt())[torch.from_numpy(~IS_VIABLE)]
        assert p.log().mean() < normal.log().mean() - 0.5


def test_samples_are_of_the_posterior():
    rows = np.array([0])
    model = model_of(rows, np.array([False] * 60))
    found = propagate(np.ones((1, 1)), 0.0, model.outcomes, 0.05)
    _, zeta = draw_samples(np.ones((1, 1)), 0.0, model.outcomes, 0.05, found, 4000, 20, np.random.default_rng(0))
    assert (zeta > 0).mean() == pytest.approx(0.05 / 1.05, abs=0.02)  # a flake, else below zero
    assert zeta[zeta < 0].mean() == pytest.approx(-math.sqrt(2 / math.pi), abs=0.05)


@pytest.mark.few(8)
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("kind", ["step", "lone", "all", "cluster", "flakes", "sure"])
def test_sites_settle_whatever_has_failed(d, kind):
    for n in (14, 50):
        draw = np.random.default_rng(n)
        Z = draw.random((n, d))
        if kind == "cluster":
            Z[n // 2 :] = Z[0] + 1e-4 * draw.normal(size=(n - n // 2, d))
        is_ok = {"lone": np.arange(n) > 0, "all": np.arange(n) < 0, "flakes": draw.random(n) < 0.8}.get(
            kind, Z.sum(1) < 0.4 * d
        )
        is_sure = ~is_ok & (draw.random(n) < 0.3) if kind == "sure" else np.zeros(n, bool)
        covariance = stationary(torch.from_numpy(Z), "matern52", PRIOR, None)
        model = FailureModel(Outcomes(1.0 * is_ok, 1.0 - is_ok, is_sure), covariance)
        assert math.isfinite(search(model).F)
