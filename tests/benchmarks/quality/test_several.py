import math

import numpy as np
import pandas as pd
import pytest

from robustbo.replay.spec.optimization import RunSpec

GIVEN = {"problem": "branin-currin", "trials": 2, "num_initial": 1, "replications": 3, "recommend_every": 1}
TIMED = {"fit_s": 1.0, "acquisition_s": 1.0}


def rows(best, lacking):
    """What each method lacks by replication, the same after both trials."""
    return pd.DataFrame(
        [
            {"method": method, "replication": r, "trial": t, "inference": best - 10**log, **TIMED}
            for method, logs in lacking.items()
            for r, log in enumerate(logs)
            for t in range(2)
        ]
    )


@pytest.fixture
def run(load):
    several = load("quality.several")
    spec = RunSpec.model_validate(GIVEN | {"methods": ["standard", "informed", "relevance-pursuit", "botorch"]})
    lacking = {
        "standard": [1.0, 1.2, 0.8],
        "informed": [0.0, 0.2, -0.2],
        "relevance-pursuit": [0.1, 0.3, -0.1],
        "botorch": [1.0, 1.2, 0.8],
    }
    made = rows(spec.best[1], lacking)
    return several, several.Run("branin-currin", "-all", several.lacks(made, spec), several._seconds(made, spec))


def test_a_share_is_of_the_paired_differences(run):
    several, one = run
    (row, kind, both) = several.shares([one])
    assert row["end_share"] == row["average_share"] == pytest.approx(0.9, abs=1e-3)
    assert (row["end_way"], row["replications"]) == (pytest.approx(1.0), 3)
    assert (kind["wrong"], both["wrong"]) == ("all outcomes", "both")
    assert both["end_share"] == pytest.approx(0.9, abs=1e-3)


def test_errors_of_shares_are_by_the_delta_method(load):
    several = load("quality.several")
    rng = np.random.default_rng(0)
    way = 1.0 + 0.3 * rng.standard_normal(20_000)
    gone = 0.8 * way + 0.2 * rng.standard_normal(20_000)
    s, _ = several.share([(gone, way)])
    assert s == pytest.approx(0.8, abs=0.01)
    drawn = [several.share([(gone[i : i + 20], way[i : i + 20])]) for i in range(0, 20_000, 20)]
    assert np.mean([error for _, error in drawn]) == pytest.approx(np.std([each for each, _ in drawn]), rel=0.1)
    assert math.isnan(several.share([(np.zeros(3), np.zeros(3))])[0])


def test_methods_stand_beside_plain_botorch(run):
    several, one = run
    found = {row["method"]: row for row in several.methods([one])}
    assert found["relevance-pursuit"]["end_than_botorch"] == pytest.approx(-0.9, abs=1e-3)
    assert found["relevance-pursuit"]["end_than_botorch_error"] == pytest.approx(0.0, abs=1e-9)
    assert found["standard"]["ask_s"] == 2.0
    alone = several.methods([one._replace(logs=one.logs.drop("botorch"))])
    assert [list(row) for row in alone] == [list(found["standard"])] * 3  # the same columns, empty
    assert alone[0]["end_than_botorch"] is None


def test_what_is_next_to_the_best_counts_as_a_thousandth_of_it(load):
    several = load("quality.several")
    spec = RunSpec.model_validate(GIVEN | {"methods": ["standard"]})
    made = rows(spec.best[1], {"standard": [-9.0, math.log10(0.5)]})
    logs = several.lacks(made, spec).iloc[:, -1].tolist()
    assert list(several.lacks(made, spec.model_copy(update={"num_initial": 2}))) == [
        1
    ]  # trials from the last initial on
    assert logs == pytest.approx([math.log10(1e-3 * spec.best[1]), math.log10(0.5)])


def test_the_tables_are_made_and_the_picture_drawn(run, tmp_path):
    several, one = run
    made = several.markdown(several.methods([one]), several.shares([one]))
    assert "| branin-currin | all outcomes | 0.10 ± 0.12 | 1.00 ± 0.12 |" in made["METHODS"]
    assert "| all | both | 90 % ± " in made["SHARES"]
    assert several.draw([one], tmp_path / "several.png")
    assert (tmp_path / "several.png").stat().st_size > 1000
