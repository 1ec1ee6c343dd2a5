"""The section on sources: sentences, a table, and a chart of residuals a kind of source."""

import pytest

import robustbo as rb
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.numerics.sources.errors import SourceError
from robustbo.report.page.journal_page import page
from robustbo.report.page.sources_section import sources_section
from robustbo.report.summary import text_summary, text_todo
from robustbo.report.summary.overview import overview

STEP = "reactor R3 reads 1.5 +- 0.2 too high since trial 7"


def study(num=16, has_sources=True, **options):
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), seed=0, **({"direction": "minimize"} | options))
    for i in range(num):
        x, level = (i * 0.618) % 1, f"R{i % 4}"
        source = {"reactor": level} if has_sources else None
        opt.tell({"x": x}, (x - 0.4) ** 2 + (1.5 if level == "R3" and i >= 7 else 0.0), source=source)
    return opt


@pytest.fixture
def with_error(monkeypatch):
    def errors(fitted):
        numbers = fitted.observations.numbers
        rows = tuple(numbers.index(number) for number in (7, 11, 15))
        fine = SourceError("reactor", "R1", "offset", None, 0.01, 0.02, -2.0, 0.01, (0,), True)
        return fine, SourceError("reactor", "R3", "step", rows[0], 1.5, 0.21, 9.0, 0.98, rows, True)

    monkeypatch.setattr(FittedSurrogate, "source_errors", property(errors))


def test_nobody_told_a_source():
    view = study(has_sources=False).view
    summary = overview(view)
    assert "sources" not in summary
    assert sources_section(view, summary) is None
    assert "Which source" not in page("study", view)


def test_a_summary_says_which_source_and_what_to_do(with_error):
    summary = overview(study().view)
    reports = [(report["level"], report["in_doubt"]) for report in summary["sources"]]
    assert reports == [("R3", True), ("R1", False), ("R0", False), ("R2", False)]
    assert any(line.startswith(STEP) for line in text_summary.lines("study", summary))
    first, second = text_summary.results(summary)["sources of measurements, the most probable error first"]
    assert (first["source"], first["error"], first["since trial"], first["values"]) == (
        "reactor R3",
        "+1.5 +- 0.21",
        "7",
        3,
    )
    assert (second["source"], second["since trial"], second["status"]) == ("reactor R1", "the beginning", "fine")
    steps = text_todo.lines("j.jsonl", summary)
    assert "    if you know it too: robustbo correct j.jsonl 1.5 --source reactor=R3 --since 7" in steps


def test_the_page_has_a_chart_with_the_step(with_error):
    view = study().view
    section = sources_section(view, overview(view))
    assert section.sentences[0].startswith(STEP)
    ((title, chart),) = section.charts.result.items()
    assert title == "By reactor"
    assert [dots.label for dots in chart.dots] == ["R0", "R1", "R2", "R3"]
    assert [len(dots.x) for dots in chart.dots] == [4] * 4
    step = next(line for line in chart.lines if line.label == "reactor R3: step")
    assert (step.x[0], step.y[-1]) == (7.0, 1.5)
    assert "Which source is in error" in page("study", view)


def test_several_outcomes_have_a_chart_each():
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), objectives={"a": "minimize", "b": "maximize"}, seed=0)
    for i in range(8):
        x = (i * 0.618) % 1
        opt.tell({"x": x}, {"a": x, "b": x * x}, source={"reactor": f"R{i % 2}", "plate": i // 4})
    charts = sources_section(opt.view, overview(opt.view)).charts.result
    assert [*charts] == ["a, by plate", "a, by reactor", "b, by plate", "b, by reactor"]


def test_a_name_is_text(with_error):
    opt = study()
    opt.tell({"x": 0.5}, 0.1, source={"reactor": "<script>alert(1)</script>"})
    text = page("study", opt.view)
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_words_of_people_are_told(with_error):
    opt = study()
    opt.exclude(source="R2", reason="lamp")
    assert "by your word: reactor R2 is excluded" in text_summary.lines("study", overview(opt.view))
    opt.include(source="R2")
    assert not any("by your word" in line for line in text_summary.lines("study", overview(opt.view)))


def test_many_levels_are_gray_together():
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", seed=0)
    for i in range(30):
        opt.tell({"x": (i * 0.618) % 1}, i % 3, source={"sample": i})
    (chart,) = sources_section(opt.view, overview(opt.view)).charts.result.values()
    assert chart.dots[-1].label == "others"
    assert len(chart.dots[-1].x) == 18
