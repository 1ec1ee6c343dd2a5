"""The mission's problems: what is recorded once, what is scored, and by how much one method is better than another."""

from argparse import Namespace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

KEYS = ["problem", "setting", "method", "replication"]


@pytest.fixture(scope="module")
def mission(load):
    return load("papers.mission")


@pytest.fixture
def short(mission, monkeypatch):
    """The mission with runs of 8 trials."""
    whole = mission.spec
    monkeypatch.setattr(
        mission, "spec", lambda *of: whole(*of).model_copy(update={"trials": 8, "num_initial": 2, "replications": 2})
    )
    return mission


def options(work, **changes):
    given = {"work": work, "problems": ["rover"], "settings": ["own-10", "random-point-20"], "replications": range(2)}
    return Namespace(**{**given, "methods": ["standard", "oracle"], "jobs": 1, "commit": "abc", "least": 1, **changes})


def test_settings_are_three_failures_by_two_rates(mission):
    kinds = {"svm": "io-failure", "cnn": "io-failure", "rover": "breakdown"}
    for problem, own in kinds.items():
        found = [mission.spec(problem, setting).corruption for setting in mission.SETTINGS]
        assert [each.kind for each in found] == [own, own, "in-range", "in-range", "random-point", "random-point"]
        assert [each.probability for each in found] == [0.1, 0.2] * 3


def test_what_sees_no_failure_is_recorded_once(mission):
    whole = {**mission.spec("rover", "own-10").methods}
    assert {name for name, method in whole.items() if method.sees == "clean" or name == "sobol"} == {*mission.CLEAN}
    found = [made.record for _, made in mission.cells(options(Path("W")))]
    assert (len(found), len(set(found))) == (8, 6)
    asked = options(Path("W"), methods=[*mission.METHODS], problems=[*mission.PROBLEMS], settings=[*mission.SETTINGS])
    order = [key[-1] for key, _ in mission.cells(asked)]
    assert order == sorted(order)  # a replication of all before the next one


@pytest.mark.slow
def test_what_is_recorded_is_scored_without_failures_and_kept(short, tmp_path, capsys):
    short.record(options(tmp_path))
    written = {path: path.stat().st_mtime_ns for path in tmp_path.glob("rover/*/cells/*.truth.jsonl")}
    short.record(options(tmp_path))
    assert len(written) == 6
    assert all(path.stat().st_mtime_ns == at for path, at in written.items())
    short.keep(options(tmp_path, out=tmp_path / "kept"))
    rows = pd.read_csv(tmp_path / "kept" / "rows.csv").set_index(KEYS)
    made = short.cell(tmp_path, "rover", "random-point-20", "standard", 1)
    entries = made.entries()
    row = rows.loc["rover", "random-point-20", "standard", 1]
    assert row["100%"] == pytest.approx(entries[entries[-1]["recommended"]]["clean"], rel=1e-5)
    assert row["wrong"] == sum(entry["corrupted"] for entry in entries)
    assert rows.loc["rover", "own-20", "oracle", 0].equals(rows.loc["rover", "own-10", "oracle", 0])
    about = pd.read_csv(tmp_path / "kept" / "about.csv")
    assert about["cells"].tolist() == [6]
    assert about["commit"].tolist() == ["abc"]
    assert "torch" in about["versions"][0]
    short.tables(Namespace(rows=tmp_path / "kept" / "rows.csv", page=None))
    assert "| rover | random-point-20 | oracle | standard | 2 |" in capsys.readouterr().out


def test_a_run_that_is_not_over_is_not_kept(short, tmp_path):
    short.record(options(tmp_path, settings=["own-10"], methods=["sobol"], replications=range(1)))
    made = short.cell(tmp_path, "rover", "own-10", "sobol", 0)
    assert short.score_cell(made) is not None
    lines = made.record.read_text().splitlines(keepends=True)
    made.record.write_text("".join(lines[:-2]))
    assert short.score_cell(made) is None


def drawn(problem, sign):
    """A method that is better than another by 1 and 3 in two pairs, and one run without a partner."""
    values = {("a", 0): 2.0, ("a", 1): 5.0, ("a", 2): 100.0, ("b", 0): 1.0, ("b", 1): 2.0}
    rows = [(problem, "own-10", *key, *[sign * value] * 4) for key, value in values.items()]
    return pd.DataFrame(rows, columns=[*KEYS, "40%", "60%", "80%", "100%"])


@pytest.mark.parametrize(("problem", "sign"), [("svm", -1.0), ("rover", 1.0), ("cnn", 1.0)])
def test_better_is_less_error_and_more_reward_pair_by_pair(mission, problem, sign):
    (row,) = mission.better(drawn(problem, sign), [("a", "b")])
    assert (row["pairs"], row["100%"]) == (2, "+2 ± 1")
    assert mission.better(drawn(problem, sign), [("a", "c")]) == []


def test_flags_are_judged_over_all_runs(mission):
    counts = pd.DataFrame({"wrong": [4, 0], "flagged": [2, 1], "right": [2, 0], "repeats": [1, 2]})
    runs = drawn("svm", 1.0).iloc[:2].reset_index(drop=True)
    (row,) = mission.means(pd.concat([runs, counts], axis=1))
    assert (row["precision"], row["recall"], row["again"], row["runs"]) == ("0.67", "0.50", "1.5", 2)
    assert row["100 %"] == f"3.5 ± {np.sqrt(9 / 2 / 2):.2g}"
