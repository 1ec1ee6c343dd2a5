import math

import optuna
import pandas as pd
import pytest


@pytest.mark.slow
def test_studies_are_scored_by_the_truth_and_compared_in_pairs(load, tmp_path, monkeypatch):
    script = load("quality.optuna_pruned")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    monkeypatch.setattr(script, "TRIALS", 9)
    monkeypatch.setattr(script, "CASES", ("sum",))
    monkeypatch.setattr(script.pruned, "LEAST", script.pruned.LEAST)  # as it was, afterwards
    file = tmp_path / "rows.csv"
    script.record(file, range(1), ["wrong"])
    before = file.read_text()
    script.record(file, range(1), ["wrong"])  # nothing is computed twice
    assert file.read_text() == before
    rows = pd.read_csv(file)
    assert len(rows) == len(script.SAMPLERS) * len(script.PRUNERS)
    assert (rows["recommended"] >= rows["measured"]).all()
    assert (rows["measured"] > 0).all()
    made = script.lines(rows)
    assert [line[:4] for line in made][-1] == ["all", "", "", "2"]
    first = math.log10(rows.set_index(["pruner", "sampler"]).loc[("halving", "robustbo"), "recommended"])
    assert made[0][4] == f"{first:.2f} ± nan"
