import json
import math
from pathlib import Path

import pytest
import scipy.stats
import torch
from botorch.acquisition.analytic import _log_ei_helper
from torch.autograd import gradcheck, gradgradcheck

from robustbo.numerics.improvement.student_t import improvement, log_improvement
from robustbo.numerics.student_t.distribution import DEPTHS, cdf, log_cdf, log_pdf

REFERENCE = json.loads((Path(__file__).parents[2] / "fixtures" / "student_t_ei_reference.json").read_text())
TABLES = {table["df"]: table["rows"] for table in REFERENCE["student_t"]}
FUNCTIONS = (log_pdf, log_cdf, cdf, log_improvement, improvement)
SPREAD = torch.tensor([-40.0, -7.3, -4.1, -2.4, -1.7, -1.2, -0.3, 0.0, 0.4, 1.1, 1.8, 3.5, 12.0], dtype=torch.float64)


def number(x):
    return torch.tensor(float(x))


def table(df):
    columns = torch.tensor([[float(entry) for entry in row] for row in TABLES[df]]).T
    return dict(zip(REFERENCE["columns"], columns, strict=True))


def value_and_slope(function, z, nu):
    z = z.clone().requires_grad_()
    value = function(z, nu)
    (slope,) = torch.autograd.grad(value.sum(), z)
    return value.detach(), slope


def off(found, wanted):
    """The error relative to max(1, |wanted|)."""
    return ((found - wanted).abs() / wanted.abs().clamp_min(1.0)).max().item()


@pytest.mark.parametrize("df", TABLES)
class TestTheReferenceTable:
    """By mpmath with 50 to 200 digits; z from -1000 to 10."""

    def test_log_improvement(self, df):
        wanted = table(df)
        value, slope = value_and_slope(log_improvement, wanted["z"], number(df))
        assert off(value, wanted["log_h"]) < 1e-13
        assert ((slope / wanted["dlog_h_dz"] - 1).abs() < 1e-12).all()

    def test_improvement(self, df):
        wanted = table(df)
        value, slope = value_and_slope(improvement, wanted["z"], number(df))
        is_there = wanted["h"] > 1e-300
        assert ((value / wanted["h"] - 1).abs() < 1e-12)[is_there].all()
        assert ((slope / wanted["log_cdf"].exp() - 1).abs() < 1e-12)[is_there & (wanted["log_cdf"] > -500)].all()

    def test_distribution(self, df):
        wanted = table(df)
        assert off(log_pdf(wanted["z"], number(df)), wanted["log_pdf"]) < 1e-13
        assert off(log_cdf(wanted["z"], number(df)), wanted["log_cdf"]) < 1e-13
        torch.testing.assert_close(cdf(wanted["z"], number(df)), wanted["log_cdf"].exp(), rtol=1e-11, atol=0)


