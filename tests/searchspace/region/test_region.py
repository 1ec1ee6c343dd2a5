"""What may be asked for: rows and points agree, and brute force finds no other points."""

import gc
import itertools
import random
import weakref

import pandas as pd
import pytest
import torch

import robustbo as rb
from robustbo.errors import SpaceError
from robustbo.searchspace.columns import is_continuous
from robustbo.searchspace.region.factory import region_of
from robustbo.searchspace.space import ABSENT
from tests.searchspace.made import KINDS, made

SPACES = [(kind, seed) for kind in KINDS if kind != "pool" for seed in range(4)]


def region_and(kind, seed):
    given = made(random.Random(f"{kind} {seed}"), kind)
    return region_of(given.space, given.space.partial(given.fixed)), given


def rows_of(region, count=96):
    return region.complete(torch.as_tensor(region.space.sobol_rows(0, 0, count)))


@pytest.mark.few(12)
@pytest.mark.parametrize(("kind", "seed"), SPACES)
def test_a_row_is_in_it_where_its_point_is(kind, seed):
    region, _ = region_and(kind, seed)
    rows = rows_of(region)
    inside = region.holds(rows)
    for row, is_in in zip(rows.tolist(), inside.tolist(), strict=True):
        point = None if any(u != u for u in row) else region.point(row)
        assert is_in == (point is not None), (row, point)
        assert point is None or (region.contains(point) and region.space.validate(point) == point)


@pytest.mark.parametrize(("kind", "seed"), SPACES)
def test_completed_rows_have_what_is_fixed_and_keep_the_equations(kind, seed):
    region, given = region_and(kind, seed)
    rows = rows_of(region)
    assert torch.equal(region.complete(rows).nan_to_num(-9), rows.nan_to_num(-9))
    for row in rows[region.holds(rows)].tolist():
        assert given.fixed.items() <= region.point(row).items()


@pytest.mark.few(12)
@pytest.mark.parametrize(("kind", "seed"), SPACES)
def test_the_canonical_row_is_that_of_the_point(kind, seed):
    region, _ = region_and(kind, seed)
    rows = rows_of(region)
    rows = rows[region.holds(rows)]
    canonical = region.canonical(rows)
    assert region.holds(canonical).all()
    for row, there in zip(rows.tolist(), canonical.tolist(), strict=True):
        assert region.point(row) == region.point(there)
        unit = region.space.to_unit(region.point(row))  # of an Int with very many values it is rounded
        exact = [i for i, (_, p) in enumerate(region.space.parameters) if p.levels is not None or p.count is None]
        assert [unit[i] for i in exact] == pytest.approx([there[i] for i in exact], abs=1e-9)
    assert torch.equal(region.canonical(canonical), canonical)


def brute(space, fixed):
    """All points, one by one."""
    found = []
    grids = [[p.nth(k) for k in range(p.count)] for _, p in space.parameters]
    for row in itertools.product(*grids):
        point = dict(zip(space.names, row, strict=True))
        there = space.existing(point)
        point = {name: value for name, value in point.items() if name in there}
        if point not in found and not space.broken(point) and fixed.items() <= point.items():
            found.append(point)
    return found


