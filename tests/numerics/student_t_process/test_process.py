import json
import math
from pathlib import Path

import pytest
import scipy.stats
import torch
from scipy.integrate import quad
from torch.autograd import gradcheck

from robustbo.numerics.gp import outlier_gain
from robustbo.numerics.gp.evidence import evidence
from robustbo.numerics.gp.kernels import KERNELS, squared_differences
from robustbo.numerics.improvement.student_t import log_improvement
from robustbo.numerics.student_t_process.process import (
    InverseGamma,
    gain,
    jeffreys,
    leave_one_out,
    marginal,
    radius,
    shah,
    slopes,
)

FOLDER = Path(__file__).parents[2] / "fixtures"
SHAH = ["01_matern_2d", "02_rbf_1d_outliers"]


def number(x):
    return torch.as_tensor(x, dtype=torch.float64)


class Case:
    """A reference case: see docs/equations.md."""

    def __init__(self, name):
        self.content = json.loads((FOLDER / f"student_t_process_{name}.json").read_text())
        self.X, self.y, self.X_test = (number(self.content[key]) for key in ("X", "y", "X_test"))
        self.noise = number(self.content.get("noise_variance", self.content.get("noise_ratio")))

    def K(self, X, Z):
        kernel = self.content["kernel"]
        l, s2f = number(kernel["lengthscales"]), number(kernel["variance"])
        return KERNELS[kernel["name"]](squared_differences(X, Z), l, s2f).K

    def given(self, m=None):
        Kn = self.K(self.X, self.X) + self.noise * torch.eye(len(self.y))
        found = evidence(Kn, self.y, m)
        k = self.K(self.X, self.X_test)
        return found, k, self.K(self.X_test, self.X_test) - k.mT @ found.P @ k


