from argparse import Namespace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

SHARES = (0.4, 0.6, 0.8, 1.0)


@pytest.fixture(scope="module")
def suite(load):
    return load("quality.suite")


def options(folder, **changes):
    given = {"work": folder, "settings": ["clean", "crash"], "problems": ["beale"], "replications": range(2)}
    return Namespace(**{**given, "methods": ["standard", "oracle"], "set": ["trials=9"], "jobs": 1, **changes})


@pytest.mark.slow
def test_every_setting_takes_every_problem(suite):
    for setting in suite.SETTINGS:
        for problem in suite.FUNCTIONS:
            spec = suite.spec(setting, problem)
            assert (spec.problem, spec.trials) == (problem, 50)
            assert (spec.noise is None) == (problem != "ackley" and setting not in ("gaussian", "student-t"))
            assert (spec.corruption is None) == (setting in ("clean", "gaussian", "student-t"))
    assert len({suite.spec("clean", problem).seed for problem in suite.FUNCTIONS}) == 10


def test_cells_that_cannot_differ_are_one(suite):
    folder = Path("W")
    oracle = suite.cell(folder, "crash", "beale", "oracle", 0)
    assert oracle.record == suite.cell(folder, "clean", "beale", "oracle", 0).record
    informed = suite.cell(folder, "gaussian", "beale", "informed", 0)
    assert informed.record == suite.cell(folder, "gaussian", "beale", "standard", 0).record
    assert suite.cell(folder, "crash", "beale", "informed", 0).method == "informed"
    methods = list(suite.METHODS)
    found = list(suite.cells(options(folder, methods=methods, settings=suite.SETTINGS, set=[])))
    assert len(found) == len({cell.record for cell in found}) == 2 * (8 + 8 + 5 + 1)
    assert [cell.replication for cell in found] == [0] * 22 + [1] * 22


@pytest.mark.slow
def test_what_is_recorded_is_kept_and_compared(suite, tmp_path, capsys):
    recording = options(tmp_path)
    suite.record(recording)
    paths = sorted(tmp_path.glob("*/beale/cells/*.truth.jsonl"))
    assert [str(path.relative_to(tmp_path).parts[0]) for path in paths] == ["clean"] * 4 + ["crash"] * 2
    written = [path.stat().st_mtime_ns for path in paths]
    suite.record(recording)
    assert [path.stat().st_mtime_ns for path in paths] == written
    a, b = f"{tmp_path}:standard", f"{tmp_path}:oracle"
    same = suite.scores(options(tmp_path, settings=["clean"]), [a, b])
    assert (same[a].fillna(0.0) == same[b].fillna(0.0)).all(axis=None)  # nothing is wrong there
    made = suite.cell(tmp_path, "crash", "beale", "standard", 1, ["trials=9"])
    entries = made.entries()
    assert suite.scores(recording, [a, b]).loc["crash", "beale", 1][a, 1.0] == pytest.approx(
        np.log10(entries[entries[-1]["recommended"]]["clean"])
    )
    suite.compare(options(tmp_path, a=a, b=b))
    suite.means(options(tmp_path, of=[a, b]))
    assert capsys.readouterr().out.count("crash") == 3


def test_what_is_not_recorded_is_said(suite, tmp_path):
    with pytest.raises(SystemExit, match="nothing is recorded of all of"):
        suite.scores(options(tmp_path), [f"{tmp_path}:standard"])


def made(differences):
    """Regrets of two methods, of which the first has these differences by setting, problem and replication."""
    keys = pd.MultiIndex.from_tuples(differences, names=["setting", "problem", "replication"])
    columns = pd.MultiIndex.from_product([["a", "b"], SHARES])
    return pd.DataFrame([[value] * 4 + [1.0] * 4 for value in differences.values()], keys, columns)


def test_an_error_is_that_of_the_replications(suite):
    rng = np.random.default_rng(0)
    drawn = {(problem, r): rng.normal() for problem in "pq" for r in range(50)}
    one = suite.difference(made({("s", *key): value for key, value in drawn.items()}))
    mean, error = map(float, one["100%"].split(" +- "))
    by_problem = np.array([*drawn.values()]).reshape(2, 50)
    assert mean == pytest.approx(by_problem.mean() - 1.0, abs=0.006)
    assert error == pytest.approx(np.sqrt((by_problem.var(1, ddof=1) / 50).sum()) / 2, abs=0.006)
    twice = suite.difference(made({(s, *key): value for s in "st" for key, value in drawn.items()}))
    assert twice["100%"] == one["100%"]  # a replication in two settings is no two replications
    assert (one["pairs"], twice["pairs"]) == (100, 200)


def test_one_replication_has_no_error(suite):
    assert suite.difference(made({("s", "p", 0): 0.5}))["100%"] == "-0.50 +- nan"


def test_no_regret_is_the_least_that_is_told_from_it(suite, monkeypatch, tmp_path):
    cell = suite.cell(tmp_path, "clean", "three-hump-camel", "standard", 0, ["trials=5", "num_initial=2"])
    cleans = [3.0, 1.0, 1e-30, 1e-3, 0.0]
    entries = [{"clean": clean, "recommended": None if i == 1 else i} for i, clean in enumerate(cleans)]
    monkeypatch.setattr(type(cell), "entries", lambda cell: entries)
    np.testing.assert_allclose(suite.regrets(cell), [np.nan, -8.0, -3.0, -8.0])
