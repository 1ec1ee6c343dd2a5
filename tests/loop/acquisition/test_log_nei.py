import math
from types import SimpleNamespace

import pytest
import scipy.stats
import torch
from botorch.acquisition import LogExpectedImprovement, qLogExpectedImprovement
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.acquisition.objective import ScalarizedPosteriorTransform
from botorch.models.model import Model
from botorch.models.transforms.outcome import Log
from botorch.sampling import SobolQMCNormalSampler
from torch.autograd import gradcheck

from robustbo.loop.acquisition.build import build_acquisition
from robustbo.loop.acquisition.log_nei import StudentTLogExpectedImprovement, is_student_t
from robustbo.surrogates.baselines.standard import StandardGP
from robustbo.surrogates.common.contract import fit, quiet
from robustbo.surrogates.student_t_process.model import StudentTProcess

X = torch.rand(9, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
Y = torch.sin(5 * X[:, :1]) - X[:, 1:].square()
POINTS = torch.rand(40, 1, 2, generator=torch.Generator().manual_seed(2), dtype=torch.float64)


@pytest.fixture(scope="module")
def process():
    return fit(StudentTProcess(X, Y, outcome_transform=None))


class Fixed(Model):
    """A model that predicts the same everywhere: a Student-t distribution of any degrees of freedom."""

    num_outputs = 1

    def __init__(self, location, scale, df):
        super().__init__()
        self._said = [torch.as_tensor(given, dtype=torch.float64) for given in (location, scale, df)]

    def posterior(self, X, posterior_transform=None):
        location, scale, df = self._said
        shape = (*X.shape[:-1], 1)
        return SimpleNamespace(mean=location.expand(shape), scale=scale.expand(shape), df=df)


@pytest.mark.parametrize(
    ("name", "pending", "kind"),
    [
        ("auto", None, StudentTLogExpectedImprovement),
        ("LogEI", None, StudentTLogExpectedImprovement),
        ("auto", X[:2], qLogNoisyExpectedImprovement),
        ("LogEI", X[:2], qLogExpectedImprovement),
        ("qLogEI", None, qLogExpectedImprovement),
        ("qLogNEI", None, qLogNoisyExpectedImprovement),
    ],
)
def test_a_student_t_posterior_has_its_own_improvement(process, name, pending, kind):
    assert type(build_acquisition(name, process, X, pending, seed=0)) is kind
    assert is_student_t(process, X)
    assert not is_student_t(StandardGP(X, Y), X)


def test_a_transformed_student_t_process_keeps_its_tails_by_monte_carlo():
    model = fit(StudentTProcess(X, Y.exp(), outcome_transform=Log()))
    with quiet():
        assert type(build_acquisition("auto", model, X, None, seed=0)) is qLogNoisyExpectedImprovement
        assert type(build_acquisition("LogEI", model, X, None, seed=0)) is qLogExpectedImprovement


def test_a_posterior_may_have_one_df_a_point():
    df = torch.tensor([3.0, 4.0, 50.0])
    many = Fixed(-1.0, 0.5, df.view(3, 1, 1))
    alone = [StudentTLogExpectedImprovement(Fixed(-1.0, 0.5, one), 0.4)(POINTS[:1]) for one in df]
    assert torch.equal(StudentTLogExpectedImprovement(many, 0.4)(POINTS[:3]), torch.cat(alone))


def test_the_incumbent_is_a_posterior_mean_not_the_best_value():
    Y = torch.arange(9.0).to(X).unsqueeze(-1) % 2
    noisy = fit(StudentTProcess(X, Y, torch.full_like(Y, 4.0)))
    best = build_acquisition("auto", noisy, X, None, seed=0).best_f
    assert best == noisy.posterior(X).mean.max()
    assert best < 1.0


@pytest.mark.parametrize(("location", "scale", "df"), [(-1.0, 0.5, 3.0), (2.0, 0.1, 1.5), (0.3, 2.0, 50.0)])
def test_it_is_the_mean_improvement(location, scale, df):
    """By quadrature over the quantiles; also where there is no variance."""
    function = StudentTLogExpectedImprovement(Fixed(location, scale, df), best_f=0.4)
    t = scipy.stats.t(df, location, scale)
    expected = t.expect(lambda f: max(f - 0.4, 0.0), lb=0.4, limit=500)
    assert function(POINTS[:1]).exp().item() == pytest.approx(expected, rel=1e-5)


def test_several_incumbents_and_minimization():
    best = torch.tensor([0.0, 0.4], dtype=torch.float64)
    model = Fixed(-1.0, 0.5, 3.0)
    alone = [StudentTLogExpectedImprovement(model, best_f=b)(POINTS[:1]).item() for b in best]
    assert StudentTLogExpectedImprovement(model, best_f=best)(POINTS[:2]).tolist() == alone
    turned = StudentTLogExpectedImprovement(Fixed(1.0, 0.5, 3.0), best_f=-best, maximize=False)
    assert turned(POINTS[:2]).tolist() == alone


def test_a_posterior_transform_turns_it(process):
    best = process.posterior(X).mean.max().detach()
    turn = ScalarizedPosteriorTransform(torch.tensor([-1.0]))
    plain = StudentTLogExpectedImprovement(process, best)(POINTS)
    turned = StudentTLogExpectedImprovement(process, -best, posterior_transform=turn, maximize=False)(POINTS)
    torch.testing.assert_close(turned, plain)


def test_many_degrees_of_freedom_give_botorchs():
    model = fit(StudentTProcess(X, Y, dof=1e9))
    best = model.posterior(X).mean.max().detach()
    ours, theirs = StudentTLogExpectedImprovement(model, best)(POINTS), LogExpectedImprovement(model, best)(POINTS)
    likely = theirs > -30
    torch.testing.assert_close(ours[likely], theirs[likely], rtol=0, atol=1e-4)


def test_the_tail_is_heavier_than_that_of_the_same_variance(process):
    best = process.posterior(X).mean.max().detach() + 5.0
    ours, theirs = StudentTLogExpectedImprovement(process, best)(POINTS), LogExpectedImprovement(process, best)(POINTS)
    assert (ours > theirs + 5).all()
    assert (ours > -math.inf).all()


def test_its_gradient_is_that_of_differences(process):
    function = StudentTLogExpectedImprovement(process, process.posterior(X).mean.max().detach())
    assert gradcheck(function, (POINTS[:5].clone().requires_grad_(),), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_monte_carlo_agrees_within_its_error(process):
    """qLogEI on the posterior's own samples, BoTorch's smoothing made negligible."""
    num, best = 2**15, process.posterior(X).mean.max().detach()
    exact = StudentTLogExpectedImprovement(process, best)(POINTS).detach()
    sampler = SobolQMCNormalSampler(torch.Size([num]), seed=0)
    with quiet():
        function = qLogExpectedImprovement(process, best, sampler=sampler, tau_relu=1e-9, fat=False)
        sampled = function(POINTS).detach()
    gains = (sampler(process.posterior(POINTS)).squeeze(-1).squeeze(-1) - best).clamp_min(0.0)
    error = gains.std(0) / num**0.5
    likely = exact > exact.max() - 4
    assert likely.sum() > 5
    assert ((exact.exp() - sampled.exp()).abs() < 4 * error)[likely].all()
    normal = LogExpectedImprovement(process, best)(POINTS).detach()
    assert ((normal.exp() - exact.exp()).abs() > 4 * error)[likely].any()  # which the test can tell apart
