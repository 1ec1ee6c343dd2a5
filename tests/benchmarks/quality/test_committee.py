import pytest


@pytest.fixture
def calibration(load, monkeypatch):
    module = load("quality.committee")
    monkeypatch.setattr(module, "EXPERT_SIZE", 64)
    monkeypatch.setattr(module, "TEST_POINTS", 200)
    return module


def test_known_hyperparameters_in_small(calibration, load, tmp_path):
    name = "d = 2, l = 0.3, s2 = 0.01"
    rows = [calibration.scores(name, 0, *one) for one in calibration.predict_at_true_hyperparameters(name, 512, 0, [])]
    by = {row["method"]: row for row in rows}
    assert float(by["exact"]["rmse"]) < float(by["calibrated"]["rmse"]) < float(by["the surest expert"]["rmse"])
    assert float(by["rbcm"]["coverage"]) < 0.8 < float(by["calibrated"]["coverage"])
    page = tmp_path / "page.md"
    marks = "".join(f"<!-- {part} -->\nold\n<!-- /{part} -->\n" for part in ("KNOWN", "FITTED", "MISFIT"))
    page.write_text(f"# Title\n{marks}end\n")
    calibration_csv = tmp_path / "calibration-known.csv"
    with calibration.row_writer(calibration_csv, calibration.COLUMNS) as append:
        for row in rows:
            append(row)
    for part in ("fitted", "misfit"):
        (tmp_path / f"calibration-{part}.csv").write_text(calibration_csv.read_text())
    load("quality.committee_page").enter(tmp_path, [page])
    text = page.read_text()
    assert "old" not in text
    assert "| d = 2, l = 0.3, s2 = 0.01 | 512 | exact | " in text
    assert text.endswith("end\n")


def test_fitted_hyperparameters_in_small(calibration):
    said = list(calibration.predict_with_fits("waves", 150, 0, ["committee", "student-t"]))
    rows = [calibration.scores("waves", 0, *one) for one in said]
    assert [row["method"] for row in rows] == [*calibration.RULES, "the surest expert", "student-t"]
    assert all(float(row["rmse"]) < 0.5 for row in rows)
    data = said[0][1]
    gross = (data.y - calibration.torch.from_numpy(calibration.waves(data.X.numpy()))).abs() > data.sd
    assert 5 < gross.sum() < 30


def test_variants_in_small(calibration):
    name = "a tenth gross, clustered, dof learned"
    rows = [calibration.scores(name, 0, *one) for one in calibration.misfit(name, 90, 0, [])]
    assert [row["method"] for row in rows] == [*calibration.RULES, "the surest expert"]
