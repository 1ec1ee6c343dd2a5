"""Studies of the tests of belief, and what is said of their values."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import robustbo as rb

FAILS_TODAY = pytest.mark.xfail(
    strict=True, reason="noise that varies by region is not modelled: docs/equations.md section 19 has what was tried"
)


def line(name="x", low=0.0, high=1.0):
    return rb.Space(**{name: rb.Float(low, high)})


def study(space, points, values, sd=None, **options) -> rb.Optimizer:
    """A study with measurements made before: ``n x d`` numbers, or texts, in the order of the space's parameters."""
    options = {"direction": "maximize", "seed": 0} | options
    frame = pd.DataFrame(list(map(np.atleast_1d, points)), columns=list(space.names)).infer_objects()
    frame = frame.assign(value=np.asarray(values, dtype=float))
    if sd is not None:
        frame = frame.assign(sd=sd)
    return rb.Optimizer(space, prior_data=frame, **options)


def reports(opt) -> list[Any]:
    """The reports on all values, in the order of the trials."""
    return sorted(opt.outliers(), key=lambda report: report.trial.number)


def probabilities(opt):
    return np.array([report.probability_wrong for report in reports(opt)])


def flagged(opt) -> list[int]:
    return [report.trial.number for report in reports(opt) if report.flagged]


def noisy(n, sd, seed=0):
    return sd * np.random.default_rng(seed).standard_normal(n)
