"""Sources as a frame that prints as sentences."""

import pandas as pd
import pytest

import robustbo as rb
from robustbo.loop.sources.source_report import SourceReport
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.numerics.sources.errors import SourceError
from robustbo.view.sources import COLUMNS, SourceFrame

REPORTS = [
    SourceReport("reactor", "R3", "step", 4.8, 0.6, 41, None, 12.0, 0.998, "in doubt", (41, 45)),
    SourceReport("reactor", "R1", "offset", 0.1, 0.6, None, None, -1.0, 0.01, "fine", (1,)),
]


def test_a_row_a_source():
    frame = SourceFrame.of(REPORTS)
    assert tuple(frame.columns) == COLUMNS
    assert frame["level"].tolist() == ["R3", "R1"]
    assert frame["since"].tolist() == [41, pd.NA]
    assert frame["trials"][0] == (41, 45)


def test_it_prints_as_sentences_and_a_part_of_it_as_a_table():
    frame = SourceFrame.of(REPORTS)
    assert str(frame).splitlines() == [report.text for report in REPORTS]
    assert type(frame[frame["probability"] > 0.5]) is pd.DataFrame
    assert "reactor" in repr(frame)
    assert "<table" in frame._repr_html_()


@pytest.fixture
def study():
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", seed=0)
    for i in range(6):
        opt.tell({"x": i / 6}, (i / 6) ** 2, source={"reactor": f"R{i % 2}"})
    return opt


def test_nobody_told_a_source_and_nothing_is_fitted(monkeypatch):
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", seed=0)
    opt.tell({"x": 0.5}, 1.0)
    monkeypatch.setattr("robustbo.loop.sources.sources.use_models", None)
    assert len(opt.sources()) == 0
    assert str(opt.sources()) == "no source of any value was told"


def test_errors_of_the_model_are_of_the_trials_in_its_rows(study, monkeypatch):
    def errors(fitted):
        row = fitted.observations.numbers.index(3)
        return (SourceError("reactor", "R1", "step", row, 1.5, 0.25, 8.0, 0.97, (row,), True),)

    monkeypatch.setattr(FittedSurrogate, "source_errors", property(errors))
    frame = study.sources()
    assert frame.iloc[0][["source", "level", "since", "status"]].tolist() == ["reactor", "R1", 3, "in doubt"]
    assert frame["trials"][0] == (3,)
    assert str(frame).startswith("reactor R1 reads 1.5 +- 0.2 too high since trial 3 (")
