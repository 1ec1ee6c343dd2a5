"""One great value among noisy ones is measured again first: nothing else can win as much."""

import sys

import numpy as np
import pytest

import robustbo as rb
from tests.belief.studies import study


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(3))
def test_it_is_asked_for_again_at_once(seed):
    rng = np.random.default_rng(seed)
    points, values = rng.uniform(20, 90, (16, 2)), 40 + 3 * rng.standard_normal(16)
    values[5] = 290.0
    space = rb.Space(celsius=rb.Float(20, 90), hours=rb.Float(20, 90))
    opt = study(space, points, values, seed=seed)
    for _ in range(2):
        trial = opt.ask()
        if trial.params == pytest.approx(dict(zip(space.names, points[5], strict=True))):
            break
        opt.tell(trial, 40 + 3 * rng.standard_normal())
    else:
        pytest.fail("the great value was not measured again in two asks")
    opt.tell(trial, 284.0)
    assert opt.best().params == trial.params


@pytest.mark.parametrize("code", [1e100, 1e160, sys.float_info.max])
def test_failures_that_are_told_as_the_largest_number_are_wrong(code):
    rng = np.random.default_rng(0)
    points, values = rng.uniform(20, 90, (30, 2)), np.zeros(30)
    values[12:18], values[18:] = rng.uniform(-1, 1, 6), code
    opt = study(rb.Space(celsius=rb.Float(20, 90), hours=rb.Float(20, 90)), points, values)
    flagged = {report.trial.number for report in opt.outliers() if report.flagged}
    assert flagged >= set(range(18, 30))
    assert len(flagged) <= 14
    assert opt.best().trial.value <= 1
