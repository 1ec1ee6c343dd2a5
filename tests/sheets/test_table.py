"""Tables of trials in files: what a frame has, in cells of which no program runs any."""

import openpyxl
import pandas as pd
import pytest

import robustbo as rb
from robustbo.sheets.table import write_table


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_frame_comes_back_from_its_file(lab, tmp_path, suffix):
    lab.tell_frame(pd.DataFrame({"x": [0.25, 0.5], "n": [1, 2], "c": ["a", "=b"], "value": [1.5, 2.0]}))
    lab.ask()
    path = tmp_path / f"trials{suffix}"
    write_table(lab.frame(evidence=False), path)
    table = pd.read_csv(path) if suffix == ".csv" else pd.read_excel(path)
    assert table["trial"].tolist() == [0, 1, 2]
    assert table["x"].tolist()[:2] == [0.25, 0.5]
    assert table["c"][1] in ("=b", "'=b")
    assert table["value"][2] != table["value"][2]
    assert str(table["asked_at"][2]).startswith(str(lab.history[2].asked_at)[:19])
    if suffix == ".xlsx":
        (row,) = [row for row in openpyxl.load_workbook(path).active.iter_rows() if row[0].value == 1]
        assert {cell.data_type for cell in row if cell.value == "=b"} == {"s"}


def test_a_file_of_another_kind_is_refused(lab, tmp_path):
    with pytest.raises(rb.SheetError, match=r"must be one of \['.csv', '.xlsx'\], got '.ods'"):
        write_table(lab.frame(evidence=False), tmp_path / "trials.ods")
