"""What other outcomes say of the atoms of a source."""

import itertools
import math

import numpy as np
import pytest

from robustbo.numerics.sources.atoms import block_effects, timelines
from robustbo.numerics.sources.labels import SourceLabels
from robustbo.numerics.sources.shared import PART, TOGETHER, log_shifts, shifts_of

P = np.array([0.02, 0.005, 0.01])
B = np.array([[3.0, 40.0, 0.2], [0.5, 90.0, 0.1]])


def by_enumeration(p, B):
    """Probabilities of each atom in an outcome by a sum over what is there in it and in all others."""
    m, outcomes = len(p), len(B) + 1
    nothing, states = m, range(m + 1)
    factors = np.column_stack([B, np.ones(len(B))])
    apart, shared = np.append(p, 1 - p.sum()), np.append(p / PART, 1 - p.sum() / PART)
    total = np.zeros(m + 1)
    for own, *others in itertools.product(states, repeat=outcomes):
        likelihood = math.prod(of[state] for of, state in zip(factors, others, strict=True))
        total[own] += (1 - TOGETHER) * likelihood * math.prod(apart[state] for state in (own, *others))
        for atom in states:  # of the source, of which each outcome has a part or not
            if {own, *others} <= {atom, nothing}:
                parts = math.prod(PART if state == atom else 1 - PART for state in (own, *others) if atom != nothing)
                total[own] += TOGETHER * shared[atom] * likelihood * parts
    return total[:m] / total.sum()


def test_shifts_are_those_of_a_sum_over_all_sets():
    expected = by_enumeration(P, B)
    assert np.exp(log_shifts(np.log(P), np.log(B))) * P == pytest.approx(expected, rel=1e-12)


def test_an_outcome_that_says_nothing_changes_nothing():
    assert log_shifts(np.log(P), [np.zeros(3)]) == pytest.approx(0, abs=1e-12)


def test_certainty_elsewhere_raises_and_lowers_by_so_much_only():
    certain = log_shifts(np.log(P), [np.array([1e6, -1e6, -1e6])])
    assert np.exp(certain[0]) * P[0] == pytest.approx((P[0] + PART) / 2)
    assert np.exp(certain[1:]) == pytest.approx(0.5)  # of one source one error is as good as another
    assert np.exp(log_shifts(np.log(P[:1]), [np.full(1, -1e6)])) == pytest.approx(0.75, abs=0.01)


def test_a_source_of_which_others_know_raises_itself_alone():
    codes = np.random.default_rng(1).permutation(np.arange(24) % 3)[:, None]
    labels = SourceLabels(("lab",), (("A", "B", "C"),), codes, np.arange(24.0))
    lines, blocks = list(timelines(labels)), block_effects(labels)
    shifts = shifts_of(lines, blocks, [{(0, 1, "offset", None): 12.0}])
    assert shifts.keys() == {atom.full_key for line in lines for atom in line.atoms()} | {blocks[0].full_key}
    raised = {key for key, shift in shifts.items() if shift > 0}
    assert raised == {(0, 1, "offset", None)}
    assert all(shift == pytest.approx(0) for key, shift in shifts.items() if key[:2] != (0, 1))
    (line,) = [line for line in lines if line.level == 1]
    before = line.atom("offset", None)
    assert line._replace(shifts=shifts).atom("offset", None).log_prior == before.log_prior + shifts[before.full_key]
