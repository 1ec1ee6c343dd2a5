import numpy as np
import pandas as pd
import pytest

from robustbo.replay.spec.optimization import RunSpec

TIMED = {"origin": "x", "fit_s": 1.0, "acquisition_s": 1.0}


def rows(method, ends, trials=2):
    made = [
        {
            "method": method,
            "replication": r,
            "trial": t,
            "inference": end,
            "origin": "x",
            "fit_s": 1,
            "acquisition_s": 1,
        }
        for r, end in enumerate(ends)
        for t in range(trials)
    ]
    return pd.DataFrame(made)


@pytest.fixture
def spec():
    return RunSpec.model_validate(
        {"problem": "mixture", "methods": ["standard", "optuna-gp", "optuna-tpe"], "trials": 2, "replications": 2}
        | {"num_initial": 1}
    )


def test_the_difference_is_paired_and_from_the_best_peer(load, spec):
    best = spec.load_problem().optimum
    table = pd.concat(
        [
            rows("standard", [best - 0.01, best - 0.001]),
            rows("optuna-gp", [best - 0.1, best - 0.1, best - 0.1]),
            rows("optuna-tpe", [best - 1, np.nan]),
        ]
    )
    found = {row["method"]: row for row in load("quality.spaces").summary("mixture", table, spec)}
    assert found["standard"]["best_peer"] == "optuna-gp"
    assert found["standard"]["difference"] == pytest.approx(-1.5)
    assert found["standard"]["ratio"] == pytest.approx(10**-1.5, rel=1e-3)
    assert found["standard"]["difference_error"] == pytest.approx(0.5, rel=1e-3)
    assert found["optuna-tpe"]["log10_regret"] == 0  # what recommends nothing is the worst
    assert found["optuna-gp"]["replications"] == 3


def test_better_than_the_best_known_is_no_regret(load, spec):
    best = spec.load_problem().optimum
    ends = load("quality.spaces").final(rows("standard", [best + 1e-3, best]), spec)
    assert ends["standard"].tolist() == pytest.approx([-6, -6])
