"""One protocol, `gp.posterior.Posterior`: where each kind reduces to a plain Gaussian process, all say the same."""

import pytest
import torch

from robustbo.numerics.committee.evidence import SharedHyperparameters, build_experts
from robustbo.numerics.committee.partition import shard
from robustbo.numerics.gp.kernels import KERNELS, squared_differences
from robustbo.numerics.gp.kernels_tiled import TiledCovariance
from robustbo.numerics.gp.posterior import LatentProcess, Posterior
from robustbo.numerics.iterative import policies, solver
from robustbo.numerics.linalg.lapack import inverse_root
from robustbo.numerics.student_t.laplace import Noise, approximate
from robustbo.numerics.student_t.mode import cold_starts, find_mode
from robustbo.numerics.weighted import rcgp

L, S2F, S2 = (torch.tensor(x, dtype=torch.float64) for x in ([0.4, 0.7], 2.0, 0.05))


def kernel(X, Z):
    return KERNELS["matern52"](squared_differences(X, Z), L, S2F).K


def data(n=12):
    X = torch.rand(n, 2, generator=torch.Generator().manual_seed(0))
    return X, torch.sin(5 * X[:, 0]) - X[:, 1]


def dense(X, y):
    root = inverse_root(torch.linalg.cholesky(kernel(X, X) + S2 * torch.eye(len(y))))
    return LatentProcess("matern52", L, S2F, torch.zeros(()), X, root, root.mT @ root @ y)


def weighted(X, y):
    return rcgp.condition(kernel(X, X), y, S2.expand_as(y), rcgp.constant(y))


def heavy_tailed(X, y):
    noise, K = Noise(S2, torch.tensor(1e9)), kernel(X, X)
    return approximate(K, y, torch.zeros(()), noise, find_mode(K, y, noise, cold_starts(K, y, noise)).a)


def of_low_rank(X, y):
    A = TiledCovariance("matern52", X / L, S2F, S2.expand_as(y))
    return solver.iterate(y, policies.unit(A, torch.arange(len(y))), A.times, max_iter=len(y))


def one_expert(X, y):
    return build_experts(
        shard(X, y, [torch.arange(len(y))]), SharedHyperparameters("matern52", L, S2F, S2, None, torch.zeros(()))
    )


@pytest.mark.parametrize("make", [dense, weighted, heavy_tailed, of_low_rank, one_expert])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_each_explains_what_the_dense_formula_does(make, batch):
    X, y = data()
    given: Posterior = make(X, y)
    k = kernel(torch.rand(*batch, 4, 2, generator=torch.Generator().manual_seed(1)), X)
    A = kernel(X, X) + S2 * torch.eye(len(y))
    mean, explained = given.explain(k.unsqueeze(-3) if make is one_expert else k)
    torch.testing.assert_close(mean.reshape(*batch, 4), k @ torch.linalg.solve(A, y), rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(explained.reshape(*batch, 4, 4), k @ torch.linalg.solve(A, k.mT), rtol=1e-6, atol=1e-6)
