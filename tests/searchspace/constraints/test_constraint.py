import math
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from robustbo.errors import SpaceError
from robustbo.searchspace.constraints.constraint import parse

NAMES = ["x", "y", "depth", "learning rate"]
many = settings(deadline=None, derandomize=True, max_examples=300)


def one(text, names=NAMES):
    (constraint,) = parse(text, names)
    return constraint


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("x + y <= 1", (0.5, 0.5), (0.5, 0.51)),
        ("x + y < 1", (0.5, 0.5), (0.5, 0.51)),
        ("x >= y", (0.5, 0.5), (0.5, 0.51)),
        ("x > y", (0.5, 0.5), (0.5, 0.51)),
        ("1 >= x * y", (2.0, 0.5), (2.0, 0.51)),
        ("x == y", (0.5, 0.5), (0.51, 0.5)),
        ("x == y", (0.5, 0.5), (0.5, 0.51)),
        ("x == 2 * y", (2.0, 1.0), (1.0, 1.0)),
        ("x**2 + y**2 <= 2", (1.0, -1.0), (1.0, -1.01)),
        ("1 / x <= y", (0.5, 2.0), (0.5, 1.9)),
    ],
)
def test_what_holds(text, inside, outside):
    constraint = one(text)
    for point, holds in ((inside, True), (outside, False)):
        params = dict(zip("xy", point, strict=True))
        assert constraint.holds(params) == holds
        excess = constraint.excess(params)
        assert (excess == 0) if constraint.is_equality and holds else ((excess <= 0) is holds or constraint.is_equality)


def test_a_chain_is_several_with_one_text():
    low, high = parse(" 0.2 <= x + y < 1 ", NAMES)
    assert low.text == high.text == "0.2 <= x + y < 1"
    assert [low.holds({"x": x, "y": 0.0}) for x in (0.1, 0.5, 1.1)] == [False, True, True]
    assert [high.holds({"x": x, "y": 0.0}) for x in (0.1, 0.5, 1.1)] == [True, True, False]
    assert [constraint.is_equality for constraint in parse("0 <= x == y", NAMES)] == [False, True]


def test_it_holds_to_rounding_at_any_scale():
    assert 0.1 + 0.2 > 0.3
    assert one("x + y <= 0.3").holds({"x": 0.1, "y": 0.2})
    assert one("x + y == 0.3").holds({"x": 0.1, "y": 0.2})
    for scale in (1e-200, 1e-6, 1.0, 1e6, 1e200):
        equality, bound = one("x == y"), one("x <= y")
        for constraint in (equality, bound):
            assert constraint.holds({"x": scale * (1 + 1e-11), "y": scale})
            assert not constraint.holds({"x": scale * (1 + 1e-8), "y": scale})
        assert not equality.holds({"x": scale, "y": scale * (1 + 1e-8)})


@many
@given(st.lists(st.integers(0, 1000), min_size=4, max_size=4).filter(sum))
def test_a_mixture_of_rounded_shares_holds(weights):
    shares = [float(f"{weight / sum(weights):.11g}") for weight in weights]
    constraint = one("a + b + c + d == 1", list("abcd"))
    assert constraint.holds(dict(zip("abcd", shares, strict=True)))
    assert not constraint.holds(dict(zip("abcd", [*shares[:3], shares[3] + 1e-6], strict=True)))


def test_nan_does_not_hold():
    assert not one("x <= 1").holds({"x": math.nan})
    assert not one("x == 1").holds({"x": math.nan})
    assert not one("1 / x <= 1").holds({"x": 0.0})
    assert not one("1 / x >= 1").holds({"x": 0.0})
    assert not one("x**0.5 <= 1").holds({"x": -1.0})
    assert one("x**0.5 <= 1").holds({"x": 0.0})


def test_one_with_an_inactive_parameter_holds():
    constraint = one("x + y <= 1")
    assert constraint.holds({"x": 5.0})
    assert constraint.holds({})
    assert constraint.holds({"x": np.array([5.0, 6.0])}).all()


@pytest.mark.parametrize("text", ["x * y <= 1", "x + y == 1", "x / y >= 0.5", "x**0.5 <= y"])
def test_columns_are_as_rows(text):
    columns = {"x": np.array([0.5, 2.0, 0.0, np.nan]), "y": np.array([0.5, 0.0, 1.0, 0.0])}
    rows = [{name: column[i] for name, column in columns.items()} for i in range(4)]
    constraint = one(text)
    assert constraint.holds(columns).tolist() == [bool(constraint.holds(row)) for row in rows]
    np.testing.assert_array_equal(constraint.excess(columns), [constraint.excess(row) for row in rows])
    tensors = {name: torch.tensor(column, requires_grad=True) for name, column in columns.items()}
    assert constraint.excess(tensors).requires_grad


