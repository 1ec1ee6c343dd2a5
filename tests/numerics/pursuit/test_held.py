from types import SimpleNamespace

import numpy as np
import pytest
import torch

from robustbo.errors import NumericalError
from robustbo.numerics.gp.covariance import stationary
from robustbo.numerics.gp.log_posterior import log_posterior
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.outlier_gain import errors, groups_at
from robustbo.numerics.gp.parameters import LogNormal
from robustbo.numerics.gp.prediction_cache import posterior_at_inputs, prediction_cache
from robustbo.numerics.gp.replicates import Groups
from robustbo.numerics.pursuit.held import FixedHyperparameters, score
from robustbo.numerics.pursuit.penalty import Penalty, corrected_rule

PRICE = Penalty(corrected_rule(30, 4))
THETA = torch.tensor([-1.0, 1.0, -4.0])


def model(n=30, wrong=(4, 11, 20), by=5.0, **more):
    X = torch.linspace(0, 1, n)
    y = torch.sin(6 * X)
    y[list(wrong)] += by
    covariance = stationary(X.unsqueeze(-1), "matern52", LogNormal(0.0, 1.0), LogNormal(0.0, 1.0))
    return Model(y, covariance, LogNormal(-4.0, 1.0), **more)


def variances(n, members, rho):
    return torch.zeros(n).index_put((torch.tensor(members, dtype=torch.long),), torch.tensor(rho))


@pytest.mark.parametrize("rho", [[1.0, 0.01], [30.0, 1e6], [1e12, 2.0]])
def test_a_support_costs_its_own_size_and_says_what_a_factorization_of_all_would(rho):
    given, members = model(), [4, 20]
    found = FixedHyperparameters(given, THETA).at(np.array(members), np.array(rho))
    full = variances(30, members, rho)
    value, (e, v) = log_posterior(given, THETA, full), errors(given, THETA, full)
    np.testing.assert_allclose(found.e, e, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found.v, v, rtol=1e-6)
    assert pytest.approx(value.F, abs=1e-8) == found.F
    assert pytest.approx(value.evidence.L.item(), abs=1e-8) == found.L


def test_the_errors_of_a_gross_value_are_not_lost_in_its_variance():
    held = FixedHyperparameters(model(), THETA)
    (without,) = held.at(np.array([11]), np.array([1e3])).e[[11]]
    (gross,) = held.at(np.array([11]), np.array([1e18])).e[[11]]
    assert gross == pytest.approx(without, rel=1e-6)


@pytest.mark.parametrize("by", [1e3, 1e6, 1e10, 1e14])
def test_gross_values_are_told_from_the_others_to_the_last_digits(by):
    given, members = model(by=by), [4, 11, 20]
    rho = [by**2] * 3
    held, full = FixedHyperparameters(given, THETA), variances(30, members, rho)
    found = held.at(np.array(members), np.array(rho))
    direct = prediction_cache(given, THETA, full)
    assert pytest.approx(log_posterior(given, THETA, full).F, abs=1e-6) == found.F
    right = [i for i in range(30) if i not in members]
    known = held.prediction_cache(found)
    K = given.covariance.at(THETA[:2]).K
    torch.testing.assert_close(known.m + K @ known.al, direct.m + K @ direct.al, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found.e[right], direct.e[right], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found.e[members], by, rtol=1e-2)


def test_what_is_known_with_a_support_is_what_is_known_from_nothing():
    given, held = model(), FixedHyperparameters(model(), THETA)
    found = held.at(np.array([4, 11]), np.array([20.0, 9.0]))
    mine, direct = held.prediction_cache(found), prediction_cache(given, THETA, variances(30, [4, 11], [20.0, 9.0]))
    for each, other in zip(mine, direct, strict=True):
        torch.testing.assert_close(each, other, rtol=1e-7, atol=1e-7)


def test_the_posterior_at_the_inputs_is_that_of_the_whole_covariance():
    given, rho = model(), variances(30, [4, 11], [20.0, 1e8])
    K, s2 = given.covariance.at(THETA[:2]).K, THETA[2].exp().expand(30)
    known = prediction_cache(given, THETA, rho)
    mean, variance = posterior_at_inputs(known, given.y, s2, rho)
    torch.testing.assert_close(mean, known.m + K @ known.al, rtol=1e-7, atol=1e-7)
    torch.testing.assert_close(variance, (K - (known.root @ K).mT @ (known.root @ K)).diagonal(), rtol=1e-5, atol=1e-8)


