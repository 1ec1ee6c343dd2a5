import matplotlib.image
import pandas as pd

from robustbo.replay.figure import draw
from robustbo.replay.spec import RunSpec


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
