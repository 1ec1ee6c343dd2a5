import math

import pytest
import torch

from robustbo.numerics.gp.model import Model
from robustbo.numerics.weighted import map_fit
from robustbo.numerics.weighted.map_fit import SOURCE, Weights, evaluate, prior_mean, search
from robustbo.numerics.weighted.rcgp import PredictionErrors, leave_one_out
from robustbo.surrogates.common import priors


def model(n=25, outliers=(), s2_known=None):
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(n, 1, generator=generator)
    y = torch.sin(6 * X[:, 0]) + 0.05 * torch.randn(n, generator=generator)
    y[list(outliers)] += 8.0
    covariance = priors.covariance_function(X, "matern52", True)
    return Model(y, covariance, priors.NOISE_PRIOR, s2_known)


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize("weights", [Weights(), SOURCE])
def test_the_gradient_of_the_climb(weights, is_known):
    given = model(outliers=[3], s2_known=torch.full((25,), 0.01) if is_known else None)
    theta = given.starts[1] + 0.1
    weighting = weights.of(given.y - prior_mean(given.y))

    def at(x):
        return map_fit.leave_one_out_posterior(given, weights, weighting, x)

    slopes = map_fit.slopes(given, at(theta))
    for i in range(len(theta)):
        step = torch.zeros_like(theta)
        step[i] = 1e-5
        difference = (at(theta + step).F - at(theta - step).F) / 2e-5
        assert slopes[i].item() == pytest.approx(difference, rel=1e-5, abs=1e-6)


def test_no_start_is_higher_than_the_end():
    given = model(outliers=[3, 11])
    found = search(given, Weights(rounds=1))
    weighting = Weights().of(given.y - prior_mean(given.y))
    heights = [map_fit.leave_one_out_posterior(given, Weights(), weighting, theta).F for theta in given.starts]
    assert found.converged
    assert max(heights) < found.F


def test_weights_that_are_all_alike_need_no_rounds():
    given = model()
    once, often = (search(given, Weights(is_robust=False, rounds=rounds)) for rounds in (1, 4))
    torch.testing.assert_close(once.x, often.x)


def test_the_source_is_led_astray_by_gross_values_and_we_are_not():
    given, clean = model(outliers=[3, 8, 20]), model()
    m, error = prior_mean(given.y), {}
    for weights in (SOURCE, Weights()):
        theta = search(given, weights).x
        found = evaluate(given, theta, m, weights)
        f = m + given.covariance.at(theta[:2]).K @ found.v
        error[weights] = (f - clean.y).square().mean().sqrt().item()
    assert error[Weights()] < 0.3
    assert error[SOURCE] > 3 * error[Weights()]


def test_a_wrong_value_within_the_range_is_found_around_the_predictions_only():
    given = model()
    at = int((given.y - given.y.max()).abs().argmin())  # the largest value becomes the median
    y = given.y.clone()
    y[at] = given.y.median()
    given = given._replace(y=y)
    m = prior_mean(y)
    theta = search(given, Weights()).x
    first, last = (evaluate(given, theta, m, Weights(), rounds).weighting.share for rounds in (1, 3))
    assert first[at] > 0.9
    assert last.argmin() == at
    assert last[at] < 0.25


def test_rounds_take_weights_in_units_of_the_predictions():
    r = torch.tensor([0.5, -1.0, 6.0])
    weights = Weights(threshold=2.0, rounds=2)
    settled = weights.settle(r, lambda _: PredictionErrors(r, torch.tensor([1.0, 1.0, 9.0])))
    torch.testing.assert_close(settled.J, 1 + torch.tensor([0.25, 0.5, 1.0]).square())
    torch.testing.assert_close(settled.b, 2 * r / (torch.tensor([2.0, 2.0, 6.0]).square() + r.square()))


def test_values_that_are_all_equal_have_full_weight():
    given = model()._replace(y=torch.full((25,), 3.0))
    found = search(given, Weights())
    assert math.isfinite(found.F)
    assert (evaluate(given, found.x, prior_mean(given.y), Weights()).weighting.share == 1).all()


def test_leave_one_out_of_the_settled_process_is_finite_beside_gross_values():
    given = model(outliers=[3])
    given = given._replace(y=given.y.index_put((torch.tensor([7]),), torch.tensor(1e12)))
    theta = given.starts[0]
    found = evaluate(given, theta, prior_mean(given.y), Weights())
    K = given.covariance.at(theta[:2]).K
    assert all(part.isfinite().all() for part in leave_one_out(K, found))
