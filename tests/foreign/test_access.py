"""Somebody else's run is read below its folder, without the net; what its rows hold is checked."""

import gzip
import os
import shutil

import pytest

from robustbo.errors import DataError, FileError, RobustBOError
from robustbo.foreign import access
from robustbo.replay.output.loaded import load
from robustbo.replay.verify import verdicts
from robustbo_problems import data_source, datasets
from tests.trials.forged import command

SPEC = """problem = "{problem}"
problem_options = {options}
methods = ["standard"]
trials = 2
replications = 1
"""
COLUMNS = "method,replication,trial,origin,repeats,clean,value,corrupted,flagged,recommended,inference,oracle,fit_s"
ROWS = f"{COLUMNS},acquisition_s\n" + "".join(f"standard,0,{i},sobol,,1,1,False,False,{i},1,1,0,0\n" for i in range(2))


def run_of(folder, problem="branin", options="{}", rows=ROWS):
    folder.mkdir(exist_ok=True)
    (folder / "spec.toml").write_text(SPEC.format(problem=problem, options=options))
    (folder / "results.csv").write_bytes(rows if isinstance(rows, bytes) else rows.encode())
    return folder


@pytest.mark.parametrize("kind", ["pipe", "device", "file", "link in the folder", "relative"])
@pytest.mark.parametrize(("problem", "option"), [("table", "file"), ("hplc", "data")])
def test_a_problem_is_not_made_of_files_elsewhere(tmp_path, monkeypatch, kind, problem, option):
    run, path = tmp_path / "run", tmp_path / "secret"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path = "/dev/zero"
    else:
        path.write_text("x,y\n1,2\n")
    run.mkdir()
    if kind == "link in the folder":
        (run / "link").symlink_to(path)
        path = run / "link"
    if kind == "relative":
        monkeypatch.chdir(tmp_path)
        path = "secret"
    run_of(run, problem, f'{{{option} = "{path}"}}')
    with pytest.raises(DataError, match="a recorded run must name files below its own folder") as raised:
        load(run)
    assert "SHA" not in str(raised.value)


def test_what_is_below_the_folder_or_allowed_is_read(tmp_path):
    run, outside = tmp_path / "run", tmp_path / "t.csv"
    outside.write_text("x,y\n1,2\n2,3\n")
    run_of(run, "table", f'{{file = "{outside}"}}')
    assert len(load(run, [outside]).tables.rows) == 2
    assert len(load(run, [tmp_path]).tables.rows) == 2
    inside = run / "t.csv"
    inside.write_text(outside.read_text())
    run_of(run, "table", f'{{file = "{inside}"}}')
    assert len(load(run).tables.rows) == 2


def test_published_figures_lie_beside_the_spec(tmp_path):
    run, elsewhere = tmp_path / "run", tmp_path / "passwd"
    elsewhere.write_text("root:x:0:0\n")
    run_of(run)
    (run / "spec.toml").write_text(
        f'kind = "regression"\npublished = "{elsewhere}"\ntasks = ["friedman5"]\ncorruptions = ["none"]\n'
        'methods = ["standard"]\nreplications = 1\n'
    )
    with pytest.raises(DataError, match="passwd: a recorded run must name files below its own folder"):
        load(run)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["results.csv", "results.csv.gz", "cells/sobol-0.jsonl", "cells/sobol-0.truth.jsonl"])
def test_a_link_out_of_the_folder_is_not_followed(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.toml").write_text(SPEC.format(problem="branin", options="{}").replace("standard", "sobol"))
    code, _, err = command("replay", "run.toml", "--out", "run")
    assert code == 0, err
    shutil.copy("run.toml", "run/spec.toml")
    assert command("verify", "run")[0] == 0
    if name.startswith("results"):  # of which the cells have no need
        shutil.rmtree("run/cells")
        (tmp_path / "run" / "results.csv").rename(tmp_path / "results.csv")
    outside, link = tmp_path / name.rpartition("/")[2], tmp_path / "run" / name
    if link.exists():
        link.rename(outside)
    link.symlink_to(outside)
    if name.endswith(".gz"):
        outside.write_bytes(gzip.compress((tmp_path / "results.csv").read_bytes()))
    must = f"run/{name}: a recorded run must name files below its own folder"
    for reader in ("report", "verify") if (tmp_path / "run" / "cells").is_dir() else ("report",):
        code, _, err = command(reader, "run")
        assert (code, f"error: {must}" in err) == (2, True), err
        assert command(reader, "run", "--allow", outside)[0] == 0


def test_reading_a_record_downloads_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(data_source.FOLDER, raising=False)
    source = datasets.TABLES["boston"]._replace(url="http://127.0.0.1:9/boston")
    with access.confine_access(tmp_path), pytest.raises(DataError, match="reading a run downloads nothing"):
        data_source.fetch(source)
    assert not (tmp_path / "cache").exists()


DAMAGED = {
    "empty": b"",
    "not gzip, but its name": None,
    "binary": b"\x00\xff\xfe" * 99,
    "cut": ROWS[:-60].encode(),
    "names alone": f"{COLUMNS}\n".encode(),
    "other columns": b"a,b\n1,2\n",
    "words for numbers": ROWS.replace(",0,1,", ",0,one,").encode(),
    "no method": ROWS.replace("standard", "").encode(),
    "infinite": ROWS.replace(",1,1,0,0\n", ",inf,1,0,0\n").encode(),
    "half a trial": ROWS.replace("standard,0,1", "standard,0,1.5").encode(),
    "negative": ROWS.replace("standard,0,1", "standard,0,-1").encode(),
    "huge": ROWS.replace("standard,0,1", f"standard,0,{'9' * 5000}").encode(),
    "an open quote": ROWS.replace("sobol", '"sobol', 1).encode(),
    "more cells than names": ROWS.replace("1,1,0,0\n", "1,1,0,0" + ",1" * 9000 + "\n").encode(),
    "perhaps wrong": ROWS.replace("False", "perhaps").encode(),
}


@pytest.mark.few(5)
@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_rows_end_in_a_line_that_names_the_file(tmp_path, monkeypatch, damage):
    run = run_of(tmp_path / "run", rows=DAMAGED[damage] or b"")
    if DAMAGED[damage] is None:
        (run / "results.csv").unlink()
        (run / "results.csv.gz").write_bytes(gzip.compress(ROWS.encode())[3:])
    with pytest.raises(FileError, match=r"run/results.csv(.gz)?: "):
        load(run)
    monkeypatch.chdir(tmp_path)
    code, _, err = command("report", "run")
    assert (code, err.count("\n")) == (2, 1), err
    assert err.startswith("error: run/results.csv")


def test_verify_ends_with_2_where_something_cannot_be_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "j.jsonl").write_text('{"schema": 1}\n')
    (row,) = verdicts(["j.jsonl"])
    assert row["agreement"] == "unreadable"
    code, _, err = command("verify", "j.jsonl")
    assert code == 2
    assert "error: j.jsonl" in err


def test_whoever_runs_a_specification_names_what_is_read(tmp_path):
    outside = tmp_path / "t.csv"
    access.check_paths({"file": str(outside)})
    with access.confine_access(tmp_path / "run"), pytest.raises(RobustBOError):
        access.check_paths({"a": [{"file": str(outside)}]})
