"""Workbooks: other worksheets, formats and formulas stay, and what openpyxl would lose is not saved over."""

import datetime
import sys
import zipfile

import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference
from openpyxl.styles import Font

import robustbo as rb


@pytest.fixture
def book(lab, tmp_path):
    """Its path; with two trials, formats, a note, formulas and another worksheet."""
    path = tmp_path / "todo.xlsx"
    lab.write_sheet(path, 2)
    edit(path, shaped)
    return path


def shaped(book):
    sheet = book["trials"]
    sheet["A1"].font = Font(bold=True)
    sheet.column_dimensions["B"].width = 33
    sheet["G1"], sheet["G2"] = "note", "=1+1"
    book.create_sheet("raw", 0)["A1"] = "=SUM(1,2)"


def edit(path, change):
    book = openpyxl.load_workbook(path)
    change(book)
    book.save(path)


def put(path, **cells):
    edit(path, lambda book: [book["trials"].__setitem__(name, value) for name, value in cells.items()])


def rows(path):
    return [[*row] for row in openpyxl.load_workbook(path)["trials"].iter_rows(values_only=True)]


def test_values_come_in_and_rows_go_out_below(lab, book):
    put(book, F2=1.5, F3="the stirrer broke")
    edit(book, lambda b: b["trials"].append([None, 0.25, 3, "a", None, 7]))
    before = rows(book)
    (new,) = lab.write_sheet(book, 1)
    assert [(t.state, t.value) for t in lab.history][:3] == [("told", 1.5), ("failed", None), ("told", 7.0)]
    now = rows(book)
    assert now[:3] == before[:3]
    assert now[3] == [2, *before[3][1:]]
    assert now[4] == [3, new.params["x"], new.params["n"], new.params["c"], None, None, None]
    assert lab.read_sheet(book) == []


def test_formats_formulas_and_other_worksheets_stay(lab, book):
    lab.write_sheet(book, 1)
    now = openpyxl.load_workbook(book)
    assert now.sheetnames == ["raw", "trials"]
    assert (now["raw"]["A1"].value, now["trials"]["G2"].value) == ("=SUM(1,2)", "=1+1")
    assert (now["trials"]["A1"].font.b, now["trials"].column_dimensions["B"].width) == (True, 33)


def test_a_text_is_no_formula(lab, book):
    lab.write_sheet(book, 6)
    cells = [row[3] for row in openpyxl.load_workbook(book)["trials"].iter_rows(min_row=2)]
    assert {cell.value for cell in cells} == {"a", "=b"}
    assert {cell.data_type for cell in cells} == {"s"}
    assert all(cell.quotePrefix for cell in cells if cell.value == "=b")


def test_a_formula_without_a_result_waits(lab, book):
    put(book, F2="=3/2", F3=2.5)
    with pytest.warns(rb.SheetWarning, match=r"row 2: waits for the result of its formula; open it in the"):
        assert [trial.number for trial in lab.read_sheet(book)] == [1]
    with pytest.warns(rb.SheetWarning, match="row 2"):
        lab.write_sheet(book, 1)
    assert rows(book)[1][5] == "=3/2"


def test_a_cell_that_is_formatted_as_a_date_is_said_to_be_one(lab, book):
    put(book, F2=datetime.datetime(2026, 5, 3))
    with pytest.raises(rb.SheetError, match=r"got '2026-05-03 00:00:00'; the cell is formatted as a date: format"):
        lab.read_sheet(book)


def test_what_would_be_lost_is_not_saved_over(lab, book):
    def with_a_chart(b):
        chart = BarChart()
        chart.add_data(Reference(b["trials"], min_col=2, min_row=1, max_row=3))
        b["trials"].add_chart(chart, "J2")

    edit(book, with_a_chart)
    before = book.read_bytes()
    with pytest.raises(rb.SheetError, match=r"has content that robustbo would lose \(charts, drawings/drawing\)"):
        lab.write_sheet(book, 1)
    assert (book.read_bytes(), len(lab.history)) == (before, 2)


@pytest.mark.parametrize("data", [b"PK\x03\x04 torn", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"trial,value\n"])
def test_what_is_no_workbook_is_said(lab, tmp_path, data):
    (tmp_path / "s.xlsx").write_bytes(data)
    with pytest.raises(rb.SheetError, match=r"s.xlsx: cannot be read as a workbook; save it as .xlsx, without a pass"):
        lab.write_sheet(tmp_path / "s.xlsx")


def test_a_workbook_needs_openpyxl_and_says_so(lab, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(rb.SheetError, match=r"workbooks need openpyxl, .* extra robustbo\[xlsx\]; install it"):
        lab.write_sheet(tmp_path / "s.xlsx")
    assert len(lab.history) == 0


def test_a_cell_far_away_does_not_make_all_between_be_read(lab, book):
    put(book, XFD1048576=1)
    with pytest.raises(rb.SheetError, match=r"todo.xlsx: a worksheet must have at most 1,000,000 cells, 'trials' has"):
        lab.read_sheet(book)


def test_an_error_of_openpyxl_is_one_line(lab, book):
    with zipfile.ZipFile(book) as read:
        parts = {name: read.read(name) for name in read.namelist()}
    with zipfile.ZipFile(book, "w") as written:
        for name, part in parts.items():
            written.writestr(name, part[:-9] if name == "xl/styles.xml" else part)
    with pytest.raises(rb.SheetError, match="cannot be read as a workbook") as caught:
        lab.read_sheet(book)
    assert "\n" not in str(caught.value)


def test_a_formula_without_a_result_below_all_rows_waits_and_is_not_written_over(lab, book):
    put(book, F5="=3/2")
    with pytest.warns(rb.SheetWarning, match=r"row 5: waits for the result of its formula"):
        assert lab.read_sheet(book) == []
    with pytest.warns(rb.SheetWarning, match="row 5"):
        lab.write_sheet(book, 1)
    assert rows(book)[4][5] == "=3/2"


def test_a_number_that_is_shown_in_percent_is_read_as_it_is_shown(tmp_path):
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="maximize", outcome=rb.Outcome("yield", unit="%"), seed=0)
    path = tmp_path / "yields.xlsx"
    opt.write_sheet(path, 3)

    def shown(book):
        sheet = book["trials"]
        column = [cell.value for cell in sheet[1]].index("yield (%)") + 1
        for row, value, look in ((2, 0.45, "0%"), (3, 0.072, "0.0 %"), (4, 45.5, "General")):
            sheet.cell(row, column).value, sheet.cell(row, column).number_format = value, look

    edit(path, shown)
    assert [trial.value for trial in opt.read_sheet(path)] == [45.0, 7.2, 45.5]
