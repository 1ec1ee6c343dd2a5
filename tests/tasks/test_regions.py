from dataclasses import replace

import numpy as np
import pytest

from robustbo.tasks.regions import SHAPES, height, region, share_below
from robustbo_problems.hartmann6 import hartmann6
from robustbo_problems.synthetic import branin, levy

U = np.random.default_rng(0).random((4000, 3))
LEVY = levy(3)


def share(name, **options):
    """Of the cube's volume that fails."""
    fails = region(name, LEVY, options)
    return np.mean([fails(LEVY.space.from_unit(u.tolist())) for u in U])


def near(found, expected):
    return abs(found - expected) < 4 * np.sqrt(expected * (1 - expected) / len(U)) + 1e-9


@pytest.mark.parametrize("a", [[1.0, 1.0, 1.0], [1.0, -0.6, 0.3], [2.0, 0.0, -1.0], [0.0, 0.0, 1.0]])
@pytest.mark.parametrize("p", [0.0, 0.05, 0.5, 0.97, 1.0])
def test_a_height_has_that_share_below(a, p):
    b = height(np.array(a), p)
    assert share_below(np.array(a), b) == pytest.approx(p, abs=1e-12)
    assert near(np.mean(np.array(a) @ U.T <= b), p)


def test_the_share_below_is_that_of_a_triangle():
    assert share_below(np.array([1.0, 1.0]), 0.5) == pytest.approx(1 / 8)


def test_shapes_have_their_share():
    assert near(share("half-space", normal_1=-1.0, normal_3=0.4, share=0.6), 0.6)
    assert near(share("slab", normal_1=1.0, normal_2=0.6, share=0.05, below=0.3), 0.95)
    assert near(share("disc", radius=0.3), 4 / 3 * np.pi * 0.3**3)
    assert near(share("checkerboard", cells=2), 0.5)


def test_a_disc_is_about_its_center_and_a_half_space_lies_where_its_normal_points():
    disc = region("disc", branin, {"center_1": 0.542773, "center_2": 0.151667, "radius": 0.25})
    assert disc(branin.optimizer)
    assert not disc({"x1": -np.pi, "x2": 12.275})
    half = region("half-space", branin, {"normal_2": -1.0, "share": 0.2})
    assert [half({"x1": 0.0, "x2": x2}) for x2 in (2.9, 3.1)] == [True, False]


def test_neighbours_on_a_checkerboard_differ():
    fails = region("checkerboard", branin, {"cells": 8})
    found = [[fails(branin.space.from_unit([(i + 0.5) / 8, (j + 0.5) / 8])) for j in range(8)] for i in range(8)]
    assert found == [[(i + j) % 2 == 1 for j in range(8)] for i in range(8)]
    assert fails(branin.space.from_unit([1.0, 1.0])) == found[7][7]


def test_a_problems_own_region_is_one():
    made = replace(branin, regions={"left": lambda params: params["x1"] < 0})
    assert region("left", made, {})({"x1": -1.0, "x2": 1.0})
    with pytest.raises(ValueError, match="region left has no options, got"):
        region("left", made, {"radius": 1.0})
    with pytest.raises(ValueError, match="regions must have names of their own, got 'disc'"):
        region("disc", replace(branin, regions={"disc": made.regions["left"]}), {"radius": 1.0})


@pytest.mark.parametrize(
    ("name", "options", "match"),
    [
        ("blob", {}, r"region must be one of \['checkerboard', .*got 'blob'"),
        ("disc", {}, r"region disc needs the option 'radius', got \[\]"),
        ("disc", {"radius": 0.0}, r"radius must be positive, got 0\.0"),
        ("disc", {"radius": 0.1, "center_7": 0.5}, r"region disc has the options .*'center_6'\], got 'center_7'"),
        ("half-space", {"share": 0.5}, r"normal must not be 0"),
        ("half-space", {"share": 1.5, "normal_1": 1.0}, r"share must lie in \[0, 1\], got 1\.5"),
        ("slab", {"share": 0.5, "below": 0.6, "normal_1": 1.0}, r"share and below must not exceed 1 together"),
        ("checkerboard", {"cells": 2.5}, r"cells must be a whole number, at least 1, got 2\.5"),
    ],
)
def test_what_makes_no_region_is_refused(name, options, match):
    with pytest.raises(ValueError, match=match):
        region(name, hartmann6, options)


def test_a_plane_depends_on_few_inputs():
    assert share_below(np.linspace(0.5, 1.5, 10), 5.0) == pytest.approx(0.5, abs=1e-9)
    options = {f"normal_{i}": 1.0 for i in range(1, 12)}
    with pytest.raises(ValueError, match="normal must have at most 10 entries that are not 0, got 11"):
        region("half-space", levy(11), options | {"share": 0.5})


def test_every_shape_is_tested():
    assert sorted(SHAPES) == ["checkerboard", "disc", "half-space", "slab"]
