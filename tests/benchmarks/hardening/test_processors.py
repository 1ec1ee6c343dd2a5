"""Two processors emulated, each in a process of its own, on a short journal."""

import sys

import pytest

EMULATED = ("AVX2 (Haswell, Zen)", "SSE4.2 (Nehalem)")


@pytest.fixture(scope="module")
def rows(load, tmp_path_factory):
    processors, folder = load("hardening.processors"), tmp_path_factory.mktemp("journals")
    processors.record("branin", "relevance-pursuit", folder / "branin.jsonl", 11)
    return [row for row in processors.compare_processors(EMULATED, [], [folder]) if row["records"] == "all"]


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the C library's switch is glibc's")
def test_asks_are_the_same_to_rounding_on_processors_that_compute_other_bits(rows):
    assert [row["processor"] for row in rows] == list(EMULATED)
    assert all(row["changed"] for row in rows)  # else nothing was emulated
    assert all(row["asks"] == 11 for row in rows)
    assert all((row["bits"] + row["rounding"]) / row["asks"] >= 0.99 for row in rows)
