import copy
import math
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from robustbo.errors import SpaceError
from robustbo.limits import CONSTRAINT_CHARACTERS
from robustbo.searchspace.constraints.expression import Expression

NAMES = ("x", "y", "z")
many = settings(deadline=None, derandomize=True, max_examples=120)
quarters = st.integers(-20, 20).map(lambda n: n / 4)
numbers = st.sampled_from(["0.0", "0.25", "0.5", "1.0", "2.0", "3.0", "1e-3"])
points = st.fixed_dictionaries({name: quarters for name in NAMES})


def joined(inner):
    binary = st.tuples(inner, st.sampled_from([" + ", " - ", " * ", " / ", "**"]), inner)
    return binary.map(lambda parts: f"({''.join(parts)})") | inner.map("(-{})".format)


trees = st.recursive(st.sampled_from(NAMES) | numbers, joined, max_leaves=8)


@st.composite
def boxes(draw):
    """A box, and a point in it."""
    box, point = {}, {}
    for name in NAMES:
        low = draw(quarters)
        high = low + draw(st.integers(0, 12)) / 4
        box[name], point[name] = (low, high), low + draw(st.floats(0, 1)) * (high - low)
        point[name] = min(max(point[name], low), high)
    return box, point


def pythons(text, values):
    """What Python makes of the text; the trees are too small for an infinity that raises no error."""
    try:
        value = eval(text, {"__builtins__": {}}, values)
    except (ZeroDivisionError, OverflowError):
        return math.nan
    return math.nan if isinstance(value, complex) else value


@many
@given(trees, points)
def test_a_value_is_what_python_says(text, point):
    np.testing.assert_equal(Expression.parse(text)(point), pythons(text, point))


@many
@given(trees, st.lists(points, min_size=2, max_size=4))
def test_arrays_and_tensors_are_as_floats_one_by_one(text, rows):
    expression = Expression.parse(f"{text} + 0 * x + 0 * y + 0 * z")  # so that the shape is of all
    columns = {name: np.array([row[name] for row in rows]) for name in NAMES}
    one_by_one = [expression(row) for row in rows]
    np.testing.assert_allclose(expression(columns), one_by_one, rtol=1e-9)
    tensors = expression({name: torch.tensor(column) for name, column in columns.items()})
    np.testing.assert_allclose(tensors.numpy(), one_by_one, rtol=1e-9)
    np.testing.assert_allclose(expression.magnitude(columns), [expression.magnitude(row) for row in rows], rtol=1e-9)


@many
@given(trees, boxes())
def test_bounds_hold_every_value_and_magnitude(text, drawn):
    box, point = drawn
    expression = Expression.parse(text)
    low, high = expression.bounds(box)
    value, magnitude = expression(point), expression.magnitude(point)
    assert math.isnan(value) or low <= value <= high
    assert math.isnan(magnitude) or magnitude <= expression.max_magnitude(box) * (1 + 1e-12)
    assert math.isnan(value) or math.isnan(magnitude) or abs(value) <= magnitude * (1 + 1e-12)


@many
@given(trees, points)
def test_a_linear_form_has_the_same_values(text, point):
    expression = Expression.parse(text)
    if (form := expression.linear) is None:
        return
    value = expression(point)
    summed = form.constant + sum(c * point[name] for name, c in form.coefficients)
    assert abs(summed - value) <= 1e-12 * (1 + expression.magnitude(point))


@pytest.mark.parametrize(
    ("text", "coefficients", "constant"),
    [
        ("x * 2", {"x": 2.0}, 0.0),
        ("2 * x / 4", {"x": 0.5}, 0.0),
        ("-(x + 1) * 2", {"x": -2.0}, -2.0),
        ("x**1 - y", {"x": 1.0, "y": -1.0}, 0.0),
        ("x**(3 - 2) + 2**3", {"x": 1.0}, 8.0),
        ("x - x + y", {"y": 1.0}, 0.0),
        ("x + 1 + x", {"x": 2.0}, 1.0),
        ("x**0", {}, 1.0),
        ("+x", {"x": 1.0}, 0.0),
    ],
)
def test_what_is_linear(text, coefficients, constant):
    form = Expression.parse(text).linear
    assert (dict(form.coefficients), form.constant) == (coefficients, constant)


