import math
import re

import pytest

from robustbo import Choice, Float, Int, Optimizer, Space
from robustbo.report.page import journal_page, journals
from robustbo.view.view import View


@pytest.fixture(scope="module")
def told():
    """Twenty values, of which the ninth is a lie."""
    opt = Optimizer(
        Space(**{"<x>": Float(1e-3, 1e1, log=True), "k": Int(1, 4), "c": Choice("a", "b")}),
        direction="minimize",
        seed=0,
        num_initial=18,
    )
    for _ in range(20):
        trial = opt.ask()
        value = (math.log10(trial.params["<x>"]) + 1) ** 2 + trial.params["k"] + (trial.params["c"] == "b")
        opt.tell(trial, 1e6 if trial.number == 8 else value)
    return opt


def test_the_page_says_what_the_optimizer_does(told):
    text = journal_page.page("my <run>", View(told.settings, told.history))
    best = told.best()
    assert "my &lt;run&gt;" in text
    assert f"{best.mean:.6g}" in text
    assert re.search(
        r"<td>8</td><td>1000000</td>.*<td>(flagged|quarantined|refuted)</td>.*above what the others predict", text
    )
    assert text.count("prediction through the incumbent") == 2  # of <x> and k; a choice has a table
    assert "<td>a</td>" in text
    assert "<x>" not in text
    assert not re.search(r"(src|href)=|https?://|@import|url\(", text)


@pytest.mark.few(2)
@pytest.mark.parametrize("values", [[], [1.0], [0.0] * 6, [1e300, -1e300, 1.7e308, 0.0, 0.0, 1.0], [math.nan, 2.0]])
def test_any_values_make_a_page(values):
    opt = Optimizer(Space(x=Float(0, 1)), direction="minimize", seed=0)
    opt.ask()
    for value in values:
        opt.tell(opt.ask(), value)
    text = journal_page.page("any", View(opt.settings, opt.history))
    assert ("Nothing has been told yet" in text) == (not values)
    told = re.sub(r"<(style|title)>.*?</\1>", "", text.split("Values that")[0], flags=re.DOTALL)
    assert not re.search(r"\b(nan|inf)\b", told)


@pytest.mark.slow
def test_it_is_drawn_in_a_browser(told, tmp_path, in_a_browser):
    path = tmp_path / "page.html"
    journals.write([journals.NamedView("a run", View(told.settings, told.history))], path)
    drawn = in_a_browser(path)
    assert drawn.count("<polyline") >= 3
