"""Points that cover a set: each is the farthest from all before it."""

from itertools import islice

import torch

from robustbo.numerics.linalg.farthest import farthest_points


def test_each_is_the_farthest_from_all_before_it():
    Z = torch.rand(40, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    before = [5]
    for index, distance in islice(farthest_points(Z, torch.cdist(Z, Z[before]).amin(-1), lambda D: D.norm(dim=-1)), 20):
        nearest = torch.cdist(Z, Z[before]).amin(-1)
        assert index == int(nearest.argmax())
        torch.testing.assert_close(distance, float(nearest[index]))
        before.append(index)
    assert len(set(before)) == 21


def test_it_goes_on_at_no_distance_where_no_other_point_is_left():
    Z = torch.tensor([[0.0], [2.0], [0.0]])
    order = list(islice(farthest_points(Z, Z[:, 0], lambda D: D.norm(dim=-1)), 3))
    assert order == [(1, 2.0), (0, 0.0), (0, 0.0)]
