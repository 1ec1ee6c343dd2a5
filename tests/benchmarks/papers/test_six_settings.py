from types import SimpleNamespace

import pandas as pd
import pytest


def rows(averages):
    """Two trials a replication, as far below their average as above it."""
    return pd.DataFrame(
        [
            {"method": method, "replication": i, "inference": average + off}
            for method, found in averages.items()
            for i, average in enumerate(found)
            for off in (-0.5, 0.5)
        ]
    )


def test_an_interval_of_the_reduction_resamples_all_methods_together(load):
    six = load("papers.six_settings")
    same = rows({"standard": [0.0, 5.0, 9.0], "ours": [1.5, 6.5, 10.5], "oracle": [2.0, 7.0, 11.0]})
    assert six.reduction_within(same, "ours") == pytest.approx((0.75, 0.75))  # in each replication, whichever are drawn
    other = rows({"standard": [0.0] * 8, "ours": [0.0, 1.0] * 4, "oracle": [1.0] * 8})
    low, high = six.reduction_within(other, "ours")
    assert 0.125 <= low < 0.5 < high <= 0.875


def test_a_share_is_that_of_the_replications_in_common(load):
    six = load("papers.six_settings")
    values = six.by_replication(rows({"standard": [0.0, 9.0], "ours": [0.5], "oracle": [1.0, 9.5]}), "average")
    assert six.regret_reduction(six.common(values, "ours").mean(), "ours") == pytest.approx(0.5)
    assert list(six.common(values, "standard").columns) == ["standard", "oracle"]


def test_beside_the_default_stands_what_knowing_the_errors_gives(load):
    six = load("papers.six_settings")
    averages = {"standard": [0.0, 0.2], "relevance-pursuit": [0.6, 0.8], "oracle": [1.0, 1.2]}
    runs = [
        SimpleNamespace(tables=SimpleNamespace(rows=given(averages | more))) for more in ({}, {"informed": [0.9, 1.1]})
    ]
    without, beside = six.default(dict(zip([(7, "constant"), (7, "uniform")], runs, strict=True))).splitlines()[2:]
    assert without.endswith("| 60 % (60 to 60) |  |")
    assert beside.endswith("| 60 % (60 to 60) | 90 % |")


def given(averages):
    """The same with trial numbers."""
    found = rows(averages)
    return found.assign(trial=found.groupby(["method", "replication"]).cumcount())
