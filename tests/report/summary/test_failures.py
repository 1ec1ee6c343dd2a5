import json
import math
import re

import pytest

from robustbo import Choice, Float, Int, Optimizer, Space
from robustbo.report.charts import timeline
from robustbo.report.page import journal_page
from robustbo.report.summary import text_summary, text_todo
from robustbo.report.summary.overview import overview
from robustbo.report.summary.text_failures import in_a_line, lead
from robustbo.view.view import View

SPACE = Space(**{"<x>": Float(0.0, 1.0), "k": Int(1, 4), "c": Choice("a", "b")})


def at(x, i):
    return {"<x>": x, "k": i % 4 + 1, "c": "ab"[i // 2 % 2]}


def told(*ended, values=36, **options):
    """Values on the left; on the right what has ended without one, as (x, reason, retry)."""
    opt = Optimizer(SPACE, direction="minimize", seed=0, surrogate="standard", **options)
    for i in range(values):
        opt.tell(at(i / 2 / values, i), math.sin(i))
    for i, (x, reason, retry) in enumerate(ended):
        opt.fail(at(x, i), reason, retry=retry)
    return opt


@pytest.fixture(scope="module")
def mixed():
    right = [(0.7 + i / 20, "out of memory", None) for i in range(6)]
    opt = told(*right, (0.15, "Traceback (most recent call last):\n  x\n<node> lost", None), (0.5, "no", False))
    opt.tell(at(0.15, 6), 0.3)  # asked again
    return opt


def shown(opt):
    found = overview(View(opt.settings, opt.history))
    return found, "\n".join(text_summary.lines("j", found))


def page(opt):
    return journal_page.page("j", View(opt.settings, opt.history))


def test_where_none_has_failed_nothing_is_said():
    found, text = shown(told())
    assert list(found)[-4:] == ["pending", "queued", "failed", "excluded"]
    assert found["failed"] == []
    assert "fail" not in text.replace("0 failed", "")
    assert "Where trials fail" not in page(told())
    assert "failed, looks" not in page(told())


def test_each_says_what_it_looks_like_as_the_optimizer_does(mixed):
    found, text = shown(mixed)
    failures = mixed.failures()
    assert [trial["looks_like"] for trial in found["failed"]] == [failure.looks_like for failure in failures]
    assert [t["log_odds_nats"] for t in found["failed"][:-1]] == [f.log_odds for f in failures[:-1]]
    assert found["failed"][-1]["log_odds_nats"] is None
    assert found["failures"]["region"] == 7
    assert 0 < found["failures"]["flake_rate"] < 0.5
    assert "8 trials failed: 7 look like their region, 1 like a flake; about " in text
    rows = text_summary.tables(found)["failed"]
    assert [row["verdict"] for row in rows[-2:]] == ["looks like a flake", "said to lie in its point"]
    assert [row["reason"] for row in rows[-3:]] == ["out of memory", "<node> lost", "no"]
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_what_asking_again_has_given_is_said():
    opt = told((0.9, "a", None), (0.2, "b", True))
    trial = opt.ask()
    assert (trial.reason, trial.params["<x>"]) == ("retry", 0.2)
    assert [row["asked again"] for row in text_summary.tables(shown(opt)[0])["failed"]] == ["-", "under way"]
    opt.tell(trial, 1.0)
    assert [row["asked again"] for row in text_summary.tables(shown(opt)[0])["failed"]] == ["-", "gave a value"]
    opt.fail(at(0.9, 0), "a")
    again = [row["asked again"] for row in text_summary.tables(shown(opt)[0])["failed"]]
    assert again == ["failed too", "gave a value", "failed too"]


@pytest.mark.parametrize(
    ("region", "flake", "said"),
    [
        (1, 0, "1 trial failed: it looks like its region"),
        (0, 1, "1 trial failed: it looks like a flake"),
        (3, 0, "3 trials failed: all look like their region"),
        (0, 2, "2 trials failed: all look like flakes"),
        (1, 2, "3 trials failed: 1 looks like its region, 2 like flakes"),
    ],
)
def test_how_many_is_a_sentence(region, flake, said):
    found = {"count": region + flake, "region": region, "flake": flake, "flake_rate": None, "asks_keep_away": True}
    assert lead(found) == said
    more = lead(found | {"flake_rate": 0.0312, "asks_keep_away": False})
    assert more == said + "; about 3.1 % of trials die by a flake, as it seems; asks do not keep away from them"


def test_a_traceback_is_its_last_line():
    assert in_a_line("Traceback (most recent call last):\n  File x\nValueError: no") == "ValueError: no"
    assert in_a_line("one\ntwo") == "one"
    assert in_a_line(None) == ""


def test_where_asks_do_not_keep_away_that_is_said():
    for options in ({"failures": "ignore"}, {"acquisition": "sobol"}):
        assert "asks do not keep away from them" in shown(told((0.9, "a", None), **options))[1]


def test_the_page_has_a_table_ticks_and_slices(mixed):
    text = page(mixed)
    section = text.split("<h2>Where trials fail</h2>")[1].split("<h2>")[0]
    assert "8 trials failed: 7 look like their region, 1 like a flake" in section
    assert re.search(
        r"<td>42</td><td>looks like a flake</td><td>[\d.]+</td><td>gave a value</td><td>.*&lt;node&gt; lost", section
    )
    assert section.count("probability of a value through the incumbent") == 2  # a choice has a table
    assert re.search(r"<td>&#39;b&#39;</td><td>0\.\d\d</td><td>4</td>", section)
    charts = re.findall(r"<svg.*?</svg>", section)
    assert [chart.count('d="M0-1V1"') for chart in charts if "probability of a value" in chart] == [8, 8]
    assert "<x>" not in text
    progress = text.split("<h2>Progress</h2>")[1].split("</svg>")[0]
    assert progress.count('d="M0-1V1"') == 8
    assert "failed, looks like its region: 7; failed, looks like a flake: 1" in text


def test_the_slices_show_what_the_optimizer_says(mixed):
    section = page(mixed).split("<h2>Where trials fail</h2>")[1]
    points = re.search(r"&lt;x&gt;: probability.*?<polyline points=\"([^\"]*)\"", section)[1].split()
    drawn = [1.02 * (1 - (float(point.split(",")[1]) - 12) / (200 - 40 - 12)) for point in points]
    best = mixed.best().params
    said = mixed.viability([best | {"<x>": k / 60} for k in range(61)])
    assert drawn == pytest.approx([*said], abs=0.002)
    assert min(drawn) < 0.3 < 0.8 < max(drawn)


def test_a_page_without_a_value_has_the_table_alone():
    text = page(told((0.2, "a", None), (0.4, "b", None), values=0))
    assert "Nothing has been told yet" in text
    assert "2 trials failed" in text
    assert "<svg" not in text


def test_where_all_were_flakes_by_the_users_word_there_are_no_slices():
    text = page(told((0.2, "a", True)))
    assert "said to be a flake" in text
    assert "through the incumbent</h3>" not in text


def test_many_are_cut():
    text = page(told(*((0.6 + i / 60, "a", None) for i in range(23)), values=3))
    assert "The last 20 of 23." in text


def test_a_picture_has_the_ticks_too(mixed, tmp_path):
    pytest.importorskip("matplotlib")
    timeline.draw(View(mixed.settings, mixed.history), tmp_path / "a.svg")
    assert "failed, looks like its region" in [
        dots.label for dots in timeline.values(View(mixed.settings, mixed.history)).dots
    ]
    assert (tmp_path / "a.svg").stat().st_size > 1000


def test_where_nothing_has_given_a_value_that_is_said():
    def lines(opt):
        return "\n".join(text_todo.lines("study", overview(View(opt.settings, opt.history))))

    opt = Optimizer(Space(x=Float(0.0, 1.0)), direction="minimize", seed=0)
    for x in (0.2, 0.8):
        opt.fail({"x": x}, "no module named pump")
    assert "no trial has given a value yet" in lines(opt)
    opt.tell({"x": 0.5}, 1.0)
    assert "no trial has given a value yet" not in lines(opt)
