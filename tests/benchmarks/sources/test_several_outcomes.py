"""Studies of two outcomes of which a worker is off in one or both: what is told, and what their table says."""

import pandas as pd
import pytest

from benchmarks.sources import run
from benchmarks.sources.several_outcomes import CULPRIT, OUTCOMES, Cell, cells, summary, tell_all


@pytest.mark.parametrize("errs", ["both", "one"])
def test_the_same_values_are_told_together_and_alone(monkeypatch, errs):
    monkeypatch.setattr(run, "NUM_VALUES", 8)
    cell = Cell("branin", "offset", 1000.0, 0.0, errs, 0)
    together, *alone = tell_all(cell, run.objective_of(cell.of_one))
    for trial, *own in zip(together.history, *(study.history for study in alone), strict=True):
        assert [trial.values[name] for name in OUTCOMES] == [other.value for other in own]
        is_off = [abs(other.value) > 1e4 for other in own]
        assert is_off == [trial.sources["worker"] == CULPRIT and errs in of for of in (("both", "one"), ("both",))]


def test_what_is_named_together_is_paired_with_what_is_named_alone():
    shares = {"first_alone": [False, True], "second_alone": [False, False], "first_together": [True, True]}
    columns = {f"{outcome}_{way}": [False, False] for outcome in OUTCOMES for way in ("alone", "together")}
    columns |= {f"{name}_others": [False, False] for name in columns} | {f"{name}_probability": 0.5 for name in columns}
    rows = pd.DataFrame(list(cells(["branin"], range(2))), columns=Cell._fields)
    rows = rows[(rows["errs"] == "both") & (rows["size"] == 0.5)].reset_index(drop=True)
    rows = rows.assign(**(columns | shares), seconds=1.0, seconds_alone=2.0)
    (line,) = summary(rows).to_dict("records")
    assert (line["studies"], line["named alone"], line["named together"]) == (2, 0.25, 0.5)
    assert (line["more"], line["probability"]) == ("0.250 +- 0.250", "0.50, 0.50: +0.000 +- 0.000")
    assert (line["wrongly, alone"], line["seconds, to alone"]) == (0.0, 0.5)
