import math

import mpmath
import numpy as np
import pytest
import scipy.stats
import torch
from botorch.acquisition.analytic import _log_ei_helper

from robustbo.numerics.improvement.normal import CAP, FAR, interval_probability, log_ei, scaled_parts, tail_slope

EVERYWHERE = np.array([1e150, 1e3, CAP + 1e-9, CAP, 5.0, 0.5, 0.0, -1e-300, -0.5, -1.0, -5.0, -12.0, FAR])
TAIL = np.array([np.nextafter(FAR, -100), -21.0, -37.0, -50.0, -1e3, -1e4, -1e6, -1e15])


def exact(u):
    """phi, Phi and h, times sqrt(2 pi) exp(u^2 / 2) where u < 0, from more digits than cancel."""
    with mpmath.workdps(50 + (int(2 * np.log10(-u)) if u < -1 else 0)):
        u = mpmath.mpf(float(u))
        shift = mpmath.sqrt(2 * mpmath.pi) * mpmath.exp(min(u, 0) ** 2 / 2)
        phi, Phi = mpmath.npdf(u) * shift, mpmath.erfc(-u / mpmath.sqrt(2)) / 2 * shift
        return float(phi), float(Phi), float(phi + u * Phi)


@pytest.mark.parametrize("u", [*EVERYWHERE, *TAIL])
def test_shifted_to_itself_each_part_is_right(u):
    here = np.array([u])
    phi, Phi, h = exact(u)
    found = scaled_parts(here, np.minimum(here, 0.0))
    assert found.Phi[0] == pytest.approx(Phi, rel=2e-13, abs=0)
    assert found.h[0] == pytest.approx(h, rel=2e-13, abs=0)
    assert u > CAP or found.phi[0] == pytest.approx(phi, rel=2e-14, abs=0)


@pytest.mark.parametrize("u", TAIL)
def test_the_slope_in_the_tail_has_all_digits(u):
    _, Phi, h = exact(u)
    assert tail_slope(np.array([-u]))[0] == pytest.approx(Phi / h, rel=1e-14, abs=0)


def test_a_shift_is_a_factor():
    u = np.linspace(-30.0, -25.0, 11)
    one, other = scaled_parts(u, np.array(-25.0)), scaled_parts(u, np.array(-26.0))
    for part, same in zip(one, other, strict=True):
        np.testing.assert_allclose(part * np.exp(0.5 * (26.0**2 - 25.0**2)), same, rtol=1e-12)


def test_the_branches_meet():
    for seam in (CAP, FAR):
        below, above = scaled_parts(np.nextafter([seam, seam], [-100.0, 100.0]), np.array(min(seam, 0.0)))[1:]
        np.testing.assert_allclose(below[0], below[1], rtol=1e-12)
        np.testing.assert_allclose(above[0], above[1], rtol=1e-12)


def test_at_the_ends_all_is_finite():
    u = np.array([1e150, 0.0, -1e150])
    for c in (np.zeros(3), np.minimum(u, 0.0)):
        assert all(np.isfinite(part).all() for part in scaled_parts(u, c))
    assert scaled_parts(u[2:], u[2:]).h[0] > 0


def test_what_is_no_number_leaves_the_others_alone():
    u = np.array([-1e8, np.nan, -1e12])
    found = scaled_parts(u, u)
    assert (found.Phi / found.h)[[0, 2]] == pytest.approx([1e8, 1e12], rel=1e-14)


def test_an_array_is_a_loop():
    u = np.concatenate([EVERYWHERE, TAIL]).reshape(3, 7)
    c = np.minimum(u.max(-1, keepdims=True), 0.0)
    alone = [[scaled_parts(u[i, j : j + 1], c[i]) for j in range(7)] for i in range(3)]
    for part, each in enumerate(scaled_parts(u, c)):
        np.testing.assert_allclose(each, [[one[part][0] for one in row] for row in alone], rtol=1e-14)


def test_log_ei_is_botorchs_and_its_asymptote_meets_it():
    u = torch.tensor([30.0, 5.0, 0.0, -0.999, -1.001, -7.0, -300.0, -9999.0, -10001.0, -1e9])
    torch.testing.assert_close(log_ei(u), _log_ei_helper(u), rtol=1e-12, atol=0)


def test_log_ei_has_gradients_everywhere():
    u = torch.tensor([3.0, 0.0, -2.0, -50.0, -2e4, -1e150], requires_grad=True)
    log_ei(u).sum().backward()
    assert u.grad.isfinite().all()
    assert torch.autograd.gradcheck(log_ei, (torch.tensor([3.0, 0.0, -2.0, -50.0], requires_grad=True),))


def test_log_ei_refuses_second_derivatives_and_takes_infinities():
    u = torch.tensor([0.5, -3.0], requires_grad=True)
    (slope,) = torch.autograd.grad((u * log_ei(u)).sum(), u, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        slope.sum().backward()
    assert log_ei(torch.tensor([-math.inf, math.inf])).tolist() == pytest.approx([-5e299, math.log(1e150)])


def test_log_ei_keeps_shape_and_type():
    assert log_ei(torch.tensor(0.5, dtype=torch.float32)).dtype == torch.float32
    assert log_ei(torch.tensor(0.5)).shape == ()
    assert log_ei(torch.zeros(2, 0, 3)).shape == (2, 0, 3)


@pytest.mark.parametrize(("low", "high"), [(-math.inf, 0.5), (0.3, math.inf), (-0.2, 0.9), (5.0, 5.5)])
def test_the_chance_of_an_interval_is_the_difference_of_distribution_functions(low, high):
    mean, sd = np.array([-1.0, 0.2, 3.0, 0.5]), np.array([1.0, 0.5, 2.0, 1.0])
    found, step = interval_probability(low, high, mean, sd), 1e-6
    expected = scipy.stats.norm.cdf(high, mean, sd) - scipy.stats.norm.cdf(low, mean, sd)
    np.testing.assert_allclose(np.exp(found.log_p), expected, rtol=1e-6, atol=1e-12)
    by_mean = (
        interval_probability(low, high, mean + step, sd).log_p - interval_probability(low, high, mean - step, sd).log_p
    ) / (2 * step)
    by_sd = (
        interval_probability(low, high, mean, sd + step).log_p - interval_probability(low, high, mean, sd - step).log_p
    ) / (2 * step)
    np.testing.assert_allclose(found.by_mean, by_mean, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found.by_sd, by_sd, rtol=1e-5, atol=1e-7)


def test_the_chance_of_an_interval_far_away_has_a_logarithm():
    mean, sd = np.array([0.0, 0.0]), np.array([1.0, 1e-3])
    for low, high in ((40.0, math.inf), (40.0, 41.0), (-math.inf, -40.0), (-41.0, -40.0)):
        found = interval_probability(low, high, mean, sd)
        np.testing.assert_allclose(found.log_p, -0.5 * (40 / sd) ** 2, rtol=0.01)
        assert all(np.isfinite(part).all() for part in found)
