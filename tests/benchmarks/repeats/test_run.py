"""Real repeats: what is wrong by them, the scores of doubts, and a small recording from the loop to the page."""

import numpy as np
import pandas as pd
import pytest

from robustbo.tasks.problem import load as problem_of

SMALL = ["--set", "trials=12", "--set", "num_initial=4"]
PLACES = [f"{data} {name}" for data in ("crossed-barrel", "hplc") for name in ("loop", "detection", "values")]


@pytest.fixture(scope="module")
def repeats(load):
    return load("repeats.run")


@pytest.fixture(scope="module")
def scores(load):
    return load("repeats.scores")


@pytest.fixture(scope="module")
def reports(load):
    return load("repeats.reports")


@pytest.fixture(scope="module")
def tables(load):
    return load("repeats.tables")


def test_a_distance_is_from_the_other_measurements(reports):
    assert reports.distance(9.0, (1.0, 2.0, 9.0), 0.5) == 15.0
    assert reports.distance(2.0, (2.0, 2.0), 0.5) == 0.0
    assert np.isnan(reports.distance(2.0, (2.0,), 0.5))


def test_the_standard_deviation_of_repeats_is_that_of_normal_errors(reports):
    drawn = np.random.default_rng(0).normal(scale=3.0, size=(4000, 3)) + np.arange(4000)[:, None]
    assert reports.sd_of(map(tuple, drawn)) == pytest.approx(3.0, rel=0.03)
    drawn[::7, 1] += 1000.0  # one measurement in 21
    assert reports.sd_of(map(tuple, drawn)) == pytest.approx(3.0, rel=0.2)


def test_the_area_is_a_share_of_pairs(scores):
    number, case = pd.Series([3.0, 1.0, 2.0, 2.0, 0.0]), pd.Series([True, False, True, False, False])
    pairs = [(a > b) + (a == b) / 2 for a in number[case] for b in number[~case]]
    assert scores.auc(number, case) == pytest.approx(np.mean(pairs))
    assert np.isnan(scores.auc(number, case & False))


def test_the_jackknife_of_a_mean_is_its_standard_error(scores):
    rows = pd.DataFrame({"replication": range(9), "x": np.random.default_rng(1).normal(size=9)})
    value, error = scores.jackknife(lambda some: some["x"].mean(), rows)
    assert (value, error) == pytest.approx((rows["x"].mean(), rows["x"].std() / 3))
    assert scores.jackknife(lambda some: some["x"].mean(), rows[:1]) == pytest.approx(
        (rows["x"][0], np.nan), nan_ok=True
    )
    assert np.isnan(scores.jackknife(lambda some: some["x"].mean(), rows[:0])).all()


def doubted(n=400):
    """Values of four replications whose probabilities are true, of any surrogate, and a fifth without distances."""
    generator = np.random.default_rng(2)
    probability = generator.uniform(size=n)
    is_wrong = generator.uniform(size=n) < probability
    made = pd.DataFrame({"replication": np.arange(n) % 4, "probability": probability, "evidence": probability})
    made["distance"], made["flagged"], made["here"] = np.where(is_wrong, 9.0, 1.0), (probability > 0.5) * 1, 1
    made["method"], made["value"] = "default", generator.normal(size=n)
    return pd.concat([made, made.head(20).assign(distance=np.nan, replication=4)], ignore_index=True)


def test_true_probabilities_are_found_true(scores):
    rows = list(scores.reliability(doubted()))
    assert sum(row["values"] for row in rows) == 400
    for row in rows:
        wrong, error = map(float, row["wrong"].split(" ± "))
        assert abs(wrong - float(row["said"])) < 4 * error + 0.1
    better = float(scores.losses(doubted())["difference"].split(" ± ")[0])
    assert better < -0.1


def test_who_flags_what_is_far_is_said_to(scores):
    row = scores.detection_row(doubted())
    known = doubted().dropna()
    of_them = (known.loc[known["flagged"] == 1, "distance"] > 5).mean()
    assert (row["values"], row["flagged"]) == (400, known["flagged"].sum())
    assert row["of them wrong"].startswith(f"{of_them:.2f} ± ")
    assert float(row["AUC, evidence of > 5 sd"].split()[0]) == pytest.approx(5 / 6, abs=0.05)  # of true uniform ones


def test_what_needs_no_surrogate_is_judged_by_the_value(tables):
    made = tables.alone(doubted())
    assert (made["the value alone"]["evidence"] == doubted()["value"]).all()
    assert (made["its distance from the median of all"]["evidence"] >= 0).all()
    assert not any(rows["flagged"].any() for rows in made.values())


