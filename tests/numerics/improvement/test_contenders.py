"""The order in which points may be on the front of several outcomes."""

import torch

from robustbo.numerics.improvement.contenders import least_beaten


def order(Y, broken=None):
    Y = torch.tensor(Y, dtype=torch.float64)
    broken = torch.zeros(len(Y), dtype=torch.float64) if broken is None else torch.tensor(broken, dtype=torch.float64)
    return least_beaten(Y, broken).tolist()


def test_points_of_the_front_come_first():
    assert set(order([[0.0, 0.0], [1.0, 0.2], [0.2, 1.0], [0.5, 0.5], [0.4, 0.1]])[:3]) == {1, 2, 3}


def test_of_the_others_those_come_first_that_are_beaten_by_little():
    assert order([[1.0, 1.0], [0.2, 0.2], [0.9, 0.9], [0.5, 0.5]]) == [0, 2, 3, 1]


def test_what_breaks_a_bound_beats_nobody_and_comes_last():
    assert order([[0.0, 0.0], [9.0, 9.0], [1.0, 1.0]], [0.0, 0.5, 0.0]) == [2, 0, 1]


def test_what_breaks_bounds_by_less_comes_before_what_breaks_them_by_more():
    assert order([[1.0], [2.0], [3.0]], [0.3, 0.1, 0.2]) == [1, 2, 0]


def test_scales_do_not_matter():
    Y = torch.rand(30, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    scaled = Y * torch.tensor([1e6, 1e-3], dtype=torch.float64) + 5
    broken = torch.zeros(30, dtype=torch.float64)
    assert torch.equal(least_beaten(Y, broken), least_beaten(scaled, broken))


def test_equal_objectives_keep_their_order():
    assert order([[1.0, 2.0]] * 3) == [0, 1, 2]