def test_it_is_compared_hashed_and_pickled():
    constraint = one("x + `learning rate` <= 1")
    assert constraint.names == ("x", "learning rate")
    assert pickle.loads(pickle.dumps(constraint)) == constraint == one("x + `learning rate` <= 1")
    assert hash(constraint) == hash(one("x + `learning rate` <= 1"))
    assert constraint != one("x + `learning rate` >= 1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x + z <= 1", r"'z' is no parameter; there are \['x', 'y', 'depth', '`learning rate`'\]$"),
        ("x * detph <= 1", "'detph' is no parameter; .*; did you mean 'depth'"),
        ("learning_rate <= 1", r"'learning_rate' is no parameter; .*; did you mean '`learning rate`'"),
        ("`learningrate` <= 1", r"'learningrate' is no parameter; .*; did you mean '`learning rate`'"),
        (
            "sqrt(x) <= 1",
            r"'sqrt\(x\)' is not allowed; only names, numbers, \+ - \* / \*\*, parentheses and comparisons",
        ),
        ("x.real <= 1", "'x.real' is not allowed; only names"),
        ("y + x[0] <= 1", r"'x\[0\]' is not allowed; only names"),
        ("x <= '1'", "\"'1'\" is not allowed; only names"),
        ("x <= True", "'True' is not allowed; only names"),
        ("`learning rate` * y.a <= 1", "'y.a' is not allowed; only names"),
        ("x^2 <= 1", r"'x\^2' is not allowed; a power is written \*\*"),
        ("x <= 1 and y <= 1", "'x <= 1 and y <= 1' is not allowed; a constraint is one comparison: give each"),
        ("x <= 1 & y <= 1", "'1 & y' is not allowed; a constraint is one comparison"),
        ("(x <= 1) + y <= 1", "'x <= 1' is not allowed; a constraint is one comparison"),
        ("not x <= 1", "a constraint is one comparison"),
        ("x != 1", "'!=' is not allowed; write <=, >= or =="),
        ("x in y", "'in' is not allowed; write <=, >= or =="),
        ("x is not y", "'is not' is not allowed"),
        ("x + y", "has no comparison; write <=, >= or =="),
        ("x + y = 1", "'=' at character 7 is no comparison; write =="),
        ("x =< 1", "'=<' at character 3 is no comparison; write <="),
        ("x ≥ 1", "'≥' at character 3 is no comparison; write >="),
        ("`learning rate` ≤ 1", "'≤' at character 17 is no comparison; write <="),
        ("x + y y <= 1", "syntax.*, at character 7, before 'y <= 1'$"),
        ("`learning rate` y <= 1", "syntax.*, at character 17, before 'y <= 1'$"),
        ("x <=", "syntax.*, at character 5, where it ends$"),
        ("x <= (1", r"at character 6, before '\(1'$"),
        ("1 <= 2", "compares numbers alone; it must have a parameter"),
        ("x <= 1 <= 2", "compares numbers alone; it must have a parameter"),
        ("x <= 9**9**9**9", "a part without a finite value: a division by 0"),
        ("x / (1 - 1) <= 1", "a part without a finite value"),
        ("x - x <= 1", "says nothing about 'x', which cancels out"),
        ("x == x", "says nothing about 'x', which cancels out"),
        ("x * y == 1", "an equality must be linear"),
        ("x**2 == 1", "an equality must be linear"),
        ("`x <= 1", "a backquote that is not closed"),
        ("`` <= 1", "an empty name in backquotes"),
        ("x <= 1  # at most", "'#' is not allowed; only names"),
        ("x <= 1e999", "1e999 is too large for a number"),
    ],
)
def test_errors_quote_the_constraint_and_name_the_token(text, message):
    with pytest.raises(SpaceError, match=message) as caught:
        parse(text, NAMES)
    assert str(caught.value).startswith(f"constraint {text!r}: ")


@pytest.mark.parametrize("text", [None, 3, ["x <= 1"], b"x <= 1", "", "  "])
def test_it_must_be_a_text(text):
    with pytest.raises(SpaceError, match="a constraint must be a str such as 'x \\+ y <= 1', got "):
        parse(text, NAMES)


def test_a_long_text_is_quoted_in_part():
    with pytest.raises(SpaceError, match=r"^constraint 'x \+ x.*\.\.\.': must have at most 2000 characters, got 4005$"):
        parse("x + " * 1000 + "x<= 1", NAMES)
    with pytest.raises(SpaceError) as caught:
        parse("x + " * 400 + "z <= 1", NAMES)
    assert len(str(caught.value)) < 250
