import pytest


@pytest.mark.slow
def test_others_go_on_where_one_is_killed(load, tmp_path):
    # the initial design has 14 trials, which take no time: the one to be killed still lives after them
    row = load("hardening.optuna_processes").run_shared_study(
        str(tmp_path / "study.log"), trials=20, processes=2, kills=1
    )
    assert row["complete"] >= 20
    assert row["running"] <= 1  # what the killed one left
    assert row["same_points"] == 0
