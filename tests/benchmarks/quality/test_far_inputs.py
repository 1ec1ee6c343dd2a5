import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def far_inputs(load):
    return load("quality.far_inputs")


def test_a_cell_far_away_costs_little_with_the_rule(far_inputs, monkeypatch):
    x = np.linspace(1, 2, 60)
    frame = pd.DataFrame({"x": x, "kind": "a", "y": np.sin(9 * x)})
    monkeypatch.setattr(far_inputs.slips, "load_table", lambda *_: frame)
    row = far_inputs.row(0, "cake", "times 1,000")
    assert row["error, with"] < 0.1 < row["error, without"]
    assert row["error, with"] == pytest.approx(row["error, left out"], abs=0.05)


def test_the_table_has_a_line_for_each_kind_and_for_each_table_of_its_own(far_inputs):
    scores = {f"{of}, {rule}": 1.0 for of in ("error", "density") for rule in ("with", "without", "left out")}
    line = {"seed": 0, **scores}
    rows = pd.DataFrame(
        [
            line | {"table": "cake", "cell": "-999", "error, with": np.exp(-0.1)},
            line | {"table": "cpus", "cell": "-999", "error, with": np.exp(-0.3)},
            line | {"table": "Crime", "cell": far_inputs.OWN, "error, left out": np.nan, "density, left out": np.nan},
        ]
    )
    (table,) = far_inputs.tables(rows).values()
    assert table["cell"].tolist() == ["-999", "Crime"]
    assert table["log error, with less without"].tolist() == ["-0.200 ± 0.100", "+0.000"]
    assert table["log error, with less left out"].tolist() == ["-0.200 ± 0.100", ""]
