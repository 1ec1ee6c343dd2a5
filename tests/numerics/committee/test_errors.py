"""The calibrated rule and the correlation of errors, against dense algebra with all observations at once."""

import pytest
import torch
from torch.autograd import gradcheck

from robustbo.numerics.committee import errors, evidence
from robustbo.numerics.committee.aggregation import COMBINE, entropy_weights, latent
from robustbo.numerics.committee.evidence import SharedHyperparameters
from robustbo.numerics.committee.partition import cluster_parts, random_parts, shard
from robustbo.numerics.gp.kernels import KERNELS, squared_differences

RULE = COMBINE["calibrated"]


def number(x):
    return torch.tensor(x, dtype=torch.float64)


def covariance(l, s2f):
    def between(X, Z):
        return KERNELS["matern52"](squared_differences(X, Z), l, s2f).K

    return between


class Committee:
    """Experts on drawn data, with normal noise unless there are degrees of freedom."""

    def __init__(self, n=40, M=4, d=2, l=0.4, s2=0.05, nu=None, seed=0, is_local=False):
        generator = torch.Generator().manual_seed(seed)
        self.l, self.s2f, self.s2 = torch.full((d,), l, dtype=torch.float64), number(1.3), number(s2)
        self.k = covariance(self.l, self.s2f)
        points = torch.rand(n + 200, d, generator=generator, dtype=torch.float64)
        L = torch.linalg.cholesky(self.k(points, points) + 1e-10 * torch.eye(n + 200, dtype=torch.float64))
        f = L @ torch.randn(n + 200, generator=generator, dtype=torch.float64)
        self.X, self.y = points[:n], f[:n] + s2**0.5 * torch.randn(n, generator=generator, dtype=torch.float64)
        self.X_test, self.f_test = points[n:], f[n:]
        self.parts = cluster_parts(self.X, M) if is_local else random_parts(n, M, generator)
        self.shards = shard(self.X, self.y, self.parts)
        self.shared = SharedHyperparameters(
            "matern52", self.l, self.s2f, self.s2, None if nu is None else number(nu), number(0.0)
        )
        self.experts = evidence.build_experts(self.shards, self.shared)
        self.pairs = {} if is_local else errors.first_pairs(self.shards, self.k)

    def latent(self, X):
        v0 = self.s2f.expand(len(X))
        k = torch.stack([self.k(X, part) for part in self.shards.X]) * self.shards.mask.unsqueeze(-2)
        return *latent(k, self.experts, v0), v0

    def rho(self, X):
        return errors.correlation(X, self.shards, self.experts, self.l, self.s2f.expand(len(X)), self.k, self.pairs)

    def predict(self, X, rule=RULE):
        return rule(*self.latent(X), self.rho(X))


def dense(committee, x):
    """``M`` means, ``M x M`` covariances of errors and ``M`` weights at a point, by the joint density of everything."""
    k, X = committee.k, committee.X
    K, at = k(X, X), k(x[None], X)[0]
    S = torch.zeros(len(committee.parts), len(X), dtype=torch.float64)  # the experts' means are S y
    for row, part in zip(S, committee.parts, strict=True):
        Sg = K[part][:, part] + committee.s2 * torch.eye(len(part), dtype=torch.float64)
        row[part] = torch.linalg.solve(Sg, at[part])
    Ky = K + committee.s2 * torch.eye(len(X), dtype=torch.float64)
    C = committee.s2f - S @ at.unsqueeze(-1) - (S @ at.unsqueeze(-1)).mT + S @ Ky @ S.mT
    v = C.diagonal()
    w = entropy_weights(v.unsqueeze(-1), committee.s2f[None])[:, 0] / v
    return S @ committee.y, C, w / w.sum()


@pytest.mark.parametrize("is_local", [False, True])
@pytest.mark.parametrize("M", [2, 3, 4])
def test_of_few_experts_it_is_the_best_linear_prediction_from_their_average(M, is_local):
    """With no more experts than are compared the variance of their average is exact, by the joint density of all."""
    committee = Committee(n=37, M=M, is_local=is_local)
    X, num_exact = committee.X_test[:12], 0
    mean, variance = committee.predict(X)
    for i, x in enumerate(X):
        mu, C, w = dense(committee, x)
        v, s2f = C.diagonal(), committee.s2f
        independent = torch.outer(v, v) / s2f + (v - v.square() / s2f).diag()  # given f(x)
        num_exact += bool(w @ C @ w > w @ independent @ w)
        V = torch.maximum(w @ C @ w, w @ independent @ w)
        known = s2f - w @ v  # covariance of f with the average of the means
        spread = V - s2f + 2 * known  # variance of that average
        torch.testing.assert_close(mean[i], known / spread * (w @ mu), rtol=1e-7, atol=1e-9)
        torch.testing.assert_close(variance[i], s2f - known.square() / spread, rtol=1e-7, atol=1e-9)
    assert num_exact >= 8


