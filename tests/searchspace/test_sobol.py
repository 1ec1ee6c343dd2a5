"""Sobol points are SciPy's, and who asks for one after another does not wait for a sequence each time."""

import numpy as np
import pytest
from scipy.stats import qmc

from robustbo.searchspace import sobol


@pytest.mark.parametrize(("index", "count"), [(0, 1), (63, 1), (64, 1), (60, 8), (1, 64), (100, 200), (1000, 3)])
@pytest.mark.parametrize("dimensions", [1, 7])
def test_rows_are_those_of_the_sequence_from_its_beginning(dimensions, index, count):
    with pytest.warns(UserWarning, match="balance"):
        whole = qmc.Sobol(dimensions, scramble=True, rng=5).random(1100)
    assert (sobol.sobol_rows(dimensions, 5, index, count) == whole[index : index + count]).all()


def test_late_rows_of_many_dimensions_are_those_of_the_sequence():
    sequence = qmc.Sobol(150, scramble=True, rng=2**40 + 1).fast_forward(70_000)
    assert (sobol.sobol_rows(150, 2**40 + 1, 70_000, 5) == sequence.random(5)).all()


def test_a_number_beyond_the_last_point_is_an_error():
    sobol.sobol_rows(1, 0, 2**30 - 1, 1)
    with pytest.raises(ValueError, match="has 1073741824 points, got a request for number 1073741824"):
        sobol.sobol_rows(1, 0, 2**30 - 1, 2)


def test_one_after_another_needs_few_sequences(monkeypatch):
    sequences, scramble = [], sobol.scramble
    monkeypatch.setattr(sobol, "scramble", lambda *args: sequences.append(args) or scramble(*args))
    rows = [sobol.sobol_rows(3, 987, i, 1) for i in range(256)]
    assert len(sequences) == 256 // sobol.BLOCK
    assert (np.concatenate(rows) == sobol.sobol_rows(3, 987, 0, 256)).all()


def test_who_changes_rows_changes_no_others():
    sobol.sobol_rows(2, 11, 5, 1)[:] = 7.0
    assert (sobol.sobol_rows(2, 11, 5, 1) < 1).all()
