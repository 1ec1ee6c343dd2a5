import io
import re

import numpy as np
import pytest
from rich.console import Console

from robustbo.sklearn import RobustGPRegressor
from robustbo.sklearn.fit_progress import FitProgress

X = np.linspace(0, 1, 30)[:, None]
Y = np.sin(6 * X[:, 0])
Y[4] += 5.0


def fit(monkeypatch, **options):
    monkeypatch.setattr("robustbo.sklearn.regressor.EXACT", 12)
    monkeypatch.setattr("robustbo.sklearn.fitted_regression.AT_ONCE", 7)
    return RobustGPRegressor(random_state=0, **options).fit(X, Y)


def test_a_fit_shows_its_stages_and_is_the_same_as_one_that_shows_nothing(monkeypatch, capfd):
    silent = fit(monkeypatch)
    assert capfd.readouterr() == ("", "")
    shown = fit(monkeypatch, verbose=1)
    out, err = capfd.readouterr()
    assert out == ""
    stages = ["fitting relevance-pursuit to 12 rows", "judging 12 rows", "judging 18 more rows"]
    assert [re.sub(r" \W.*", "", line) for line in err.splitlines()] == stages
    assert (shown.predict(X) == silent.predict(X)).all()
    assert (shown.outlier_mask_ == silent.outlier_mask_).all()


def test_rows_advance_a_stage_to_its_end(monkeypatch):
    seen = []
    monkeypatch.setattr("robustbo.sklearn.fit_progress.Stage.advance", lambda stage, rows: seen.append(rows))
    fit(monkeypatch, verbose=1)
    assert seen == [7, 7, 4]


def test_on_a_terminal_a_bar_moves_while_a_stage_lasts():
    screen = io.StringIO()
    progress = FitProgress(True, Console(file=screen, force_terminal=True, width=100, color_system=None))
    lengths = []
    with progress.stage("judging 4 rows", 4) as stage:
        for _ in range(4):
            stage.advance(1)
            stage._bar.refresh()
            lengths.append(screen.getvalue().rpartition("judging")[2].count("━"))
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[-1]


def test_an_error_ends_the_stage_and_gives_the_terminal_back():
    screen = io.StringIO()
    progress = FitProgress(True, Console(file=screen, force_terminal=True, width=100))
    with pytest.raises(RuntimeError, match="no likelihood"), progress.stage("fitting"):
        raise RuntimeError("no likelihood")
    assert screen.getvalue().rstrip().endswith("\x1b[?25h")
