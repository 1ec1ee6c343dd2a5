"""Sources that a fitted relevance pursuit finds in error, and fits beside their errors."""

import numpy as np
import pytest
import torch

from robustbo.numerics.sources.labels import SourceLabels
from robustbo.surrogates.common.contract import at_inputs, fit, marginals
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.pursuit.sources import errors_in_rows, find_sources

N = 40
X = torch.quasirandom.SobolEngine(2, scramble=True, seed=5).draw(N, dtype=torch.float64)
CODES = np.random.default_rng(1).permutation(np.arange(N) % 4)
LABELS = SourceLabels(("lab",), (("A", "B", "C", "D"),), CODES[:, None], np.arange(float(N)))
CLEAN = (
    7 * (3 * X[:, 0]).sin() + 5 * X[:, 1].square() + 0.05 * torch.from_numpy(np.random.default_rng(3).normal(size=N))
)
OFF = torch.from_numpy(CODES == 1)


@pytest.fixture(scope="module")
def findings():
    return find_sources(fit(RelevancePursuitGP(X, (CLEAN + 4.0 * OFF).unsqueeze(-1))), LABELS)


@pytest.fixture(scope="module")
def corrected(findings):
    errors, shared = errors_in_rows(findings.believed, [f.atom.matrix(N) for f in findings.believed])
    model = RelevancePursuitGP(X, (CLEAN + 4.0 * OFF - torch.from_numpy(errors)).unsqueeze(-1))
    model.shared_errors = shared
    return fit(model, findings.warm_start, torch.arange(N))


def test_sizes_are_in_the_units_of_the_outcomes(findings):
    (finding,) = findings.believed
    assert finding.atom.key == (0, 1, "offset")
    assert finding.sizes[0] == pytest.approx(4.0, abs=4 * finding.sds[0])
    assert finding.spread == pytest.approx(4.0, rel=0.3)
    assert finding.log_odds > 3
    assert {f.atom.key[:2] for f in findings.doubtful} == {(0, 0), (0, 2), (0, 3), (0, -1), (-1, -1)}


def test_a_fit_beside_an_error_is_as_good_as_one_without_it(corrected):
    oracle = fit(RelevancePursuitGP(X, CLEAN.unsqueeze(-1)))
    grid = torch.rand(200, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    truth = 7 * (3 * grid[:, 0]).sin() + 5 * grid[:, 1].square()
    own, best = ((marginals(model, grid)[0] - truth).square().mean().sqrt() for model in (corrected, oracle))
    assert own < 1.5 * best + 0.1


def test_predictions_at_the_inputs_are_those_of_the_objective(corrected):
    mean, sd = at_inputs(corrected, X)
    others = marginals(corrected, X)
    assert torch.allclose(mean, others[0])
    assert torch.allclose(sd, others[1])
    assert sd.max() < 1.0  # what is not known of the error is not the objective's


def test_shared_errors_of_other_data_are_none(corrected):
    A = corrected.search_model().covariance.at(corrected._theta(corrected.search_model())[:3]).K
    other = RelevancePursuitGP(X[:20], CLEAN[:20].unsqueeze(-1))
    other.shared_errors = corrected.shared_errors
    fitted = fit(other)
    assert fitted.support == []
    assert A.shape == (N, N)


def test_errors_of_a_broken_source_are_not_taken_off(findings):
    (finding,) = findings.believed
    broken = finding._replace(atom=finding.atom._replace(kind="broken"))
    errors, shared = errors_in_rows((broken,), [finding.atom.matrix(N)])
    assert errors.tolist() == [0.0] * N
    assert shared.shape == (N, 1)