@pytest.mark.parametrize(
    "text", ["x * y", "1 / x", "x**2", "2**x", "x**0.5", "x / 0", "x + 1e308 * 10", "x + (-8)**0.5"]
)
def test_what_is_not_linear(text):
    assert Expression.parse(text).linear is None


@pytest.mark.parametrize(
    "text", ["1 / x", "(0 - 8 + x)**0.5", "1e200**(2 + x)", "1e308 * 10 + x", "1 / (1 / x)", "x**-1"]
)
def test_what_has_no_finite_value_is_nan_and_nothing_raises(text):
    expression = Expression.parse(text)
    assert math.isnan(expression({"x": 0.0}))
    assert np.isnan(expression({"x": np.zeros(2)})).all()
    assert expression({"x": torch.zeros(2, dtype=torch.double)}).isnan().all()


@pytest.mark.parametrize("value", [3, np.float64(3), np.int64(3), np.array(3), True + 2])
def test_a_number_of_any_kind_gives_a_float(value):
    assert type(Expression.parse("x / 2")({"x": value})) is float
    assert Expression.parse("x / 2")({"x": value}) == 1.5


def test_whole_numbers_are_no_trap():
    """NumPy refuses a negative whole power of whole numbers, and wraps around."""
    expression = Expression.parse("x**-y + x**64")
    np.testing.assert_array_equal(expression({"x": np.array([2]), "y": [1]}), [2.0**64 + 0.5])
    assert expression({"x": torch.tensor([2]), "y": torch.tensor([1])}) == 2.0**64 + 0.5


@pytest.mark.parametrize("text", ["x * y - x / y", "x**2 * y**-3", "x**y + 2**x", "(x - y)**3 - x**0.5", "-x - 2 * -y"])
def test_a_tensor_has_the_gradient_of_finite_differences(text):
    expression = Expression.parse(text)
    x = torch.tensor([0.5, 1.5, 2.0], dtype=torch.double, requires_grad=True)
    y = torch.tensor([0.7, 0.2, 3.0], dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, y: expression({"x": x, "y": y}), (x, y))
    assert torch.autograd.gradgradcheck(lambda x, y: expression({"x": x, "y": y}), (x, y))


def test_a_gradient_is_finite_where_another_value_is_not():
    x = torch.tensor([0.0, 2.0], dtype=torch.double, requires_grad=True)
    value = Expression.parse("1 / x")({"x": x})
    assert torch.autograd.grad(value[1], x)[0].isfinite()[1]
    square = Expression.parse("x**2")({"x": x})
    assert torch.autograd.grad(square.sum(), x)[0].tolist() == [0.0, 4.0]


def test_a_magnitude_tells_rounding_from_excess():
    near = {"x": 1e6 * (1 + 1e-12), "y": 1e6}
    assert Expression.parse("x - y")(near) > 1e-9
    assert Expression.parse("x - y").magnitude(near) == pytest.approx(2e6)
    assert Expression.parse("-x * y / 2").magnitude({"x": -3.0, "y": -4.0}) == 6.0
    # 1 / (x - y) changes by the square of what its divisor is small by
    assert Expression.parse("1 / (x - y)").magnitude({"x": 1.0, "y": 0.999}) == pytest.approx(2e6, rel=1e-3)
    assert Expression.parse("x**0.5 + y").magnitude({"x": 0.0, "y": 1.0}) == 1.0


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("x**2", 0, 4),
        ("x**3", -8, 1),
        ("x**-2", -math.inf, math.inf),
        ("y**-2", 1 / 16, 1),
        ("(-y)**-1", -1, -1 / 4),
        ("y**0.5", 1, 2),
        ("x**0.5", 0, 1),
        ("x / y", -2, 1),
        ("y / x", -math.inf, math.inf),
        ("x * y", -8, 4),
        ("2**x", 0.25, 2),
        ("x**y", -16, 16),
        ("x**0", 1, 1),
        ("(x - 2)**-y", -1, 1),
        ("(x**2)**0.5", 0, 2),
    ],
)
def test_bounds_are_near(text, low, high):
    assert Expression.parse(text).bounds({"x": (-2, 1), "y": (1, 4)}) == pytest.approx((low, high), abs=1e-12)


