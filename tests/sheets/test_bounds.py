"""Bounds in sheets that people fill in, as they write them."""

import openpyxl
import pytest

import robustbo as rb
from robustbo.censored import value_at_limit
from robustbo.errors import SheetError

SPACE = rb.Space(x=rb.Float(0, 1))


@pytest.fixture
def opt():
    return rb.Optimizer(SPACE, direction="minimize", seed=0)


@pytest.mark.parametrize(
    ("header", "rows", "values"),
    [
        ("trial,x,value", [",0.1,<0.05", ",0.2,0.5", ",0.3, >= 200 "], ["<0.05", "0.5", ">200.0"]),
        ("trial;x;value", [";0,1;<0,05", ";0,2;0,5", ";0,3;> 200"], ["<0.05", "0.5", ">200.0"]),
    ],
)
def test_a_cell_may_have_a_bound(opt, tmp_path, header, rows, values):
    path = tmp_path / "sheet.csv"
    path.write_text("\n".join([header, *rows, ""]))
    assert [repr(t.value) for t in opt.read_sheet(path)] == values
    assert opt.read_sheet(path) == []  # they are known


def test_a_bound_of_a_trial_is_told_once_and_amended_when_it_has_changed(opt, tmp_path):
    path = tmp_path / "sheet.csv"
    opt.write_sheet(path, 1)
    path.write_text(path.read_text().rstrip() + "<0.05\n")
    assert [t.value for t in opt.read_sheet(path)] == [value_at_limit("<", 0.05)]
    assert opt.read_sheet(path) == []
    path.write_text(path.read_text().replace("<0.05", "0.05"))
    with pytest.raises(SheetError, match=r"was told as <0.05, the cell has '0.05'"):
        opt.read_sheet(path)
    assert [t.value for t in opt.read_sheet(path, amend=True)] == [0.05]


def test_a_value_with_its_noise_becomes_a_bound_without(opt, tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text("trial,x,value,sd\n,0.1,0.5,0.1\n")
    opt.read_sheet(path)
    path.write_text(path.read_text().replace("0.5,0.1", "<0.05,"))
    assert [(t.value, t.sd) for t in opt.read_sheet(path, amend=True)] == [(value_at_limit("<", 0.05), None)]


@pytest.mark.parametrize("cell", ["<", "< n/a", "<0.05 mg", "<1,234"])
def test_what_is_no_bound_is_refused_with_its_line(opt, tmp_path, cell):
    path = tmp_path / "sheet.csv"
    path.write_text(f"trial;x;value\n;0.1;{cell}\n")
    with pytest.raises(SheetError, match="line 2: value a bound must be < or >"):
        opt.read_sheet(path)


def test_a_workbook_has_them_as_text(opt, tmp_path):
    path = tmp_path / "sheet.xlsx"
    opt.write_sheet(path, 1)
    book = openpyxl.load_workbook(path)
    book.active.cell(2, book.active.max_column, "<0.05")
    book.save(path)
    assert [t.value for t in opt.read_sheet(path)] == [value_at_limit("<", 0.05)]
