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
