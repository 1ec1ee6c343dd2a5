import pytest
import torch

from robustbo.numerics.baselines.exponential_tails import log_density
from robustbo.surrogates.baselines.exponential_variational import (
    HuberGP,
    HuberLikelihood,
    HuberProjectionGP,
    LaplaceVariationalGP,
)
from robustbo.surrogates.baselines.student_t_variational import StudentTVariationalGP
from robustbo.surrogates.common.contract import diagnose, fit
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize


@pytest.fixture(autouse=True, scope="module")
def precise(double_precision):
    """For all tests here."""


def data(n=24, outliers=(4, 11)):
    X = torch.rand(n, 1, generator=torch.Generator().manual_seed(0))
    Y = torch.sin(6 * X) + 0.05 * torch.randn(n, 1, generator=torch.Generator().manual_seed(1))
    Y[list(outliers)] += 5.0
    return X, Y


@pytest.mark.few(1)
@pytest.mark.parametrize("cls", [LaplaceVariationalGP, HuberGP, HuberProjectionGP])
@pytest.mark.parametrize("transform", [None, RobustStandardize(m=1)], ids=["plain", "scaled"])
def test_a_measurements_density_is_one_of_the_outcome_and_two_wrong_values_are_told(cls, transform):
    X, Y = data()
    model = fit(cls(X, 3 * Y + 7, outcome_transform=transform, max_iter=150))
    at = model.predictive(X[:1])
    y = torch.linspace(-40, 60, 40_001)
    assert torch.trapezoid(at.log_density(y).exp(), y).item() == pytest.approx(1, abs=2e-3)
    assert diagnose(model).is_outlier.nonzero().flatten().tolist() == [4, 11]


@pytest.mark.slow
def test_the_variance_of_the_noise_is_in_the_diagnosis():
    X, Y = data()
    model = fit(LaplaceVariationalGP(X, Y, outcome_transform=None, max_iter=150))
    expected = model.latent(X).variance + 2 * model.likelihood.noise.detach()
    torch.testing.assert_close(diagnose(model).sd.square(), expected)


@pytest.mark.parametrize("cls", [LaplaceVariationalGP, HuberGP, HuberProjectionGP, StudentTVariationalGP])
def test_a_step_of_the_search_as_far_as_no_noise_has_a_bound(cls):
    """At so small a raw noise the softplus is zero: one search in three hundred of three values came there."""
    model = cls(*data(3, outliers=()), max_iter=5)
    model.likelihood.raw_noise.data.fill_(-1e4)
    bound = model.marginal_log_likelihood()(model.model(model.train_inputs[0]), model.train_targets)
    assert bound.isfinite()


class TestWeights:
    """Of Huber's loss rho: w^2 rho(r / (w s)), or rho(r / (w s))."""

    def pulls(self, weighting, r, w=0.3):
        """Slopes of the log density in the latent value, with and without the weight."""
        found = []
        for weights in (torch.full((len(r),), w), None):
            likelihood = HuberLikelihood(0.5, weights, weighting).double().train()
            likelihood.noise = 0.2
            f = torch.zeros(len(r), requires_grad=True)
            found.append(torch.autograd.grad(likelihood(f).log_prob(r).sum(), f)[0])
        return found

    def test_weighting_the_loss_leaves_the_middle_and_bounds_the_pull(self):
        weighted, plain = self.pulls("loss", torch.tensor([0.01, 3.0, -8.0]))
        torch.testing.assert_close(weighted[0], plain[0])
        torch.testing.assert_close(weighted[1:], 0.3 * plain[1:])

    def test_weighting_the_scale_makes_the_pull_greater(self):
        weighted, plain = self.pulls("scale", torch.tensor([0.01, 3.0, -8.0]))
        torch.testing.assert_close(weighted, plain / torch.tensor([0.09, 0.3, 0.3]))

    @pytest.mark.parametrize("weighting", ["loss", "scale"])
    def test_each_density_is_normalized_and_a_new_measurement_has_no_weight(self, weighting):
        likelihood = HuberLikelihood(0.5, torch.tensor([0.2, 1.0]), weighting).double()
        likelihood.noise = 0.2
        y = torch.linspace(-200, 200, 1_000_001)
        for i in range(2):
            noise = type(likelihood.noise_parameters())(
                *(each.expand(2)[i] for each in likelihood.noise_parameters(is_weighted=True))
            )
            assert torch.trapezoid(log_density(y, noise).exp(), y).item() == pytest.approx(1, abs=1e-6)
        f = torch.zeros(3)
        new = likelihood.eval()(f).log_prob(f + 2)
        torch.testing.assert_close(new, log_density(f + 2, likelihood.noise_parameters()))


@pytest.mark.slow
def test_a_value_at_a_far_input_pulls_less_by_the_loss_than_by_the_scale():
    X, Y = data(outliers=())
    X, Y = torch.cat([X, torch.tensor([[6.0]])]), torch.cat([Y, torch.tensor([[2.0]])])
    means = {}
    for name in ("loss", "scale"):
        torch.manual_seed(0)
        model = fit(HuberProjectionGP(X, Y, outcome_transform=None, max_iter=150, weighting=name))
        assert model.likelihood.weights.argmin() == len(X) - 1
        means[name] = model.posterior(X[-1:]).mean.item()
    assert means["loss"] < means["scale"]
    assert means["scale"] == pytest.approx(2, abs=0.3)


def test_the_weights_follow_the_observations_and_not_the_state():
    X, Y = data()
    model = HuberProjectionGP(X, Y)
    assert not [key for key in model.state_dict() if "weights" in key]
    HuberProjectionGP(X[:9], Y[:9]).load_state_dict(model.state_dict(), keep_transforms=False)
