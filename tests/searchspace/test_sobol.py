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


def test_one_after_another_needs_few_sequences(monkeypatch):
    sequences, make = [], qmc.Sobol
    monkeypatch.setattr(sobol.qmc, "Sobol", lambda *args, **kwargs: sequences.append(args) or make(*args, **kwargs))
    rows = [sobol.sobol_rows(3, 987, i, 1) for i in range(256)]
    assert len(sequences) == 256 // sobol.BLOCK
    assert (np.concatenate(rows) == sobol.sobol_rows(3, 987, 0, 256)).all()


def test_who_changes_rows_changes_no_others():
    sobol.sobol_rows(2, 11, 5, 1)[:] = 7.0
    assert (sobol.sobol_rows(2, 11, 5, 1) < 1).all()
