import numpy as np
import pytest
import torch
from gpytorch.priors import LogNormalPrior

from robustbo.numerics.gp import covariance, kernels, kernels_paired
from robustbo.numerics.gp.covariance import stationary
from robustbo.numerics.gp.parameters import LogNormal, LogNormals
from tests.numerics import dense

PRIOR = LogNormal(0.5, 1.5)


def test_the_log_normal_density_is_gpytorchs_and_its_slope_the_derivative():
    log_x = torch.tensor([-3.0, 0.0, 2.0], requires_grad=True)
    torch.testing.assert_close(PRIOR.log_density(log_x), LogNormalPrior(*PRIOR).log_prob(log_x.exp()))
    PRIOR.log_density(log_x).sum().backward()
    torch.testing.assert_close(PRIOR.slope(log_x), log_x.grad)


def test_several_priors_are_their_sum():
    priors, log_x = [PRIOR, LogNormal(-4.0, 1.0)], [0.3, -2.0]
    found = LogNormals(priors)
    wanted = [(prior.log_density(x), prior.slope(x)) for prior, x in zip(priors, log_x, strict=True)]
    assert found.log_density(np.array(log_x)) == pytest.approx(sum(density for density, _ in wanted))
    assert found.slopes(np.array(log_x)) == pytest.approx([slope for _, slope in wanted])


def test_the_mode_is_the_most_probable_value():
    x = torch.tensor(PRIOR.log_mode).exp() + torch.tensor([-1e-4, 0.0, 1e-4])
    assert PRIOR.log_density(x.log()).argmax() == 1


@pytest.mark.parametrize("way", ["pairs", "products"])
@pytest.mark.parametrize("s2f_prior", [None, PRIOR])
@pytest.mark.parametrize("kernel", ["matern52", "rbf"])
def test_pullback_and_tangents_are_the_derivatives(kernel, s2f_prior, way, monkeypatch):
    monkeypatch.setattr(covariance, "MANY", 5 if way == "products" else 6)
    X = torch.rand(6, 2, generator=torch.Generator().manual_seed(0))
    function = stationary(X, kernel, PRIOR, s2f_prior)
    G, w, theta, step = torch.randn(6, 6), torch.randn(6), function.starts[0] + 0.3, 1e-6
    found = function.at(theta)
    for i, unit in enumerate(torch.eye(len(theta))):
        up, down = function.at(theta + step * unit), function.at(theta - step * unit)
        slope = ((up.K - down.K) * G).sum().item() + up.log_prior - down.log_prior
        assert found.pullback(G)[i] == pytest.approx(slope / (2 * step), rel=1e-5, abs=1e-7)
        torch.testing.assert_close(found.tangents(w)[i], (up.K - down.K) @ w / (2 * step), rtol=1e-5, atol=1e-7)
    assert len(function.bounds) == len(theta) == len(function.prior_precision) == 2 + (s2f_prior is not None)


def test_the_precision_is_the_curvature_of_the_prior():
    X, step = torch.rand(3, 2), 1e-4
    function = stationary(X, "rbf", PRIOR, LogNormal(2.0, 2.0))
    for unit, precision in zip(torch.eye(3), function.prior_precision, strict=True):
        up, here, down = (function.at(function.starts[0] + k * step * unit).log_prior for k in (1, 0, -1))
        assert precision == pytest.approx((2 * here - up - down) / step**2, rel=1e-5)


@pytest.mark.parametrize("kernel", ["matern52", "rbf"])
def test_a_far_point_moves_no_other(kernel):
    X = torch.rand(6, 2, generator=torch.Generator().manual_seed(0))
    X[3, 0] = 1e14
    others = [0, 1, 2, 4, 5]
    far, near = (stationary(given, kernel, PRIOR, None) for given in (X, X[others]))
    theta = far.starts[0]
    torch.testing.assert_close(far.at(theta).K[others][:, others], near.at(theta).K, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("l", [1e-150, 1e150])
@pytest.mark.parametrize("kernel", ["matern52", "rbf"])
def test_extreme_length_scales_are_finite(kernel, l):
    given, lengths = kernels_paired.point_pairs(torch.rand(5, 3)), torch.full((3,), l)
    with np.errstate(all="ignore"):
        found = kernels_paired.kernel_matrix(kernel, given, lengths, torch.tensor(1.0))
        assert found.K.isfinite().all()
        assert kernels_paired.pullback(torch.ones(5, 5), given, lengths, found).log_l.isfinite().all()
        assert kernels_paired.tangents(torch.ones(5), given, lengths, found).isfinite().all()


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("kernel", ["matern52", "rbf"])
def test_each_pair_once_is_the_matrix_as_a_whole(kernel, n):
    """Far from the origin too, with points that coincide, and for a gradient that is not symmetric."""
    X = torch.rand(n, 3, generator=torch.Generator().manual_seed(n)) + 1e3
    X[n // 2] = X[0]
    G, w, l, s2f = torch.randn(n, n), torch.randn(n), torch.tensor([0.2, 0.5, 2.0]), torch.tensor(1.7)
    D, given = kernels.squared_differences(X, X), kernels_paired.point_pairs(X)
    whole, found = kernels.KERNELS[kernel](D, l, s2f), kernels_paired.kernel_matrix(kernel, given, l, s2f)
    torch.testing.assert_close(found.K, whole.K)
    wanted = dense.pullback(G, D, l, whole)
    torch.testing.assert_close(kernels_paired.pullback(G, given, l, found), wanted)
    torch.testing.assert_close(
        kernels_paired.tangents(w, given, l, found), dense.tangents(w, D, l, whole), atol=1e-9, rtol=1e-9
    )
