import matplotlib.image
import pandas as pd
import pytest
from matplotlib.text import Text

from robustbo.replay.output.report import draw
from robustbo.replay.sections.optimization import curves, goes_wrong
from robustbo.replay.sections.section import Tables
from robustbo.replay.spec.optimization import RunSpec
from robustbo.report.charts import svg


def tables(rows, methods):
    return Tables(pd.DataFrame(rows), pd.DataFrame(), list(methods))


@pytest.fixture
def spec():
    methods = ["sobol", "standard", "oracle"]
    described = {"problem": "hartmann6", "methods": methods, "trials": 3, "replications": 2, "title": "T"}
    return RunSpec.model_validate(described)


@pytest.fixture
def found(spec):
    rows = [
        {"method": m, "replication": r, "trial": t, "inference": float(r + t)}
        for m in spec.methods
        for r in range(2)
        for t in range(3)
    ]
    return tables(rows, spec.methods)


def test_a_picture_has_every_method_in_it(spec, found, tmp_path, monkeypatch):
    labels = []
    monkeypatch.setattr("matplotlib.figure.Figure.legend", lambda figure, marks, names, **_: labels.extend(names))
    assert draw(spec, found, tmp_path / "curves.png")
    assert labels == ["sobol", "standard", "oracle"]
    picture = matplotlib.image.imread(tmp_path / "curves.png")
    assert picture.shape[0] > 400
    assert picture[..., :3].std() > 0.05


def test_the_chart_has_each_mean_and_the_optimum(spec, found):
    chart = curves(spec, found)
    assert [line.label for line in chart.lines] == ["", "sobol", "standard", "oracle"]
    assert chart.lines[1].x.tolist() == [1, 2, 3]
    assert chart.lines[1].y.tolist() == [0.5, 1.5, 2.5]
    assert [note.text for note in chart.notes] == ["optimum"]
    assert chart.y.high > spec.load_problem().best[1]


def test_without_matplotlib_nothing_is_drawn(spec, found, tmp_path, monkeypatch):
    monkeypatch.setattr("robustbo.report.charts.matplotlib_canvas.plt", None)
    assert not draw(spec, found, tmp_path / "curves.png")
    assert not (tmp_path / "curves.png").exists()


def test_a_method_with_one_recommendation_is_a_point():
    spec = RunSpec.model_validate(
        {"problem": "branin", "methods": ["sobol", "ax-default"], "trials": 3, "replications": 2}
    )
    rows = [
        {"method": "sobol", "replication": r, "trial": t, "inference": float(t)} for r in range(2) for t in range(3)
    ]
    rows += [
        {"method": "ax-default", "replication": r, "trial": t, "inference": None} for r in range(2) for t in range(2)
    ]
    rows += [{"method": "ax-default", "replication": r, "trial": 2, "inference": float(r)} for r in range(2)]
    chart = curves(spec, tables(rows, spec.methods))
    (dots,) = chart.dots
    assert (dots.label, dots.x.tolist(), dots.y.tolist()) == ("ax-default", [3], [0.5])
    assert [line.label for line in chart.lines] == ["", "sobol", ""]  # the optimum, a curve, the dot's interval
    assert svg.draw(chart).count("<circle") == 1


@pytest.mark.parametrize("title", ["a $x$ axis", "cost in $", r"$\badmath{$", r"\$ and $", "$" * 5])
def test_a_title_is_text_and_no_formula(tmp_path, monkeypatch, title):
    name = "st$andard$"
    described = {"problem": "branin", "methods": {name: {"surrogate": "standard"}}, "trials": 2, "replications": 1}
    spec = RunSpec.model_validate({**described, "title": title})
    rows = [{"method": name, "replication": 0, "trial": trial, "inference": 1.0 - trial} for trial in range(2)]
    drawn = []
    shown = Text._preprocess_math

    def preprocess(text, given):
        found, is_math = shown(text, given)
        drawn.append((found, bool(is_math)))
        return found, is_math

    monkeypatch.setattr(Text, "_preprocess_math", preprocess)
    assert draw(spec, tables(rows, [name]), tmp_path / "curves.png")
    assert {(title, False), (name, False)} <= set(drawn)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "no corruption"),
        ({"noise": {"share": 0.05}}, "Gaussian noise of 5 % of the spread, no corruption"),
        (
            {"noise": {"share": 0.02, "dof": 2.0}, "corruption": {"kind": "crash", "probability": 0.1}},
            "Student-t (2 df) noise of 2 % of the spread, crash corruption of 10 %",
        ),
    ],
)
def test_what_goes_wrong_is_said(given, words):
    described = {"problem": "hartmann6", "methods": ["sobol"], "trials": 1, "replications": 1, **given}
    assert goes_wrong(RunSpec.model_validate(described)) == words
