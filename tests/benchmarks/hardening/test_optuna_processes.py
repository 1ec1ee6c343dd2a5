import pytest


@pytest.mark.slow
def test_others_go_on_where_one_is_killed(load, tmp_path):
    row = load("hardening.optuna_processes").run_shared_study(
        str(tmp_path / "study.log"), trials=10, processes=2, kills=1
    )
    assert row["complete"] >= 10
    assert row["running"] <= 1  # what the killed one left
    assert row["same_points"] == 0
