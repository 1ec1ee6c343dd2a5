"""Points in place of one that is measured already; needs ax-platform."""

import pytest
import torch
from ax.core.search_space import SearchSpaceDigest

from robustbo.ax.unmeasured import AxRegion, alternatives

DIGEST = SearchSpaceDigest(
    feature_names=[*"xyn"],
    bounds=[(0.0, 1.0), (0.0, 2.0), (0, 4)],
    ordinal_features=[2],
    discrete_choices={2: [*range(5)]},
)
TOP = torch.tensor([[0.4, 0.6, 2.0]], dtype=torch.float64)


def sum_of_xy():
    return torch.tensor([0, 1]), torch.ones(2, dtype=torch.float64)


def at_most_one():
    indices, ones = sum_of_xy()
    return [(indices, -ones, -1.0)]


def equal_to_one():
    return [(*sum_of_xy(), 1.0)]


def test_a_point_that_is_not_known_needs_no_other():
    assert alternatives(TOP, TOP + 1e-3, AxRegion(DIGEST, None, None, None, None), 0).shape == (0, 3)


@pytest.mark.parametrize("inequalities", [None, at_most_one()])
@pytest.mark.parametrize(
    ("equalities", "fixed"),
    [(None, None), (None, {2: 2.0}), (None, {2: 2.0, 0: 0.4}), (equal_to_one(), None), (equal_to_one(), {2: 2.0})],
)
def test_others_are_near_and_far_and_keep_what_must_be_kept(inequalities, equalities, fixed):
    X = alternatives(TOP, torch.cat([TOP, TOP + 5e-7]), AxRegion(DIGEST, inequalities, equalities, fixed, None), 0)
    apart = (X - TOP).abs().amax(-1)
    assert len(X) > 100
    assert 0 < apart.min() < 0.01
    assert apart.max() > 0.1
    assert {*X[:, 2].tolist()} == ({2.0} if fixed else {*map(float, range(5))})
    assert (X.min(0).values >= 0).all()
    assert (X.max(0).values <= torch.tensor([1.0, 2.0, 4.0])).all()
    assert not inequalities or (X[:, :2].sum(-1) <= 1 + 1e-6).all()
    assert not equalities or torch.allclose(X[:, :2].sum(-1), X.new_tensor(1.0))
    assert 0 not in (fixed or {}) or (X[:, 0] == 0.4).all()


def test_others_are_rounded_and_still_not_known():
    known = torch.cartesian_prod(torch.arange(2), torch.arange(3), torch.arange(5)).double()
    region = AxRegion(DIGEST, None, None, None, torch.round)
    assert len(alternatives(known[:1], known, region, 0)) == 0
    assert torch.equal(alternatives(known[:1], known[:-1], region, 0).unique(dim=0), known[-1:])
