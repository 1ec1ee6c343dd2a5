"""Values of two and three sizes end no study; all: `ROBUSTBO_FUZZ=2000 pytest tests/fuzz/test_sizes.py`."""

import os

import pytest

from tests.fuzz import sizes

HISTORIES = int(os.environ.get("ROBUSTBO_FUZZ", "20"))
AT_ONCE = 20


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, HISTORIES, AT_ONCE))
def test_the_first_surrogate_decides_whatever_the_sizes_of_the_values(first):
    for seed in range(first, min(first + AT_ONCE, HISTORIES)):
        fallback, num_judged, num_told = sizes.looked_at(seed)
        assert fallback is None, seed
        assert num_judged == num_told, seed
