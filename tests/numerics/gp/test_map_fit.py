import json
from pathlib import Path

import numpy as np
import pytest
import torch

from robustbo.numerics.gp.covariance import Covariance, CovarianceFunction, stationary
from robustbo.numerics.gp.log_posterior import gradient, log_posterior
from robustbo.numerics.gp.map_fit import PARAMETERIZATIONS, maximize
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.parameters import LogNormal
from robustbo.numerics.gp.replicates import Groups
from robustbo.numerics.gp.warp import FREE

PRIOR = LogNormal(0.5, 1.5)
NOISE = LogNormal(-4.0, 1.0)


def model(n=12):
    generator = torch.Generator().manual_seed(1)
    X = torch.rand(n, 2, generator=generator)
    y = torch.sin(5 * X[:, 0]) + 0.1 * torch.randn(n, generator=generator)
    y[3] += 4.0
    return Model(y, stationary(X, "matern52", PRIOR, PRIOR), NOISE)


@pytest.mark.parametrize("name", sorted(PARAMETERIZATIONS))
def test_a_parameterization_has_an_inverse_and_a_slope(name):
    of, v, z, step = PARAMETERIZATIONS[name], np.array([0.1, 2.0]), np.array([0.3, 0.7]), 1e-6
    assert of.inverse(of.rho(z, v), v) == pytest.approx(z)
    assert of.slope(z, v) == pytest.approx((of.rho(z + step, v) - of.rho(z - step, v)) / (2 * step))
    assert not of.rho(np.zeros(2), v).any()


@pytest.mark.parametrize("name", sorted(PARAMETERIZATIONS))
def test_all_parameterizations_climb_to_the_same_maximum(name):
    given, support = model(), torch.tensor([3])
    found = maximize(
        given, given.starts[0], torch.zeros(12), support, torch.ones(12), parameterization=name, ftol=1e-13
    )
    reference = maximize(given, given.starts[0], torch.zeros(12), support, torch.ones(12), ftol=1e-13)
    assert pytest.approx(reference.F, abs=1e-5) == found.F
    assert found.rho[3] == pytest.approx(reference.rho[3].item(), rel=1e-2)


def test_the_maximum_is_stationary():
    given, support = model(), torch.tensor([3])
    found = maximize(given, given.starts[0], torch.zeros(12), support, torch.ones(12), ftol=1e-15)
    F_theta, F_rho = gradient(given, log_posterior(given, found.theta, found.rho))
    inside = [low + 1e-6 < x < high - 1e-6 for x, (low, high) in zip(found.theta.tolist(), given.bounds, strict=True)]
    assert F_theta[torch.tensor(inside)].abs().max() < 1e-3
    assert (F_rho[3] * found.rho[3]).abs() < 1e-3


def with_a_group(warp=()):
    """Twelve observations, of which four are 3: two of them at one point."""
    given, rows = model(), (1, 5, 8, 9)
    X = torch.rand(12, 2, generator=torch.Generator().manual_seed(1)).index_copy(0, torch.tensor([9]), torch.rand(1, 2))
    X[9] = X[8]
    y = given.y.index_fill(0, torch.tensor(rows), 3.0)
    covariance = stationary(X, "matern52", PRIOR, PRIOR)
    return given._replace(y=y, covariance=covariance, groups=Groups((rows,)), warp=warp), torch.tensor([1, 3, 5, 8, 9])


@pytest.mark.parametrize("warp", [(), FREE])
@pytest.mark.parametrize("name", sorted(PARAMETERIZATIONS))
def test_a_group_has_one_variance_the_best(name, warp):
    given, support = with_a_group(warp)
    theta = given.starts[0]
    found = maximize(given, theta, torch.full((12,), 5.0), support, torch.ones(12), parameterization=name, ftol=1e-14)
    assert found.support == tuple(support.tolist())
    assert found.rho[[5, 8, 9]].tolist() == pytest.approx([found.rho[1].item()] * 3)
    assert found.rho[1] > 1.0
    for factor in (0.99, 1.01):
        other = found.rho.index_copy(0, torch.tensor([1, 5, 8, 9]), factor * found.rho[[1, 5, 8, 9]])
        assert log_posterior(given, found.theta, other, support=support).F < found.F


def test_two_that_agree_at_one_point_do_not_vouch_for_each_other():
    """Each with a variance of its own, they would need none where they begin without."""
    given, support = with_a_group()
    rho = torch.full((12,), 5.0).index_fill(0, torch.tensor([8, 9]), 0.0)
    begin = given.starts[0], rho, support, torch.ones(12)
    assert maximize(given._replace(groups=Groups()), *begin).rho[[8, 9]].max() < 0.1
    assert maximize(given, *begin).rho[[8, 9]].min() > 1.0


def test_fixed_hyperparameters_give_the_reference_variances():
    """The kernel and noise of the fixture held fixed, rho is optimized alone."""
    for path in sorted((Path(__file__).parents[2] / "fixtures").glob("relevance_pursuit_fixed_*.json")):
        case = json.loads(path.read_text())
        n, support = len(case["y"]), case["supports"]["true_outliers"]
        X, kernel = torch.tensor(case["X"]), case["kernel"]
        theta = torch.tensor(kernel["lengthscales"]).log()
        K = stationary(X, kernel["name"], PRIOR, None).at(theta).K * kernel["variance"]
        function = CovarianceFunction(
            lambda _, K=K: Covariance(K, 0.0, lambda G: torch.zeros(0)), (torch.zeros(0),), []
        )
        y = torch.tensor(case["y"]) - case["mean"]
        given = Model(y, function, NOISE, torch.full((n,), case["noise_variance"]))
        found = maximize_without_mean(given, torch.tensor(support["support"]), support)
        torch.testing.assert_close(found, torch.tensor(support["rho"]), rtol=1e-6, atol=1e-6)


def maximize_without_mean(given, support, reference):
    """rho* by the closed form iterated to its fixed point: the fixture's mean is fixed, the search profiles it out."""
    from robustbo.numerics.gp.leave_one_out import leave_one_out
    from robustbo.numerics.gp.outlier_gain import group_variance

    rho, K0 = torch.zeros_like(given.y), given.covariance.at(torch.zeros(0)).K + torch.diag(given.s2_known)
    for _ in range(500):
        mean, v = leave_one_out(given.y, K0, rho)
        rho = rho.index_put((support,), group_variance(given.y - mean, v, Groups())[support])
    return rho


def test_one_observation_and_equal_observations_are_no_trouble():
    for n in (1, 4):
        X = torch.rand(n, 2)
        given = Model(torch.ones(n), stationary(X, "rbf", PRIOR, PRIOR), NOISE)
        found = maximize(given, given.starts[0], torch.zeros(n), torch.tensor([], dtype=torch.long), torch.ones(n))
        assert found.theta.isfinite().all()
