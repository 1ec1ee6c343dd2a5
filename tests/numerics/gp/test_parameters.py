import math

import pytest
import torch

from robustbo.numerics.gp import parameters
from robustbo.numerics.gp.parameters import Block, LogNormal

PRIOR = LogNormal(0.5, 1.5)
BLOCKS = [Block("l", (1.0, 2.0, 0.5), (-3.0, 3.0), PRIOR, 2), Block("s2", (-1.0,), (-9.0, 9.0), LogNormal(-4.0, 1.0))]
MEAN = Block("m", (0.25,), (-1.0, 1.0))


def test_each_start_has_a_value_of_each_coordinate():
    found = parameters.starts([*BLOCKS, MEAN], [torch.empty(0)])
    assert [x.tolist() for x in found] == [[a, a, -1.0, 0.25] for a in (1.0, 2.0, 0.5)]
    assert len(parameters.bounds([*BLOCKS, MEAN])) == 4


def test_heads_stand_first_and_the_last_serves_all_further_starts():
    heads = [torch.tensor([7.0]), torch.tensor([8.0])]
    assert [x.tolist() for x in parameters.starts([MEAN], heads)] == [[7.0, 0.25], [8.0, 0.25]]
    assert [x[0].item() for x in parameters.starts(BLOCKS, heads)] == [7.0, 8.0, 8.0]
    assert [x.tolist() for x in parameters.starts([], heads)] == [[7.0], [8.0]]


def test_slopes_and_precisions_are_those_of_the_log_prior():
    x, step = torch.tensor([0.3, -0.2, 1.0, 5.0]), 1e-4
    blocks = [*BLOCKS, MEAN]
    slopes, precisions = parameters.prior_slopes(blocks, x.tolist()), parameters.prior_precisions(blocks)
    for unit, slope, precision in zip(torch.eye(4), slopes, precisions, strict=True):
        up, here, down = (parameters.log_prior(blocks, (x + k * step * unit).tolist()) for k in (1, 0, -1))
        assert slope == pytest.approx((up - down) / (2 * step), abs=1e-6)
        assert precision == pytest.approx(-(up - 2 * here + down) / step**2, abs=1e-4)


def test_coordinates_by_name():
    at = parameters.by_name([*BLOCKS, MEAN], torch.arange(4.0))
    assert {name: value.tolist() for name, value in at.items()} == {"l": [0.0, 1.0], "s2": [2.0], "m": [3.0]}


def test_a_mean_stays_among_the_observations():
    mean = parameters.constant_mean(torch.tensor([3.0, -1.0, 2.0]))
    assert (mean.starts, mean.bounds, mean.prior) == ((2.0,), (-1.0, 3.0), None)
    assert math.isfinite(parameters.log_prior([mean], [0.0]))
