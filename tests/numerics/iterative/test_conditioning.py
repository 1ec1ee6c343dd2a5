import pytest
import torch

from robustbo.numerics.gp.kernels_tiled import TiledCovariance
from robustbo.numerics.iterative.conditioning import IterationPlan, condition, condition_in_rounds
from robustbo.numerics.iterative.policies import NAMES
from robustbo.numerics.weighted import rcgp
from robustbo.numerics.weighted.map_fit import SOURCE, Weights

FULL = IterationPlan("residual", 15, 0.0)


def example(outlier=8.0):
    generator = torch.Generator().manual_seed(0)
    X, N = torch.rand(15, 2, generator=generator) / 0.4, torch.full((15,), 0.05)
    r = torch.sin(3 * X[:, 0]) + 0.2 * torch.randn(15, generator=generator)
    r[3] += outlier
    return TiledCovariance("matern52", X, torch.tensor(1.3), N), r


def exact(prior, r, weighting):
    K = prior.dense() - torch.diag(prior.N)
    return K, rcgp.condition(K, r, prior.N, weighting)


@pytest.mark.parametrize("policy", NAMES)
def test_after_n_actions_it_is_the_conjugate_process(policy):
    prior, r = example()
    weighting = SOURCE.of(r)
    seen = condition(prior, r, weighting, IterationPlan(policy, 15, 0.0))
    K, given = exact(prior, r, weighting)
    torch.testing.assert_close(seen.belief.v, given.v, rtol=1e-7, atol=1e-8)
    for found, wanted in (
        (seen.left_out, rcgp.leave_one_out(K, given)),
        (seen.in_sample, rcgp.in_sample(given)),
    ):
        torch.testing.assert_close(found.e, wanted.e, rtol=1e-7, atol=1e-8)
        torch.testing.assert_close(found.t, wanted.t, rtol=1e-7, atol=1e-8)


def test_rounds_go_around_what_the_last_look_predicts():
    prior, r = example()
    weights = Weights()
    seen = condition_in_rounds(prior, r, weights, FULL)

    def predict(weighting):
        K, given = exact(prior, r, weighting)
        return rcgp.leave_one_out(K, given)

    torch.testing.assert_close(seen.weighting.J, weights.settle(r, predict).J, rtol=1e-7, atol=1e-8)


def test_few_actions_leave_errors_wider_never_narrower():
    prior, r = example()
    few, all_of_them = (
        condition(prior, r, SOURCE.of(r), IterationPlan("residual", count, 0.0)).left_out.t for count in (4, 15)
    )
    assert (few >= all_of_them - 1e-10).all()
    assert (few > all_of_them + 1e-3).any()


def test_plain_weights_are_the_plain_process():
    prior, r = example(0.0)
    seen = condition_in_rounds(prior, r, Weights(is_robust=False), FULL)
    assert (seen.weighting.share == 1).all()
    torch.testing.assert_close(seen.belief.v, torch.linalg.solve(prior.dense(), r))
