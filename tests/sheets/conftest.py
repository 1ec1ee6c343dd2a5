from itertools import zip_longest

import pytest

import robustbo as rb

SPACE = rb.Space(x=rb.Float(0, 1), n=rb.Int(1, 9), c=rb.Choice("a", "=b"))


@pytest.fixture
def lab(tmp_path):
    """An optimizer whose asks are quick, in a folder of its own."""
    return rb.Optimizer(SPACE, direction="minimize", acquisition="sobol", seed=1, journal=tmp_path / "j.jsonl")


@pytest.fixture
def sheet(tmp_path, lab):
    """A sheet with two trials."""
    lab.write_sheet(tmp_path / "todo.csv", 2)
    return tmp_path / "todo.csv"


@pytest.fixture
def filled(sheet):
    """Fills in a sheet: text behind each of its lines."""

    def fill(*texts):
        header, *lines = sheet.read_text().splitlines()
        sheet.write_text("\n".join([header, *(a + b for a, b in zip_longest(lines, texts, fillvalue=""))]))
        return sheet

    return fill
