import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustbo.searchspace.constraints import emptiness
from robustbo.searchspace.constraints.constraint import parse
from robustbo.searchspace.constraints.emptiness import proof_of_emptiness

UNIT = {"x": (0.0, 1.0), "y": (0.0, 1.0), "z": (0.0, 1.0)}
many = settings(deadline=None, derandomize=True, max_examples=200)


def proof(*texts, box=UNIT, names=("x", "y", "z", "w")):
    return proof_of_emptiness([c for text in texts for c in parse(text, names)], box)


@pytest.mark.parametrize(
    "text",
    [
        "x + y >= 2.1",
        "x**2 + y**2 <= -0.1",
        "x * y > 1.01",
        "1 / (x + 1) >= 1.1",
        "x + y + z == 4",
        "x + y + z == -1",
        "2 <= x + 0.5",
        "0.2 <= x - 2 <= 5",
        "(x - 1)**3 >= 0.1",
    ],
)
def test_one_that_cannot_hold_is_named(text):
    assert proof("x <= 0.9", text, "y <= 0.5") == (text,)


@pytest.mark.parametrize(
    "texts",
    [
        ("x + y <= 1", "x >= 0.7", "y >= 0.6"),
        ("x + y + z == 1", "x >= 0.5", "y >= 0.6"),
        ("x + y == 1", "x - y == 0.5", "x <= 0.7"),
        ("x >= y + 0.5", "y >= z + 0.5", "z >= 0.01"),
        ("x - y >= 0.1", "y - x >= -0.05"),
        ("x == y", "x >= y + 1e-4"),
        ("1000000 * x <= 100000", "x / 1000000 >= 0.0000002"),
        ("x - x + y - 2 * x >= 0.5", "x == 0.3"),
    ],
)
def test_linear_ones_that_cannot_hold_together_are_named_and_no_others(texts):
    more = ("x + y + z <= 2.9", "z <= 0.95", "x * y <= 0.9", "0.001 <= y + z + x")
    assert proof(*more, *texts) == texts
    for text in texts:
        assert proof(*more, *(other for other in texts if other != text)) is None


def test_both_sides_of_a_chain_are_one_constraint():
    assert proof("0.2 <= x + y <= 0.5", "x >= 0.6") == ("0.2 <= x + y <= 0.5", "x >= 0.6")


@pytest.mark.parametrize(
    "texts",
    [
        ("x + y >= 2",),
        ("x + y >= 2", "x == 1", "y >= 1"),
        ("x + y + z == 1", "x >= 0.5", "y >= 0.5"),
        ("x + y == 0.3", "x == 0.1", "y == 0.2"),
        ("x**2 + y**2 <= 0",),
        ("x <= 0", "y <= 0", "x + y >= 0"),
        ("x * y >= 1",),
        ("x >= 1 + 1e-10", "y >= 1"),  # to rounding
        ("1 / x <= 0.5", "y / x >= 100"),  # not, but not provable
        ("x * y >= 0.9", "x + y <= 1"),  # as before
    ],
)
def test_what_has_a_point_or_no_proof_is_not_called_empty(texts):
    assert proof(*texts) is None


def test_constraints_of_parameters_without_bounds_are_left_aside():
    assert proof("w >= 5", "x + w >= 9", "w <= 1") is None
    assert proof("w >= 5", "x >= 2") == ("x >= 2",)
    assert proof("x >= 2", box={}) is None
    assert proof() is None


def test_a_parameter_with_a_single_value():
    box = {"x": (0.5, 0.5), "y": (0.0, 1.0)}
    assert proof("x + y >= 1.5", box=box) is None
    assert proof("x == 0.5", "x + y <= 1", box=box) is None
    assert proof("x + y <= 0.9", "y >= 0.5", box=box) == ("x + y <= 0.9", "y >= 0.5")


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e9, 1e200])
def test_the_scale_does_not_matter(scale):
    box = {"x": (0.0, scale), "y": (0.0, scale)}
    said = (f"x + y <= {scale!r}", f"x >= {0.7 * scale!r}", f"y >= {0.6 * scale!r}")
    assert proof(*said, box=box) == said
    assert proof(*said[:2], box=box) is None


def test_the_largest_numbers_are_no_trouble():
    box = {"x": (-1.7e308, 1.7e308), "y": (-1e308, 1e308)}
    assert proof("x + y >= 1e308", "x - y >= 1e308", "x <= 1", box=box) is None


def test_a_solver_is_not_trusted(monkeypatch):
    """Whatever multipliers it gives, the sum is calculated again."""
    for wrong in ([0.0, 0.0], [1.0, 0.0], [5.0, 3.0], [0.0, 1e300]):
        monkeypatch.setattr(emptiness, "_multipliers", lambda rows, box, wrong=wrong: wrong[: len(rows)])
        assert proof("x + y <= 1", "x >= 0.5") is None


coefficients = st.integers(-5, 5).map(float)
shares = st.floats(0.0, 1.0)
sides = st.tuples(coefficients, coefficients, coefficients, st.sampled_from(["<=", ">=", "=="])).filter(
    lambda side: any(side[:3])
)


@pytest.mark.slow
@many
@given(st.tuples(shares, shares, shares), st.lists(sides, min_size=1, max_size=8))
def test_a_space_with_a_point_is_never_called_empty(point, drawn):
    """Every constraint goes through the point, to rounding: what they leave of the box has no inside."""
    params = dict(zip("xyz", point, strict=True))
    texts = []
    for a, b, c, relation in drawn:
        value = float(f"{a * point[0] + b * point[1] + c * point[2]:.11g}")
        texts.append(f"{a} * x + {b} * y + {c} * z {relation} {value}")
    if all(c.holds(params) for text in texts for c in parse(text, "xyz")):
        assert proof(*texts) is None


@pytest.mark.slow
@many
@given(st.lists(sides, min_size=2, max_size=6), st.lists(st.floats(-3.0, 3.0), min_size=6, max_size=6))
def test_what_is_called_empty_has_no_point_among_many_and_no_constraint_too_many(drawn, values):
    texts = list(
        dict.fromkeys(
            f"{a} * x + {b} * y + {c} * z {relation} {value!r}"
            for (a, b, c, relation), value in zip(drawn, values, strict=False)
        )
    )
    if (found := proof(*texts)) is None:
        return
    grid = [i / 4 for i in range(5)]
    said = [c for text in found for c in parse(text, "xyz")]
    points = [{"x": x, "y": y, "z": z} for x in grid for y in grid for z in grid]
    assert not any(all(c.holds(point) for c in said) for point in points)
    assert all(proof(*(other for other in found if other != text)) is None for text in found)


@pytest.mark.slow
@many
@given(sides, sides, st.floats(-3.0, 3.0), st.floats(-3.0, 3.0), st.sampled_from([1e-6, 0.01, 1.0]))
def test_what_a_sum_refutes_is_found(first, second, least, other, margin):
    total = [a + b for a, b in zip(first[:3], second[:3], strict=True)]
    if not any(total):
        return

    def form(c):
        return f"{c[0]} * x + {c[1]} * y + {c[2]} * z"

    texts = [f"{form(first)} <= {least}", f"{form(second)} <= {other}", f"{form(total)} >= {least + other + margin}"]
    found = proof(*texts)
    assert found
    assert set(found) <= set(texts)
