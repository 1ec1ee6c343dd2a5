"""Which parameters exist at a point, and conditions that are refused."""

import pytest

import robustbo as rb
from robustbo.errors import SpaceError

DEEP = rb.Space(
    deep=rb.Int(1, 5, when={"mode": "q"}),  # before what it depends on
    booster=rb.Choice("tree", "dart", True, 1),
    mode=rb.Choice("p", "q", when={"booster": ["dart", True]}),
    both=rb.Float(0, 1, when={"booster": "dart", "level": [2, 4]}),
    level=rb.Ordinal(1, 2, 4),
)


@pytest.mark.parametrize(
    ("point", "names"),
    [
        ({"booster": "tree", "level": 2}, {"booster", "level"}),
        ({"booster": 1, "level": 2}, {"booster", "level"}),  # 1 is not True
        ({"booster": True, "level": 2, "mode": "p"}, {"booster", "level", "mode"}),
        ({"booster": True, "level": 2, "mode": "q"}, {"booster", "level", "mode", "deep"}),
        ({"booster": "dart", "level": 1, "mode": "p"}, {"booster", "level", "mode"}),
        ({"booster": "dart", "level": 4, "mode": "p"}, {"booster", "level", "mode", "both"}),
        ({"booster": "tree", "level": 4, "mode": "q"}, {"booster", "level"}),  # mode does not exist, nor what it has
    ],
)
def test_what_exists(point, names):
    assert DEEP.existing(point) == names


def test_a_point_has_what_exists_in_the_spaces_order():
    point = DEEP.validate({"level": 2, "mode": "q", "booster": "dart", "both": 0.5, "deep": 3})
    assert list(point) == ["deep", "booster", "mode", "both", "level"]
    assert DEEP.from_unit(DEEP.to_unit(point)) == point


@pytest.mark.parametrize(
    ("point", "match"),
    [
        ({"booster": "dart", "level": 1}, "mode: every parameter must have a value, and one is missing in"),
        (
            {"booster": "tree", "level": 1, "mode": "p"},
            r"mode: exists only where booster is one of \['dart', True\]; leave",
        ),
        ({"booster": "dart", "level": 1, "mode": "p", "deep": 1}, "deep: exists only where mode is 'q'; leave it out"),
        ({"booster": "tree", "level": 1, "mdoe": "p"}, "mdoe: no such parameter"),
        ({"booster": "tree"}, "level: every parameter must have a value"),
        ({"level": 1}, "booster: every parameter must have a value"),
    ],
)
def test_a_point_that_breaks_a_rule_is_refused(point, match):
    with pytest.raises(SpaceError, match=match):
        DEEP.validate(point)


@pytest.mark.parametrize(
    ("fixed", "match"),
    [
        ({"mode": "q"}, r"mode: exists only where booster is one of \['dart', True\]; give that too, got"),
        ({"deep": 1, "booster": "dart"}, "deep: exists only where mode is 'q'; give that too"),
        ({"levle": 1}, "levle: no such parameter"),
        ({"level": 3}, r"level: must be one of \[1, 2, 4\], got 3"),
    ],
)
def test_what_is_fixed_must_exist(fixed, match):
    with pytest.raises(SpaceError, match=match):
        DEEP.partial(fixed)


def test_what_is_fixed_is_plain_and_in_order():
    assert DEEP.partial({"level": 2.0, "mode": "q", "booster": True}) == (
        ("booster", True),
        ("mode", "q"),
        ("level", 2),
    )
    with pytest.raises(TypeError, match="fixed must be a mapping of parameters to values, got 3"):
        DEEP.partial(3)
    assert DEEP.partial(None) == DEEP.partial({}) == ()


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"x": rb.Float(0, 1, when={"y": 1})}, r"x\.when: must name another parameter of \['x', 'c'\], got 'y'"),
        ({"x": rb.Float(0, 1, when={"x": 1})}, r"x\.when: must name another parameter"),
        ({"x": rb.Float(0, 1, when={"c": "z"})}, r"x\.when: c: must be one of \['a', 'b'\], got 'z'"),
        ({"x": rb.Float(0, 1, when={"y": 0.5}), "y": rb.Float(0, 1)}, "'y' must have at most 1000 values"),
        (
            {"x": rb.Int(0, 1, when={"y": 0}), "y": rb.Int(0, 1, when={"x": 0})},
            r"\w\.when: conditions form a circle: \['., 'y', 'x'\]|\w\.when: conditions form a circle",
        ),
    ],
)
def test_a_condition_that_can_never_be_is_refused(parameters, match):
    with pytest.raises(SpaceError, match=match):
        rb.Space(**parameters, c=rb.Choice("a", "b"))


def test_a_constraint_holds_where_one_of_its_parameters_does_not_exist():
    space = rb.Space(
        k=rb.Choice("t", "d"), x=rb.Float(0, 1, when={"k": "d"}), y=rb.Float(0, 1), constraints=["x + y <= 1"]
    )
    assert space.broken({"k": "t", "y": 1.0}) == []
    assert space.broken({"k": "d", "x": 0.5, "y": 1.0}) == ["x + y <= 1"]


def test_an_equation_of_what_may_be_absent_is_refused():
    with pytest.raises(SpaceError, match="an equality takes parameters that always exist, not 'x'"):
        rb.Space(k=rb.Choice("t", "d"), x=rb.Float(0, 1, when={"k": "d"}), y=rb.Float(0, 1), constraints=["x + y == 1"])
