"""Points spread over a region: uniform where they can be, found where it is tiny, and none of an empty one."""

import math

import pytest
import torch
from scipy.stats import kstest

import robustbo as rb
from robustbo import seeds
from robustbo.errors import SpaceError
from robustbo.searchspace.region.factory import region_of
from robustbo.searchspace.region.sampling import sobol_points, spread_over
from robustbo.searchspace.region.walks import step

BOX = {"x": rb.Float(0, 1), "y": rb.Float(0, 1)}


def points(space, count=64, seed=0, **fixed):
    region = region_of(space, space.partial(fixed))
    found = sobol_points(region, seed, 0, count)
    assert len(found) == count
    assert all(region.contains(point) and space.validate(point) == point for point in found)
    return found


def walked(space, count, rounds=80):
    """Rows of walks that all begin at one point."""
    region, generator = region_of(space), seeds.generator(0, 0, "test")
    x = spread_over(region)[:1].expand(count, -1).numpy()
    for _ in range(rounds):
        x = step(region, x, generator)
        assert region.shape.holds(x).all()
    return x


def test_walks_are_uniform_on_a_triangle():
    """On x + y <= 1 the shares of x have the distribution 1 - (1 - x)**2, and so has the sum its square."""
    x = walked(rb.Space(**BOX, constraints=["x + y <= 1"]), 1500)
    for column in (0, 1):
        assert kstest(x[:, column], lambda t: 1 - (1 - t) ** 2).pvalue > 1e-3
    assert kstest(x.sum(-1), lambda t: t**2).pvalue > 1e-3


def test_walks_are_uniform_on_a_mixture():
    """A part of three that add up to one has the distribution 1 - (1 - a)**2."""
    parts = {name: rb.Float(0, 1) for name in "abc"}
    x = walked(rb.Space(**parts, constraints=["a + b + c == 1"]), 1500)
    for column in range(3):
        assert kstest(x[:, column], lambda t: 1 - (1 - t) ** 2).pvalue > 1e-3


def test_where_it_is_easy_sobol_points_are_those_of_the_cube_that_belong_to_it():
    space = rb.Space(**BOX, constraints=["x + y <= 1"])
    of_the_cube = [p for p in rb.Space(**BOX).sobol_points(3, 0, 256) if p["x"] + p["y"] <= 1]
    assert points(space, 100, 3) == of_the_cube[:100]


def test_sobol_points_fill_a_half_evenly():
    found = points(rb.Space(**BOX, constraints=["x <= 0.5"]), 64)
    counts = [[sum(int(p["x"] * 8) == i and int(p["y"] * 4) == j for p in found) for i in range(4)] for j in range(4)]
    assert all(1 <= each <= 7 for row in counts for each in row)


@pytest.mark.parametrize("width", [1e-3, 1e-6])
def test_a_tiny_region_is_found_and_filled(width):
    space = rb.Space(**BOX, constraints=[f"0.3 <= x <= {0.3 + width}", f"0.6 <= y <= {0.6 + width}"])
    found = points(space, 32)
    assert len({tuple(point.values()) for point in found}) == 32
    assert max(p["x"] for p in found) - min(p["x"] for p in found) > 0.5 * width
    assert max(p["y"] for p in found) - min(p["y"] for p in found) > 0.5 * width


def test_gardners_two_circles_are_both_found():
    c = "((x - 1.5707963)**2 + (y - 4.712389)**2 - {0}) * ((x - 4.712389)**2 + (y - 1.5707963)**2 - {0}) <= 0"
    for size in (0.75, 0.05):
        space = rb.Space(x=rb.Float(0, 6), y=rb.Float(0, 6), constraints=[c.format(size)])
        found = points(space, 40)
        left = sum(point["x"] < 3 for point in found)
        assert 8 <= left <= 32, size
        region = region_of(space)
        assert 100 <= int((spread_over(region)[:, 0] < 0.5).sum()) <= 924


