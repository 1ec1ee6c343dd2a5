import math

import pytest
import torch

from robustbo.numerics.gp.kernels import squared_differences
from robustbo.numerics.student_t.laplace import Noise, approximate
from robustbo.numerics.student_t.likelihood import curvature
from robustbo.numerics.student_t.map_fit import LOG_DOF, HeavyModel, evaluate, information, search, slopes
from tests.numerics.wave import wave


def model(n=20, known=False, dof=4.0, outlier=4.0):
    return HeavyModel(wave(n, known, outlier), dof)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("dof", [4.0, None])
def test_the_gradient_agrees_with_differences(known, dof):
    given, step = model(known=known, dof=dof), 1e-5
    x = given.starts[0] + 0.2
    here = evaluate(given, x)
    found = slopes(given, here)
    for i, unit in enumerate(torch.eye(len(x))):
        up, down = (evaluate(given, x + sign * step * unit).F for sign in (1, -1))
        assert found[i].item() == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("dof", [4.0, None])
def test_the_information_is_positive_definite(known, dof):
    given = model(known=known, dof=dof)
    A = information(given, evaluate(given, given.starts[0]))
    torch.testing.assert_close(A, A.mT)
    assert torch.linalg.eigvalsh(A)[0] > 0


@pytest.mark.parametrize("dof", [4.0, None])
def test_it_ends_where_the_gradient_vanishes_or_at_a_bound(dof):
    given = model(dof=dof)
    found = search(given)
    bounds = torch.tensor(given.bounds)
    inside = (found.x > bounds[:, 0] + 1e-6) & (found.x < bounds[:, 1] - 1e-6)
    assert found.converged
    assert inside.sum() >= 5
    assert slopes(given, evaluate(given, found.x))[inside].abs().max() < 1e-2
    assert max(evaluate(given, x).F for x in given.starts) <= found.F


def test_tangents_are_not_needed():
    """A kernel through autograd has none: L-BFGS-B climbs to the same place."""
    given = model()
    blind = given._replace(base=given.base._replace(covariance=given.base.covariance._replace(prior_precision=None)))
    assert pytest.approx(search(given).F, abs=1e-3) == search(blind).F


def test_learned_degrees_of_freedom_are_many_without_outliers_and_few_with():
    many, few = (search(model(40, dof=None, outlier=outlier)).value.noise.nu for outlier in (0.0, 30.0))
    assert math.exp(LOG_DOF[0]) <= few < many


def test_the_signed_evidence_has_poles_which_the_search_does_not_climb():
    """Two values that pull equally in opposite ways: as the signal grows the mode between them ceases to be one."""
    X, y = torch.zeros(2, 1), torch.tensor([-1.0, 1.0])
    D, zero, noise = squared_differences(X, X), torch.zeros(()), Noise(torch.tensor(0.1), torch.tensor(4.0))
    edge = 1 / (2 * -curvature(y, *noise)[0].item())

    def at(s2f):
        return approximate(s2f * torch.ones_like(D[0]), y, zero, noise, torch.zeros(2), is_clamped=is_clamped)

    for is_clamped in (False, True):
        rise = (at((1 - 1e-9) * edge).L - at(0.5 * edge).L).item()
        assert (rise > 5) is not is_clamped


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_observations_will_do(n):
    assert math.isfinite(search(model(n)).F)


def test_equal_values_will_do():
    given = model()
    equal = given._replace(base=given.base._replace(y=torch.full((20,), 2.0)))
    assert math.isfinite(search(equal).F)


def test_a_given_start_is_climbed_from():
    given = model()
    best = search(given)
    assert pytest.approx(best.F, abs=1e-5) == search(given, [best.x]).F
