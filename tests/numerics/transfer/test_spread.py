"""Spreads of values that are alike, wrong or both."""

import pytest
import torch
from scipy.stats import norm

from robustbo.numerics.transfer.spread import inner_spread, robust_spread

NORMAL = torch.tensor([norm.ppf((i + 0.5) / 400) for i in range(400)], dtype=torch.float64)


def test_of_normal_values_it_is_their_standard_deviation():
    assert inner_spread(NORMAL) == pytest.approx(1.0, rel=0.01)
    assert robust_spread(NORMAL) == pytest.approx(1.0, rel=0.01)


def test_of_values_most_of_which_are_alike_it_is_that_of_the_others():
    alike = torch.cat([NORMAL[::10], 1e-3 * NORMAL[::4]])
    assert inner_spread(alike) < 0.01
    assert 0.3 < robust_spread(alike) < 1.5


def test_a_tenth_may_be_anywhere():
    spoiled = NORMAL.clone()
    spoiled[::10] = 1e6
    assert robust_spread(spoiled) < 2.0


@pytest.mark.parametrize("values", [[], [1.0], [2.0, 2.0, 2.0]])
def test_there_is_none(values):
    y = torch.tensor(values, dtype=torch.float64)
    assert (inner_spread(y), robust_spread(y)) == (0.0, 0.0)
