import math

import pytest
import torch

from robustbo.numerics.pursuit.averaging import LEAST, TEMPERATURE, moments, probabilities


def test_probabilities_are_of_tempered_scores():
    one, other = probabilities([-7.0, -7.0 - TEMPERATURE])
    assert one / other == pytest.approx(math.e)
    assert one + other == pytest.approx(1.0)


def test_what_is_hardly_probable_is_none():
    scores = [0.0, TEMPERATURE * math.log(LEAST) - 0.1, -1e9]
    assert probabilities(scores) == [1.0, 0.0, 0.0]


def test_many_that_are_alike_are_all_kept():
    assert probabilities([3.0] * 200) == pytest.approx([0.005] * 200)


def test_moments_are_those_of_a_large_sample():
    generator = torch.Generator().manual_seed(0)
    w, mu = torch.tensor([0.7, 0.3]), torch.tensor([[0.0, 1.0], [3.0, -1.0]])
    root = torch.tensor([[[1.0, 0.0], [0.5, 0.5]], [[0.2, 0.0], [0.0, 2.0]]])
    which = (torch.rand(200_000, generator=generator) > w[0]).long()
    z = mu[which] + (root[which] @ torch.randn(200_000, 2, 1, generator=generator)).squeeze(-1)
    mean, covariance = moments(w, mu, root @ root.mT)
    torch.testing.assert_close(mean, z.mean(0), atol=0.02, rtol=0)
    torch.testing.assert_close(covariance, z.T.cov(), atol=0.03, rtol=0)


def test_one_part_is_itself_and_batches_are_apart():
    mu, C = torch.rand(1, 4, 3), torch.rand(1, 4, 3, 3)
    mean, covariance = moments(torch.ones(1), mu, C)
    assert mean.equal(mu[0])
    assert covariance.equal(C[0])
