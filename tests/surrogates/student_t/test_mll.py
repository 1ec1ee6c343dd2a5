import pytest
import torch
from botorch.optim.fit import fit_gpytorch_mll_scipy

from robustbo.numerics.student_t.laplace import Noise, approximate
from robustbo.numerics.student_t.mode import cold_starts, find_mode
from robustbo.surrogates.common.contract import fit, marginal_log_likelihood, quiet
from robustbo.surrogates.student_t.mll import _Evidence
from robustbo.surrogates.student_t.model import StudentTGP


def data(n=20):
    X = torch.rand(n, 2, generator=torch.Generator().manual_seed(0))
    Y = torch.sin(6 * X[:, :1]) + X[:, 1:]
    Y[4] += 5.0
    return X, Y


def test_gradcheck():
    generator = torch.Generator().manual_seed(0)
    root = torch.randn(5, 5, generator=generator).requires_grad_()
    y = torch.tensor([0.1, -0.4, 9.0, 0.3, 0.0], requires_grad=True)
    mean, s2, nu = (torch.tensor(x, requires_grad=True) for x in ([0.1] * 5, 0.2, 4.0))
    assert torch.autograd.gradcheck(
        lambda R, mean, s2, y, nu: _Evidence.apply(R @ R.mT + 0.1 * torch.eye(5), mean, s2, y, nu),
        (root, mean, s2, y, nu),
    )


def test_it_is_the_evidence_of_the_prior_and_the_log_priors():
    X, Y = data()
    model = StudentTGP(X, Y, outcome_transform=None)
    mll = marginal_log_likelihood(model)
    model.train()
    prior, y = model(X), Y.squeeze(-1)
    K, noise = prior.covariance_matrix, Noise(model.likelihood.noise.squeeze(), model.likelihood.dof)
    with torch.no_grad():
        a = find_mode(K, y - prior.mean, noise, cold_starts(K, y - prior.mean, noise)).a
        expected = approximate(K, y, prior.mean, noise, a, is_clamped=True).L
        expected += sum(p.log_prob(closure(m)).sum() for _, m, p, closure, _ in model.named_priors())
    assert mll(prior, y).item() == pytest.approx(expected.item() / 20)


def test_gpytorchs_own_optimizer_gets_to_where_the_explicit_search_does():
    X, Y = data()
    ours, theirs = fit(StudentTGP(X, Y, outcome_transform=None)), StudentTGP(X, Y, outcome_transform=None)
    mll = marginal_log_likelihood(theirs)
    with quiet():
        found = fit_gpytorch_mll_scipy(mll, options={"maxiter": 300})
    assert -found.fval * 20 == pytest.approx(ours.map_estimate.F, abs=0.5)
