import math

import numpy as np
import pytest
import torch

from robustbo.numerics.gp.ascent import Point, Secant, ascend, correct_information

WIDE = torch.full((2,), 100.0, dtype=torch.float64)


def bowl(A, top, known=None):
    """A concave quadratic whose information is A, or what is said to be known of it."""

    def at(x):
        return Point(-0.5 * ((x - top) @ A @ (x - top)).item(), lambda: (-A @ (x - top), A if known is None else known))

    return at


def test_a_quadratic_takes_one_step():
    A, top = torch.tensor([[2.0, 0.5], [0.5, 1.0]]), torch.tensor([1.0, -2.0])
    found = ascend(bowl(A, top), torch.zeros(2), -WIDE, WIDE, ftol=1e-12)
    assert found.converged
    torch.testing.assert_close(found.x, top, atol=1e-4, rtol=0)
    assert found.num_evaluations <= 4


@pytest.mark.parametrize("factor", [0.1, 10.0])
def test_wrong_information_is_corrected_by_what_the_steps_show(factor):
    A, top = torch.tensor([[2.0, 0.5], [0.5, 1.0]]), torch.tensor([1.0, -2.0])
    found = ascend(bowl(A, top, factor * torch.eye(2)), torch.zeros(2), -WIDE, WIDE, ftol=1e-12)
    torch.testing.assert_close(found.x, top, atol=1e-4, rtol=0)
    assert found.num_evaluations < 25


def test_bounds_hold_and_the_rest_goes_on():
    A, top = torch.tensor([[2.0, 0.9], [0.9, 1.0]]), torch.tensor([1.0, -2.0])
    found = ascend(bowl(A, top), torch.ones(2), torch.zeros(2), WIDE, ftol=1e-12)
    assert found.x[1] == 0
    assert found.x[0] == pytest.approx(1.0 - 0.9 * 2.0 / 2.0, abs=1e-4)


def test_a_step_that_bounds_bend_downhill_is_no_end():
    A, g = torch.tensor([[1.0, 0.9], [0.9, 1.0]]), torch.tensor([-1.0, -0.5])
    begin = torch.tensor([0.05, 5.0])
    top = begin + torch.linalg.solve(A, g)
    found = ascend(bowl(A, top), begin, torch.zeros(2), WIDE, ftol=1e-12)
    reference = ascend(bowl(A, top), torch.tensor([0.0, 5.0]), torch.zeros(2), WIDE, ftol=1e-12)
    torch.testing.assert_close(found.x, reference.x, atol=1e-4, rtol=0)
    assert found.num_evaluations > 1


def test_information_without_a_factor_is_no_end():
    A, top = torch.tensor([[1.0, 0.5], [0.5, 1.0]]), torch.tensor([1.0, -2.0])
    found = ascend(bowl(A, top, torch.tensor([[1.0, 3.0], [3.0, 1.0]])), torch.zeros(2), -WIDE, WIDE, ftol=1e-12)
    torch.testing.assert_close(found.x, top, atol=1e-3, rtol=0)


def test_information_of_any_size_can_be_factored():
    for size in (1e-200, 1e200):
        found = ascend(bowl(size * torch.ones(2, 2), torch.zeros(2)), torch.ones(2), -WIDE, WIDE)
        assert found.x.isfinite().all()


def test_all_held_back_is_the_end():
    found = ascend(bowl(torch.eye(2), -torch.ones(2)), torch.zeros(2), torch.zeros(2), WIDE)
    assert (found.converged, found.num_evaluations) == (True, 1)


def test_places_that_may_not_be_visited_are_stepped_back_from():
    def at(x):
        return Point(x.sum().item() if x.max() < 3 else -math.inf, lambda: (torch.ones(2), 1e-6 * torch.eye(2)))

    found = ascend(at, torch.zeros(2), -WIDE, WIDE)
    assert 2.9 < found.F / 2 < 3
    assert not ascend(at, WIDE, -WIDE, WIDE).converged


def test_no_step_leads_down():
    heights = []

    def at(x):
        heights.append(-(x**4).sum().item() - 0.1 * torch.sin(20 * x).sum().item())
        slope = -4 * x**3 - 2 * torch.cos(20 * x)
        return Point(heights[-1], lambda: (slope, torch.diag(12 * x**2)))

    found = ascend(at, torch.tensor([2.0, -1.5]), -WIDE, WIDE, ftol=1e-10)
    assert max(heights) == found.F
    assert found.num_evaluations == len(heights)


def test_the_last_secant_is_met_exactly():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((3, 3))
    H = root @ root.T + np.eye(3)
    secants = [Secant(s, H @ s) for s in rng.standard_normal((2, 3))]
    A = correct_information(np.eye(3), secants)
    assert A @ secants[-1].s == pytest.approx(secants[-1].y)
    assert np.linalg.eigvalsh(A).min() > 0
    assert np.array_equal(correct_information(np.eye(3), [Secant(np.ones(3), -np.ones(3))]), np.eye(3))
