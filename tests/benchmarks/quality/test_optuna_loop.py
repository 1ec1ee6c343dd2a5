import optuna
import pandas as pd
import pytest


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Argument ``deterministic_objective`` is an experimental feature")
def test_a_study_with_a_wrong_value_is_scored_by_the_truth(load, tmp_path, monkeypatch):
    loop = load("quality.optuna_loop")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    monkeypatch.setitem(loop.PROBLEMS, "branin", (loop.PROBLEMS["branin"][0], 12))
    file = tmp_path / "rows.csv"
    loop.record(file, range(2), ["branin"], ["too good"])
    before = file.read_text()
    loop.record(file, range(2), ["branin"], ["too good"])  # nothing is computed twice
    assert file.read_text() == before
    rows = pd.read_csv(file)
    assert len(rows) == 2 * len(loop.SAMPLERS)
    assert (rows["recommended"] >= rows["measured"]).all()
    assert (rows["measured"] > 0).all()  # never the wrong value itself
    made = loop.table(rows).set_index("sampler")
    assert made.loc["GPSampler", "difference_recommended"] == 0
    assert made.loc["robustbo", "replications"] == 2
