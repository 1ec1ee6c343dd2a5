"""At most so many of a group: the maximum is as high as the best of those of all faces, each searched by itself."""

from itertools import combinations

import numpy as np
import pytest
import torch

import robustbo as rb
from robustbo.errors import SpaceError
from robustbo.loop.optimize_acqf.maximizer import maximize
from robustbo.searchspace.region.factory import region_of
from robustbo.searchspace.region.sampling import spread_over

pytestmark = pytest.mark.usefixtures("double_precision")

KINDS = (rb.Float(0, 1), rb.Int(0, 3), rb.Float(-1, 1, step=0.25), rb.Float(-1, 2), rb.Ordinal(0, 1, 5))


def bumps(d, rng):
    """A smooth function of many bumps, most of them where some coordinates are at the low end."""
    centres = torch.as_tensor(rng.random((25, d)) * (rng.random((25, d)) < 0.5))
    heights = torch.as_tensor(rng.standard_normal(25))
    return lambda U: (torch.exp(-(U[:, None] - centres).square().sum(-1) / 0.5) * heights).sum(-1)


def greatest(score, region, seed):
    point = maximize(score, region, spread_over(region)[:3], seed)
    assert region.contains(point)
    return float(score(torch.tensor([region.space.to_unit(point)], dtype=torch.float64)))


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    ("parameters", "constraints"),
    [
        ([rb.Float(0, 1)] * 5, []),
        ([rb.Float(0, 1)] * 5, ["a + b + c + d + e == 1"]),
        ([*KINDS], ["a + b + c + d + e <= 3"]),
    ],
)
def test_it_is_as_high_as_the_best_of_all_faces(parameters, constraints, seed):
    named = dict(zip("abcde", parameters, strict=True))
    space = rb.Space(**named, x=rb.Float(0, 1), constraints=[rb.AtMost(2, *named), *constraints])
    score = bumps(6, np.random.default_rng(seed))
    best = -np.inf
    for off in combinations(named, 3):
        try:
            best = max(best, greatest(score, region_of(space, space.partial(dict.fromkeys(off, 0))), seed))
        except SpaceError:
            continue
    assert greatest(score, region_of(space), seed) >= best - 1e-3