LISTED = {
    "steps that add up": (
        rb.Space(
            a=rb.Float(0, 1, step=0.1), b=rb.Float(0, 1, step=0.1), c=rb.Float(0, 1, step=0.1),
            constraints=["a + b + c == 1"],
        ),
        {},
    ),
    "integers that add up": (
        rb.Space(a=rb.Int(0, 6), b=rb.Int(1, 5), c=rb.Int(0, 4, step=2), constraints=["2 * a + b + c == 9"]),
        {},
    ),
    "two equations": (
        rb.Space(a=rb.Int(0, 6), b=rb.Int(0, 6), c=rb.Int(0, 6), constraints=["a + b == 6", "b - 2 * c == 0"]),
        {},
    ),
    "an ordinal that follows": (
        rb.Space(a=rb.Ordinal(1, 2, 5), b=rb.Ordinal(1, 3, 4), d=rb.Choice(True, 1), constraints=["a + b == 5"]),
        {"d": True},
    ),
    "conditions": (
        rb.Space(
            k=rb.Choice("t", "d"), n=rb.Int(0, 3, when={"k": "d"}), m=rb.Choice("p", "q", when={"n": [1, 2]}),
            o=rb.Ordinal(1, 2, 4), constraints=["n + o <= 4"],
        ),
        {},
    ),
    "fixed": (rb.Space(n=rb.Int(0, 9), o=rb.Ordinal("s", "m"), c=rb.Choice("a", "b")), {"o": "m"}),
    "unequal": (rb.Space(n=rb.Int(1, 40, log=True), m=rb.Int(0, 9, step=3), constraints=["n * m <= 30", "n >= m"]), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", LISTED)
def test_all_points_are_listed(name):
    space, fixed = LISTED[name]
    listed = region_of(space, space.partial(fixed)).all_points
    expected = brute(space, fixed)
    assert len(listed) == len(expected)
    assert sorted(map(repr, listed)) == sorted(map(repr, expected))


def test_nothing_is_listed_where_something_is_real():
    space = rb.Space(x=rb.Float(0, 1), n=rb.Int(0, 3), constraints=["x + n <= 2"])
    assert region_of(space).all_points is None
    assert region_of(space).size is None
    assert region_of(space, (("x", 0.5),)).size == 2


def test_a_space_without_anything_of_it_has_its_own_points():
    space = rb.Space(x=rb.Float(0, 1), c=rb.Choice("a", "b"))
    region = region_of(space)
    assert not region.is_restricted
    assert region.point([0.3, 0.8]) == space.from_unit([0.3, 0.8])


def test_what_does_not_exist_is_in_the_middle():
    space = rb.Space(k=rb.Choice("t", "d"), x=rb.Float(0, 1, when={"k": "d"}), constraints=["x <= 0.5"])
    region = region_of(space)
    rows = region.canonical(torch.tensor([[0.1, 0.9], [0.9, 0.2]], dtype=torch.float64))
    assert rows.tolist() == [[0.25, ABSENT], [0.75, 0.2]]
    assert region.holds(torch.tensor([[0.1, 0.9], [0.9, 0.9]], dtype=torch.float64)).tolist() == [True, False]


@pytest.mark.parametrize(
    ("constraints", "fixed", "match"),
    [
        (["n + m == 7.5"], {}, r"no point keeps 'n \+ m == 7\.5': there is no point to ask for"),
        (["n + m <= 3"], {"n": 4}, r"'n \+ m <= 3' can never hold with {'n': 4}, with n in \[4, 4\], m in \[0, 5\]"),
    ],
)
def test_an_empty_region_names_the_constraint(constraints, fixed, match):
    space = rb.Space(n=rb.Int(0, 5), m=rb.Int(0, 5), constraints=constraints)
    with pytest.raises(SpaceError, match=match):
        region_of(space, space.partial(fixed))


def test_what_is_free():
    space = rb.Space(
        a=rb.Float(0, 1), b=rb.Float(0, 1), one=rb.Choice("z"), n=rb.Int(0, 3), c=rb.Float(0, 1),
        constraints=["a + b == 1"],
    )  # fmt: skip
    region = region_of(space, (("c", 0.5),))
    assert len(region.dependents) == 1
    assert {space.names[i] for i in region.free} == {"a", "b", "n"} - {region.dependents[0].name}
    assert all(is_continuous(space.parameters[i][1]) for i in region.continuous)


def test_what_is_equal_in_python_is_told_apart():
    spaces = [rb.Space(x=rb.Float(0, 1), c=rb.Choice(*v), constraints=["x <= 0.7"]) for v in ([True, False], [1, 0])]
    assert [type(region_of(space).point([0.5, 0.2])["c"]) for space in spaces] == [bool, int]
    space = rb.Space(x=rb.Float(0, 1), c=rb.Choice(1, True, "a"))
    for value, other in ((1, True), (True, 1)):
        region = region_of(space, space.partial({"c": value}))
        assert region.point([0.5, 0.9])["c"] is value
        assert region.contains({"x": 0.5, "c": value})
        assert not region.contains({"x": 0.5, "c": other})


def test_the_rows_of_a_pool_that_are_equal_in_python_are_told_apart():
    pool = rb.Pool(pd.DataFrame({"x": [0.0, 1.0, 2.0], "c": pd.Series([1, True, "a"], dtype=object)}))
    assert region_of(pool, pool.partial({"c": True})).all_points == [{"x": 1.0, "c": True}]


def test_few_regions_of_pools_are_kept():
    pools = [rb.Pool(pd.DataFrame({"x": [0.0, float(last)]})) for last in range(1, 11)]
    regions = [weakref.ref(region_of(pool)) for pool in pools]
    gc.collect()
    assert sum(region() is not None for region in regions) <= 4