def test_a_shell_in_many_dimensions():
    names = [f"x{i}" for i in range(5)]
    middle = " + ".join(f"({name} - 0.5)**2" for name in names)
    space = rb.Space(**{name: rb.Float(0, 1) for name in names}, constraints=[f"0.0399 <= {middle} <= 0.04"])
    for point in points(space, 32):
        assert math.dist(point.values(), [0.5] * 5) == pytest.approx(0.2, abs=3e-4)


def test_a_mixture_of_ten():
    names = [f"part {i}" for i in range(10)]
    space = rb.Space.from_dict(
        {name: rb.Float(0, 1) for name in names}, [" + ".join(f"`{name}`" for name in names) + " == 1"]
    )
    found = points(space, 64)
    assert all(math.isclose(math.fsum(point.values()), 1, abs_tol=1e-9) for point in found)
    for name in names:
        assert 0.05 < sum(point[name] for point in found) / 64 < 0.2, name
    assert len({tuple(point.values()) for point in found}) == 64


def test_a_mixture_with_narrow_bounds():
    parts = {"a": rb.Float(0.3, 0.301), "b": rb.Float(0.2, 0.2005), "c": rb.Float(0.4, 0.6), "d": rb.Float(0, 0.0005)}
    found = points(rb.Space(**parts, constraints=["a + b + c + d == 1"]), 16)
    assert len({tuple(point.values()) for point in found}) == 16


def test_whole_numbers_that_add_up():
    space = rb.Space(**{name: rb.Int(0, 50) for name in "abcd"}, constraints=["a + b + c + d == 60"])
    found = points(space, 64)
    assert all(sum(point.values()) == 60 for point in found)
    assert len({tuple(point.values()) for point in found}) == 64


def test_whole_numbers_whose_sum_is_seldom():
    space = rb.Space(
        **{name: rb.Int(0, 12) for name in "abc"}, z=rb.Float(0, 1), constraints=["7 * a + 5 * b + 11 * c == 83"]
    )
    found = points(space, 16)
    assert all(7 * p["a"] + 5 * p["b"] + 11 * p["c"] == 83 for p in found)


def test_with_something_fixed():
    found = points(rb.Space(**BOX, c=rb.Choice("p", "q"), constraints=["x + y <= 1"]), 16, c="q", y=0.875)
    assert {(point["c"], point["y"]) for point in found} == {("q", 0.875)}
    assert len({point["x"] for point in found}) == 16


def test_an_empty_region_names_the_constraint_that_is_kept_least_often():
    space = rb.Space(**BOX, constraints=["x**2 + y**2 <= 0.5", "(x - 2)**2 + (y - 2)**2 <= 3.2"])
    with pytest.raises(SpaceError, match=r"no point was found that keeps .*; '\(x - 2\)\*\*2 .*' is kept least often"):
        points(space, 1)


def test_an_ask_of_an_empty_region_is_an_error_that_names_what_is_fixed():
    space = rb.Space(**BOX, z=rb.Float(0, 1), constraints=["x**2 + y**2 >= 1.5 + z"])
    opt = rb.Optimizer(space, direction="minimize", seed=0)
    with pytest.raises(SpaceError, match=r"with {'z': 0\.75}"):
        opt.ask(fixed={"z": 0.75})
    assert opt.history.trials == ()
    assert opt.ask(fixed={"z": 0.25}).params["z"] == 0.25


def test_points_depend_on_the_seed_and_are_the_same_again():
    space = rb.Space(**BOX, constraints=["(x - 0.5)**2 + (y - 0.5)**2 <= 1e-4"])
    region = region_of(space)
    assert sobol_points(region, 1, 3, 2) == sobol_points(region, 1, 0, 5)[3:]
    wide = region_of(rb.Space(**BOX, constraints=["x + y <= 1"]))
    assert sobol_points(wide, 1, 0, 4) != sobol_points(wide, 2, 0, 4)
    assert torch.equal(spread_over(region), spread_over(region))
