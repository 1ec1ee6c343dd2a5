import pytest
import torch

from robustbo.numerics.gp.replicates import Groups, agreement_mask, are_distinct, find_recurring_groups


def mask(values, tolerance=0.1, places=None):
    y = torch.tensor(values, dtype=torch.float64)
    X = torch.zeros(len(y), 2) if places is None else torch.tensor(places).unsqueeze(-1)
    return agreement_mask(X, y, torch.full_like(y, tolerance)).tolist()


@pytest.mark.parametrize(
    ("values", "agree"),
    [
        ([1.0], [False]),
        ([1.0, 1.0], [True, True]),
        ([1.0, 1.05], [True, True]),
        ([1.0, 2.0], [False, False]),
        ([1.0, 2.0, 1.05], [True, False, True]),
        ([1.0, 2.0, 3.0], [False, False, False]),
        ([1.0, 1.0, 2.0, 2.0], [False] * 4),
        ([1.0, 1.0, 1.0, 2.0, 2.0], [True, True, True, False, False]),
        ([1e300, 1e300], [True, True]),
    ],
)
def test_the_majority_at_a_point_agrees(values, agree):
    assert mask(values) == agree


def test_near_values_at_different_points_do_not():
    assert mask([1.0, 1.01, 1.02], places=[0.0, 0.5, 0.0]) == [True, False, True]


def test_a_failures_value_which_stands_elsewhere_too_is_cleared_by_nothing():
    assert mask([100.0, 100.0, 100.0], places=[0.0, 0.5, 0.0]) == [False] * 3
    assert mask([100.0, 100.0, 100.01], places=[0.0, 0.5, 0.0]) == [False, False, True]


def test_each_has_a_tolerance_of_its_own_and_both_must_allow_it():
    X, y = torch.zeros(2, 1), torch.tensor([1.0, 1.5])
    assert agreement_mask(X, y, torch.tensor([1.0, 0.1])).tolist() == [False, False]
    assert agreement_mask(X, y, torch.tensor([1.0, 0.6])).tolist() == [True, True]


@pytest.mark.parametrize(
    ("values", "places", "groups"),
    [
        ([1.0], [0.0], []),
        ([9.0, 9.0, 9.0, 1.0, 2.0, 3.0], [0, 1, 2, 3, 4, 5], [{0, 1, 2}]),
        ([9.0, 9.0, 9.0 + 1e-9, 1.0, 2.0, 3.0], [0, 1, 2, 3, 4, 5], []),
        ([9.0, 1.0, 9.0 + 4e-15, 2.0, 3.0, 9.0 - 4e-15], [0, 1, 2, 3, 4, 5], [{0, 2, 5}]),  # rounded on their way
        ([9.0, 9.0, 9.0, 1.0, 2.0, 3.0], [0, 1, 1, 3, 4, 5], []),  # two points
        ([9.0, 9.0, 9.0, 9.0, 2.0, 3.0], [0, 1, 2, 3, 4, 5], []),  # more than half
        ([5.0] * 6, [0, 1, 2, 3, 4, 5], []),
        ([9.0, 9.0, 9.0, 1.0, 1.0, 3.0, 4.0], [0, 1, 2, 3, 4, 5, 6], [{0, 1, 2}]),  # two points: by chance
        ([9.0, 9.0, 9.0, 1.0, 1.0, 3.0, 3.0], [0, 1, 2, 3, 4, 5, 6], []),  # three values at several points: coarse
        ([9.0, 9.0, 9.0, 1.0, 1.0, 3.0, 4.0], [0, 1, 2, 3, 3, 5, 6], [{0, 1, 2}]),  # measured twice, and agreeing
        ([7.0, 7.0, 7.0, 8.0, 8.0, 8.0, 1.0], range(7), []),  # more than half together
        ([7.0, 7.0, 7.0, 8.0, 8.0, 8.0, *range(6)], range(12), [{0, 1, 2}, {3, 4, 5}]),
        ([7.0, 7.0, 7.0, 8.0, 8.0, 8.0, 1.0, 1.0, 1.0], range(9), []),
        ([1e300, 1e300, 1e300, 1.0, 2.0, 3.0], range(6), [{0, 1, 2}]),
    ],
)
def test_a_value_recurs_where_it_alone_stands_at_several_points(values, places, groups):
    X = torch.tensor([float(x) for x in places]).unsqueeze(-1)
    assert [
        set(group) for group in find_recurring_groups(X, torch.tensor(values, dtype=torch.float64)).recurring
    ] == groups


def test_groups_are_a_partition_by_their_first():
    groups = Groups(((1, 4), (2, 3, 6)))
    assert groups.of(range(7)) == (0, 1, 2, 5)
    assert groups.members((0, 1, 2, 5)) == tuple(range(7))
    assert groups.of([6, 5]) == (2, 5)
    assert groups.members([2, 5]) == (2, 3, 5, 6)
    assert groups.count(7) == 4
    assert (Groups().of([3, 1]), Groups().members([3, 1]), Groups().count(7)) == ((1, 3), (1, 3), 7)


def test_of_some_rows_groups_are_what_is_there_of_them():
    groups = Groups(((1, 4), (2, 3, 6)))
    assert groups.among([6, 3, 0, 4]).recurring == ((3,), (0, 1))
    assert groups.among([0, 5]).recurring == ()
    assert groups.without(torch.tensor([0, 1, 0, 0, 1, 0, 0], dtype=torch.bool)).recurring == ((2, 3, 6),)


def test_members_know_the_place_of_their_group_and_share_its_mean():
    groups = Groups(((1, 4), (2, 3, 6)))
    assert groups.columns([0, 2, 3, 4, 5, 6]) == [0, 2, 2, 1, 3, 2]
    values = torch.tensor([7.0, 1.0, 0.0, 3.0, 5.0, 8.0, 6.0])
    assert groups.mean(values).tolist() == [7.0, 3.0, 3.0, 3.0, 3.0, 8.0, 3.0]
    weights = torch.tensor([0.0, 3.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    assert groups.mean(values, weights).tolist() == [7.0, 2.0, 0.0, 0.0, 2.0, 8.0, 0.0]


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]], True),  # by a single coordinate
        ([[0.0, 1.0], [1.0, 1.0], [0.0, 2.0]], True),  # by both together
        ([[0.0, 1.0], [1.0, 1.0], [0.0, 1.0]], False),
        ([[0.0, 1.0], [-0.0, 1.0]], False),
        ([[3.0, 3.0]], True),
    ],
)
def test_points_are_distinct_by_one_coordinate_or_by_several(points, expected):
    assert are_distinct(torch.tensor(points, dtype=torch.float64)) is expected
