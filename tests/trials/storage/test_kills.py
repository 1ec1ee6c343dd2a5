import csv
import subprocess
import sys
from pathlib import Path

import pytest

import robustbo as rb

ROOT = Path(__file__).parents[3]


def run_benchmark(name, *options, timeout_s):
    """Run a benchmark as a process of its own, since it forks."""
    command = [sys.executable, "-m", f"benchmarks.hardening.{name}", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout_s, cwd=ROOT)


def killed(journal, folder, **options):
    """The row of a run of the benchmark."""
    given = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    done = run_benchmark("kills", "--journal", journal, "--out", folder, *given, timeout_s=120)
    assert (done.returncode, done.stderr) == (0, "")
    (row,) = csv.DictReader((folder / "kills.csv").read_text().splitlines())
    return row


def assert_nothing_is_lost(row, journal, kills):
    history = rb.Optimizer.resume(journal).history
    assert int(row["kills"]) == kills
    assert [int(row[name]) for name in ("lost", "given_twice", "different", "failed")] == [0, 0, 0, 0]
    assert int(row["acknowledged"]) <= len(history.having("told")) <= int(row["acknowledged"]) + kills + 1  # the first
    assert len(history) == int(row["trials"]) == int(row["recomputed"])


@pytest.mark.slow
@pytest.mark.parametrize("place", ["{}/run.jsonl", "sqlite:///{}/lab.db#oven"])
def test_what_four_processes_tell_is_kept_although_they_are_killed(tmp_path, place):
    journal = place.format(tmp_path)
    row = killed(journal, tmp_path, kills=8, processes=4)
    assert_nothing_is_lost(row, journal, 8)


@pytest.mark.slow
def test_what_eight_processes_tell_a_server_is_kept_although_they_are_killed(tmp_path, postgresql):
    row = killed(postgresql, tmp_path, kills=20, processes=8)
    assert_nothing_is_lost(row, postgresql, 20)


@pytest.mark.slow
@pytest.mark.parametrize("where", [[], ["--database"]])
def test_of_a_call_that_is_killed_all_is_there_or_nothing(tmp_path, where):
    done = run_benchmark("kills_of_calls", "--kills", "12", "--out", tmp_path, *where, timeout_s=300)
    assert (done.returncode, done.stderr) == (0, "")
    (row,) = csv.DictReader((tmp_path / "kills_of_calls.csv").read_text().splitlines())
    assert [int(row[name]) for name in ("kills", "lost", "parts")] == [12, 0, 0]
