"""Maps of a pool: each row that may be measured is on them, with what is known of it."""

import itertools

import numpy as np
import pandas as pd
import pytest

import robustbo as rb
from robustbo.errors import SpaceWarning
from robustbo.report.page import pool_map_section
from robustbo.report.page.map_section import Place
from robustbo.report.page.pool_map_section import pool_maps_section
from robustbo.report.page.slices_section import Around
from robustbo.report.page.surfaces import with_surfaces

PAIR = ("acid", "dose")


@pytest.fixture(scope="module")
def opt():
    wells = itertools.product(("HCl", "HNO3"), (0.1, 0.5, 1.0), (20, 40, 60, 80))
    pool = rb.Pool(pd.DataFrame(wells, columns=["acid", "dose", "heat"]), constraints=["heat + dose <= 80.5"])
    opt = rb.Optimizer(pool, direction="maximize", outcome=rb.Outcome("yield", unit="%"), seed=0)
    for trial in opt.ask(10):
        opt.tell(trial, 500.0 if trial.number == 6 else 10 * trial.params["dose"] + trial.params["heat"] / 10)
    with pytest.warns(SpaceWarning, match="no row of the pool"):
        opt.tell({"acid": "HCl", "dose": 0.3, "heat": 30}, 6.0)
    return opt


def section(opt, waiting=()):
    around = Around(opt.best().params, "the best point")
    return with_surfaces(opt.view, [], lambda of: pool_maps_section(opt.view.space, around, PAIR, of[0], waiting))


def marks(chart):
    return {kind.label: kind for kind in chart.dots}


def test_the_rows_that_keep_the_constraints_are_marks_with_predictions(opt):
    of = section(opt)
    assert [*of.charts] == ["predicted yield (%)", "how uncertain that is (standard deviation)"]
    for chart in of.charts.values():
        rows = [title for kind in chart.dots for title in kind.titles if "predicted" in title]
        assert len(rows) == 22  # of 24 two break the constraint
        assert "acid HCl, dose 0.1, heat 20: predicted" in " ".join(rows)
    assert len(of.sentences) == 3
    assert "on the map" in of.sentences[0]


def test_what_was_measured_lies_on_its_row_and_what_is_wrong_is_marked(opt):
    trial = opt.history[6]
    waiting = [Place(opt.history[2].params, "to be measured", "trial 2 again")]
    first, second = (marks(chart) for chart in section(opt, waiting).charts.values())
    assert len(first["measured"].x) == 10
    assert first["called wrong"].titles[0].startswith("trial 6")
    assert first["to be measured"].titles == ["trial 2 again"]
    rows = {title: (x, y) for kind in first.values() for title, x, y in zip(kind.titles, kind.x, kind.y, strict=True)}
    at = next(spot for title, spot in rows.items() if title.startswith(f"acid {trial.params['acid']}, dose "
        f"{trial.params['dose']:g}, heat {trial.params['heat']}:"))  # fmt: skip
    assert (first["called wrong"].x[0], first["called wrong"].y[0]) == at
    assert np.array_equal(first["called wrong"].x, second["called wrong"].x)


def test_of_very_many_rows_an_even_choice_is_drawn_with_all_that_is_marked(opt, monkeypatch):
    monkeypatch.setattr(pool_map_section, "MOST", 5)
    of = section(opt)
    chart = marks(of.charts["predicted yield (%)"])
    num_rows = sum("predicted" in title for kind in chart.values() for title in kind.titles)
    assert 10 <= num_rows < 22
    assert f"Of 22 rows {num_rows} are drawn" in of.guide
    assert len(chart["measured"].x) == 10
