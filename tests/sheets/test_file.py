"""A sheet is replaced as a whole or not at all."""

import errno
import os
import stat
from types import SimpleNamespace

import pytest

import robustbo as rb
from robustbo.sheets import file
from robustbo.trials.storage import whole


@pytest.mark.parametrize("sign", [".~lock.todo.csv#", "~$todo.csv"])
def test_a_sheet_that_is_open_elsewhere_is_not_written(lab, sheet, sign):
    (sheet.parent / sign).touch()
    with pytest.raises(rb.SheetError, match=r"must be closed in the spreadsheet program.*delete '.*todo.csv"):
        lab.write_sheet(sheet, 1)
    assert len(lab.history) == 2
    assert lab.read_sheet(sheet) == []  # looking does no harm
    sheet.write_text(sheet.read_text() + ",0.5,3,a,,1\n")
    with pytest.raises(rb.SheetError, match="must be closed"):
        lab.read_sheet(sheet)  # the row's number could not be written
    assert len(lab.history) == 2


@pytest.mark.skipif(os.name != "posix", reason="root may read everything: Windows has no modes")
@pytest.mark.parametrize("mode", [0o600, 0o664, 0o640])
def test_it_keeps_its_mode(lab, sheet, mode):
    sheet.chmod(mode)
    lab.write_sheet(sheet, 1)
    assert stat.S_IMODE(sheet.stat().st_mode) == mode


def test_links_are_not_followed(lab, sheet):
    link = sheet.with_name("link.csv")
    link.symlink_to(sheet)
    before = sheet.read_bytes()
    for call in lab.write_sheet, lab.read_sheet:
        with pytest.raises(rb.SheetError, match=r"which robustbo does not follow; name the file itself: .*todo.csv"):
            call(link)
    link.unlink()
    link.symlink_to(sheet.parent / "nothing.csv")
    with pytest.raises(rb.SheetError, match="which robustbo does not follow"):
        lab.write_sheet(link)
    assert sheet.read_bytes() == before


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "no space left"), KeyboardInterrupt()])
def test_a_full_disk_or_an_interrupt_leaves_it_as_it_was(lab, sheet, failure, monkeypatch):
    before, names = sheet.read_bytes(), {path.name for path in sheet.parent.iterdir()}

    def failing(handle):
        raise failure

    monkeypatch.setattr(whole, "os", SimpleNamespace(**{**vars(os), "fsync": failing}))
    expected = rb.SheetError if isinstance(failure, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        lab.write_sheet(sheet, 1)
    assert (sheet.read_bytes(), {path.name for path in sheet.parent.iterdir()}) == (before, names)
    sheet.write_text(sheet.read_text() + ",0.5,3,a,,1\n")
    message = r"cannot be written, and is as it was: no space left; .*; trials \[3\] have been told"
    with pytest.raises(expected, match=message if expected is rb.SheetError else None):
        lab.read_sheet(sheet)
    monkeypatch.undo()
    with pytest.warns(rb.SheetWarning, match="line 4: is taken for trial 3"):
        assert [trial.number for trial in lab.write_sheet(sheet, 0)] == [2]
    assert sheet.read_text().splitlines()[3] == "3,0.5,3,a,,1"


def test_an_edit_in_between_is_kept(lab, sheet, monkeypatch):
    """Somebody saves the sheet after it was read and before it is written."""
    real, edits = lab.ask_as, []

    def asking(*arguments, **options):
        if not edits:
            edits.append(sheet.write_text(sheet.read_text().replace("\n1,", "\n1,", 1).rstrip("\n") + "2.5\n"))
        return real(*arguments, **options)

    monkeypatch.setattr(lab, "ask_as", asking)
    assert [trial.number for trial in lab.write_sheet(sheet, 1)] == [2]
    assert lab.history[1].value == 2.5
    assert sheet.read_text().splitlines()[2].endswith(",2.5")
    assert len(sheet.read_text().splitlines()) == 4


def test_a_file_that_has_changed_is_not_replaced(tmp_path):
    path = tmp_path / "s.csv"
    assert file.replace(path, None, b"1")
    assert not file.replace(path, None, b"2")
    assert not file.replace(path, b"0", b"2")
    assert path.read_bytes() == b"1"
    assert file.replace(path, b"1", b"2")
    assert path.read_bytes() == b"2"


@pytest.mark.parametrize("name", ["s.ods", "s.xls", "s", "s.xlsm"])
def test_other_formats_are_said(lab, tmp_path, name):
    with pytest.raises(rb.SheetError, match=r"a sheet must be one of \['.csv', '.txt', '.tsv', '.xlsx'\]"):
        lab.write_sheet(tmp_path / name)


def test_a_folder_must_be_there(lab, tmp_path):
    with pytest.raises(rb.SheetError, match=r"must be in an existing folder; make '.*no' first"):
        lab.write_sheet(tmp_path / "no" / "s.csv")
    (tmp_path / "s.csv").mkdir()
    with pytest.raises(rb.SheetError, match="must be a regular file, is a folder; name another"):
        lab.write_sheet(tmp_path / "s.csv")
    assert len(lab.history) == 0


def test_a_table_of_somebody_elses_is_left_alone(lab, tmp_path):
    path = tmp_path / "past.csv"
    path.write_text("x,n,c,value\n0.5,1,a,2\n")
    with pytest.raises(rb.SheetError, match=r"there must be a column 'trial' .*tell_frame"):
        lab.write_sheet(path)
    assert (path.read_text(), len(lab.history)) == ("x,n,c,value\n0.5,1,a,2\n", 0)
