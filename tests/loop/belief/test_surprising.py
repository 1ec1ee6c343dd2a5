"""Replicates that agree on the scale of the noise are believed, however far out; and their point is what they say."""

import math

import numpy as np
import pytest

import robustbo as rb


def catalysts(peak, count=24, sign=1.0, size=1.0, seed=0, **settings):
    """Points with replicates of about 5, but one where they are ``peak``."""
    rng = np.random.default_rng(seed)
    space = rb.Space(x=rb.Float(0, 1), z=rb.Float(0, 1))
    opt = rb.Optimizer(space, direction="maximize" if sign > 0 else "minimize", seed=1, **settings)
    for i in range(count):
        params = {"x": float(rng.random()), "z": float(rng.random())}
        usual = 5 + 0.5 * math.sin(3 * params["x"]) + 0.4 * rng.standard_normal(len(peak))
        for value in peak if i == count // 2 else usual.tolist():
            opt.tell(params, sign * size * value)
    return opt


def at_peak(opt):
    return [report for report in opt.outliers() if abs(report.value) > 50 * abs(opt.history[0].value) / 8]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("peak", "count", "sign", "size"),
    [
        ((81.4, 80.4, 79.9, 79.3), 24, 1.0, 1.0),
        ((81.4, 80.4, 79.9, 79.3), 24, -1.0, 1e-3),
        ((81.4, 80.4), 24, 1.0, 1e4),
        ((62.0, 61.2, 61.9), 16, 1.0, 1.0),
    ],
)
def test_replicates_that_agree_are_confirmed_and_the_best(peak, count, sign, size):
    opt = catalysts(peak, count, sign, size)
    best, reports = opt.best(), at_peak(opt)
    assert [report.status for report in reports] == ["confirmed"] * len(peak)
    assert best.trial.number in {report.trial.number for report in reports}
    assert best.mean == pytest.approx(sign * size * sum(peak) / len(peak), rel=0.01)
    assert best.sd < size
    for report in reports:  # by the others at its point
        assert report.probability_wrong < 0.1
        assert report.expected == pytest.approx(best.mean, rel=0.02)
        assert report.sd < 3 * size  # half of an interval of 95 %, by few others


def test_two_that_disagree_far_are_not_both_believed():
    opt = catalysts((81.4, 41.0))
    assert sum(report.probability_wrong for report in at_peak(opt)) > 0.9
    assert opt.best().mean < 20


def test_one_alone_is_neither_believed_nor_certainly_wrong_by_a_point_account():
    opt = catalysts((81.4,), surrogate="student-t")
    (report,) = at_peak(opt)
    assert report.flagged
    assert 0.5 < report.probability_wrong < 0.99
