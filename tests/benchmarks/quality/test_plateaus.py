import numpy as np
import pandas as pd

from benchmarks.quality import plateaus


def test_a_row_is_empty_without_a_plateau():
    row = plateaus.row(0, "elastic net", "diabetes", "none", 12)
    assert not row["plateau"]
    assert row["loss, with"] is None
    assert row["flags, without"] is None


def test_a_row_has_both_rules_where_there_is_a_plateau():
    row = plateaus.row(0, "decision tree", "cancer", "none", 60)
    assert row["plateau"]
    assert row["loss, with"] != row["loss, without"]


def test_a_tenth_of_the_scores_is_replaced_or_a_fifth():
    y = np.linspace(0.5, 1.0, 2000)
    assert not plateaus.replace_some(0, "none", y)[1].any()
    for kind, rate in {"in-range": 0.1, "off": 0.1, "gross": 0.2}.items():
        wrong, is_wrong = plateaus.replace_some(0, kind, y)
        assert abs(is_wrong.mean() - rate) < 0.03
        assert (wrong[~is_wrong] == y[~is_wrong]).all()
        assert (wrong[is_wrong] != y[is_wrong]).all()


def test_the_table_has_what_is_gained():
    labels = ("flags", "true flags", "sure", "true sure")
    scores = {f"{label}, {rule}": 1 for rule in plateaus.RULES for label in labels}
    row = {"kind": "none", "n": 30, "wrong": 0, "plateau": True, **scores}
    rows = [row | {"loss, with": 1.0, "loss, without": loss} for loss in (3.0, 5.0)]
    (line,) = plateaus.tables(pd.DataFrame([*rows, row | {"plateau": False}]))["PLATEAUS"].to_dict("records")
    assert line["data sets"] == 2
    assert line["gain, nats"] == "+3.0 ± 1.0"