def close(found, wanted, tolerance=1e-10):
    torch.testing.assert_close(number(found), number(wanted), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", SHAH)
class TestTheReferences:
    def test_in_shahs_parameters(self, name):
        case = Case(name)
        given, k, C = case.given(number(0.0))
        found, wanted = marginal(given, case.y, shah(number(case.content["nu"]))), case.content["shah"]
        close(found.beta, case.content["quadratic_form"])
        close(found.L, wanted["log_marginal"])
        close(found.df, wanted["df"])
        close(k.mT @ given.al, wanted["mean"])
        close(found.stretch * C, wanted["covariance"])
        close(found.scale2 * C, wanted["scale_matrix"])

    def test_in_those_of_the_inverse_gamma(self, name):
        case = Case(name)
        given, _, C = case.given(number(0.0))
        for wanted in case.content["inverse_gamma"]:
            found = marginal(given, case.y, InverseGamma(number(wanted["a"]), number(wanted["b"])))
            close(found.L, wanted["log_marginal"])
            close(found.df, wanted["df"])
            close(found.scale2 * C, wanted["scale_matrix"])
            on_a, on_b = slopes(found)
            close(on_a, wanted["gradient"]["log_a"])
            close(on_b, wanted["gradient"]["log_b"])

    def test_the_gradient_of_the_kernels_parameters(self, name):
        """By G = (weight al al' - P) / 2, at the derivatives of the kernel matrix."""
        case = Case(name)
        given, _, _ = case.given(number(0.0))
        found, wanted = marginal(given, case.y, shah(number(case.content["nu"]))), case.content["shah"]["gradient"]
        G = 0.5 * (found.weight * torch.outer(given.al, given.al) - given.P)
        close((G * case.K(case.X, case.X)).sum(), wanted["log_variance"], 1e-9)
        close(case.noise * G.diagonal().sum(), wanted["log_noise_variance"], 1e-9)

    def test_expected_improvement(self, name):
        case = Case(name)
        given, k, C = case.given(number(0.0))
        found, wanted = (
            marginal(given, case.y, shah(number(case.content["nu"]))),
            case.content["expected_improvement_max"],
        )
        scale = (found.scale2 * C).diagonal().sqrt()
        z = (k.mT @ given.al - wanted["best_f"]) / scale
        close(log_improvement(z, found.df) + scale.log(), wanted["log_ei"])


def test_jeffreys_with_a_constant_mean():
    case = Case("04_jeffreys_constant_mean")
    given, k, C = case.given()
    location, scale, df = jeffreys(given, k, C.diagonal(), case.y)
    close(given.m, case.content["gls_mean"])
    close(location, case.content["mean"])
    close(scale, case.content["scale"])
    close(df, case.content["df"])
    wanted = case.content["expected_improvement_min"]
    close(log_improvement((wanted["best_f"] - location) / scale, df) + scale.log(), wanted["log_ei"])


def test_the_scale_is_integrated_out():
    """The evidence is the mean of the Gaussian ones over the scale's prior, by quadrature."""
    case = Case(SHAH[0])
    given, _, _ = case.given(number(0.0))
    n, beta, prior = len(case.y), (given.al @ case.y).item(), scipy.stats.invgamma(1.7, scale=0.8)

    def integrand(log_s2s):
        gaussian = given.L.item() - 0.5 * (n * log_s2s + beta * (math.exp(-log_s2s) - 1))
        return math.exp(gaussian + 10) * prior.pdf(math.exp(log_s2s)) * math.exp(log_s2s)

    found = marginal(given, case.y, InverseGamma(number(1.7), number(0.8)))
    assert found.L.item() == pytest.approx(math.log(quad(integrand, -12, 12, limit=200)[0]) - 10, abs=1e-8)


def test_the_gradient_in_the_covariance_agrees_with_differences():
    case, nu = Case(SHAH[0]), number(5.0)
    Kn = case.K(case.X, case.X) + case.noise * torch.eye(len(case.y))

    given = evidence(Kn, case.y)
    found = marginal(given, case.y, shah(nu))
    wanted = 0.5 * (found.weight * torch.outer(given.al, given.al) - given.P)
    for generator in (torch.Generator().manual_seed(seed) for seed in range(3)):
        way = torch.randn(Kn.shape, generator=generator)
        way, step = way + way.mT, 1e-6
        up, down = (marginal(evidence(Kn + h * way, case.y), case.y, shah(nu)).L for h in (step, -step))
        close((wanted * way).sum(), (up - down) / (2 * step), 1e-5)


def test_the_gradient_in_the_covariances_of_a_batch_is_autograds():
    case, nu = Case(SHAH[0]), number(5.0)
    Kn = (case.K(case.X, case.X) + case.noise * torch.eye(len(case.y))).unsqueeze(0)

    def L(Kn):
        return marginal(evidence(0.5 * (Kn + Kn.mT), case.y), case.y, shah(nu)).L

    assert gradcheck(L, Kn.clone().requires_grad_(), atol=1e-5)
    (found,) = torch.autograd.grad(L(leaf := Kn.clone().requires_grad_()).sum(), leaf)
    given = evidence(Kn[0], case.y)
    weight = marginal(given, case.y, shah(nu)).weight
    close(found[0], 0.5 * (weight * torch.outer(given.al, given.al) - given.P), 1e-8)


def test_many_degrees_of_freedom_give_the_gaussian_evidence():
    case = Case(SHAH[0])
    given, _, _ = case.given()
    found = marginal(given, case.y, shah(number(1e8)))
    close(found.L, given.L, 1e-5)
    close(found.stretch, 1.0, 1e-6)


def test_a_batch_is_a_loop():
    case, priors = Case(SHAH[0]), shah(number([3.0, 5.0]))
    Kn = torch.stack([case.K(case.X, case.X) + noise * torch.eye(len(case.y)) for noise in (0.1, 1.0)])
    y = torch.stack([case.y, case.y.flip(0)])
    given = evidence(Kn, y)
    found, left_out = marginal(given, y, priors), leave_one_out(given, y, priors)
    for i in range(2):
        one = evidence(Kn[i], y[i])
        prior = InverseGamma(priors.a[i], priors.b[i])
        close(found.L[i], marginal(one, y[i], prior).L)
        close(left_out.scale2[i], leave_one_out(one, y[i], prior).scale2)


@pytest.mark.parametrize("size", [1e4, 1e8, 1e12, 1e100])
def test_the_evidence_of_gross_values_keeps_its_digits(size):
    case, nu = Case(SHAH[0]), 5.0
    Kn = case.K(case.X, case.X) + case.noise * torch.eye(len(case.y))
    y = size * case.y
    found = marginal(evidence(Kn, y, number(0.0)), y, shah(number(nu)))
    if size < 1e13:
        wanted = scipy.stats.multivariate_t(shape=Kn.numpy() * (nu - 2) / nu, df=nu).logpdf(y.numpy())
        assert found.L.item() == pytest.approx(wanted, abs=1e-9)
    assert found.L.isfinite()


@pytest.mark.parametrize("gross", [0.0, 1e3, 1e8])
def test_leave_one_out_is_leaving_out(gross):
    case = Case(SHAH[0])
    y, m, prior = case.y.clone(), number(0.2), shah(number(5.0))
    y[3] += gross
    Kn = case.K(case.X, case.X) + case.noise * torch.eye(len(y))
    e, scale2, df = leave_one_out(evidence(Kn, y, m), y, prior)
    for i in range(len(y)):
        rest = torch.arange(len(y)) != i
        given = evidence(Kn[rest][:, rest], y[rest], m)
        found, k = marginal(given, y[rest], prior), Kn[rest, i]
        # beside a gross value the errors of the others are as large, and so is their rounding
        torch.testing.assert_close(e[i], y[i] - m - k @ given.al, rtol=1e-9, atol=1e-12 * gross + 1e-10)
        torch.testing.assert_close(scale2[i], found.scale2 * (Kn[i, i] - k @ given.P @ k), rtol=1e-5, atol=1e-10)
        close(df, found.df)


def test_the_gain_is_that_of_the_best_scale():
    e, scale2, df = number([0.5, 2.0, 30.0]), number([1.0, 0.5, 1.0]), 7.0

    def log_density(scale2):
        return torch.from_numpy(scipy.stats.t(df).logpdf(e / scale2.sqrt())) - 0.5 * scale2.log()

    candidates = scale2 * torch.logspace(0, 6, 20001).unsqueeze(-1)
    close(gain(e, scale2, number(df)), log_density(candidates).amax(0) - log_density(scale2), 1e-5)


def test_with_many_degrees_of_freedom_it_is_the_normal_gain():
    e, v = number([0.5, 2.0, 10.0]), number([1.0, 0.5, 2.0])
    close(gain(e, v, number(1e9)), outlier_gain.gain(e, v), 1e-6)


@pytest.mark.parametrize("df", [2.5, 6.0, 105.0])
def test_the_radius_has_the_quantiles_of_a_chi_square(df):
    normal = torch.linspace(-6, 6, 25)
    chi2 = scipy.stats.chi2(df)
    wanted = [chi2.ppf(scipy.stats.norm.cdf(g)) if g < 0 else chi2.isf(scipy.stats.norm.sf(g)) for g in normal.tolist()]
    close(radius(normal, number(df)), (df / number(wanted)).sqrt(), 1e-9)
    assert radius(number([-12.0, 12.0]), number(df)).isfinite().all()
