import pytest
import torch
from botorch.utils.multi_objective.hypervolume import Hypervolume, infer_reference_point

from robustbo.numerics.improvement.front import (
    gain,
    hypervolume,
    membership,
    pareto_mask,
    reference_point,
    room,
    worth_of_constraint,
    worth_of_objective,
)
from robustbo.numerics.improvement.value_of_information import expected_improvement, value_of_replicate


def uniform(*shape, seed=0):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed))


def test_membership_is_the_share_of_samples():
    samples = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [[1.0, 1.0], [0.0, 0.0], [2.0, -1.0]]])
    feasible = torch.tensor([[True, True, True], [True, True, False]])
    assert membership(samples, feasible).tolist() == [1.0, 0.5, 0.0]
    assert membership(samples, torch.zeros_like(feasible)).tolist() == [0.0, 0.0, 0.0]
    only = torch.tensor([[False, False, True], [False, True, False]])  # whatever beats them does not count
    assert membership(samples, only).tolist() == [0.0, 0.5, 0.5]


@pytest.mark.parametrize("K", [1, 2, 3, 4])
def test_hypervolume_is_botorchs_of_the_front_above_the_reference(K):
    Y, reference = uniform(20, K), torch.full((K,), 0.3)
    front = Y[pareto_mask(Y)]
    assert hypervolume(Y, reference) == pytest.approx(Hypervolume(reference).compute(front))
    assert hypervolume(Y - 1, reference) == 0.0
    assert hypervolume(Y[:0], reference) == 0.0


def test_the_reference_point_is_botorchs_of_a_front():
    Y = uniform(20, 2)
    torch.testing.assert_close(reference_point(Y), infer_reference_point(Y[pareto_mask(Y)], scale=0.1))
    likely = Y[:, 0] < 0.5
    torch.testing.assert_close(reference_point(Y, likely), reference_point(Y[likely]))


def test_where_nothing_is_feasible_the_reference_lies_below_all_values():
    Y = uniform(20, 2)
    least, span = Y.amin(0), Y.amax(0) - Y.amin(0)
    torch.testing.assert_close(reference_point(Y, torch.zeros(20, dtype=torch.bool)), least - 0.1 * span)


def test_a_front_of_one_point_has_a_reference_too():
    """A tenth of the range of all below it; of its size where there is nothing else; of 1 where it has none."""
    Y = torch.tensor([[1.0, 2.0], [0.0, -2.0]])
    torch.testing.assert_close(reference_point(Y), torch.tensor([0.9, 1.6]))
    torch.testing.assert_close(reference_point(Y[:1]), torch.tensor([0.9, 1.8]))
    torch.testing.assert_close(reference_point(torch.zeros(1, 2)), torch.tensor([-0.1, -0.1]))


@pytest.mark.slow
@pytest.mark.parametrize("K", [1, 2, 3])
def test_the_gain_is_the_mean_of_what_samples_add(K):
    Y, reference = uniform(6, K), torch.zeros(K)
    mu, sd = uniform(3, K, seed=1), 0.3 * uniform(3, K, seed=2)
    draws = torch.randn(2000, 3, K, generator=torch.Generator().manual_seed(3)) * sd + mu
    before = hypervolume(Y, reference)
    for b in range(3):
        added = torch.tensor([hypervolume(torch.cat([Y, y[None]]), reference) - before for y in draws[:, b]])
        expected, error = added.mean(), added.std() / 2000**0.5
        assert abs(gain(room(Y, reference), mu, sd)[b] - expected) < 4 * error + 1e-3


def test_a_certain_point_adds_what_it_adds():
    Y, reference, more = uniform(6, 3), torch.zeros(3), uniform(5, 3, seed=1)
    before = hypervolume(Y, reference)
    expected = torch.tensor([hypervolume(torch.cat([Y, y[None]]), reference) - before for y in more])
    torch.testing.assert_close(gain(room(Y, reference), more, torch.zeros_like(more)), expected)
    torch.testing.assert_close(gain(room(Y, reference), more, torch.full_like(more, 1e-9)), expected, atol=1e-6, rtol=0)
    alone = gain(room(Y[:0], reference), more, torch.zeros_like(more))
    torch.testing.assert_close(alone, more.prod(-1))


def test_with_one_objective_it_is_the_value_of_repeating():
    Y, reference = torch.tensor([[0.4], [0.7]]), torch.tensor([-5.0])
    y, p, mu, sd = 2 * uniform(50), uniform(50, seed=1), 2 * uniform(50, seed=2), uniform(50, seed=3)
    w = (1 - p)[:, None]
    found = worth_of_objective(room(Y, reference), y[:, None], 0, y[:, None], w, mu, sd)
    torch.testing.assert_close(found, value_of_replicate(y[:, None], w, mu, sd, torch.tensor(0.7)))
    one = gain(room(Y, reference), mu[:, None], sd[:, None])
    torch.testing.assert_close(one, expected_improvement(mu, sd, torch.tensor(0.7)))


@pytest.mark.slow
@pytest.mark.parametrize("K", [2, 3])
def test_the_worth_is_the_mean_of_what_knowing_adds(K):
    Y, reference, of = uniform(5, K), torch.zeros(K), uniform(1, K, seed=1)
    y, p, mu, sd = (torch.tensor([v]) for v in (0.9, 0.3, 0.2, 0.25))
    to = room(Y, reference)
    before = hypervolume(Y, reference)

    def added(v):
        point = of.clone()
        point[0, 1] = v
        return hypervolume(torch.cat([Y, point]), reference) - before

    right = torch.rand(4000, generator=torch.Generator().manual_seed(4)) > p
    v = torch.where(right, y, mu + sd * torch.randn(4000, generator=torch.Generator().manual_seed(5)))
    knowing = torch.tensor([added(value) for value in v.tolist()])
    expected = knowing.mean() - added(((1 - p) * y + p * mu).item())
    found = worth_of_objective(to, of, 1, y[:, None], 1 - p[:, None], mu, sd)
    assert abs(found.item() - expected) < 4 * knowing.std() / 4000**0.5
    assert found > 0


def test_where_nothing_can_change_knowing_is_worth_nothing():
    Y, reference = uniform(5, 2), torch.zeros(2)
    to, below = room(Y, reference), torch.tensor([[-1.0, 0.5]])  # never in, whatever the second is
    values = [torch.tensor(v) for v in ([[0.9]], [[0.7]], [0.2], [0.25])]
    assert worth_of_objective(to, below, 1, *values).item() == 0.0
    certain = [torch.tensor(v) for v in ([[0.9]], [[1.0]], [0.2], [0.25])]
    assert worth_of_objective(to, uniform(1, 2), 1, *certain).item() == pytest.approx(0.0)
    P = torch.tensor([0.0, 0.2, 0.9, 1.0])
    torch.testing.assert_close(worth_of_constraint(torch.full((4,), 2.0), P), torch.tensor([0.0, 0.4, 0.2, 0.0]))