def test_names_come_in_order_and_may_be_anything_in_backquotes():
    expression = Expression.parse("`learning rate` - x * `lambda` + `a-b é` + x", None)
    assert expression.names == ("learning rate", "x", "lambda", "a-b é")
    assert expression({"learning rate": 1.0, "x": 2.0, "lambda": 3.0, "a-b é": 4.0}) == 1.0
    assert Expression.parse("é * `ü ö` + ß").names == ("é", "ü ö", "ß")  # places are counted in characters


def test_a_name_is_taken_as_written_else_as_python_spells_it():
    micro, mu = "\N{MICRO SIGN}", "\N{GREEK SMALL LETTER MU}"
    assert Expression.parse(micro, [micro]).names == (micro,)
    assert Expression.parse(micro, [mu]).names == (mu,)


def test_it_is_compared_hashed_and_pickled():
    expression = Expression.parse("x * (y + 2)")
    assert expression.linear is None
    for other in (pickle.loads(pickle.dumps(expression)), copy.deepcopy(expression), Expression.parse("x*(y+2.0)")):
        assert other == expression
        assert hash(other) == hash(expression)
    assert Expression.parse("x * y + 2") != expression


def test_a_sum_may_be_long():
    text = " + ".join(["x"] * 400)
    expression = Expression.parse(text)
    assert expression({"x": 1.0}) == 400
    assert expression.linear.coefficients == (("x", 400.0),)
    assert expression.bounds({"x": (0, 1)}) == pytest.approx((0, 400))
    assert pickle.loads(pickle.dumps(expression)) == expression


@pytest.mark.parametrize(
    "text",
    [
        *(
            "__import__('os')",
            "x.real",
            "x.__class__",
            "x[0]",
            "lambda: x",
            "[x for x in y]",
            "{x}",
            "{x: y}",
            "(x, y)",
        ),
        *("f'{x}'", "'x'", "b'x'", "(x := 1)", "x if y else z", "x and y", "not x", "~x", "x @ y", "x // y", "x % y"),
        *("x << 2", "x | y", "x & y", "x ^ y", "True", "None", "...", "1j", "*x", "await x", "(yield x)", "x <= y"),
        *("x; y", "x\\\n+y", "x # y", "x = 1", "", "  ", "(", ")", "x y", "2x", "1or x", "'\\d'", "0777", "import os"),
        *("`x", "``", "`x``y`", "x`y`", "x\0", "\ud800", "`\ud800", "x\u200b", "abs(x)", "print", "1e999", "9" * 400),
        *("(" * 150 + "-" * 101 + "x" + ")" * 150, "(" * 999 + "x" + ")" * 999, "-" * 1999 + "x", "x" * 99999),
        *("9**" * 600 + "9", "x" + "[" * 1000, "(" * 1000, "f'{" * 500, "x+" * 1001),
    ],
)
def test_what_is_not_allowed_is_refused(text):
    with pytest.raises(SpaceError, match="constraint"):
        Expression.parse(text, NAMES)


def test_a_tower_of_powers_costs_nothing():
    assert math.isnan(Expression.parse("9**9**9**9")({}))
    assert not Expression.parse("x + 9**9**9**9").is_defined
    assert Expression.parse("9**9**9**9 + x").bounds({"x": (0, 1)})[1] == math.inf


@pytest.mark.parametrize(
    ("text", "defined"), [("x / (2 - 2)", False), ("(-1)**0.5 * x", False), ("0 / x", True), ("2", True)]
)
def test_whether_a_value_can_be_had_is_known(text, defined):
    assert Expression.parse(text).is_defined == defined


def test_a_text_has_a_limit():
    assert Expression.parse("x" + " " * 5000).names == ("x",)
    with pytest.raises(
        SpaceError, match=f"at most {CONSTRAINT_CHARACTERS} characters, got {CONSTRAINT_CHARACTERS + 1}"
    ):
        Expression.parse("x" * (CONSTRAINT_CHARACTERS + 1))
    with pytest.raises(SpaceError, match="nested too deeply, more than 100 times"):
        Expression.parse("-" * 101 + "x")


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.text(max_size=30) | st.text("xy0129.+-*/()<>=` e_[]'{}:,!\\", max_size=20))
def test_any_text_is_read_or_refused(text):
    try:
        value = Expression.parse(text, NAMES)({"x": 1.0, "y": 2.0, "z": 3.0})
    except SpaceError:
        return
    assert isinstance(value, float)
