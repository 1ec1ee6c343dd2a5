"""Whether the sources in doubt after a run are those that were in error."""

import math

import pandas as pd

from robustbo.replay.score.sources import name_rates


def table(*replications):
    frames = [
        pd.DataFrame(
            {
                "replication": number,
                "source": ["w0", "w1", "w0", "w1"],
                "corrupted": [False, False, is_wrong, False],
                "doubted": pd.array([None if doubted is None else s in doubted for s in ("w0", "w1") * 2], "boolean"),
            }
        )
        for number, (is_wrong, doubted) in enumerate(replications)
    ]
    return pd.concat(frames, ignore_index=True)


def test_a_source_in_error_is_named_or_another_is():
    assert name_rates(table((True, ["w0"]), (True, []))) == {"named": 0.5, "others_named": 0.0}
    assert name_rates(table((True, ["w0", "w1"]), (True, ["w0"]))) == {"named": 1.0, "others_named": 0.5}


def test_where_nothing_is_wrong_others_alone_are_counted():
    result = name_rates(table((False, ["w1"]), (False, [])))
    assert math.isnan(result["named"])
    assert result["others_named"] == 0.5


def test_nothing_is_said_without_sources_or_where_they_are_hidden():
    assert name_rates(pd.DataFrame({"replication": [0]})) == {}
    assert all(map(math.isnan, name_rates(table((True, None))).values()))