def test_one_expert_is_that_expert():
    committee = Committee(M=1)
    X = torch.cat([committee.X_test[:20], committee.X[:1], torch.full((1, 2), 50.0, dtype=torch.float64)])
    mu, v, _ = committee.latent(X)
    mean, variance = committee.predict(X)
    torch.testing.assert_close(mean, mu[0], rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(variance, v[0], rtol=1e-9, atol=1e-12)


@pytest.mark.few(2)
@pytest.mark.parametrize(("d", "l", "s2"), [(1, 0.1, 0.1), (2, 0.3, 0.01), (4, 0.8, 0.05)])
def test_it_is_calibrated_where_the_robust_committee_machine_is_not(d, l, s2):
    inside, outside, total = 0, 0, 0
    for seed in range(12):
        committee = Committee(n=480, M=16, d=d, l=l, s2=s2, seed=seed)
        X, f = committee.X_test, committee.f_test
        for name in ("calibrated", "rbcm"):
            mean, variance = committee.predict(X, COMBINE[name])
            count = ((f - mean).abs() < 2 * variance.sqrt()).sum().item()
            inside, outside = (inside + count, outside) if name == "calibrated" else (inside, outside + count)
        total += len(X)
    assert abs(inside / total - 0.9545) < 0.02  # errors within a draw are correlated: 12 draws, not 2,400 points
    assert outside / total < 0.75


@pytest.mark.parametrize("is_local", [False, True])
def test_batches_are_loops(is_local):
    committee = Committee(M=7, n=50, is_local=is_local)
    X = committee.X_test[:9]
    torch.testing.assert_close(committee.rho(X), torch.cat([committee.rho(x[None]) for x in X]))
    assert committee.rho(X[:0]).shape == (0,)


@pytest.mark.parametrize("nu", [None, 4.0])
@pytest.mark.parametrize("is_local", [False, True])
def test_derivatives(is_local, nu):
    committee = Committee(M=5, n=30, nu=nu, is_local=is_local)
    X = committee.X_test[:3].clone().requires_grad_()
    assert gradcheck(lambda X: tuple(committee.predict(X)), (X,))


@pytest.mark.parametrize("is_local", [False, True])
def test_far_from_all_data_it_is_the_prior_and_slopes_are_finite(is_local):
    committee = Committee(M=6, n=60, is_local=is_local)
    X = torch.stack([torch.full((2,), x, dtype=torch.float64) for x in (1.5, 3.0, 6.0, 20.0, 1e3)]).requires_grad_()
    mean, variance = committee.predict(X)
    torch.testing.assert_close(mean[-2:], torch.zeros(2, dtype=torch.float64), atol=1e-6, rtol=0)
    torch.testing.assert_close(variance[-2:], committee.s2f.expand(2), atol=1e-6, rtol=0)
    assert (variance.detach().diff() > -1e-9).all()
    (slope,) = torch.autograd.grad(mean.sum() + variance.sum(), X)
    assert slope.isfinite().all()


def test_what_all_experts_know_a_little_of_they_know_together():
    """Of very noisy values each expert knows next to nothing, and an average of such means is next to nothing."""
    committee = Committee(n=800, M=20, l=1.0, s2=1000.0)
    X = committee.X_test[:50]
    mean, variance = committee.predict(X)
    by_rbcm, by_average = (committee.predict(X, COMBINE[name]) for name in ("rbcm", "normalized-entropy-gpoe"))
    K = committee.k(committee.X, committee.X) + committee.s2 * torch.eye(800, dtype=torch.float64)
    at = committee.k(X, committee.X)
    exact = at @ torch.linalg.solve(K, committee.y)
    exact_variance = committee.s2f - (at * torch.linalg.solve(K, at.mT).mT).sum(-1)
    for other in (by_rbcm, by_average):
        assert (mean - exact).square().mean() < 0.1 * (other.mean - exact).square().mean()
    assert (variance - exact_variance).abs().max() < 0.1 * committee.s2f


@pytest.mark.parametrize("rho", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("v", [1e-12, 1e-3, 0.5, 1 - 1e-9, 1 - 1e-15])
def test_variances_stay_between_none_and_the_priors(v, rho):
    v0 = torch.full((2,), 2.0, dtype=torch.float64)
    experts = torch.tensor([[v, v], [v, 1.0], [1.1, 0.3]], dtype=torch.float64) * 2.0
    experts.requires_grad_()
    mean, variance = RULE(torch.full_like(experts, 0.5), experts, v0, torch.full_like(v0, rho))
    assert (variance > 0).all()
    assert (variance <= v0 * (1 + 1e-12)).all()
    assert mean.isfinite().all()
    (slope,) = torch.autograd.grad(mean.sum() + variance.sum(), experts)
    assert slope.isfinite().all()


def test_more_correlation_is_more_variance():
    mu, v, v0 = torch.randn(5, 1), 0.1 + 0.2 * torch.rand(5, 1), torch.ones(1)
    by = [RULE(mu, v, v0, rho).variance.item() for rho in (0.0, 0.2, 0.5, 1.0)]
    assert by == sorted(by)
    assert by[-1] > 2 * by[0]


def test_the_nearest_experts_are_those_whose_boxes_are():
    committee = Committee(M=8, n=64, is_local=True)
    x = committee.shards.X[5].mean(-2, keepdim=True)
    panel = errors.nearest_experts(x, committee.shards, committee.l)
    assert 5 in panel[0].tolist()
    assert panel.shape == (1, errors.PANEL)
