"""The section on sources beside the target: sentences, a table, and what each reads along a slice."""

import math

import numpy as np
import pandas as pd
import pytest

import robustbo as rb
from robustbo.report.charts.readings import source_charts
from robustbo.report.page.journal_page import page, sections
from robustbo.report.page.relations_section import relations_section
from robustbo.report.page.trials_section import trials_section
from robustbo.report.summary import text_relations, text_summary
from robustbo.report.summary.overview import overview

SPACE = rb.Space(x=rb.Float(0.0, 1.0))
OLD = pd.DataFrame({"x": [i / 15 for i in range(16)]})
OLD["value"] = [math.sin(6 * x) + 2.0 + (9.0 if i == 4 else 0.0) for i, x in enumerate(OLD["x"])]


def study(**options):
    sources = {"lab": rb.Source(target=True), "2025": rb.Source(ask=False), "simulator": rb.Source(cost=0.05)}
    return rb.Optimizer(SPACE, direction="maximize", seed=3, num_initial=4, sources=sources, **options)


@pytest.fixture(scope="module")
def learned():
    """A view of a study of five values, with an old one that reads 2 higher and has one wrong value."""
    opt = study(prior_data={"2025": OLD})
    for x in (0.05, 0.3, 0.55, 0.8, 0.95):
        opt.tell({"x": x}, math.sin(6 * x))
    return opt.view


@pytest.fixture(scope="module")
def summary(learned):
    return overview(learned)


def test_an_overview_says_what_each_source_is(learned, summary):
    old, simulator = summary["relations"]
    assert (old["source"], old["relation"], old["wrong"]) == ("2025", "offset", [4])
    assert (simulator["relation"], simulator["b"], simulator["cost"]) == (None, None, 0.0)
    assert summary["declared"]["simulator"] == {"cost": 0.05}
    assert "sources" not in summary
    assert old["text"] in text_summary.lines("study", summary)
    first, second = text_summary.results(summary)[text_relations.TITLE]
    assert (first["source"], first["relation"], first["cost"], first["wrong"]) == ("2025", "offset", "not asked", "4")
    assert first["higher by"].startswith("2")
    assert (second["relation"], second["higher by"], second["cost"]) == ("not known yet", "-", "0.05")


def test_a_page_draws_what_a_source_reads_and_its_error(learned, summary):
    around = sections(learned)["around"]
    section = relations_section(learned, summary, around)
    (piece,) = section.pieces.result
    assert (piece.title, piece.note) == ("2025, by x", "")
    objective, reads, _ = piece.charts.readings.lines
    assert np.allclose(reads.y - objective.y, 2.0, atol=0.2)
    *shades, zero, error = piece.charts.error.lines
    assert not shades
    assert np.all(zero.y == 0)
    assert np.allclose(error.y, reads.y - objective.y)
    assert np.all(error.high > error.low)
    html = page("study", learned)
    assert "What other sources say" in html
    assert "Which source is in error" not in html
    assert "could not be computed" not in html


def test_gray_is_where_an_error_is_not_known(learned, monkeypatch):
    monkeypatch.setattr("robustbo.report.charts.readings.DOUBTFUL", 0.0)
    (told,) = [
        learned.with_models(
            lambda models: source_charts(
                SPACE, models[0].fitted, "2025", {"x": 0.3}, [], "lab", learned.settings.quantity
            )
        )
    ]
    shade, _, _ = told.error.lines
    assert (shade.x.tolist(), told.share) == ([0.0, 1.0], 0.0)


def test_a_table_of_trials_names_the_source_and_what_is_wrong_by_itself(learned, summary):
    table = trials_section(learned, learned.outliers(), summary).table
    assert table.header[:3] == ["trial", "source", "x"]
    assert [row[1] for row in table.rows][15:17] == ["2025", "lab"]
    assert [row[0] for row in table.rows if "called wrong" in row] == [4]


def test_before_the_target_has_a_value_nothing_is_known():
    view = study(prior_data={"2025": OLD}).view
    summary = overview(view)
    assert summary["incumbent"] is None
    assert [report["relation"] for report in summary["relations"]] == [None, None]
    html = page("study", view)
    assert "2025: nothing is known yet" in html
    assert "could not be computed" not in html


def test_several_outcomes_have_a_row_each():
    opt = rb.Optimizer(
        SPACE,
        objectives={"a": "maximize", "b": "minimize"},
        sources={"lab": rb.Source(target=True), "2025": rb.Source(ask=False)},
        prior_data={"2025": pd.DataFrame({"x": [0.1, 0.2], "a": 1.0, "b": 2.0})},
        seed=0,
    )
    assert [(r["outcome"], r["source"]) for r in overview(opt.view)["relations"]] == [("a", "2025"), ("b", "2025")]
