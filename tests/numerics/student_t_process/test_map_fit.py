import math

import pytest
import torch

from robustbo.numerics.pursuit.support_fit import empty
from robustbo.numerics.student_t_process.map_fit import LOG_EXCESS, ProcessModel, evaluate, information, search, slopes
from tests.numerics.wave import wave


def model(n=20, known=False, dof=5.0, outlier=2.0):
    return ProcessModel(wave(n, known, outlier), dof)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("dof", [5.0, None])
class TestEverySearch:
    def test_the_gradient_agrees_with_differences(self, known, dof):
        given, step = model(known=known, dof=dof), 1e-5
        x = given.starts[0] + 0.2
        found = slopes(given, evaluate(given, x))
        for i, unit in enumerate(torch.eye(len(x))):
            up, down = (evaluate(given, x + sign * step * unit).F for sign in (1, -1))
            assert found[i].item() == pytest.approx((up - down) / (2 * step), rel=1e-6, abs=1e-7)

    def test_the_information_is_positive_definite(self, known, dof):
        given = model(known=known, dof=dof)
        A = information(given, evaluate(given, given.starts[0]))
        torch.testing.assert_close(A, A.mT)
        assert torch.linalg.eigvalsh(A)[0] > 0

    def test_it_ends_where_the_gradient_vanishes(self, known, dof):
        given = model(known=known, dof=dof)
        found = search(given)
        assert found.converged
        assert slopes(given, evaluate(given, found.x)).abs().max() < 1e-3
        assert max(evaluate(given, x).F for x in given.starts) <= found.F

    def test_tangents_are_not_needed(self, known, dof):
        """A kernel through autograd has none: L-BFGS-B climbs to the same place."""
        given = model(known=known, dof=dof)
        blind = given.base.covariance._replace(prior_precision=None)
        found = search(given._replace(base=given.base._replace(covariance=blind)))
        assert abs(found.F - search(given).F) < 1e-4


def test_many_degrees_of_freedom_give_the_gaussian_search():
    given = model(dof=1e9)
    found, gaussian = search(given), empty(given.base).fit
    torch.testing.assert_close(found.x, gaussian.theta, rtol=0, atol=1e-3)
    assert abs(found.F - gaussian.F) < 1e-4


def test_at_given_hyperparameters_nothing_but_the_scale_differs():
    given = model()
    heavy, light = (evaluate(given._replace(dof=dof), given.starts[0]) for dof in (2.1, 1e9))
    torch.testing.assert_close(heavy.evidence.al, light.evidence.al)
    assert heavy.marginal.stretch != light.marginal.stretch


def test_learned_degrees_of_freedom_follow_the_scale():
    """A sample whose length is just what its covariance says asks for many, one that is far longer for few."""
    given = model(dof=None, outlier=0.0)
    x = given.starts[0]
    usual = evaluate(given, x)
    shorter = given._replace(base=given.base._replace(y=given.base.y / (usual.marginal.beta / 20).sqrt()))
    longer = given._replace(base=given.base._replace(y=30 * shorter.base.y))
    on_usual, on_longer = (slopes(one, evaluate(one, x))[-1] for one in (shorter, longer))
    assert on_longer < on_usual
    assert on_longer < 0


def test_a_covariance_that_cannot_be_factored_is_minus_infinity():
    given = model()
    broken = given.base.covariance._replace(at=lambda theta: given.base.covariance.at(theta)._replace(K=-torch.eye(20)))
    found = evaluate(given._replace(base=given.base._replace(covariance=broken)), given.starts[0])
    assert math.isinf(found.F)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_observations_and_equal_ones_will_do(n):
    given = model(n)
    assert search(given).converged
    equal = given._replace(base=given.base._replace(y=torch.zeros(n)), dof=None)
    found = search(equal)
    assert found.converged
    assert LOG_EXCESS[0] <= found.x[-1] <= LOG_EXCESS[1]
