"""The papers' figures and tables: what is recorded goes on, what is done is kept, and is printed as the page has it."""

from argparse import Namespace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from robustbo.replay.spec import reading

CONJUGATE = ["conjugate-bo-camel", "conjugate-bo-branin"]


@pytest.fixture(scope="module")
def papers(load):
    return load("papers.runs")


@pytest.fixture(scope="module")
def replays(load):
    return load("common.replays")


@pytest.fixture
def short(papers, replays, monkeypatch, tmp_path):
    """Specs of few trials and small tasks, in a folder of their own."""
    folder = tmp_path / "runs"
    folder.mkdir()
    for name in CONJUGATE:
        text = (papers.RUNS / f"{name}.toml").read_text(encoding="utf-8")
        (folder / f"{name}.toml").write_text(text.replace("trials = 50", "trials = 8"), encoding="utf-8")
    text = (papers.RUNS / "figure-5-left.toml").read_text(encoding="utf-8")
    text = text.replace('["uniform", "constant", "student-t"]', '["uniform"]').replace("[tasks.hartmann6]\n", "")
    (folder / "figure-5-left.toml").write_text(text.replace("noise_sd = 0.0", "noise_sd = 0.0\nn = 20"))
    monkeypatch.setattr(replays, "RUNS", folder)
    return papers


def options(work, **changes):
    given = {"work": work, "runs": [*CONJUGATE, "figure-5-left"], "methods": ["standard", "oracle"], "jobs": 1}
    return Namespace(**{**given, "replications": range(2), "least": 1, **changes})


def test_every_place_of_the_page_has_runs_and_marks(papers):
    root = Path(papers.__file__).parents[2]
    text = "".join((root / file).read_text(encoding="utf-8") for file in ("docs/evidence/papers.md", "runs/papers.md"))
    for place in (*papers.PLACES, "causes", "claim"):
        assert place in ("causes", "claim") or any(name.startswith(place) for name in papers.NAMES)
        assert text.count(f"<!-- {place} -->\n") == text.count(f"<!-- /{place} -->") == 1


def test_all_baselines_of_the_papers_are_there(papers):
    baselines = {"student-t-variational", "laplace-variational", "huber", "huber-projection", "published-rule"}
    for name in ("figure-5-left", "figure-5-right", *papers.OF_TABLES):
        spec = reading.load(papers.RUNS / f"{name}.toml")
        assert baselines | {"botorch-relevance-pursuit", "default", "averaged"} <= spec.methods.keys()
        assert spec.methods["default"].transform == "default"
        assert spec.methods["averaged"].transform == "none"


def test_a_replication_of_all_comes_before_the_next_one(papers, replays, tmp_path):
    found = list(replays.cells(options(tmp_path, methods=[], runs=list(papers.NAMES))))
    assert [cell.replication for cell in found] == sorted(cell.replication for cell in found)
    assert len({cell.record for cell in found}) == len(found)


@pytest.mark.slow
def test_what_is_recorded_is_kept_and_printed(short, replays, tmp_path, capsys):
    work, out = tmp_path / "W", tmp_path / "runs"
    replays.record(options(work))
    written = {path: path.stat().st_mtime_ns for path in work.glob("*/cells/*.jsonl")}
    replays.record(options(work))
    assert {path: path.stat().st_mtime_ns for path in work.glob("*/cells/*.jsonl")} == written
    half = next((work / "figure-5-left" / "cells").glob("oracle-1.scores.jsonl"))
    half.write_text(half.read_text(encoding="utf-8").splitlines(keepends=True)[0], encoding="utf-8")
    replays.keep(options(work, out=out))
    rows = pd.read_csv(out / "figure-5-left" / "results.csv.gz")
    assert rows.groupby("method")["replication"].nunique().to_dict() == {"standard": 2, "oracle": 1}
    page = tmp_path / "page.md"
    page.write_text(
        "".join(f"<!-- {place} -->\n<!-- /{place} -->\n" for place in (*short.PLACES, "causes", "claim")),
        encoding="utf-8",
    )
    short.tables(Namespace(folder=out, page=[page]))
    text = page.read_text(encoding="utf-8")
    assert "left out" in capsys.readouterr().out  # the tables, which are not recorded
    assert f"| `oracle` | 1 | {-rows[rows['method'] == 'oracle']['nlpd'].iloc[0]:.3g} |" in text
    assert "| `standard` |" in text.split("<!-- conjugate-bo -->")[1]


@pytest.mark.slow
def test_regrets_are_of_what_is_recommended(short, replays, tmp_path):
    replays.record(options(tmp_path / "W", runs=CONJUGATE[:1]))
    replays.keep(options(tmp_path / "W", runs=CONJUGATE[:1], out=tmp_path / "runs"))
    run = short.load(tmp_path / "runs" / f"{CONJUGATE[0]}.toml")
    found = short.regrets(run)
    best = -1.0316284534898774
    cell = next(replays.cells(options(tmp_path / "W", runs=CONJUGATE[:1])))
    entries = cell.entries()
    wanted = np.log10(entries[entries[-1]["recommended"]]["clean"] - best)
    assert found.loc[(cell.method, cell.replication), 1.0] == pytest.approx(wanted)
    less = (found.loc["oracle"] - found.loc["standard"])[1.0]
    assert f"{less.mean():.2f} ± {less.sem():.2f} (2)" in short.optimizations([run])
