"""Regions in which at most so many of a group are on: points spread over faces, and the faces beside one."""

from collections import Counter

import pytest
import torch

import robustbo as rb
from robustbo.searchspace.region.face_moves import rows_in_other_faces
from robustbo.searchspace.region.faces import UnionOfFaces
from robustbo.searchspace.region.factory import region_of
from robustbo.searchspace.region.sampling import sobol_points, spread_over

F = rb.Float(0, 1)
EIGHT = {name: F for name in "abcdefgh"}
GROUP = rb.AtMost(3, *EIGHT)
SPACES = {
    "plain": rb.Space(**EIGHT, constraints=[GROUP]),
    "mixture": rb.Space(**EIGHT, constraints=[GROUP, "a + b + c + d + e + f + g + h == 1"]),
    "curved": rb.Space(**EIGHT, x=F, constraints=[GROUP, "a * x + b + c >= 0.9"]),
    "kinds": rb.Space(
        a=rb.Int(-2, 2), b=rb.Float(-1, 1, step=0.25), c=rb.Ordinal(0, 1, 5), d=rb.Float(-1, 2), e=rb.Int(0, 9999),
        x=rb.Float(1e-3, 1, log=True), kind=rb.Choice("u", "v"), y=rb.Float(0, 1, when={"kind": "v"}),
        constraints=["at most 2 of a, b, c, d, e", "at most 1 of d, e", "d + b <= 1.5"],
    ),
}  # fmt: skip


def num_on(point, names):
    return sum(point[name] != 0 for name in names)


@pytest.mark.parametrize("kind", SPACES)
def test_points_spread_over_it_belong_to_it(kind):
    space = SPACES[kind]
    region = region_of(space)
    assert isinstance(region, UnionOfFaces)
    points = sobol_points(region, 3, 0, 48)
    assert all(space.allows(point) for point in points)
    rows = spread_over(region)
    assert bool(region.holds(rows).all())
    assert all(point is not None and space.allows(point) for point in region.points(rows[::50].tolist()))
    units = torch.tensor([space.to_unit(point) for point in points], dtype=torch.float64)
    assert bool(region.holds(units).all())  # as points have it


def test_every_number_that_may_be_on_is_as_often_and_none_on_comes_once():
    points = sobol_points(region_of(SPACES["plain"]), 1, 0, 97)
    sizes = Counter(num_on(point, EIGHT) for point in points)
    assert sizes[0] == 1
    assert all(abs(sizes[size] - 32) <= 3 for size in (1, 2, 3)), sizes
    used = Counter(name for point in points for name in EIGHT if point[name] != 0)
    assert all(12 <= used[name] <= 36 for name in EIGHT), used  # 24 of each on average


def test_with_values_fixed_the_others_have_what_is_left():
    space = SPACES["plain"]
    points = sobol_points(region_of(space, space.partial({"a": 0.5, "b": 0.25, "c": 0.0})), 0, 0, 20)
    assert all(space.allows(point) and (point["a"], point["b"], point["c"]) == (0.5, 0.25, 0.0) for point in points)
    assert {num_on(point, EIGHT) for point in points} == {2, 3}


@pytest.mark.parametrize("kind", SPACES)
def test_the_faces_beside_one_differ_by_one_on_or_off_or_one_for_another(kind):
    region = region_of(SPACES[kind])
    for row in spread_over(region)[:3]:
        others = rows_in_other_faces(region, row)
        assert bool(region.holds(others).all())
        gains = (region.on(others) & ~region.on(row[None])).sum(1)
        losses = (region.on(row[None]) & ~region.on(others)).sum(1)
        assert len(others)
        assert (gains <= 1).all()
        assert (losses <= 1 + (kind == "mixture")).all()  # what follows may come to be off too


def test_a_finite_space_is_listed():
    space = rb.Space(a=rb.Int(0, 2), b=rb.Int(0, 2), c=rb.Ordinal(0, 5), constraints=["at most 1 of a, b, c"])
    assert region_of(space).size == 6
    opt = rb.Optimizer(space, direction="maximize", acquisition="sobol")
    assert len({tuple(trial.params.values()) for trial in opt.ask(6)}) == 6
    with pytest.raises(rb.SpaceExhausted):
        opt.ask()


def test_one_place_alone_is_asked_for_where_all_else_is_off():
    space = SPACES["plain"]
    opt = rb.Optimizer(space, direction="maximize", surrogate="standard", num_initial=2, seed=0)
    for value in (0.0, 1.0, 0.5):
        opt.tell(opt.ask(), value)
    trial = opt.ask(fixed=dict.fromkeys("abc", 0.5))
    assert trial.params == {**dict.fromkeys(EIGHT, 0.0), **dict.fromkeys("abc", 0.5)}
    assert trial.fallback is None
