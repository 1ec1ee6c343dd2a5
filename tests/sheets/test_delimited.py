"""Every byte that was there stays, and what is added is in the file's own dialect."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robustbo as rb
from robustbo.formulas import restore_text
from robustbo.sheets.cells import cell_text, number_of
from robustbo.sheets.delimited import Delimited


@pytest.mark.parametrize(
    ("before", "added"),
    [
        ("trial,x,value\n0,0.5,\n", "1,0.25,\n"),
        ("trial,x,value\n0,0.5,", "\n1,0.25,\n"),
        ("trial;x;value\r\n0;0,5;\r\n", "1;0,25;\r\n"),
        ("trial;x;value\r\n0;0.5;\r\n", "1;0.25;\r\n"),
        ("trial;x;value\n0;;\n", "1;0,25;\n"),
        ("trial\tx\tvalue\n", "1\t0.25\t\n"),
        ("sep=;\ntrial;x;value\n", "1;0,25;\n"),
        ("Sheet of Ann\n\ntrial,x,value\n", "1,0.25,\n"),
        ('trial,x,"va\nlue"\n0,0.5,"a ""note"", in\ntwo lines"\n', "1,0.25,\n"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_rows_are_added_in_the_files_dialect(before, added, encoding):
    data = before.encode(encoding)
    grid = Delimited(data, "s.csv")
    grid = grid.with_decimal_of((row, 1) for row in range(len(grid.rows)))
    assert grid.with_changes({}, [[1, 0.25, None]]).decode(encoding) == before + added


def test_only_numbers_of_the_study_say_what_separates_decimals(tmp_path):
    space = rb.Space(x=rb.Float(0, 2000), c=rb.Choice("1.1", "1.2"))
    opt, path = rb.Optimizer(space, direction="minimize", acquisition="sobol", seed=1), tmp_path / "s.csv"
    path.write_text("v 1.0;;;;\ntrial;x;c;value;time\n;100,5;1.1;1.234;9.15\n;200;1.2;2;10.45\n;300;1.1;3;11.30\n")
    with pytest.raises(rb.SheetError, match=r"got '1.234', which may be 1,234 or 1234; write one of these"):
        opt.read_sheet(path)
    path.write_text(path.read_text().replace("1.234", "1,234"))
    assert [trial.value for trial in opt.read_sheet(path)] == [1.234, 2.0, 3.0]
    (trial,) = opt.write_sheet(path, 1)
    assert path.read_text().splitlines()[-1].split(";")[1] == repr(trial.params["x"]).replace(".", ",")


def test_a_western_encoding_is_kept_and_what_it_cannot_write_is_said():
    data = "trial,x (°C),note\n0,0.5,größer\n".encode("cp1252")
    grid = Delimited(data, "s.csv")
    assert grid.with_changes({}, [[1, "é", None]]) == data + "1,é,\n".encode("cp1252")
    with pytest.raises(rb.SheetError, match=r"s.csv: cannot hold '水' in its encoding; save it as UTF-8"):
        grid.with_changes({}, [[1, "水", None]])


@pytest.mark.parametrize("data", [b"PK\x03\x04\x00\x00", b"\xff\xfe\x00", b"trial\x00"])
def test_what_is_no_text_is_said(data):
    with pytest.raises(rb.SheetError, match=r"s.csv: cannot be read as CSV; save it as CSV in UTF-8, or as .xlsx"):
        Delimited(data, "s.csv")


def test_a_quote_without_an_end_has_its_line():
    with pytest.raises(rb.SheetError, match=r"s.csv, line 3: has a quote without an end"):
        Delimited(b'trial,value\n0,1\n1,"a\n', "s.csv")


def test_an_empty_cell_is_filled_in_where_it_is():
    grid = Delimited(b'trial,x,value\n"",0.5,1\n\n,,\n5\n', "s.csv")
    assert grid.labels == ["line 1", "line 2", "line 3", "line 4", "line 5"]
    filled = grid.with_changes({(1, 0): 7, (3, 2): "=x", (4, 2): 1}, [])
    assert filled == b"trial,x,value\n7,0.5,1\n\n,,'=x\n5,,1\n"


CELL = st.text(st.sampled_from("ab\"',;\t =+-@0.5\n"), max_size=6)


ROW = st.lists(CELL, min_size=3, max_size=3)


@given(st.lists(ROW, max_size=5), st.sampled_from(",;\t"), ROW)
def test_it_reads_what_csv_writes_and_csv_reads_what_it_writes(rows, separator, new):
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=separator).writerows([["trial", "x", "value"], *rows])
    data = file.getvalue().encode()
    grid = Delimited(data, "s.csv")
    assert grid.rows[1:] == [[restore_text(cell) for cell in row] for row in rows]
    added = grid.with_changes({}, [new])
    assert added.startswith(data)
    last = [*csv.reader(io.StringIO(added.decode(), newline=""), delimiter=separator)][-1]
    assert [restore_text(cell) for cell in last] == new
    assert not [cell for cell in last if cell[:1] in {*"=+-@\t"} and number_of(cell) is None]


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(".,"))
def test_numbers_are_read_as_they_were_written(number, decimal):
    assert number_of(cell_text(number, decimal), decimal) == number


@pytest.mark.parametrize("text", ["1,234", "12,000", "-7,500"])
def test_what_may_be_thousands_is_asked(text):
    with pytest.raises(ValueError, match=r"which may be .* or .*; write one of these"):
        number_of(text, ".")
    assert number_of(text, ",") == float(text.replace(",", "."))
