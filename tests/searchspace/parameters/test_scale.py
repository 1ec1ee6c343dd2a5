"""Maps between values and the unit interval."""

import math

import pytest
import torch

from robustbo.searchspace.parameters.scale import Scale, cell_index, cell_middle

SCALES = [Scale(-2.0, 5.0), Scale(0.1, math.log(1000.0), is_log=True)]


@pytest.mark.parametrize("scale", SCALES)
def test_floats_and_tensors_have_one_map(scale):
    u = torch.linspace(0, 1, 9, dtype=torch.float64)
    values = scale.value(u)
    torch.testing.assert_close(values, u.new_tensor([scale.value(x) for x in u.tolist()]))
    torch.testing.assert_close(scale.unit(values), u)
    torch.testing.assert_close(u.new_tensor([scale.unit(value) for value in values.tolist()]), u)


@pytest.mark.parametrize("scale", SCALES)
def test_the_slope_is_the_derivative(scale):
    u = torch.tensor([0.1, 0.6], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(scale.value(u).sum(), u)
    torch.testing.assert_close(slope, torch.ones_like(u) * scale.slope(u.detach()))


def test_the_middle_of_a_cell_lies_in_it():
    assert [cell_index(cell_middle(index, 7), 7) for index in range(7)] == list(range(7))
    assert [cell_index(u, 7) for u in (-0.5, 0.0, 1.0, 1.5)] == [0, 0, 6, 6]
