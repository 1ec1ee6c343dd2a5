from robustbo.replay.cells.regression import RegressionCell
from tests.trials.forged import SPECS, chained, command, objects_in


def test_a_cell_whose_header_says_that_it_is_another_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.toml").write_text(SPECS["regression"])
    assert command("replay", "run.toml", "--out", "run")[0] == 0
    (cell,) = (tmp_path / "run" / "cells").glob(f"*{RegressionCell.suffix}")
    header, *events = objects_in(cell.read_bytes())
    header["cell"]["replication"] = 7
    cell.write_bytes(chained([header, *events]))
    code, _, err = command("verify", "run")
    assert code == 2
    error = err.splitlines()[-1]
    assert error.startswith("error: run/cells/standard-7")
    assert "must have the 1 fits of standard, replication 7, has 0 of them; put the right file back" in error
