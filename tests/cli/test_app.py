import csv
import io
import json
import math
import os
import re
import signal
import subprocess
import sys
import time

import pytest

import robustbo as rb
from robustbo.replay.spec.optimization import RunSpec
from robustbo.replay.spec.reading import load

SPEC = """
problem = "hartmann6"
methods = ["sobol", "standard"]
trials = 6
num_initial = 5
replications = 2
corruption = {kind = "uniform", probability = 0.3}
"""


@pytest.fixture
def cli(monkeypatch, tmp_path, call):
    """Run the command line in a folder that holds runs/small.toml; gives (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "small.toml").write_text(SPEC)
    return call


def test_replay_writes_rows_summary_and_picture_and_continues(cli, tmp_path):
    code, out, err = cli("replay", "runs/small.toml", "--trials", 5)
    assert code == 0
    assert "sobol" in out
    assert "standard" in out
    folder = tmp_path / "results" / "small"
    assert "curves.png" in err
    assert (folder / "curves.png").stat().st_size > 10_000
    code, out, err = cli("replay", "runs/small.toml", "--format", "json")
    assert "20 trials done before" in err
    assert [row["method"] for row in json.loads(out)] == ["sobol", "standard"]
    rows = list(csv.DictReader(io.StringIO((folder / "results.csv").read_text())))
    assert len(rows) == 2 * 2 * 6
    assert len((folder / "summary.csv").read_text().splitlines()) == 3


def test_replay_of_one_method_and_replication_into_a_folder_of_ones_own(cli, tmp_path):
    code, out, _ = cli(
        "replay", "runs/small", "--method", "sobol", "--replications", 1, "--out", "here", "--format", "csv"
    )
    assert code == 0
    assert [row["method"] for row in csv.DictReader(io.StringIO(out))] == ["sobol"]
    assert [path.name for path in sorted((tmp_path / "here" / "cells").glob("*.jsonl"))] == [
        "sobol-0.jsonl",
        "sobol-0.truth.jsonl",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("replay", "nowhere"), "error: nowhere: expected a TOML file"),
        (("replay", "runs/small", "--set", "trials=-1"), "--set trials=-1: trials: must be at least 1, got -1"),
        (("replay", "runs/small", "--method", "gp"), "--method gp: expected one of sobol, standard"),
        (("replay", "runs/small", "--jobs", "0"), "--jobs"),
        (("verify", "runs"), "expected a recorded run"),
        (("show", "nowhere.jsonl"), "there is no such journal"),
        (("dance",), "dance"),
    ],
)
def test_a_mistake_is_answered_with_what_was_expected_and_code_2(cli, arguments, message):
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_a_changed_spec_does_not_continue(cli):
    cli("replay", "runs/small", "--method", "sobol", "--trials", 2)
    code, _, err = cli("replay", "runs/small", "--method", "sobol", "--set", "corruption.probability=0.5")
    assert code == 2
    assert "corruption.probability: recorded 0.3, now 0.5" in err
    code, _, err = cli("replay", "runs/small", "--method", "sobol", "--no-resume")
    assert code == 2
    assert "holds results; omit" in err


def test_verify_says_the_same_twice_and_finds_a_difference(cli, tmp_path, monkeypatch):
    cli("replay", "runs/small", "--replications", 1)
    first = cli("verify", "results/small")
    assert first == cli("verify", "results/small")
    assert first[0] == 0
    verdicts = json.loads(cli("verify", "results/small", "--format", "json")[1])
    assert [(row["asks"], row["verdict"]) for row in verdicts] == [
        (6, "6 asks: the same to the last bit"),
        (6, "6 asks: the same to the last bit"),
        (None, "the same to the last bit"),
    ]
    monkeypatch.setattr("robustbo.replay.check.optimization.recommend", lambda *_: 0)
    code, out, _ = cli("verify", "results/small", "--format", "json")
    assert code == 1
    assert all("recommended: recorded" in row["verdict"] for row in json.loads(out)[:2])


@pytest.mark.slow
def test_verify_takes_rounding_for_the_same_unless_bits_are_asked_for(cli, monkeypatch):
    cli("replay", "runs/small", "--replications", 1)
    assert cli("verify", "results/small", "--bits")[0] == 0
    measure = RunSpec.measure

    def rounded_elsewhere(*arguments, **given):
        value, wrong = measure(*arguments, **given)
        return math.nextafter(value, math.inf), wrong

    monkeypatch.setattr(RunSpec, "measure", rounded_elsewhere)
    code, out, err = cli("verify", "results/small", "--format", "json")
    assert code == 0
    assert [row["agreement"] for row in json.loads(out)] == ["rounding", "rounding", "bits"]
    assert re.search(r"6 asks: the same to rounding \(largest difference \de-16 of the value, trial \d", err)
    assert cli("verify", "results/small", "--bits")[0] == 1


def test_verify_misses_no_missing_cell_row_or_event(cli, tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "spec.toml").write_text(
        SPEC.replace("trials = 6", "trials = 3").replace("replications = 2", "replications = 1")
    )
    cli("replay", "run", "--out", "run")
    assert cli("verify", "run")[0] == 0
    journal = folder / "cells" / "sobol-0.jsonl"
    whole, rows = journal.read_bytes(), (folder / "results.csv").read_text()
    (folder / "results.csv").write_text(rows.replace("False", "True", 1))
    assert "as the cells say, and is" in cli("verify", "run", "--format", "json")[1]
    for number in ("nan", "inf"):  # with which a comparison is false
        (folder / "results.csv").write_text(re.sub(r"(?<=,)-?\d+\.\d+(?=,)", number, rows, count=1))
        code, out, _ = cli("verify", "run", "--format", "json")
        assert (code, "as the cells say, and is" in out) == (1, True)
    (folder / "results.csv").write_text(rows)
    journal.write_bytes(b"".join(whole.splitlines(keepends=True)[:-2]))
    assert "number of told trials: recorded 2, recomputed 3" in cli("verify", "run", "--format", "json")[1]
    journal.unlink()
    code, out, _ = cli("verify", "run", "--format", "json")
    assert code == 2  # a journal cannot be read
    assert [row["asks"] for row in json.loads(out)] == [None, 3, None]
    journal.with_suffix(".truth.jsonl").unlink()
    assert (
        "sobol, replication 0: spec.toml asks for 3 trials, recorded are 0"
        in cli("verify", "run", "--format", "json")[1]
    )


@pytest.mark.slow
def test_fewer_methods_and_trials_later_leave_the_files_whole(cli, tmp_path):
    cli("replay", "runs/small")
    rows = (tmp_path / "results" / "small" / "results.csv").read_text()
    _, out, _ = cli("replay", "runs/small", "--method", "sobol", "--trials", 5, "--format", "json")
    assert (tmp_path / "results" / "small" / "results.csv").read_text() == rows
    assert [(row["method"], row["flagged"]) for row in json.loads(out)] == [("sobol", None)]


def test_several_runs_are_checked_before_any_begins_and_give_one_table(cli, tmp_path):
    assert cli("replay", "runs/small", "nowhere")[0] == 2
    assert not (tmp_path / "results").exists()
    (tmp_path / "runs" / "other.toml").write_text(SPEC)
    _, out, _ = cli("replay", "runs/small", "runs/other", "--method", "sobol", "--trials", 2, "--format", "json")
    assert [row["run"] for row in json.loads(out)] == ["small", "other"]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_interrupting_says_how_to_go_on(tmp_path, jobs):
    (tmp_path / "small.toml").write_text(SPEC.replace("trials = 6", "trials = 600"))
    command = [sys.executable, "-m", "robustbo.cli", "replay", "small.toml", "--jobs", jobs, "--out", "out"]
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background processes ignore Ctrl-C
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    signal.signal(signal.SIGINT, before)
    first = tmp_path / "out" / "cells" / "sobol-0.truth.jsonl"
    deadline = time.monotonic() + 120
    while not (first.exists() and len(first.read_bytes().splitlines()) > 2) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.endswith("interrupted; the same command continues from here\n")
    assert "Traceback" not in err


def test_a_failing_cell_is_shown_at_the_end_with_code_1(cli, tmp_path, monkeypatch):
    def fail(cell, progress):
        raise rb.FitError("no luck")

    monkeypatch.setattr("robustbo.replay.execute.work.run", fail)
    code, _, err = cli("replay", "runs/small")
    assert code == 1
    assert err.count("no luck") == 4
    code, _, err = cli("replay", "runs/small", "--fail-fast")
    assert code == 1
    assert err.count("no luck") == 1


def test_a_dry_run_says_what_would_run_and_for_how_long(cli):
    code, out, err = cli("replay", "runs/small", "--dry-run", "--format", "json")
    before = json.loads(out)
    assert code == 0
    assert f"{sum(row['trials'] for row in before)} trials, more than 0.0 minutes" in err
    assert {row["minutes"] for row in before} == {"unknown"}
    assert sum(row["trials"] for row in before) > 0
    assert cli("replay", "runs/small")[0] == 0
    after = json.loads(cli("replay", "runs/small", "--dry-run", "--format", "json")[1])
    assert {row["minutes"] for row in after} == {"0.0"}
    assert sum(row["trials"] for row in after) == 0
    assert all(float(row["seconds a trial"]) > 0 for row in after)


def test_a_cluster_that_does_not_answer_is_named(cli):
    code, _, err = cli("replay", "runs/small", "--cluster", "nowhere")
    assert code == 2
    assert "--cluster: no Dask scheduler answers at nowhere" in err


def test_show_of_an_optimization(cli, tmp_path):
    opt = rb.Optimizer(
        rb.Space(x=rb.Float(0, 1)),
        direction="minimize",
        surrogate="relevance-pursuit",
        seed=0,
        journal=tmp_path / "j.jsonl",
    )
    assert "no value looks wrong" in cli("show", "j.jsonl")[1]
    for i in range(10):
        opt.tell({"x": i / 9}, 50.0 if i == 3 else (i / 9 - 0.5) ** 2)
    opt.ask()
    code, out, _ = cli("show", "j.jsonl")
    assert code == 0
    assert "10 told, 1 pending" in out
    assert "incumbent: trial" in out
    found = json.loads(cli("show", "j.jsonl", "--format", "json")[1])
    assert found["outliers"][0]["trial"] == 3
    assert found["outliers"][0]["flagged"]
    assert abs(found["outliers"][0]["expected"] - 0.03) < 0.1
    assert cli("show", "j.jsonl", "--html")[1] == "j.html\n"
    assert "called wrong" in (tmp_path / "j.html").read_text()


@pytest.mark.slow
def test_a_report_is_a_page_and_pictures(cli, tmp_path):
    assert cli("replay", "runs/small", "--out", "small")[0] == 0
    code, out, _ = cli("report", "small", "--out", "pages/all.html")
    assert code == 0
    assert out.splitlines() == ["pages/all.html", "pages/all/small.png"]
    assert (tmp_path / "pages" / "all.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "pages" / "all" / "small.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_a_folder_of_results_says_what_was_run_in_it(cli, tmp_path):
    made = tmp_path / "small" / "spec.toml"
    cli("replay", "runs/small", "--out", "small", "--method", "sobol", "--trials", 5)
    assert (load(made).trials, [*load(made).methods]) == (5, ["sobol"])
    cli("replay", "runs/small", "--out", "small")
    assert load(made) == load(tmp_path / "runs" / "small.toml")
    assert cli("replay", "small", "--out", "small")[2].startswith("small: 4 cells of 6 trials, 24 trials done before")
    made.write_text("# mine\n" + SPEC)
    cli("replay", "runs/small", "--out", "small", "--trials", 5)
    assert made.read_text() == "# mine\n" + SPEC
    cli("replay", "runs/small", "--out", "runs/small", "--method", "sobol")
    assert not (tmp_path / "runs" / "small" / "spec.toml").exists()  # small.toml lies beside it


class TestFilesThatCannotBeWritten:
    @pytest.fixture(autouse=True)
    def begun(self, tmp_path):
        opt = rb.Optimizer(rb.Space(x=rb.Float(0.0, 1.0)), direction="minimize", journal=tmp_path / "j.jsonl", seed=0)
        opt.tell(opt.ask(), 1.0)
        (tmp_path / "file").write_text("")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (
                ("show", "j.jsonl", "--html", "--out", "j.jsonl"),
                "j.jsonl: is a journal, and robustbo never overwrites a journal",
            ),
            (("show", "k.html", "--html"), "k.html: is a journal, and robustbo never overwrites a journal"),
            (("show", "j.jsonl", "--html", "--out", "notes.txt"), "must end in .html, got 'notes.txt'"),
            (("show", "j.jsonl", "--html", "--out", "file/j.html"), "file: cannot be written: "),
            (("report", "j.jsonl", "--out", "file/j.png"), "file: cannot be written: "),
            (("report", "runs/small", "--out", "file/j.html"), "file: cannot be written: "),
            (("replay", "runs/small", "--out", "file/run"), "file/run: cannot be written: "),
        ],
    )
    def test_are_named_in_a_line(self, cli, tmp_path, arguments, message):
        (tmp_path / "k.html").write_bytes((tmp_path / "j.jsonl").read_bytes())
        before = {path: path.read_bytes() for path in tmp_path.glob("*.*")}
        code, out, err = cli(*arguments)
        assert (code, out, len(err.splitlines())) == (2, "", 1)
        assert message in err
        assert {path: path.read_bytes() for path in tmp_path.glob("*.*")} == before

    def test_folders_are_made_for_others(self, cli, tmp_path):
        assert cli("show", "j.jsonl", "--html", "--out", "new/j.html")[0] == 0
        assert cli("report", "j.jsonl", "--out", "newer/j.png")[0] == 0
        assert (tmp_path / "newer" / "j.png").exists()


def test_a_damaged_cell_is_recorded_again(cli, tmp_path):
    cli("replay", "runs/small", "--out", "run", "--method", "sobol", "--replications", 1)
    rows, cells = (tmp_path / "run" / "results.csv").read_text(), tmp_path / "run" / "cells"
    truth = cells / "sobol-0.truth.jsonl"
    truth.write_bytes(truth.read_bytes().replace(b'"clean"', b'"Clean"', 1))
    said = "line 2: damaged .*; delete the files of its cell, and the same `robustbo replay` records it again"
    assert re.search(said, cli("verify", "run")[2])
    for path in cells.glob("sobol-0*"):
        path.unlink()
    cli("replay", "runs/small", "--out", "run", "--method", "sobol", "--replications", 1)
    assert (tmp_path / "run" / "results.csv").read_text() == rows


@pytest.mark.filterwarnings("default")
def test_a_cell_that_is_cut_short_is_named(cli, tmp_path):
    cli("replay", "runs/small", "--out", "run", "--method", "sobol", "--replications", 1)
    truth = tmp_path / "run" / "cells" / "sobol-0.truth.jsonl"
    truth.write_bytes(b"\n".join(truth.read_bytes().split(b"\n")[:-3]) + b'\n{"event": "tri')
    _, out, err = cli("verify", "run", "--format", "json")
    assert "sobol-0.truth.jsonl: the last line is torn" in err
    assert "recorded are 5" in json.loads(out)[-1]["verdict"]


def test_list_names_no_folder_of_this_machine(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("ROBUSTBO_DATA", str(tmp_path / "nowhere"))
    out = cli("list", "--format", "json")[1]
    assert str(tmp_path) not in out
    assert "none of /" not in out


def test_list_names_what_there_is(cli):
    rows = json.loads(cli("list", "--format", "json")[1])
    assert {"hartmann6", "random-point", "relevance-pursuit", "oracle", "runs/small.toml"} <= {
        row["name"] for row in rows
    }
    assert [row["name"] for row in rows[:4]] == ["auto", "relevance-pursuit", "student-t", "standard"]
    assert all(row["about"] for row in rows if row["kind"] != "run")
    assert {row["name"]: row["about"] for row in rows}["rover"].startswith("20 inputs (dx1 -0.1..0.2, ")


@pytest.mark.slow
def test_a_killed_replay_goes_on_from_there_to_the_same_bits(tmp_path):
    (tmp_path / "small.toml").write_text(SPEC)
    command = [sys.executable, "-m", "robustbo.cli", "replay", "small.toml", "--jobs", "2", "--format", "csv"]
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    process = subprocess.Popen([*command, "--out", "killed"], cwd=tmp_path, env=environment, start_new_session=True)
    first = tmp_path / "killed" / "cells" / "sobol-0.truth.jsonl"
    deadline = time.monotonic() + 120
    while not (first.exists() and len(first.read_bytes().splitlines()) > 2) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    outputs = [
        subprocess.run(
            [*command, "--out", out], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        for out in ("killed", "whole")
    ]
    killed, whole = (
        [row[:9] for row in csv.reader(io.StringIO(output.stdout))]  # without the timings
        for output in outputs
    )
    assert killed == whole
    assert len(killed) == 3


@pytest.mark.slow
def test_the_recorded_specs_are_valid():
    from pathlib import Path

    from robustbo.replay.spec.reading import load
    from robustbo.replay.spec.regression import RegressionSpec

    runs = Path(__file__).parents[2] / "runs"
    specs = [load(path) for path in (*runs.glob("*/spec.toml"), *runs.glob("*.toml"))]
    assert len(specs) >= 7
    assert {type(spec) for spec in specs} == {RunSpec, RegressionSpec}
