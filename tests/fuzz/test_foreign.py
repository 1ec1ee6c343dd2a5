"""Damaged files end in an answer or a line; all: `ROBUSTBO_FUZZ=20000 pytest tests/fuzz/test_foreign.py`."""

import os

import pytest

from tests.fuzz import foreign

pytest.importorskip("openpyxl")
FILES = int(os.environ.get("ROBUSTBO_FUZZ", "50"))
AT_ONCE = 50


@pytest.fixture(scope="module")
def files():
    with foreign.place() as made:
        yield made


@pytest.mark.parametrize("first", range(0, FILES, AT_ONCE))
def test_a_damaged_file_ends_in_an_answer_or_in_a_line_that_names_it(files, first):
    folder, sources = files
    outcomes = {seed: foreign.looked_at(seed, sources, folder) for seed in range(first, min(first + AT_ONCE, FILES))}
    assert {seed: found for seed, found in outcomes.items() if found[1] not in ("works", "refused")} == {}
    assert {outcome for _, outcome in outcomes.values()} == {"works", "refused"}  # not all are beyond reading


@pytest.mark.parametrize("seed", [5349, 5993, 6136, 12780, 15147])
def test_nor_does_one_of_those_that_did_not(files, seed):
    """A hash that is not its own, a row of 300 cells, Unicode line end, a NUL for a name, an empty outcome."""
    folder, sources = files
    assert foreign.looked_at(seed, sources, folder)[1] == "refused"
