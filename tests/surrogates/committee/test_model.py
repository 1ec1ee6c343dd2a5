import numpy as np
import pytest
import torch

from robustbo.numerics.committee import evidence
from robustbo.numerics.committee.aggregation import COMBINE
from robustbo.surrogates.baselines.standard import PlainGP
from robustbo.surrogates.committee import prediction
from robustbo.surrogates.committee.model import CommitteeGP
from robustbo.surrogates.common.contract import diagnose, fit
from robustbo.surrogates.student_t.model import StudentTGP
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize
from tests.surrogates.test_contract import data, rmse

GRID = torch.rand(50, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


@pytest.fixture(scope="module")
def three():
    return fit(CommitteeGP(*data(90, outliers=0.1), num_experts=3))


@pytest.mark.parametrize(("noise", "alone"), [("student-t", StudentTGP), ("normal", PlainGP)])
def test_one_expert_is_that_model(noise, alone):
    X, Y = data(outliers=0.1 if noise == "student-t" else 0.0)
    model, other = CommitteeGP(X, Y, noise=noise), fit(alone(X, Y))
    model.load_state_dict(other.state_dict())
    ours, theirs = model.eval().posterior(GRID), other.posterior(GRID)
    torch.testing.assert_close(ours.mean, theirs.mean, rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(
        ours.distribution.covariance_matrix, theirs.distribution.covariance_matrix, rtol=1e-8, atol=1e-8
    )
    one, two = diagnose(model), diagnose(other)
    assert torch.equal(one.is_outlier, two.is_outlier)
    if noise == "normal":
        for mine, its in zip(one[:3], two[:3], strict=True):
            torch.testing.assert_close(mine, its, rtol=1e-6, atol=1e-6)
    assert rmse(fit(CommitteeGP(X, Y, noise=noise)), GRID) == pytest.approx(rmse(other, GRID), rel=0.05)


def test_wild_values_are_shrugged_off_by_three(three):
    normal = fit(CommitteeGP(*data(90, outliers=0.1), num_experts=3, noise="normal"))
    assert rmse(three, GRID) < 0.15
    assert rmse(three, GRID) < 0.2 * rmse(normal, GRID)
    assert set(range(9)) <= set(three.support)
    assert len(three.support) < 14


@pytest.mark.few(5)
@pytest.mark.parametrize("combine", COMBINE)
@pytest.mark.parametrize("partition", ["random", "clustered"])
def test_every_rule_and_partition_predicts(partition, combine):
    model = fit(CommitteeGP(*data(60), num_experts=3, partition=partition, combine=combine))
    posterior = model.posterior(GRID)
    assert posterior.rsample(torch.Size([2])).isfinite().all()
    assert rmse(model, GRID) < 0.3


def test_the_joint_covariance_has_the_committees_variances(three):
    with torch.no_grad():
        joint = three(GRID).covariance_matrix
        alone = torch.stack([three(x.unsqueeze(0)).variance for x in GRID]).squeeze(-1)
    torch.testing.assert_close(joint.diagonal(), alone)
    assert torch.linalg.eigvalsh(joint).min() > -1e-9
    assert joint[0, 1:].abs().max() > 1e-6


@pytest.mark.few(2)
@pytest.mark.parametrize("noise", ["student-t", "normal"])
@pytest.mark.parametrize("partition", ["random", "clustered"])
def test_batches_of_points_are_loops_and_have_derivatives(partition, noise):
    model = fit(CommitteeGP(*data(60), num_experts=5, partition=partition, noise=noise))
    X = GRID[:12].view(3, 2, 2, 2)
    batch = model.posterior(X)
    for i in range(3):
        for j in range(2):
            one = model.posterior(X[i, j])
            torch.testing.assert_close(batch.mean[i, j], one.mean)
            torch.testing.assert_close(batch.distribution.covariance_matrix[i, j], one.distribution.covariance_matrix)

    def marginals(X):
        found = model.posterior(X)
        return found.mean, found.variance

    assert torch.autograd.gradcheck(marginals, (GRID[:4].view(2, 2, 2).clone().requires_grad_(),), atol=1e-4)


def test_the_rule_that_minds_correlations_is_the_default_and_more_cautious(three):
    assert three.options.combine == "calibrated"
    by_rbcm = CommitteeGP(*data(90, outliers=0.1), num_experts=3, combine="rbcm")
    by_rbcm.load_state_dict(three.state_dict())
    ours, theirs = three.posterior(GRID), by_rbcm.eval().posterior(GRID)
    assert ours.variance.mean() > 1.3 * theirs.variance.mean()
    assert (ours.mean - theirs.mean).abs().max() < 3 * ours.variance.sqrt().max()


def test_of_very_many_points_only_variances_are_given(three, monkeypatch):
    with torch.no_grad():
        joint = three(GRID)
        monkeypatch.setattr(prediction, "JOINT", 10)
        apart = three(GRID)
    torch.testing.assert_close(apart.mean, joint.mean)
    torch.testing.assert_close(apart.variance, joint.variance)


def test_blocks_make_no_difference(three, monkeypatch):
    with torch.no_grad():
        whole = three(GRID).covariance_matrix
        monkeypatch.setattr(evidence, "BLOCK", 1)
        torch.testing.assert_close(three(GRID).covariance_matrix, whole)


def test_some_experts_may_do_for_the_hyperparameters():
    X, Y = data(90, outliers=0.1)
    model = fit(CommitteeGP(X, Y, num_experts=3, fit_experts=1))
    assert len(model.committee.shards.y) == 3
    assert rmse(model, GRID) < 0.2


def test_degrees_of_freedom_can_be_learned():
    X, Y = data(60, outliers=0.1)
    assert fit(CommitteeGP(X, Y, num_experts=2, dof=None)).likelihood.dof.item() < 4.0


def test_known_noise_may_differ():
    X, Y = data(60)
    Yvar = torch.full_like(Y, 1e-3)
    Y[3], Yvar[3] = Y[3] + 3.0, 10.0
    assert rmse(fit(CommitteeGP(X, Y, Yvar, num_experts=2)), GRID) < 0.2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_experts": 0}, "num_experts must be a whole number of at least 1"),
        ({"expert_size": 2.5}, "expert_size must be a whole number"),
        ({"partition": "kmeans"}, "partition must be one of"),
        ({"combine": "mean"}, "combine must be one of"),
        ({"noise": "cauchy"}, "noise must be one of"),
        ({"dof": 0.5}, "dof must be at least 1"),
        ({"cluster": 8786}, "cluster must be the address"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        CommitteeGP(*data(5), **options)


@pytest.mark.parametrize("noise", ["student-t", "normal"])
def test_where_the_inputs_lie_makes_no_difference(noise):
    X, Y = data(40)
    here, far = (fit(CommitteeGP(X + shift, Y, num_experts=2, noise=noise)) for shift in (0.0, 1e5))
    torch.testing.assert_close(here.posterior(GRID).mean, far.posterior(GRID + 1e5).mean, rtol=1e-3, atol=1e-3)


def test_no_point_is_no_prediction(three):
    assert three.posterior(torch.empty(0, 2)).mean.shape == (0, 1)


@pytest.mark.slow
def test_many_small_experts_with_gross_values_can_be_fitted():
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(1200, 2, generator=generator)
    Y = torch.sin(6 * X).sum(-1, keepdim=True) + 0.01 * torch.randn(1200, 1, generator=generator)
    wild = 5 * torch.randn(1200, 1, generator=generator)
    Y = torch.where(torch.rand(1200, 1, generator=generator) < 0.2, Y + wild, Y)
    model = fit(CommitteeGP(X, Y, expert_size=24))
    error = model.posterior(GRID).mean - torch.sin(6 * GRID).sum(-1, keepdim=True)
    assert error.square().mean().sqrt() < 0.35


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(12))
def test_small_experts_do_not_call_a_clean_value_wrong(seed):
    """With curvatures, some negative, a leave-one-out prediction could be anywhere: 88 nats against a clean value."""
    generator = np.random.default_rng(seed)
    X = generator.random((100, 2))
    y = np.sin(6 * X[:, 0]) + 0.1 * generator.standard_normal(100)
    Y = torch.from_numpy(y).unsqueeze(-1)
    found = diagnose(fit(CommitteeGP(torch.from_numpy(X), Y, outcome_transform=RobustStandardize(m=1), num_experts=4)))
    assert found.evidence.max() < 10
    assert (found.expected - Y.squeeze(-1)).abs().max() < 1.5


def test_many_points_have_no_derivatives_and_say_so(three):
    with pytest.raises(ValueError, match="derivatives are available at up to 512 points at once, got 600"):
        three.posterior(torch.rand(600, 2, requires_grad=True))


def test_before_the_fit_there_is_no_diagnosis():
    with pytest.raises(ValueError, match="must have been fitted"):
        CommitteeGP(*data(10)).diagnose()
