"""Places that lie apart, and the scale of outcomes most of which lie at one of them."""

import numpy as np
import pytest
import torch

from robustbo.surrogates.common import contract
from robustbo.surrogates.common.contract import outcome_transform
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.transforms.places import NEAR, places_apart
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize


def points(seed, around=7):
    generator = np.random.default_rng(seed)
    spread, near = generator.uniform(size=(5, 2)), np.array([0.3, 0.6]) + 0.004 * generator.standard_normal((around, 2))
    return torch.from_numpy(np.concatenate([spread, near]))


def objective(X):
    return ((X - torch.tensor([0.3, 0.6])) ** 2).sum(-1, keepdim=True)


@pytest.mark.parametrize("d", [1, 2, 7])
def test_every_point_is_near_a_place_and_places_are_apart(d):
    X = torch.from_numpy(np.random.default_rng(d).random((30, d)))
    places = places_apart(X, 30)
    D = torch.cdist(X, X[places])
    near = NEAR * d**0.5
    assert D.min(-1).values.max() < near
    among = D[places] + torch.eye(len(places)) * 9
    assert among.min() >= near


def test_there_are_no_places_if_there_are_more_than_may_be_or_fewer_than_three():
    X = torch.linspace(0, 1, 6, dtype=torch.float64).unsqueeze(-1)
    assert len(places_apart(X, 6)) == 6
    assert places_apart(X, 5) == []
    assert places_apart(X[:2].repeat(4, 1), 8) == []


@pytest.mark.parametrize("seed", range(3))
def test_where_an_optimization_has_converged_the_scale_is_that_of_the_objective(seed):
    X = points(seed)
    Y = objective(X)
    by_values, by_places = RobustStandardize(m=1), RobustStandardize(m=1)
    by_values(Y)
    by_places(Y, X=X)
    assert by_values.stdvs.item() < 1e-3
    assert 0.03 < by_places.stdvs.item() < 1.0
    Y[0] = 1e6  # a wrong value changes little
    by_places(Y, X=X)
    assert 0.03 < by_places.stdvs.item() < 1.0


def test_the_scale_of_values_that_do_not_cluster_is_the_same_to_the_bit():
    generator = np.random.default_rng(0)
    X, Y = torch.from_numpy(generator.random((40, 3))), torch.from_numpy(generator.standard_normal((40, 1)))
    Y[:8] += 1e4
    with_points, without = RobustStandardize(m=1), RobustStandardize(m=1)
    assert torch.equal(with_points(Y, X=X)[0], without(Y)[0])


@pytest.mark.parametrize("seed", range(3))
def test_predictions_far_from_where_an_optimization_has_converged_are_sane(seed):
    X = points(seed)
    model = contract.fit(RelevancePursuitGP(X, objective(X)))
    test = torch.tensor([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]], dtype=torch.float64)
    mean, _ = contract.marginals(model, test)
    assert (mean - objective(test).squeeze(-1)).abs().max() < 0.5
    assert outcome_transform(model).stdvs.item() > 0.01
