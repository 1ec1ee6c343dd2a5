import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def data(load):
    return load("labelled.data")


@pytest.fixture(scope="module")
def reports(load):
    return load("labelled.reports")


@pytest.fixture(scope="module")
def scores(load):
    return load("labelled.scores")


def a_table(n=24, factor=1.0, shift=0.0):
    t = np.linspace(0, 3, n)
    value = np.sin(2 * t) + 0.1 * np.random.default_rng(0).standard_normal(n)
    value[7] += 6
    label = np.zeros(n, dtype=int)
    label[7] = 1
    side = np.where(np.arange(n) % 2, "left", "right")
    return pd.DataFrame({"hours": t, "side": side, "value": factor * value + shift, "label": label})


def test_the_halves_take_the_names_of_a_kind_by_turns_and_share_none(data):
    assert not set(data.CHOSEN_HALF) & set(data.JUDGED_HALF)
    assert len(set(data.HALVES["all"])) == len(data.CHOSEN_HALF) + len(data.JUDGED_HALF)
    tables = ["aircraft", "coleman", "davis", "education", "hbk", "hills", "newcomb", "phosphor", "stackloss", "telef"]
    assert [name in data.CHOSEN_HALF for name in tables] == [True, False] * 5


def test_texts_are_choices_and_numbers_have_their_range(data):
    dataset = data.labelled_set("it", data.TABLES, a_table())
    assert [type(parameter).__name__ for _, parameter in dataset.space.parameters] == ["Float", "Choice"]
    assert dataset.points[0] == {"x1": 0.0, "x2": "right"}
    assert dataset.labels[7] == data.WRONG


def test_a_file_of_neither_half_is_named(data, tmp_path):
    a_table().to_csv(tmp_path / "strange.csv", index=False)
    with pytest.raises(SystemExit, match=r"each file must be in one of HALVES .*, got strange"):
        list(data.read_sets(tmp_path, "all"))


def test_densities_and_intervals_are_in_the_units_of_the_values(data, reports):
    factor, shift = 64.0, 32.0
    plain, other = (
        reports.predict_held_out(data.labelled_set("it", data.TABLES, table), "standard")
        for table in (a_table(), a_table(factor=factor, shift=shift))
    )
    np.testing.assert_allclose(other["log_density"], plain["log_density"] - np.log(factor), rtol=1e-3)
    np.testing.assert_allclose(other["low"], factor * plain["low"] + shift, rtol=1e-3)


def test_a_gross_value_is_found_by_all_that_flag(data, reports):
    dataset = data.labelled_set("it", data.TABLES, a_table())
    for method in ("student-t", "plain GP, z > 3"):
        assert reports.value_reports(dataset, method)["flagged"].tolist() == dataset.labels
    for method in ("Huber", "RANSAC"):
        assert reports.linear_flags(dataset, method)["flagged"][7] == 1


def test_scores_of_a_probability_that_is_true_half_the_time(scores):
    rows = pd.DataFrame({"label": [1, 0, 1, 0], "wrong": [0.995, 0.995, 0.5, 0.5]})
    row = scores.probability_row(rows)
    assert (row["said > 0.99"], row["of them true"], row["base rate's"]) == (2, "0.50", "0.693")
    loss = -np.log([0.995, 0.005, 0.5, 0.5]).mean()
    assert row["log loss"] == f"{loss:.3f}"


def test_disputed_values_count_nowhere(scores):
    rows = pd.DataFrame({"kind": "tables", "file": ["a", "hbk"], "label": [2, 1], "method": "m"})
    assert list(scores.group_rows(rows, "tables")["file"]) == ["hbk"]
    assert scores.group_rows(rows, "tables without hbk").empty


def test_the_command_keeps_its_rows_and_writes_its_page(load, tmp_path, capsys):
    labelled = load("labelled.run")
    (tmp_path / "data").mkdir()
    a_table().to_csv(tmp_path / "data" / "telef.csv", index=False)
    page = tmp_path / "page.md"
    names = ("probabilities", "flags", "predictions", "best-density", "files")
    page.write_text("".join(f"<!-- {name} -->\n<!-- /{name} -->\n" for name in names))
    told = ["--data", str(tmp_path / "data"), "--half", "judged", "--sets", "tables", "--work", str(tmp_path / "work")]
    labelled.main([*told, "--surrogates", "student-t", "--page", str(page), "--out", str(tmp_path / "out")])
    assert {file.name for file in (tmp_path / "work").iterdir()} == {
        *("telef-student-t.csv", "telef-Huber.csv", "telef-RANSAC.csv")
    }
    kept = pd.read_csv(tmp_path / "out" / "flags.csv")
    assert list(kept["method"].unique()) == ["student-t", "Huber", "RANSAC"]
    assert "| telef | student-t | 24 | 1 |" in page.read_text()
