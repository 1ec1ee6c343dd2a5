import matplotlib.image
import pandas as pd
import pytest
from matplotlib.text import Text

from robustbo.replay.output.figure import draw
from robustbo.replay.spec.optimization import RunSpec


def test_a_picture_has_every_method_in_it(tmp_path, monkeypatch):
    spec = RunSpec.model_validate(
        {
            "problem": "hartmann6",
            "methods": ["sobol", "standard", "oracle"],
            "trials": 3,
            "replications": 2,
            "title": "T",
        }
    )
    table = pd.DataFrame(
        [
            {"method": m, "replication": r, "trial": t, "inference": float(r + t)}
            for m in spec.methods
            for r in range(2)
            for t in range(3)
        ]
    )
    labels = []
    monkeypatch.setattr(
        "matplotlib.figure.Figure.legend",
        lambda figure, **_: labels.extend(figure.axes[0].get_legend_handles_labels()[1]),
    )
    assert draw(spec, table, list(spec.methods), tmp_path / "curves.png")
    assert labels == ["sobol", "standard", "oracle"]
    picture = matplotlib.image.imread(tmp_path / "curves.png")
    assert picture.shape[0] > 400
    assert picture[..., :3].std() > 0.05


def test_a_method_with_one_recommendation_is_a_point(tmp_path, monkeypatch):
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
    markers = {}
    monkeypatch.setattr(
        "matplotlib.figure.Figure.legend",
        lambda figure, **_: markers.update({line.get_label(): line.get_marker() for line in figure.axes[0].lines}),
    )
    assert draw(spec, pd.DataFrame(rows), list(spec.methods), tmp_path / "curves.png")
    assert (markers["sobol"], markers["ax-default"]) == ("None", "o")


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
    assert draw(spec, pd.DataFrame(rows), [name], tmp_path / "curves.png")
    assert {(title, False), (name, False)} <= set(drawn)
