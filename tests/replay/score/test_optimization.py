import math

import numpy as np
import pandas as pd
import pytest

from robustbo.replay.cells.cell import cells
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.cells.own_loop import run
from robustbo.replay.score.optimization import interval, readable, rows, summary
from robustbo.replay.spec.optimization import RunSpec


def table(**columns):
    base = {
        "method": "m",
        "replication": [0, 0, 1, 1],
        "trial": [0, 1, 0, 1],
        "inference": [math.nan, 1.0, math.nan, 3.0],
        "repeats": pd.array([None, 0, None, None], dtype="Int64"),
        "corrupted": [True, False, True, False],
        "flagged": [True, True, False, False],
        "fit_s": [0.0, 1.0, 0.0, 2.0],
        "acquisition_s": 0.5,
    }
    return pd.DataFrame(base | columns)


def test_summary_of_a_table_made_by_hand():
    (row,) = summary(table(), ["m"]).to_dict("records")
    assert (row["replications"], row["final"], row["average"], row["flagged"]) == (2, 2.0, 2.0, 2)
    assert row["repeats"] == 0.5
    assert (row["precision"], row["recall"]) == (0.5, 0.5)
    assert (row["low"], row["high"]) == (1.0, 3.0)
    assert (row["slowest_fit_s"], row["slowest_acquisition_s"]) == (2.0, 0.5)


def test_nothing_flagged_and_nothing_corrupted_are_not_zero_over_zero():
    (row,) = summary(table(flagged=False, corrupted=False), ["m"]).to_dict("records")
    assert math.isnan(row["precision"])
    assert math.isnan(row["recall"])


def test_the_interval_covers_the_mean_and_narrows():
    rng = np.random.default_rng(0)
    few, many = (interval(rng.normal(size=(n, 3))) for n in (10, 1000))
    assert all((low < high).all() for low, high in (few, many))
    assert (many[1] - many[0] < (few[1] - few[0]) / 4).all()
    assert many[1] - many[0] == pytest.approx(2 * 1.645 / math.sqrt(1000), rel=0.1)


def test_one_replication_has_no_interval():
    low, high = interval(np.ones((1, 2)))
    assert np.isnan([low, high]).all()


def test_an_unfinished_replication_has_no_interval_and_no_warning():
    low, high = interval(np.array([[1.0, 2.0], [3.0, math.nan]]))
    assert np.isfinite([low[0], high[0]]).all()
    assert np.isnan([low[1], high[1]]).all()


def test_rows_of_a_real_run(tmp_path):
    given = {
        "problem": "hartmann6",
        "methods": ["oracle", "standard"],
        "trials": 6,
        "num_initial": 5,
        "replications": 1,
        "seed": 3,
    }
    spec = RunSpec.model_validate(given | {"corruption": {"kind": "constant", "probability": 0.5}})
    made = cells(OptimizationCell, spec, tmp_path)
    for cell in made:
        run(cell, lambda *_: None)
    found = rows(made)
    assert len(found) == 12
    measured = found[found["method"] == "standard"]
    assert (measured["value"] == 100.0).tolist() == measured["corrupted"].tolist()
    assert measured["corrupted"].any()
    assert not found[found["method"] == "oracle"]["corrupted"].any()
    assert measured["oracle"].tolist() == np.maximum.accumulate(measured["clean"]).tolist()
    last = measured.iloc[-1]
    assert last["inference"] == measured["clean"].iloc[int(last["recommended"])]
    assert measured["inference"].isna().tolist() == [True] * 4 + [False] * 2


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [(2.1, 3.2, "2.10..3.20"), (0.5551, 0.5563, "0.5551..0.5563"), (1.0, 1.0, "1.00..1.00"), (None, None, None)],
)
def test_an_interval_shows_digits_that_tell_its_ends_apart(low, high, shown):
    keys = ("method", "replications", "final", "average", "repeats", "precision", "recall")
    assert readable({**dict.fromkeys(keys, 1), "low": low, "high": high})["90 %"] == shown
