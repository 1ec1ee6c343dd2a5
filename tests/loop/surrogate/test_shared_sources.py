"""Errors of a source that several outcomes share: what one knows raises what another believes."""

import numpy as np
import pytest
import torch

import robustbo as rb
from robustbo.loop.observations.shared_sources import evidence_of, log_factors_at
from robustbo.numerics.sources.labels import SourceLabels

N = 28
X = torch.quasirandom.SobolEngine(2, scramble=True, seed=3).draw(N, dtype=torch.float64).numpy()
WORKERS = np.random.default_rng(1).permutation(np.arange(N) % 4)
IS_OFF, NOISE = WORKERS == 2, np.random.default_rng(2).normal(size=(2, N))


def reports_of(first, second):
    """Reports on worker W2 by outcome, whose values read so much too high."""
    space = rb.Space(x=rb.Float(0.0, 1.0), y=rb.Float(0.0, 1.0))
    study = rb.Optimizer(space, objectives={"yield": "minimize", "purity": "minimize"}, seed=0)
    yields = np.sin(4 * X[:, 0]) + X[:, 1] ** 2 + 0.02 * NOISE[0] + first * IS_OFF
    purities = np.cos(3 * X[:, 1]) - X[:, 0] + 0.1 * NOISE[1] + second * IS_OFF
    for i in range(N):
        values = {"yield": yields[i], "purity": purities[i]}
        study.tell({"x": X[i, 0], "y": X[i, 1]}, values, source={"worker": f"W{WORKERS[i]}"})
    return {report.outcome: report for report in study.view.sources() if report.level == "W2"}


def test_a_source_that_errs_in_one_outcome_is_believed_sooner_to_err_in_another():
    alone, together = reports_of(0.0, 0.15), reports_of(0.5, 0.15)
    assert alone["purity"].status == alone["yield"].status == "fine"
    assert together["purity"].status == together["yield"].status == "in doubt"
    assert together["purity"].error == pytest.approx(0.15, abs=2 * together["purity"].sd)
    assert together["yield"].text.endswith("; it errs in purity, too")
    assert together["purity"].also == ("yield",)


def test_evidence_is_of_the_same_sources_and_trials_whatever_the_rows():
    labels = SourceLabels(("lab", "plate"), (("A", "B"), ("7",)), np.array([[0, 0], [1, -1], [1, 0]]), np.arange(3.0))
    own = {(0, 1, "offset", None): 1.0, (0, 1, "step", 2): 2.0, (-1, -1, "step", 1): 3.0, (1, -1, "block", None): 4.0}
    evidence = evidence_of(own, labels, [4, 5, 6])
    assert evidence[1] == (("lab", "B", "step", 6), 2.0)
    assert log_factors_at(evidence, labels, [4, 5, 6]) == own
    other = SourceLabels(("lab",), (("B", "C"),), np.array([[0], [1]]), np.arange(2.0))
    assert log_factors_at(evidence, other, [5, 9]) == {(0, 0, "offset", None): 1.0, (-1, -1, "step", 0): 3.0}
