"""The wheel that is installed: nothing in it can meet somebody's own package, and its entry points lead somewhere."""

import configparser
import os
import zipfile
from pathlib import Path

import pytest
from hatchling.build import build_wheel

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder, before = tmp_path_factory.mktemp("wheel"), Path.cwd()
    os.chdir(ROOT)
    try:
        name = build_wheel(str(folder))
    finally:
        os.chdir(before)
    with zipfile.ZipFile(folder / name) as file:
        yield file


def test_it_has_two_packages_and_no_problems_of_somebody(wheel):
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"robustbo", "robustbo_problems"}
    assert "robustbo/py.typed" in wheel.namelist()
    assert "robustbo/report/page/templates/journal.html" in wheel.namelist()
    parts = {"templates/work.html", "static/work.js", "static/style.css", "static/icon.svg"}  # of `robustbo serve`
    assert {f"robustbo/serve/{part}" for part in parts} <= {*wheel.namelist()}


def test_it_has_the_module_of_each_entry_point(wheel):
    (place,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    points = configparser.ConfigParser()
    points.optionxform = str
    points.read_string(wheel.read(place).decode())
    modules = {value.partition(":")[0].strip() for group in points.values() for value in group.values()}
    assert {"robustbo.cli", "robustbo_problems.svm"} <= modules
    for module in modules:
        path = module.replace(".", "/")
        assert {f"{path}.py", f"{path}/__init__.py"} & {*wheel.namelist()}, module
