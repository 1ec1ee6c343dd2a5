import pytest


def test_the_linear_data_of_figure_6_have_their_share_of_outliers(load):
    figures = load("papers.committee_figures")
    data = figures.linear(0.05, 3)
    assert data.X.shape == (200_000, 5)
    assert data.X_test.shape == (2_000, 5)
    assert (data.y > 15).sum().item() == pytest.approx(10_000, rel=0.02)
    assert data.y_test.abs().max() < 15


@pytest.mark.slow
def test_figure_6_in_small(load, tmp_path, monkeypatch):
    figures = load("papers.committee_figures")
    monkeypatch.setattr(figures, "TRAINING", 400)
    monkeypatch.setattr(figures, "TEST", 100)
    rows = [figures.scores(cell) for cell in figures.cells(6, 1) if cell.at in (0.01, 0.15) and cell.experts == 100]
    by = {(row["noise"], row["at"]): float(row["mae"]) for row in rows}
    assert by["student-t", 0.15] < 1.2 * by["student-t", 0.01]
    assert by["normal", 0.15] > 1.5 * by["student-t", 0.15]
    figures.draw(rows, 6, tmp_path / "figure-6.png")
    assert (tmp_path / "figure-6.png").stat().st_size > 10_000


def test_figure_2_in_small(load, tmp_path):
    times = load("speed.committee_times")
    rows = [
        {"kind": kind, "n": n, "seconds": str(times.seconds(kind, n, "cpu", 2**26)), "device": "cpu"}
        for kind in ("GP", "DRGP, 128")
        for n in (100, 200)
    ]
    assert all(float(row["seconds"]) > 0 for row in rows)
    times.draw(rows, tmp_path / "figure-2.png")
    assert (tmp_path / "figure-2.png").stat().st_size > 10_000
