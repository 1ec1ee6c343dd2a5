"""Expressions together have the values and slopes that each has by itself."""

import random

import numpy as np
import pytest
import torch

from robustbo.searchspace.constraints import batch
from robustbo.searchspace.constraints.batch import ExpressionBatch
from robustbo.searchspace.constraints.expression import Expression

NAMES = ("a", "b", "c")
TEXTS = [
    "a + b * c", "a - b / c", "(a - 0.3)**2 + (b + 0.4)**2", "a**3 * b**-1", "b**0.5 + c**a", "-(a + b) * 2", "a",
    "2 * 3 + c", "a**(1 / 2) - 2**(3 - 1)", "1 / (a - b)", "((a * b) * c)**2 / (1 + a**2)", "2**b", "a**3 - -b",
]  # fmt: skip


def drawn(rng, depth):
    """A random expression."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice((*NAMES, "0.5", "2", "3", "1.7"))
    if rng.random() < 0.1:
        return f"-({drawn(rng, depth - 1)})"
    sign = rng.choice("++--**/^").replace("^", "**")
    return f"({drawn(rng, depth - 1)}) {sign} ({drawn(rng, depth - 1)})"


def expressions(seed):
    rng = random.Random(seed)
    return [Expression.parse(text) for text in (*TEXTS, *(drawn(rng, 4) for _ in range(20)))]


@pytest.mark.parametrize("seed", range(8))
def test_values_are_those_of_each(seed):
    """Where there are none, too: at 0, at negative numbers, and where something overflows."""
    some = expressions(seed)
    V = np.random.default_rng(seed).uniform(-2, 3, (3, 50))
    V[:, :6] = [
        [0.0, 1e200, -1e200, 0.5, 0.0, -0.0],
        [0.0, 1e200, 1e-200, 0.5, 1.0, 2.0],
        [0.5, 0.0, 0.1, 0.5, 0, -2.0],
    ]
    values = ExpressionBatch([each.program for each in some], NAMES).values(V)
    for each, row in zip(some, values, strict=True):
        expected = np.broadcast_to(each(dict(zip(NAMES, V, strict=True))), row.shape)
        np.testing.assert_allclose(row, expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("seed", range(8))
def test_slopes_are_those_of_automatic_differentiation(seed):
    some = [each for each in expressions(seed) if each.names]
    together = ExpressionBatch([each.program for each in some], NAMES)
    for v in np.random.default_rng(seed).uniform(0.1, 2, (6, 3)):
        slopes = together.slopes(v)
        for each, row in zip(some, slopes, strict=True):
            at = torch.tensor(v, requires_grad=True)
            value = each(dict(zip(NAMES, at, strict=True)))
            if value.isfinite():
                expected = torch.autograd.grad(value, at)[0].numpy()
                is_known = np.isfinite(expected)  # 0 times an infinite slope is none there
                np.testing.assert_allclose(row[is_known], expected[is_known], rtol=1e-8, atol=1e-10)


def test_what_a_part_does_not_depend_on_does_not_spoil_its_slopes():
    """The root's slope is infinite at 0, and the power's along its exponent none below 0."""
    both = ExpressionBatch([Expression.parse(text).program for text in ("a**0.5 + b", "(a - 1)**2 + c**3")], NAMES)
    slopes = both.slopes(np.array([0.0, 2.0, -1.0]))
    assert slopes[0, 1:].tolist() == [1.0, 0.0]
    assert slopes[1].tolist() == [-2.0, 0.0, 3.0]


def test_equal_parts_are_one():
    """So that a hundred constraints on one sum cost no more than its terms."""
    one, many = (ExpressionBatch([Expression.parse("a * b + c").program] * count, NAMES) for count in (1, 100))
    assert one._num_nodes == many._num_nodes


def test_very_many_points_are_taken_in_parts(monkeypatch):
    some = expressions(0)
    whole, V = ExpressionBatch([each.program for each in some], NAMES), np.random.default_rng(0).uniform(-2, 3, (3, 40))
    expected = whole.values(V)
    monkeypatch.setattr(batch, "MOST_TOGETHER", 1000)
    assert np.array_equal(whole.values(V), expected, equal_nan=True)


def test_no_expressions_and_no_points():
    assert ExpressionBatch([], NAMES).values(np.ones((3, 5))).shape == (0, 5)
    assert ExpressionBatch([], ()).slopes(np.ones(0)).shape == (0, 0)
    assert ExpressionBatch([Expression.parse("a * b").program], NAMES).values(np.ones((3, 0))).shape == (1, 0)
