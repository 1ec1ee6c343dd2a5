import numpy as np
import pytest
import torch
from botorch.utils.multi_objective.hypervolume import Hypervolume
from botorch.utils.multi_objective.pareto import is_non_dominated

from robustbo.numerics.improvement.cells import cells, not_beaten

S = 6


def sets(m, K, seed=0):
    """Points of some sets, of which some do not count; half of the coordinates coincide with others."""
    rng = np.random.default_rng(seed)
    Y, feasible = rng.random((S, m, K)), rng.random((S, m)) < 0.8
    Y[S // 2 :] = np.round(Y[S // 2 :], 1)
    return Y, feasible


def sides(found):
    """Which set each box is of, and its corners, the upper ones no higher than 1."""
    low = np.stack([each.at[each.low] for each in found.edges], -1)
    high = np.stack([np.append(each.at, 1.0)[each.high] for each in found.edges], -1)
    return found.edges[0].owner[found.edges[0].low], low, high


@pytest.mark.parametrize("m", [0, 1, 5, 25])
@pytest.mark.parametrize("K", [1, 2, 3, 4])
def test_boxes_are_what_the_points_do_not_dominate(K, m):
    """In volume, by BoTorch's; and no two of a set overlap: each place is in one, or dominated."""
    (Y, feasible), reference = sets(m, K), np.full(K, 0.1)
    is_in = not_beaten(Y, feasible, reference)
    found = cells(Y, is_in, reference)
    owner, low, high = sides(found)
    volume = np.bincount(owner, np.prod(high - low, -1), S)
    places = 0.1 + 0.9 * np.random.default_rng(1).random((200, K))
    for s in range(S):
        front = torch.from_numpy(Y[s][is_in[s]])
        dominated = Hypervolume(torch.from_numpy(reference)).compute(front) if len(front) else 0.0
        assert volume[s] + dominated == pytest.approx(0.9**K)
        mine = owner == s
        inside = (low[mine] <= places[:, None]) & (places[:, None] < high[mine])
        is_dominated = (front.numpy() >= places[:, None]).all(-1).any(-1)
        assert np.array_equal(inside.all(-1).sum(-1), ~is_dominated)


def test_there_are_no_more_boxes_than_it_takes():
    rng = np.random.default_rng(0)
    for K, most in ((1, lambda F: 1), (2, lambda F: F + 1), (3, lambda F: 3 * F)):
        Y = rng.standard_normal((S, 15, K))
        Y = np.abs(Y) / np.linalg.norm(Y, axis=-1, keepdims=True)
        is_in = not_beaten(Y, np.ones((S, 15), dtype=bool), np.zeros(K))
        found = cells(Y, is_in, np.zeros(K))
        assert (np.bincount(sides(found)[0]) <= [most(n) for n in is_in.sum(-1)]).all()


def test_the_lowest_edge_of_each_set_comes_first():
    Y, feasible = sets(12, 3)
    found = cells(Y, not_beaten(Y, feasible, np.zeros(3)), np.zeros(3))
    for each in found.edges:
        for s in range(S):
            assert each.at[each.first[s]] == each.at[each.owner == s].min()
            assert each.owner[each.first[s]] == s
    assert found.first.tolist() == [np.flatnonzero(sides(found)[0] == s)[0] for s in range(S)]


@pytest.mark.parametrize("K", [1, 2, 4])
def test_the_points_that_none_beats_are_botorchs(K):
    Y, feasible = sets(30, K)
    found = not_beaten(Y, feasible, np.full(K, 0.1))
    for s in range(S):
        counts = feasible[s] & (Y[s] > 0.1).all(-1)
        expected = np.zeros(30, dtype=bool)
        expected[counts] = is_non_dominated(torch.from_numpy(Y[s][counts]), deduplicate=True).numpy()
        assert {tuple(y) for y in Y[s][found[s]]} == {tuple(y) for y in Y[s][expected]}
        assert found[s].sum() == expected.sum()


def test_each_set_may_have_a_reference_of_its_own():
    Y, feasible = sets(8, 2)
    references = np.linspace(0, 0.5, S)[:, None].repeat(2, 1)
    is_in = not_beaten(Y, feasible, references)
    found = cells(Y, is_in, references)
    for s in range(S):
        alone = cells(Y[s : s + 1], is_in[s : s + 1], references[s])
        mine = sides(found)[0] == s
        assert np.array_equal(sides(found)[1][mine], sides(alone)[1])
