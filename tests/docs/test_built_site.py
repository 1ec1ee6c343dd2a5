"""The check of the built pages, which the build of the documentation runs, finds what it is for."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "docs" / "_ext" / "built_site.py"


@pytest.fixture(scope="module")
def built_site():
    spec = importlib.util.spec_from_file_location("built_site", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="other.html#there">x</a> <a href="#here">x</a> <p id="here">', None),
        ('<a href="sub/deep.html?a=1">x</a> <a href="https://example.org/nowhere#x">x</a>', None),
        ('<img src="picture.svg">', None),
        ('<a href="gone.html">x</a>', "index.html: gone.html leads nowhere"),
        ('<a href="other.html#gone">x</a>', "index.html: other.html#gone names no anchor of its page"),
        ('<a href="#gone">x</a>', "index.html: #gone names no anchor of its page"),
        ('<img src="gone.svg">', "index.html: gone.svg leads nowhere"),
        ('<script src="https://cdn.example.org/a.js">', "index.html: loads https://cdn.example.org/a.js"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "index.html: loads //example.org/a.css"),
    ],
)
def test_faults(tmp_path, built_site, body, fault):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "deep.html").write_text('<a href="../index.html">x</a>')
    (tmp_path / "other.html").write_text('<h2 id="there">x</h2>')
    (tmp_path / "picture.svg").write_text("<svg/>")
    (tmp_path / "index.html").write_text(body)
    assert [*built_site.faults(tmp_path)] == ([fault] if fault else [])