def test_it_settles_on_the_wrong_values_from_anywhere():
    held = FixedHyperparameters(model(), THETA)
    for begin in ([], [4], [0, 1, 2, 11], list(range(15))):
        rho = np.zeros(30)
        rho[begin] = 1.0
        found = held.settle(held.initial_state(rho), PRICE)
        assert found.members.tolist() == [4, 11, 20]
        np.testing.assert_allclose(found.rho, np.square(found.e)[found.members] - found.v[found.members], rtol=1e-2)


def test_what_it_settles_on_has_no_lower_score_than_where_it_began():
    held = FixedHyperparameters(model(wrong=(4, 5, 6, 7, 8), by=0.4), THETA)
    for begin in ([], [4, 5, 6, 7, 8], [15]):
        rho = np.zeros(30)
        rho[begin] = 0.3
        first = held.initial_state(rho)
        assert score(held.settle(first, PRICE), PRICE) >= score(first, PRICE)


def test_a_known_number_is_kept_to():
    held = FixedHyperparameters(model(), THETA)
    assert held.settle(held.initial_state(np.zeros(30)), PRICE, 2).members.shape == (2,)


def test_what_is_cleared_joins_no_support():
    given = model(cleared=torch.arange(30) == 11)
    held = FixedHyperparameters(given, THETA)
    assert 11 not in held.settle(held.initial_state(np.zeros(30)), PRICE).members
    suspected = np.zeros(30)
    suspected[[4, 11]] = 1.0
    begin = held.initial_state(suspected)
    assert begin.members.tolist() == [4]
    assert held.group_errors(begin).e[11] == 0


GROUPS = Groups(((4, 11, 20),))


@pytest.mark.parametrize(
    ("members", "rho"),
    [([], []), ([7], [3.0]), ([4, 11, 20], [1.0, 30.0, 1e-8]), ([4, 7, 11, 20], [9.0, 2.0, 1e3, 5.0])],
)
def test_a_group_left_out_is_what_a_factorization_of_all_says(members, rho):
    given = model(groups=GROUPS)
    held, full = FixedHyperparameters(given, THETA), variances(30, members, rho)
    mine = held.group_errors(held.at(np.array(members, dtype=np.intp), np.array(rho)))
    direct = groups_at(given, log_posterior(given, THETA, full), full)
    for each, other in zip(mine, direct, strict=True):
        torch.testing.assert_close(each, other, rtol=1e-6, atol=1e-6)


def test_the_errors_of_a_gross_group_are_not_lost_in_its_variances():
    held = FixedHyperparameters(model(groups=GROUPS), THETA)
    small, gross = (held.group_errors(held.at(np.array([4, 11, 20]), np.full(3, rho))) for rho in (1e2, 1e16))
    torch.testing.assert_close(gross.e[[4, 11, 20]], small.e[[4, 11, 20]], rtol=1e-2, atol=0.0)
    torch.testing.assert_close(gross.v[[4, 11, 20]], small.v[[4, 11, 20]], rtol=1e-2, atol=0.0)


def test_a_group_joins_and_leaves_whole():
    wrong = (4, 11, 20)
    for by, support in ((5.0, (4,)), (0.0, ())):
        held = FixedHyperparameters(model(wrong=wrong, by=by, groups=GROUPS), THETA)
        for begin in ([], [11], [4, 11, 20, 25]):
            rho = np.zeros(30)
            rho[begin] = 1.0
            found = held.settle(held.initial_state(rho), PRICE)
            assert found.support == support
            assert found.members.tolist() == (list(wrong) if support else [])


def test_a_group_takes_one_variance_the_best():
    held = FixedHyperparameters(model(wrong=(4, 11, 20), by=5.0, groups=GROUPS), THETA)
    found = held.settle(held.initial_state(np.zeros(30)), PRICE)
    assert found.rho.tolist() == pytest.approx([found.rho[0]] * 3)
    for factor in (0.9, 1.1):
        assert held.at(found.members, factor * found.rho).F < found.F


def test_at_most_half_are_wrong():
    generator = torch.Generator().manual_seed(0)
    given = model()._replace(y=100 * torch.randn(30, generator=generator))
    held = FixedHyperparameters(given, THETA)
    assert len(held.settle(held.initial_state(np.zeros(30)), Penalty(lambda k: 0.0)).members) <= 15


def test_hyperparameters_without_a_covariance_are_refused():
    broken = SimpleNamespace(
        y=torch.ones(2),
        cleared=None,
        groups=Groups(),
        covariance=None,
        blocks=[],
        s2_prior=None,
        s2_known=torch.zeros(2),
        s2_parts=None,
    )
    broken.warp_at = lambda _: None
    broken.covariance = SimpleNamespace(bounds=[], at=lambda _: SimpleNamespace(K=-torch.eye(2), log_prior=0.0))
    with pytest.raises(NumericalError, match="positive definite"):
        FixedHyperparameters(broken, torch.zeros(0))
