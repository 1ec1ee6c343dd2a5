import math

import pytest
import torch

from robustbo.numerics.student_t import likelihood

R = torch.tensor([-3.0, -0.2, 0.0, 0.1, 1.0, 50.0], dtype=torch.float64)
PARAMETERS = [(0.3, 4.0), (2.0, 1.0), (1e-3, 30.0), (0.5, 150.0), (0.5, 250.0)]
FUNCTIONS = [likelihood.log_density, likelihood.gradient, likelihood.curvature]


def given(s2, nu):
    return torch.tensor(s2), torch.tensor(nu)


def curvature_slope(r, s2, nu):
    return likelihood.curvature_slope(likelihood.shares(r, s2, nu), nu)


def by_log_s2(r, s2, nu):
    return likelihood.by_log_s2(likelihood.shares(r, s2, nu), nu)


@pytest.mark.parametrize(("s2", "nu"), PARAMETERS)
def test_it_is_the_student_t_distribution(s2, nu):
    expected = torch.distributions.StudentT(nu, 0.0, math.sqrt(s2)).log_prob(R)
    torch.testing.assert_close(likelihood.log_density(R, *given(s2, nu)), expected)


@pytest.mark.parametrize(("s2", "nu"), PARAMETERS)
def test_each_derivative_is_that_of_the_one_before(s2, nu):
    chain = [*FUNCTIONS, curvature_slope]
    for lower, higher, sign in zip(
        FUNCTIONS, chain[1:], (-1, 1, -1), strict=True
    ):  # f falls as r rises, and W has a minus
        r = R.clone().requires_grad_()
        (by_r,) = torch.autograd.grad(lower(r, *given(s2, nu)).sum(), r)
        torch.testing.assert_close(higher(R, *given(s2, nu)), sign * by_r)


@pytest.mark.parametrize(("s2", "nu"), PARAMETERS)
@pytest.mark.parametrize("which", [0, 1])
def test_the_slopes_are_the_derivatives_of_all_three(s2, nu, which):
    logs = [torch.tensor(x).log().expand_as(R).clone().requires_grad_() for x in (s2, nu)]
    slopes = (by_log_s2, likelihood.by_log_nu)[which](R, *given(s2, nu))
    for function, slope in zip(FUNCTIONS, slopes, strict=True):
        (expected,) = torch.autograd.grad(function(R, *(x.exp() for x in logs)).sum(), logs[which])
        torch.testing.assert_close(slope, expected, rtol=1e-6, atol=1e-8)


def test_gradcheck():
    s2, nu = (x.requires_grad_() for x in given(0.3, 4.0))
    for function in FUNCTIONS:
        assert torch.autograd.gradcheck(function, (R.clone().requires_grad_(), s2, nu))


@pytest.mark.parametrize(("s2", "nu"), PARAMETERS)
def test_the_terms_are_the_same_at_once(s2, nu):
    found, at = likelihood.terms(R.numpy(), s2, nu), (R, *given(s2, nu))
    kernel = likelihood.log_density(*at) - likelihood.log_density(torch.zeros_like(R), *given(s2, nu))
    assert found.log_kernel == pytest.approx(kernel.sum().item())
    torch.testing.assert_close(torch.from_numpy(found.g), likelihood.gradient(*at))
    torch.testing.assert_close(torch.from_numpy(found.W), likelihood.curvature(*at))
    torch.testing.assert_close(torch.from_numpy(found.V), likelihood.em_variance(*at))


@pytest.mark.parametrize(("s2", "nu"), PARAMETERS)
def test_arrays_are_as_good_as_tensors(s2, nu):
    for function in (likelihood.gradient, likelihood.curvature, curvature_slope, likelihood.em_variance):
        assert function(R.numpy(), s2, nu).tolist() == pytest.approx(function(R, *given(s2, nu)).tolist())
    ours, theirs = by_log_s2(R.numpy(), s2, nu), by_log_s2(R, *given(s2, nu))
    for mine, its in zip(ours, theirs, strict=True):
        assert mine.tolist() == pytest.approx(its.tolist())
    assert likelihood.log_normalizer_of(nu) == pytest.approx(likelihood.log_normalizer(torch.tensor(nu)).item())


def test_many_degrees_of_freedom_give_a_normal_likelihood():
    s2, nu = given(0.3, 1e9)
    near = R[:-1]
    normal = torch.distributions.Normal(0.0, math.sqrt(0.3)).log_prob(near)
    torch.testing.assert_close(likelihood.log_density(near, s2, nu), normal, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(likelihood.curvature(near, s2, nu), torch.full_like(near, 1 / 0.3), rtol=1e-6, atol=0)


@pytest.mark.parametrize("nu", [1e5, 1e7])
def test_the_normalizer_loses_no_digits(nu):
    """Of a normal density it differs by -1 / (4 nu), which a difference of log gamma functions does not resolve."""
    found = likelihood.log_density(torch.zeros(()), *given(1.0, nu)) + 0.5 * math.log(2 * math.pi)
    assert found.item() == pytest.approx(-1 / (4 * nu), rel=1e-6)


def test_the_curvature_turns_negative_beyond_root_nu_scales():
    s2, nu = given(0.25, 4.0)
    W = likelihood.curvature(torch.tensor([0.99, 1.0, 1.01]), s2, nu)
    assert W[0] > 0 > W[2]
    assert W[1].item() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("r", [1e100, -1e300, 0.0])
def test_any_residual_has_finite_values_and_slopes(r):
    for function in (*FUNCTIONS, curvature_slope):
        assert function(torch.tensor(r), *given(1e-4, 4.0)).isfinite()
    for slopes in (by_log_s2, likelihood.by_log_nu):
        assert all(slope.isfinite() for slope in slopes(torch.tensor(r), *given(1e-4, 4.0)))


def test_a_batch_is_a_loop():
    s2, nu = torch.tensor([[0.1], [2.0]]), torch.tensor([[3.0], [500.0]])
    for function in FUNCTIONS:
        looped = torch.stack([function(R, s2[i], nu[i]) for i in range(2)])
        torch.testing.assert_close(function(R.expand(2, -1), s2, nu), looped)
