"""At most so many of a group: what may be said, and what is said of what cannot be."""

import pytest

import robustbo as rb

F = rb.Float(0, 1)
ABC = {"a": F, "b": F, "c": F}


@pytest.mark.parametrize(
    "text",
    [
        "at most 2 of a, b, c",
        "At  MOST 2 of `a`,b , c,",
        rb.AtMost(2, "a", "b", "c"),
        "at most 2 of a, b, c differ from 0",
    ],
)
def test_it_is_said_in_words_or_as_an_object_and_returns_from_text(text):
    space = rb.Space(**ABC, constraints=[text, "a + b <= 1.5"])
    assert space.texts == ["at most 2 of a, b, c", "a + b <= 1.5"]
    assert rb.Space.from_dict(space.to_dict(), space.texts) == space
    assert space.broken({"a": 0.5, "b": 0.5, "c": 0.1}) == ["at most 2 of a, b, c"]
    assert space.allows({"a": 0.5, "b": 0.0, "c": 0.1})
    assert space.allows({"a": 0.5, "b": 1e-15, "c": 0.1})  # to rounding


def test_off_may_be_another_value_and_names_no_identifiers():
    group = rb.AtMost(1, "a b", "class", off=-20.5)
    assert group.text == "at most 1 of `a b`, `class` differ from -20.5"
    space = rb.Space({"a b": rb.Float(-30, 0), "class": rb.Float(-20.5, 5)}, constraints=[group.text])
    assert space.constraints == (group,)
    assert space.allows({"a b": -20.5, "class": 1.0})
    assert not space.allows({"a b": 0.0, "class": 0.0})


WRONG = {
    "at most two of a, b, c": "with a number in digits",
    "at most 2 of a, b, d": "'d' is no parameter",
    "at most 3 of a, b, c": "forbids nothing",
    "at most 1 of a, a": "named once",
    "at most 1 of a, b differ from much": "must end in a number",
    "at most 1 of a, b differ from 2": "must have the value 2",
    "at most 1 of a, ,b": "names with commas",
    "at most 2": "must be like 'at most 2 of a, b, c'",
    "(a > 0) + (b > 0) + (c > 0) <= 2": "is written 'at most 2 of a, b, c'",
    "no more than 2 of a, b, c": "is written 'at most 2 of a, b, c'",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said_with_what_helps(text):
    with pytest.raises(rb.SpaceError, match=WRONG[text]):
        rb.Space(**ABC, constraints=[text])


@pytest.mark.parametrize(
    ("parameter", "why"),
    [
        (rb.Float(1e-3, 1, log=True), "a log scale begins above 0"),
        (rb.Int(1, 5), "must have the value 0"),
        (rb.Choice("none", "some"), "it is on numbers"),
        (rb.Float(0, 1, when={"kind": "u"}), "always exist"),
    ],
)
def test_a_parameter_that_cannot_be_off_is_refused(parameter, why):
    with pytest.raises(rb.SpaceError, match=why):
        rb.Space(kind=rb.Choice("u", "v"), a=parameter, b=F, constraints=["at most 1 of a, b"])


def test_what_can_never_hold_together_is_proved():
    with pytest.raises(rb.SpaceError, match="'at most 2 of a, b, c' can never hold together"):
        rb.Space(**ABC, constraints=["at most 2 of a, b, c", "a + b + c >= 2.5"])
    space = rb.Space(**ABC, constraints=["at most 2 of a, b, c", "a + b + c >= 1.5"])
    opt = rb.Optimizer(space, direction="maximize", acquisition="sobol")
    with pytest.raises(rb.SpaceError, match="can never hold"):
        opt.ask(fixed={"a": 0.5, "b": 0.5, "c": 0.5})
    assert space.allows(opt.ask(fixed={"a": 0.7, "b": 0.9}).params)
