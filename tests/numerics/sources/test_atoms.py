"""The dictionary of error atoms."""

import math

import numpy as np
import pytest

from robustbo.numerics.sources.atoms import EXPECTED_BLOCK, FEWEST, PRIOR, block_effects, timelines
from robustbo.numerics.sources.labels import SourceLabels

CODES = np.array([[0, 1, 2] * 8]).T
ORDER = np.arange(24.0)[::-1].copy()
LABELS = SourceLabels(("reactor",), (("R1", "R2", "R3"),), CODES, ORDER)


def test_rows_of_a_timeline_are_in_the_order_of_their_times():
    first, *_, everything = timelines(LABELS)
    assert first.rows.tolist() == list(range(21, -1, -3))
    assert everything.rows.tolist() == list(range(23, -1, -1))
    assert everything.source == -1


def test_priors_of_a_kind_of_source_add_up():
    *lines, everything = timelines(LABELS)
    assert len(lines) == 3
    assert sum(math.exp(a.log_prior) for line in lines for a in line.atoms()) == pytest.approx(PRIOR)
    assert sum(math.exp(a.log_prior) for a in everything.atoms()) == pytest.approx(PRIOR)


def test_a_step_has_enough_rows_on_either_side():
    line = next(timelines(LABELS))
    sizes = [len(atom.rows) for atom in line.steps().values()]
    assert sizes == [5, 4, 3]
    assert max(sizes) <= len(line.rows) - FEWEST
    step = line.steps()[3]
    assert step.since == line.rows[3]
    assert step.matrix(24).sum() == 5


def test_a_drift_rises_from_nothing_to_one():
    line = next(timelines(LABELS))
    whole = line.drifts()[0]
    numbers = whole.matrix(24)[line.rows, 0]
    assert whole.since is None
    assert numbers == pytest.approx(np.linspace(0, 1, 8))
    assert line.drifts()[1].since == line.rows[2]


def test_a_broken_source_has_a_vector_for_each_row():
    line = next(timelines(LABELS))
    A = line.atom("broken", None).matrix(24)
    assert A.shape == (24, 8)
    assert A.sum() == 8
    assert A.sum(0).tolist() == [1.0] * 8


def test_a_block_effect_has_a_vector_for_each_level():
    (block,) = block_effects(LABELS)
    assert block.matrix(24)[:, 1] == pytest.approx([float(code == 1) - 1 / 3 for code in CODES[:, 0]])
    (wanted,) = block_effects(LABELS, frozenset({"reactor"}))
    assert wanted.log_prior == pytest.approx(math.log(EXPECTED_BLOCK))
    assert wanted.log_prior > block.log_prior


def test_sources_of_few_or_of_all_rows_are_none():
    codes = np.array([0] * 22 + [1] * 2)[:, None]
    lines = list(timelines(SourceLabels(("lab",), (("A", "B"),), codes, np.arange(24.0))))
    assert [line.source for line in lines] == [-1]
    assert block_effects(SourceLabels(("lab",), (("A", "B"),), codes, np.arange(24.0))) == []


def test_rows_without_a_label_are_of_no_timeline():
    codes = np.where(np.arange(24) < 10, CODES[:, 0], -1)[:, None]
    *_, everything = timelines(SourceLabels(("reactor",), (("R1", "R2", "R3"),), codes, ORDER))
    assert sorted(everything.rows.tolist()) == list(range(10))


def test_times_that_do_not_pass_have_no_drift():
    line = next(timelines(SourceLabels(("reactor",), (("R1", "R2", "R3"),), CODES, np.zeros(24))))
    assert line.drifts() == []


@pytest.mark.parametrize(("count", "may_be_off"), [(2, False), (3, True)])
def test_of_two_sources_nobody_knows_which_is_off(count, may_be_off):
    codes = (np.arange(24) % count)[:, None]
    labels = SourceLabels(("lab",), (tuple("ABC"[:count]),), codes, np.arange(24.0))
    assert {line.may_be_off for line in timelines(labels) if line.source >= 0} == {may_be_off}
    assert len(block_effects(labels)) == 1
