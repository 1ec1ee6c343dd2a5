"""Linear equations solved for some parameters: compared with numpy's least squares."""

import random

import numpy as np
import pytest

import robustbo as rb
from robustbo.errors import SpaceError
from robustbo.searchspace.constraints.constraint import parse
from robustbo.searchspace.constraints.equations import solve

NAMES = ("a", "b", "c", "d", "e")
BOX = {name: rb.Float(-10, 10) for name in NAMES}


def equations(A, b):
    texts = [" + ".join(f"({x!r}) * {n}" for x, n in zip(row, NAMES, strict=True)) for row in A.tolist()]
    return [each for text, y in zip(texts, b.tolist(), strict=True) for each in parse(f"{text} == {y!r}", NAMES)]


def filled_in(dependents, free):
    return free | {d.name: d.constant + sum(x * free[other] for other, x in d.coefficients.items()) for d in dependents}


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_free_the_equations_hold(seed):
    rng = np.random.default_rng(seed)
    rank = rng.integers(1, 5)
    A = rng.normal(size=(rank, 5)).round(3)
    b = A @ rng.normal(size=5)
    dependents = solve(equations(A, b), BOX, {})
    assert len(dependents) == rank
    names = {dependent.name for dependent in dependents}
    assert not any(names & set(dependent.coefficients) for dependent in dependents)
    point = filled_in(dependents, {name: rng.normal() for name in NAMES if name not in names})
    np.testing.assert_allclose(A @ [point[name] for name in NAMES], b, atol=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_as_many_equations_as_parameters_give_the_solution_of_least_squares(seed):
    rng = np.random.default_rng(seed)
    A, x = rng.normal(size=(5, 5)).round(3), rng.normal(size=5)
    found = {d.name: d.constant for d in solve(equations(A, A @ x), BOX, {})}
    exact = np.linalg.lstsq(A, A @ x, rcond=None)[0]
    np.testing.assert_allclose([found[name] for name in NAMES], exact, rtol=1e-8)


@pytest.mark.parametrize("seed", range(10))
def test_a_redundant_equation_takes_no_parameter(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 5)).round(3)
    A = np.vstack([A, A[0] - 2 * A[1], A[2] * 3])
    b = A @ rng.normal(size=5)
    assert len(solve(equations(A, b), BOX, {})) == np.linalg.matrix_rank(A) == 3


def test_a_contradiction_is_named():
    given = [each for text in ("a + b == 1", "2 * a + 2 * b == 3") for each in parse(text, NAMES)]
    with pytest.raises(SpaceError, match=r"'2 \* a \+ 2 \* b == 3' can never hold, with what else must hold"):
        solve(given, BOX, {})


def test_what_is_fixed_is_no_more_unknown():
    given = parse("a + b == 1", NAMES)
    assert solve(given, BOX, {"a": 0.25}) == [("b", 0.75, {})]
    assert solve(given, BOX, {"a": 0.25, "b": 0.75}) == []
    with pytest.raises(SpaceError, match=r"'a \+ b == 1' can never hold at {'a': 0\.25, 'b': 0\.5}"):
        solve(given, BOX, {"a": 0.25, "b": 0.5})


def test_real_parameters_of_a_linear_scale_follow_before_others():
    kinds = {"n": rb.Int(0, 10), "l": rb.Float(0.1, 10, log=True), "x": rb.Float(0, 1), "s": rb.Float(0, 10, step=1)}
    for first in ("x", "l"):
        (found,) = solve(parse(f"{' + '.join(kinds)} == 3", [*kinds]), kinds, {})
        assert found.name == first
        del kinds[first]


def test_the_order_of_the_equations_does_not_matter_to_what_holds():
    texts = ["a + b + c == 1", "a - b == 0.25", "d == 2 * c"]
    for seed in range(5):
        random.Random(seed).shuffle(texts)
        found = solve([each for text in texts for each in parse(text, NAMES)], BOX, {})
        names = {d.name for d in found}
        point = filled_in(found, {name: 0.125 for name in NAMES if name not in names})
        assert point["a"] + point["b"] + point["c"] == pytest.approx(1)
        assert point["a"] - point["b"] == pytest.approx(0.25)
        assert point["d"] == pytest.approx(2 * point["c"])


@pytest.mark.parametrize("unit", [1e-100, 1e-12, 1.0, 2e10, 1e12, 1e100])
def test_the_unit_of_parameters_and_of_an_equation_does_not_matter(unit):
    box = {name: rb.Float(0, 2 * unit) for name in ("a", "b")}
    for times in (1.0, 1e-12, 1e12):
        (only,) = solve(parse(f"{times!r} * a + {times!r} * b == {times * unit!r}", ("a", "b")), box, {})
        assert only.constant == pytest.approx(unit)
        assert [*only.coefficients.values()] == [-1.0]


def test_values_that_are_fixed_may_be_large():
    box = {name: rb.Float(0, 2e12) for name in ("a", "b")}
    (equation,) = parse("a + b == 1e12", ("a", "b"))
    assert solve([equation], box, {"a": 0.3e12, "b": 0.7e12}) == []
    with pytest.raises(SpaceError, match="can never hold"):
        solve([equation], box, {"a": 0.3e12, "b": 0.7e12 + 1000})


@pytest.mark.parametrize(
    ("box", "text"),
    [
        ({"a": rb.Float(0, 1e-11), "b": rb.Float(0, 1)}, "a == b"),
        ({"a": rb.Float(0, 0), "b": rb.Float(0, 2e-12)}, "a + b == 1e-12"),
        ({"a": rb.Float(0, 1e11), "b": rb.Float(0, 1)}, "a == 3 * b"),
    ],
)
def test_a_coefficient_that_somebody_wrote_is_never_taken_for_rounding(box, text):
    (only,) = solve(parse(text, ("a", "b")), box, {})
    assert len(only.coefficients) == 1


def test_fixed_values_that_break_an_equation_are_refused_in_a_large_space():
    box = {"a": rb.Float(0, 1e11), "b": rb.Float(0, 1e11)}
    with pytest.raises(SpaceError, match="can never hold at"):
        solve(parse("a + b == 1", ("a", "b")), box, {"a": 0.3, "b": 1.7})
