import math

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from robustbo.numerics.failures.likelihood import E0, Outcomes
from robustbo.numerics.failures.map_fit import Model, evaluate, search, slopes
from robustbo.numerics.failures.predictive import Predictor, left_out, log_odds
from robustbo.numerics.gp.covariance import stationary
from robustbo.numerics.gp.parameters import LogNormal

PRIORS = LogNormal(math.sqrt(2) + math.log(2) / 2, math.sqrt(3)), LogNormal(2.5, 1.0)
X = torch.rand(50, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
IS_VIABLE = (X[:, 0] * X[:, 1] < 0.3).numpy()
FLAKES = np.flatnonzero(IS_VIABLE)[[2, 11]]
AT = torch.tensor([math.log(0.3), math.log(0.5), math.log(3.0), math.log(0.05), 0.7], dtype=torch.float64)


def model_of(rows, is_ok):
    chosen = X[rows]
    return Model(Outcomes(is_ok[rows], np.zeros(len(rows), bool)), stationary(chosen, "matern52", *PRIORS))


def with_flakes():
    is_ok = IS_VIABLE.copy()
    is_ok[FLAKES] = False
    return is_ok


def predictor(value, chosen):
    *_, log_e1, m = value.x.tolist()
    l, s2f = value.x[:2].exp(), value.x[2].exp()
    return Predictor("matern52", l, s2f, m, math.exp(log_e1), chosen, value.laplace.a, value.laplace.R)


ALL = np.arange(50)


def test_the_gradient_of_the_log_posterior_is_that_of_differences():
    model, step = model_of(ALL, with_flakes()), 1e-5
    here = evaluate(model, AT)
    start = here.laplace.a.numpy()
    around = [step * unit for unit in torch.eye(5, dtype=torch.float64)]
    numeric = [(evaluate(model, AT + e, start).F - evaluate(model, AT - e, start).F) / (2 * step) for e in around]
    assert_allclose(slopes(model, here), numeric, rtol=1e-5, atol=1e-6)


def test_the_evidence_is_the_integral_that_importance_sampling_gives():
    rows = ALL[:8]
    model = model_of(rows, with_flakes())
    at = evaluate(model, AT, is_clamped=False)
    K, m = at.covariance.K, AT[-1].item()
    Sig = torch.linalg.inv(torch.linalg.inv(K) + torch.diag(at.laplace.W))
    proposal = torch.distributions.MultivariateNormal(at.laplace.f, 1.5 * Sig)
    torch.manual_seed(0)
    f = proposal.sample((200_000,))
    given = model.given(K, math.exp(AT[-2]), m)
    log_p = torch.from_numpy(
        np.logaddexp(given.log_b, given.log_c + torch.special.log_ndtr(torch.from_numpy(given.s) * (m + f)).numpy())
    ).sum(-1)
    prior = torch.distributions.MultivariateNormal(torch.zeros(8, dtype=torch.float64), K)
    log_L = torch.logsumexp(log_p + prior.log_prob(f) - proposal.log_prob(f), 0) - math.log(len(f))
    assert at.laplace.L.item() == pytest.approx(log_L.item(), abs=0.1)


def test_a_search_ends_at_a_maximum_and_finds_the_region():
    model = model_of(ALL, IS_VIABLE)
    found = search(model)
    assert found.converged
    again = evaluate(model, found.x, found.value.laplace.a.numpy())
    low, high = torch.tensor(model.bounds).T
    inside = (found.x > low + 1e-6) & (found.x < high - 1e-6)
    assert slopes(model, again)[inside].abs().max() < 0.05
    Z = torch.rand(2000, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    p = predictor(found.value, X).log_viable(Z)[0].exp()
    assert ((p > 0.5) == (Z[:, 0] * Z[:, 1] < 0.3)).double().mean() > 0.9


def test_flakes_are_told_from_the_region():
    value = search(model_of(ALL, with_flakes())).value
    odds, failed = log_odds(value), ~with_flakes()
    is_flake = np.isin(ALL, FLAKES)
    assert odds[is_flake].min() > odds[failed & ~is_flake].max()
    assert odds[is_flake].min() > 0
    assert (odds[failed & ~is_flake] < 0).mean() > 0.9


def test_what_the_others_say_is_what_a_fit_without_the_trial_says():
    is_ok = with_flakes()
    at = evaluate(model_of(ALL, is_ok), AT, is_clamped=False)
    found = left_out(at, AT[-1].item())
    for i in (0, 3, FLAKES[0]):
        rest = np.delete(ALL, i)
        alone = evaluate(model_of(rest, is_ok), AT, is_clamped=False)
        log_p, _ = predictor(alone, X[rest]).log_viable(X[[i]])
        u = torch.tensor(found[i])
        expected = torch.log(E0 + (1 - E0 - AT[-2].exp()) * torch.special.ndtr(u))
        assert log_p.item() == pytest.approx(expected.item(), abs=0.1)


def test_the_gradient_of_a_prediction_is_that_of_differences_far_out_too():
    found = predictor(evaluate(model_of(ALL, IS_VIABLE), AT), X)
    Z = torch.rand(6, 2, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    for reach in (1.0, 20.0):
        far = found._replace(a=reach * found.a)
        units = 1e-6 * torch.eye(2, dtype=torch.float64)
        numeric = torch.stack([(far.log_viable(Z + e)[0] - far.log_viable(Z - e)[0]) / 2e-6 for e in units], -1)
        torch.testing.assert_close(far.log_viable(Z)[1], numeric, rtol=1e-5, atol=1e-6)