@pytest.mark.few(6)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("nu", [1.5, 4.0, 30.0, 1e5])
def test_first_and_second_derivatives(function, nu):
    z = SPREAD.clone().requires_grad_()
    assert gradcheck(lambda z: function(z, number(nu)), z, rtol=1e-6)
    assert gradgradcheck(lambda z: function(z, number(nu)), z, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_third_derivative_is_refused(function):
    z = number(-2.0).requires_grad_()
    (first,) = torch.autograd.grad(function(z, number(4.0)), z, create_graph=True)
    (second,) = torch.autograd.grad(first, z, create_graph=True)
    with pytest.raises(NotImplementedError, match="two derivatives"):
        second.backward()


def test_the_closed_form_where_it_holds():
    z, nu = torch.linspace(-3, 6, 40), number(4.0)
    t = scipy.stats.t(4.0)
    closed = z * torch.from_numpy(t.cdf(z)) + (nu + z.square()) / (nu - 1) * torch.from_numpy(t.pdf(z))
    torch.testing.assert_close(improvement(z, nu), closed, rtol=1e-11, atol=0)
    torch.testing.assert_close(cdf(z, nu), torch.from_numpy(t.cdf(z)), rtol=1e-12, atol=0)


@pytest.mark.parametrize("nu", [1e7, 1e10])
def test_many_degrees_of_freedom_give_the_gaussian_logarithm(nu):
    z = torch.tensor([-20.0, -5.0, -1.2, 0.0, 0.5, 3.0])
    value, slope = value_and_slope(log_improvement, z, number(nu))
    gaussian, its_slope = value_and_slope(lambda z, _: _log_ei_helper(z), z, None)
    torch.testing.assert_close(value, gaussian, rtol=0, atol=2e5 / nu)
    torch.testing.assert_close(slope, its_slope, rtol=0, atol=2e5 / nu)


def test_the_difference_to_the_gaussian_shrinks_as_one_over_nu():
    z = number(-3.0)
    one, two = (abs(log_improvement(z, number(nu)) - _log_ei_helper(z)).item() for nu in (1e4, 2e4))
    assert one / two == pytest.approx(2.0, rel=1e-2)


def test_one_degree_of_freedom_is_cauchys():
    z = torch.linspace(-50, 50, 41)
    torch.testing.assert_close(cdf(z, number(1.0)), 0.5 + z.atan() / math.pi, rtol=1e-11, atol=0)


@pytest.mark.parametrize("nu", [1.01, 3.0, 105.0, 1e7])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_value_and_slope_are_finite_however_far(function, nu):
    far = torch.tensor([1e300, 1e150, 1e20, 1e6, 1e-6, 1e-300])
    value, slope = value_and_slope(function, torch.cat([-far, torch.zeros(1), far]), number(nu))
    assert value.isfinite().all()
    assert slope.isfinite().all()


def test_infinity_has_its_limits():
    z, inf = torch.tensor([-math.inf, math.inf]), math.inf
    wanted = {log_cdf: [-inf, 0.0], cdf: [0.0, 1.0], improvement: [0.0, inf], log_improvement: [-inf, inf]}
    for function, limits in wanted.items():
        for nu in (1.5, 4.0, 1e6):
            assert function(z, number(nu)).tolist() == limits


@pytest.mark.parametrize("nu", [1.5, 4.0, 105.0, 1e7])
def test_the_tail_is_a_power(nu):
    """log h -> const - (nu - 1) log|z|, its slope (nu - 1) / |z|; down to -1e150."""
    z = torch.tensor([-1e9, -1e80, -1e150]) * math.sqrt(nu)
    value, slope = value_and_slope(log_improvement, z, number(nu))
    torch.testing.assert_close(slope * z.abs(), torch.full_like(z, nu - 1), rtol=1e-9, atol=0)
    torch.testing.assert_close(value.diff(), -(nu - 1) * z.abs().log().diff(), rtol=1e-9, atol=0)


@pytest.mark.parametrize("nu", [1.5, 4.0, 105.0, 1e7])
@pytest.mark.parametrize("low", [low for low, _ in DEPTHS])
def test_the_formulas_agree_where_one_gives_way_to_the_next(nu, low):
    for sign in (-1, 1):
        z = torch.tensor([math.nextafter(sign * low, 0.0), sign * low])
        for function in FUNCTIONS:
            value, slope = value_and_slope(function, z, number(nu))
            torch.testing.assert_close(value[0], value[1], rtol=1e-12, atol=1e-12)
            torch.testing.assert_close(slope[0], slope[1], rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("function", FUNCTIONS)
class TestShapes:
    def test_a_batch_is_a_loop(self, function):
        z, nu = SPREAD.repeat(2, 1).T, torch.tensor([3.0, 40.0])
        found = function(z, nu)
        assert found.shape == (13, 2)
        looped = torch.stack([torch.stack([function(a, b) for b in nu]) for a in SPREAD])
        torch.testing.assert_close(found, looped, rtol=1e-15, atol=0)

    def test_a_value_does_not_depend_on_its_neighbours(self, function):
        alone = torch.stack([function(z, number(7.0)) for z in SPREAD])
        torch.testing.assert_close(function(SPREAD, number(7.0)), alone)

    def test_nu_may_have_more_dimensions(self, function):
        assert function(number(-2.0), torch.tensor([3.0, 4.0])).shape == (2,)

    def test_nothing_gives_nothing_and_nan_gives_nan(self, function):
        assert function(torch.zeros(0, 3), number(4.0)).shape == (0, 3)
        found = function(torch.tensor([math.nan, -2.0]), number(4.0))
        assert found.isnan().tolist() == [True, False]


@pytest.mark.parametrize(
    ("function", "nu"), [(log_improvement, 1.0), (log_cdf, 0.5), (log_pdf, 0.0), (cdf, math.nan), (log_cdf, math.inf)]
)
def test_too_few_degrees_of_freedom_are_refused(function, nu):
    with pytest.raises(ValueError, match=r"nu must be (more than|at least) [01] and finite, got"):
        function(number(-1.0), number(nu))


def test_a_gradient_in_nu_is_refused():
    with pytest.raises(ValueError, match="nu must not require a gradient"):
        log_improvement(number(-1.0), number(4.0).requires_grad_())
