from types import SimpleNamespace

import numpy as np
import pytest


@pytest.fixture(scope="module")
def quality_sizes(load):
    return load("quality.sizes")


def judged(evidence, flagged):
    return [
        SimpleNamespace(trial=SimpleNamespace(number=i), evidence=e, flagged=i in flagged)
        for i, e in reversed([*enumerate(evidence)])
    ]


def test_detection_is_the_share_of_pairs_in_order_and_the_harmonic_mean(quality_sizes):
    is_wrong = np.array([True, False, True, False])
    assert quality_sizes.detection(judged([9.0, 0.0, 8.0, 1.0], {0, 2}), is_wrong) == {"f1": 1.0, "auc": 1.0}
    found = quality_sizes.detection(judged([9.0, 0.0, 0.5, 1.0], {0, 3}), is_wrong)
    assert found == {"f1": 0.5, "auc": 0.75}


def test_errors_are_in_spreads(quality_sizes):
    truth = np.array([0.0, 20.0, 0.0, 20.0])
    found = quality_sizes.errors(truth, truth + 5.0, np.full(4, 5.0))
    assert found["rmse"] == pytest.approx(0.5)
    assert found["nlpd"] == pytest.approx(0.5 * (np.log(2 * np.pi) + 2 * np.log(0.5) + 1))


@pytest.mark.slow
def test_a_picture_is_drawn_of_rows_now_and_before(quality_sizes, tmp_path):
    rows = [
        quality_sizes.scores(("branin", "constant", 0, n, method))
        for n, method in ((12, "default"), (12, "informed"), (14, "default"))
    ]
    assert set(rows[0]) == set(quality_sizes.COLUMNS)
    assert set(quality_sizes.COLUMNS) - set(rows[1]) == {"f1", "auc"}  # it was told
    rows[2]["nlpd"] = "nan"  # where a standard deviation is 0
    quality_sizes.draw(rows, tmp_path, rows[:1])
    assert (tmp_path / "quality-constant.png").stat().st_size > 10_000
