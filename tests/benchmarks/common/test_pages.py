"""Tables are put between the marks of a page, and nothing else of it is touched."""

import pytest


@pytest.fixture(scope="module")
def pages(load):
    return load("common.pages")


def test_a_table_takes_the_place_of_what_was_there(pages, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("above\n<!-- a -->\nold\n<!-- /a -->\nbetween\n<!-- b -->\n<!-- /b -->\n", encoding="utf-8")
    new = {"a": pages.markdown([{"x": 1, "y": "z"}]), "b": pages.markdown([])}
    pages.put([page], new)
    once = page.read_text(encoding="utf-8")
    assert once == (
        "above\n<!-- a -->\n\n| x | y |\n| --- | --- |\n| 1 | z |\n\n<!-- /a -->\nbetween\n"
        "<!-- b -->\n\nnothing is recorded\n\n<!-- /b -->\n"
    )
    pages.put([page], new)
    assert page.read_text(encoding="utf-8") == once


@pytest.mark.parametrize(
    "text", ["nothing", "<!-- a -->\n", "<!-- /a -->\n<!-- a -->\n", "<!-- a -->\n<!-- a -->\n<!-- /a -->"]
)
def test_a_page_without_its_marks_is_left_alone(pages, tmp_path, text):
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit, match="must have one line <!-- a -->"):
        pages.put([page], {"a": "new"})
    assert page.read_text(encoding="utf-8") == text


def test_each_table_goes_to_the_file_that_has_its_marks(pages, tmp_path):
    page, beside = tmp_path / "page.md", tmp_path / "tables.md"
    page.write_text("<!-- a -->\n<!-- /a -->\n", encoding="utf-8")
    beside.write_text("<!-- b -->\n<!-- /b -->\n", encoding="utf-8")
    pages.put([page, beside], {"a": "short", "b": "long"})
    assert "short" in page.read_text(encoding="utf-8")
    assert "long" in beside.read_text(encoding="utf-8")
    beside.write_text(page.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(SystemExit, match="got 2 files with one"):
        pages.put([page, beside], {"a": "twice"})
