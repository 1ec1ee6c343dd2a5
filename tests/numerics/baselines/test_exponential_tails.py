import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.integrate import quad

from robustbo.numerics.baselines.exponential_tails import (
    huber,
    laplace,
    log_density,
    log_normalizer,
    log_predictive,
    log_tail,
    variance,
)

NOISES = {
    "half a scale": huber(torch.tensor(0.3, dtype=torch.float64), 0.5),
    "three scales": huber(torch.tensor(2.0, dtype=torch.float64), 3.0),
    "nearly none": huber(torch.tensor(1.0, dtype=torch.float64), 0.05),
    "no middle": laplace(torch.tensor(0.3, dtype=torch.float64)),
}


def told(value):
    return torch.tensor(value, dtype=torch.float64)


def integral(f, noise, low=-math.inf):
    """Of a function of the error times its density, piece by piece."""
    edge, reach = float(noise.edge), float(noise.edge) + 60 / float(noise.rate)
    ends = [-reach, -edge, 0.0, edge, reach]
    pieces = [(max(a, low), b) for a, b in pairwise(ends) if b > max(a, low)]
    return sum(
        quad(lambda r: f(r) * float(log_density(told(r), noise).exp()), a, b, epsabs=1e-13)[0] for a, b in pieces
    )


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
class TestEach:
    def test_the_density_is_normalized(self, noise):
        assert integral(lambda r: 1.0, noise) == pytest.approx(1.0, rel=1e-9)

    def test_the_variance_is_that_of_the_density(self, noise):
        assert float(variance(noise)) == pytest.approx(integral(lambda r: r * r, noise), rel=1e-8)

    @pytest.mark.parametrize("r", [0.0, -0.01, 0.2, 1.0, -7.0])
    def test_a_tail_is_the_integral_beyond(self, noise, r):
        assert float(log_tail(told(r), noise).exp()) == pytest.approx(integral(lambda r: 1.0, noise, abs(r)), rel=1e-7)

    @pytest.mark.few(16)
    @pytest.mark.parametrize("v", [1e-6, 0.04, 1.0, 50.0])
    @pytest.mark.parametrize("e", [0.0, 0.3, -2.0, 6.0])
    def test_a_measurement_is_the_integral_over_the_latent_value(self, noise, e, v):
        z = np.linspace(-12, 12, 400_001)
        density = stats.norm.pdf(z) * log_density(told(e) - torch.from_numpy(z) * math.sqrt(v), noise).exp().numpy()
        found = log_predictive(told(e + 1), told(1.0), told(v), noise)
        assert float(found) == pytest.approx(math.log(np.trapezoid(density, z)), abs=1e-6)

    def test_far_out_it_falls_as_the_noise_does(self, noise):
        found = log_predictive(told([1e3, 1e3 + 1]), told(0.0), told(0.1), noise)
        assert found.isfinite().all()
        assert float(found[0] - found[1]) == pytest.approx(float(noise.rate), rel=1e-9)

    def test_a_narrow_latent_value_leaves_the_noise(self, noise):
        r = told([-3.0, 0.1, 0.9])
        torch.testing.assert_close(log_predictive(r, told(0.0), told(1e-16), noise), log_density(r, noise))

    def test_slopes_agree_with_differences_on_both_sides_of_the_edge(self, noise):
        r = told([-4.0, 0.01, 0.3, 2.0]).requires_grad_()
        assert torch.autograd.gradcheck(lambda r: log_density(r, noise), r)

    def test_a_batch_is_each_on_its_own(self, noise):
        y, mu, v = torch.rand(3, 2, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        whole = log_predictive(y, mu, v, noise)
        torch.testing.assert_close(whole[1, 3], log_predictive(y[1, 3], mu[1, 3], v[1, 3], noise))


def test_hubers_with_a_threshold_far_out_is_normal():
    r = told([-2.0, 0.0, 3.0])
    torch.testing.assert_close(
        log_density(r, huber(told(0.5), 40.0)), torch.distributions.Normal(0, 0.5**0.5).log_prob(r)
    )
    found = log_predictive(r, told(0.0), told(2.0), huber(told(0.5), 40.0))
    torch.testing.assert_close(found, torch.distributions.Normal(0, 2.5**0.5).log_prob(r))


def test_hubers_nearer_and_nearer_is_laplaces():
    r, b, k = told([-2.0, 0.01, 3.0]), 0.7, 1e-6
    torch.testing.assert_close(log_density(r, huber(told((k * b) ** 2), k)), log_density(r, laplace(told(b * b))))
    assert stats.laplace.logpdf(r.numpy(), scale=b) == pytest.approx(log_density(r, laplace(told(b * b))).numpy())


def test_half_a_scale_goes_with_the_sources_contamination():
    """Algikar and Mili write (1 - 0.45) / sqrt(2 pi) with a threshold of 0.5; it is 0.442 to two digits more."""
    normalizer = log_normalizer(huber(told(1.0), 0.5)).exp() / math.sqrt(2 * math.pi)
    assert 1 - 1 / float(normalizer) == pytest.approx(0.45, abs=0.01)


def test_slopes_in_the_scale_agree_with_differences():
    r = told([-4.0, 0.01, 0.9])
    assert torch.autograd.gradcheck(lambda s2: log_density(r, huber(s2, 0.5)), told(0.4).requires_grad_())
