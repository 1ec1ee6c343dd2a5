"""Tables of a page: aligned by what their columns hold, and escaped."""

from markupsafe import Markup

from robustbo.report.page import html
from robustbo.report.page.environment import render
from robustbo.report.page.table import Table, Wrapped


def test_columns_of_words_are_aligned_left_and_those_of_numbers_not():
    table = Table(["name", "value", "range"], [["a", "1.5 (sd 0.1)", "0 to 1"], ["b", -2, "1 to 2"]])
    assert table.classes == "t1 t3"
    assert Table(["a"], []).classes == ""


def test_a_column_can_be_left_out():
    table = Table(["name", "value", "range"], [["a", 1.5, "0 to 1"], ["b", -2, "1 to 2"]])
    assert table.without("value") == (["name", "range"], [["a", "0 to 1"], ["b", "1 to 2"]])
    assert table.without("other") == table


def test_a_row_that_is_too_wide_for_a_telephone_has_a_hint():
    assert not Table(["a", "b"], [["x", "y"]]).is_wide
    wide = Table(["a", "b", "c"], [["x" * 30] * 3])
    assert wide.is_wide
    assert "scroll it sideways" in render("table.html", table=wide)


def test_cells_are_escaped_unless_they_are_html():
    assert "<td>&lt;b&gt;</td>" in html.table(["a"], [["<b>"]])
    assert "<td><b>1</b></td>" in html.table(["a"], [["<b>1</b>"]], is_safe=True)
    assert "<td><i>1</i></td>" in render("table.html", table=Table(["a"], [[Markup("<i>1</i>")]]))


def test_a_wrapped_cell_can_be_opened_where_it_has_details():
    text = render("table.html", table=Table(["a"], [[Wrapped("<x>", 9, "more & more")], [Wrapped("y", 9)]]))
    assert text.count("<details>") == 1
    assert "min-width:9rem" in text
    assert "&lt;x&gt;<details><summary>all of it</summary><pre>more &amp; more</pre>" in text