def test_differences_are_paired(tables):
    rows = pd.DataFrame(
        {"method": method, "replication": r, "again": 0, "nothing_new": 0, "flagged": 0}
        | {f"{kind} {after}": 10.0 * r + shift for kind in tables.KINDS for after in tables.AFTER}
        for method, shift in (("default", 0.0), ("default-never", 2.0), ("standard", 5.0))
        for r in range(4)
        if (method, r) != ("default", 3)
    )
    found = {row["method"]: row for row in tables.loop_table(rows, "recommended", 1)}
    assert [found["`standard`"][f"less `{base}`"] for base in tables.BASES] == ["5.0 ± 0.0", ""]
    assert (found["`standard`"]["n"], found["`standard`"]["100%"]) == (4, "20.0 ± 6.5")
    again = tables.again_table(rows, 1)
    assert (again[0]["n"], again[0]["100%"]) == (3, "-2.0 ± 0.0")
    assert (again[2]["n"], again[2]["100%"]) == (0, "-")


@pytest.mark.slow
def test_a_recording_goes_on_is_kept_and_shown(repeats, tmp_path):
    work, out, page = tmp_path / "work", tmp_path / "rows", tmp_path / "page.md"
    given = ["--work", str(work), "--replications", "0:2", "--commit", "abc"]
    recording = ["record", *given, "--methods", "default", "standard", "optuna-tpe", *SMALL]
    repeats.main(recording)
    repeats.main(["detect", *given[:2], "--problems", "hplc", "--replications", "0:1", "--commit", "abc"])
    files = [path for path in work.rglob("*") if path.suffix in (".json", ".jsonl", ".csv")]
    written = {path: path.stat().st_mtime_ns for path in files}
    repeats.main(recording)
    assert {path: path.stat().st_mtime_ns for path in files} == written
    repeats.main(["keep", "--work", str(work), "--out", str(out), *SMALL])
    page.write_text("".join(f"<!-- {name} -->\nold\n<!-- /{name} -->\n" for name in ("data", *PLACES, "about")))
    repeats.main(["tables", "--rows", str(out), "--page", str(page)])
    said = page.read_text()
    assert "old" not in said
    assert said.count("nothing is recorded") == 1  # no fits of crossed barrels
    assert "| loop | 8 | abc |" in said
    loop = pd.read_csv(out / "loop.csv")
    assert sorted(zip(loop["data"], loop["method"], loop["replication"], strict=True)) == sorted(
        (data, method, r)
        for data in repeats.PROBLEMS
        for method in ("default", "standard", "optuna-tpe")
        for r in range(2)
    )
    assert (loop["measured 100%"] <= loop["recommended 100%"]).all()
    assert (loop.filter(like="measured ").diff(axis=1).iloc[:, 1:] <= 0).all(axis=None)
    values = pd.read_csv(out / "values-crossed-barrel.csv.gz")
    assert len(values) == 2 * 2 * 12
    assert values["distance"].notna().all()
    of_injections = pd.read_csv(out / "detection-hplc.csv.gz")
    assert of_injections.groupby("method").size().eq(60).all()
    assert of_injections.groupby(["trial"])["value"].nunique().eq(1).all()  # all are told the same


@pytest.mark.slow
def test_what_was_measured_is_real_and_regret_is_of_the_medians(repeats, tmp_path):
    options = [
        "--work",
        str(tmp_path),
        "--problems",
        "crossed-barrel",
        "--replications",
        "0:1",
        "--methods",
        "standard",
    ]
    repeats.main(["record", *options, *SMALL])
    spec = repeats.spec("crossed-barrel", SMALL[1::2])
    cell = repeats.OptimizationCell.of(spec, "standard", 0, tmp_path / "crossed-barrel")
    problem, trials = problem_of("crossed-barrel"), repeats.history_of(cell).trials
    assert all(trial.value in problem.repeats(trial.params) for trial in trials)
    true = [float(np.median(problem.repeats(trial.params))) for trial in trials]
    row = repeats.loop_row(cell)
    assert row["measured 100%"] == pytest.approx(problem.optimum - max(true))
    assert row["recommended 100%"] == pytest.approx(problem.optimum - true[cell.entries()[-1]["recommended"]])
    assert (row["again"], row["nothing_new"]) == (0, 0)


@pytest.mark.slow
def test_data_are_described_as_they_were_published(reports):
    barrels, injections = map(reports.describe_data, ("crossed-barrel", "hplc"))
    assert (barrels["points"], barrels["values there"]) == (600, 1800)
    assert (injections["points"], injections["measured twice or more"]) == (1007, 379)
    assert injections["zeros there"] == "67 points, 53 of them 0 each time"
    shares = [float(text.rstrip("%")) for text in injections["of each quarter of values, lowest first"].split(", ")]
    assert np.mean(shares) == pytest.approx(float(injections["more than 5 sd off"].rstrip("%")), abs=0.6)


def test_what_cannot_be_is_said(repeats, tmp_path):
    with pytest.raises(SystemExit, match=r"--methods must be of default, .*, got defalt"):
        repeats.main(["record", "--work", str(tmp_path), "--methods", "defalt"])
    with pytest.raises(SystemExit, match="must be a folder in which something was recorded"):
        repeats.main(["keep", "--work", str(tmp_path)])
