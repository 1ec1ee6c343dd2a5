"""Constraints together are kept where each is, by its own word."""

import random

import numpy as np
import pytest

from robustbo.searchspace.constraints.constraint import parse
from robustbo.searchspace.constraints.constraint_set import ConstraintSet

BOX = {"x": (0.0, 1.0), "y": (-2.0, 3.0), "z": (0.5, 8.0)}
TEXTS = ["x + y <= 1", "2.1 <= x - y / 2 + 3 <= 4.7", "x * z <= 2", "(x - 0.5)**2 + y**2 <= 1", "z**0.5 / (y - 1) >= 0",
         "x + 2 * y - z == 0", "(2 * x)**1 + y <= 2"]  # fmt: skip
SAID = [constraint for text in TEXTS for constraint in parse(text, list(BOX))]


def columns(together, point):
    return np.stack([point[name] for name in together.names])


def points():
    """400 points all over the box, and some just within and just beyond what rounding may do."""
    rng = np.random.default_rng(0)
    found = {name: rng.uniform(low, high, 400) for name, (low, high) in BOX.items()}
    found["y"][:100] = 1 - found["x"][:100] + rng.choice((0.0, 5e-10, 1e-9, 2e-9, 4e-9, 1e-8), 100)
    found["z"][100:200] = found["x"][100:200] + 2 * found["y"][100:200] + rng.choice((0.0, -3e-9, 2e-8), 100)
    return found


def test_each_is_kept_where_it_says_so():
    together, there = ConstraintSet(SAID, BOX), points()
    keeps = together.keeps(columns(together, there))
    for row, constraint in zip(keeps, SAID, strict=True):
        assert row.tolist() == constraint.holds(there).tolist(), constraint.text
        assert 0 < row.sum() < len(row), constraint.text
    near = np.abs(there["x"] + there["y"] - 1) < 1e-8
    assert 0 < keeps[0, near].sum() < near.sum()  # rounding is told from a breach


def test_excesses_and_slopes_are_those_of_each():
    together, there = ConstraintSet(SAID, BOX), {name: values[-20:] for name, values in points().items()}
    V = columns(together, there)
    E = together.excess(V)
    for row, constraint in zip(E, SAID, strict=True):
        np.testing.assert_allclose(row, constraint.excess(there), rtol=1e-9, atol=1e-12)
    for k in range(V.shape[1]):
        for j in range(len(together.names)):
            step = 1e-6 * (np.arange(len(V)) == j)[:, None]
            change = together.excess(V[:, k : k + 1] + step) - together.excess(V[:, k : k + 1] - step)
            is_smooth = np.isfinite(change[:, 0])
            slopes = together.slopes(V[:, k])[:, j]
            np.testing.assert_allclose(slopes[is_smooth], change[is_smooth, 0] / 2e-6, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_breaks_only_what_it_is_in(value):
    together, there = ConstraintSet(SAID, BOX), points()
    there["z"][1] = value
    keeps = together.keeps(columns(together, there))
    for row, constraint in zip(keeps, SAID, strict=True):
        if "z" in constraint.names:
            assert not row[1], constraint.text
        else:
            assert row.tolist() == constraint.holds(there).tolist()


def test_what_lacks_a_parameter_is_kept():
    rng, together = random.Random(0), ConstraintSet(SAID, BOX)
    some = [{name: rng.uniform(*BOX[name]) for name in BOX if rng.random() < 0.6} for _ in range(60)]
    keeps = together.keeps_at(some)
    assert keeps.T.tolist() == [[constraint.holds(point) for constraint in SAID] for point in some]
    broken = [list(dict.fromkeys(c.text for c in SAID if not c.holds(point))) for point in some]
    assert [together.violations(point) for point in some] == broken


def test_none():
    together = ConstraintSet([], {})
    assert together.keeps_at([{"x": 1.0}] * 3).shape == (0, 3)
    assert together.violations({"x": 1.0}) == []


def test_many_that_are_linear():
    """One matrix has them all."""
    rng = random.Random(1)
    texts = [" + ".join(f"{rng.uniform(-1, 1)!r} * {name}" for name in BOX) + f" <= {rng.random()}" for _ in range(60)]
    said = [constraint for text in texts for constraint in parse(text, list(BOX))]
    there = points()
    together = ConstraintSet(said, BOX)
    assert together.keeps(columns(together, there)).tolist() == [each.holds(there).tolist() for each in said]
