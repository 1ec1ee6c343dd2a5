import json
from pathlib import Path

import pytest
import torch

from robustbo.numerics.gp.kernels_tiled import TiledCovariance, correlation
from robustbo.numerics.iterative import policies
from robustbo.numerics.iterative.solver import iterate, leave_one_out

FOLDER = Path(__file__).parents[2] / "fixtures"
STEPS = {"01_rbf_1d": 1e-6, "03_rcgp_matern_2d": 1e-10, "04_rcgp_rbf_1d": 1e-6}  # tolerances with pseudo-inputs


class Case:
    """A reference case: see docs/equations.md."""

    def __init__(self, name):
        content = json.loads((FOLDER / f"itergp_{name}.json").read_text())
        X, y, X_test, Z = (torch.tensor(content[key]) for key in ("X", "y", "X_test", "pseudo_inputs"))
        kernel, l = content["kernel"]["name"], torch.tensor(content["kernel"]["lengthscales"])
        self.A = TiledCovariance(
            kernel, X / l, torch.tensor(content["kernel"]["variance"]), torch.tensor(content["noise_diagonal"])
        )
        self.k, self.S = (self.A.s2f * correlation(kernel, *pair) for pair in ((X_test / l, X / l), (X / l, Z / l)))
        self.m, self.z, self.content = content["prior_mean"], y - torch.tensor(content["m_w"]), content
        self.exact_var = torch.tensor(content["exact_latent_var"])


@pytest.mark.parametrize("policy", ["cholesky", "residual", "pseudo_input"])
@pytest.mark.parametrize("name", STEPS)
def test_the_references(name, policy):
    case = Case(name)
    steps = case.content["policies"][policy]["steps"]
    look = {
        "cholesky": lambda: policies.unit(case.A, torch.arange(len(case.z))),
        "residual": lambda: policies.residual(case.A, case.z),
        "pseudo_input": lambda: policies.fixed_actions(case.A, case.S),
    }[policy]()
    belief = iterate(case.z, look, case.A.times, max_iter=len(steps))
    tolerance = STEPS[name] if policy == "pseudo_input" else 1e-10
    for step in steps:
        here = belief.first(step["iteration"])
        variance = case.A.s2f - here.variance_reduction(case.k)
        for found, wanted in (
            (here.v, step["representer_weights"]),
            (case.m + case.k @ here.v, step["latent_mean"]),
            (variance, step["combined_var"]),
            (variance - case.exact_var, step["computational_var"]),
        ):
            torch.testing.assert_close(found, torch.tensor(wanted), rtol=tolerance, atol=tolerance)


def example(n=12, seed=0, kernel="matern52", noise=0.05):
    generator = torch.Generator().manual_seed(seed)
    d = int(torch.randint(1, 4, (), generator=generator))
    X = torch.rand(n, d, generator=generator) / (0.1 + torch.rand(d, generator=generator))
    A = TiledCovariance(kernel, X, torch.tensor(1.5), noise + torch.rand(n, generator=generator))
    return A, torch.randn(n, generator=generator), generator


def look(name, A, z, count):
    return policies.by_name(name, A, z, 1 / A.N, count)


def latent(A):
    return A.dense() - torch.diag(A.N)


@pytest.mark.parametrize("name", policies.NAMES)
class TestEveryPolicy:
    def test_after_n_actions_it_is_the_exact_process(self, name):
        A, z, _ = example()
        belief = iterate(z, look(name, A, z, 12), A.times, max_iter=12)
        torch.testing.assert_close(belief.v, torch.linalg.solve(A.dense(), z), rtol=1e-8, atol=1e-8)
        torch.testing.assert_close(belief.D @ belief.D.mT, torch.linalg.inv(A.dense()), rtol=1e-8, atol=1e-8)

    def test_actions_are_orthonormal_and_their_products_are_kept(self, name):
        A, z, _ = example(30)
        belief = iterate(z, look(name, A, z, 20), A.times, max_iter=20)
        torch.testing.assert_close(belief.AD, A.dense() @ belief.D, rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(belief.D.mT @ belief.AD, torch.eye(20), rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(belief.r, z - A.dense() @ belief.v, rtol=1e-9, atol=1e-9)

    @pytest.mark.parametrize("count", [1, 4, 12])
    def test_leaving_one_out_is_leaving_its_row_out_of_every_action(self, name, count):
        A, z, _ = example()
        K = latent(A)
        belief = iterate(z, look(name, A, z, count), A.times, max_iter=count)
        found = leave_one_out(belief, A.diagonal, A.s2f)
        for i in range(len(z)):
            S = belief.D.clone()
            S[i] = 0.0
            C = S @ torch.linalg.pinv(S.mT @ A.dense() @ S, rtol=1e-9, hermitian=True) @ S.mT
            torch.testing.assert_close(found.mean[i], K[i] @ C @ z, rtol=1e-8, atol=1e-8)
            torch.testing.assert_close(found.variance[i], A.s2f - K[i] @ C @ K[i], rtol=1e-8, atol=1e-8)

    def test_equal_targets_still_narrow_the_variance(self, name):
        A, z, _ = example()
        belief = iterate(torch.zeros_like(z), look(name, A, torch.zeros_like(z), 12), A.times, max_iter=12)
        assert (belief.v == 0).all()
        torch.testing.assert_close(belief.D @ belief.D.mT, torch.linalg.inv(A.dense()), rtol=1e-8, atol=1e-8)

    def test_one_observation_will_do(self, name):
        A, z, _ = example(1)
        belief = iterate(z, look(name, A, z, 1), A.times, max_iter=1)
        torch.testing.assert_close(belief.v, z / A.diagonal)
        found = leave_one_out(belief, A.diagonal, A.s2f)
        assert found.mean.item() == 0.0
        assert found.variance.item() == pytest.approx(A.s2f.item())


@pytest.mark.slow
def test_combined_variance_never_rises_and_never_falls_below_the_exact_one():
    """Over 500 random problems, all policies in turn."""
    for seed in range(500):
        name = policies.NAMES[seed % len(policies.NAMES)]
        A, z, generator = example(10, seed, kernel=("matern52", "rbf")[seed // 6 % 2])
        k = A.s2f * correlation(A.kernel, torch.rand(5, A.X.shape[1], generator=generator), A.X)
        belief = iterate(z, look(name, A, z, 10), A.times, max_iter=10)
        combined = torch.stack([A.s2f - belief.first(i).variance_reduction(k) for i in range(belief.D.shape[-1] + 1)])
        exact = A.s2f - (k * torch.linalg.solve(A.dense(), k.mT).mT).sum(-1)
        assert (combined.diff(dim=0) <= 1e-12).all()
        assert (combined >= exact - 1e-9).all()


def test_a_tolerance_ends_it():
    A, z, _ = example(40)
    belief = iterate(z, policies.residual(A, z), A.times, max_iter=40, tol=1e-3)
    assert belief.converged
    assert belief.D.shape[-1] < 40
    assert (z - A.dense() @ belief.v).norm() <= 1.001e-3 * z.norm()


def test_an_action_seen_before_brings_nothing():
    A, z, _ = example()
    twice = torch.eye(12)[:, [0, 0, 1]]
    assert iterate(z, policies.fixed_actions(A, twice), A.times, max_iter=3).D.shape[-1] == 2


def test_where_the_residual_is_exhausted_all_rows_are_looked_at():
    """The first of them too: far apart, each tells of itself alone."""
    X = torch.arange(6.0).unsqueeze(-1) * 100
    A, z = TiledCovariance("rbf", X, torch.tensor(1.0), torch.full((6,), 0.1)), torch.zeros(6)
    z[3] = 1.0
    belief = iterate(z, policies.residual(A, z), A.times, max_iter=6)
    torch.testing.assert_close(belief.D @ belief.D.mT, torch.linalg.inv(A.dense()))


def test_a_tolerance_is_in_units_of_the_noise():
    A, z, _ = example(40)
    A, z = A._replace(N=A.N.index_fill(0, torch.tensor([3]), 1e20)), z.index_fill(0, torch.tensor([3]), 1e10)
    belief = iterate(z, policies.residual(A, z), A.times, max_iter=40, tol=1e-3, N=A.N)
    assert belief.converged
    left = (z - A.dense() @ belief.v) / A.N.sqrt()
    assert left.norm() <= 1.01e-3 * (z / A.N.sqrt()).norm()


@pytest.mark.parametrize("name", policies.NAMES)
def test_points_close_together_will_do(name):
    """As they lie late in an optimization: little is left of many an action, and all of its rounding."""
    generator = torch.Generator().manual_seed(2)
    X = torch.cat([torch.rand(60, 6, generator=generator), 0.5 + 1e-4 * torch.rand(34, 6, generator=generator)])
    A = TiledCovariance(
        "matern52", X, torch.tensor(0.25), torch.full((94,), 1e-4).index_fill(0, torch.arange(0, 94, 9), 5e-3)
    )
    z = torch.sin(4 * X).sum(-1)
    D = iterate(z, look(name, A, z, 94), A.times, max_iter=94).D
    torch.testing.assert_close(D.mT @ A.dense() @ D, torch.eye(D.shape[-1]), rtol=0, atol=1e-9)


@pytest.mark.parametrize("noise", [1e-2, 1e-6])
@pytest.mark.parametrize("name", policies.NAMES)
def test_every_point_twice_will_do(name, noise):
    A, z, _ = example(10)
    A = A._replace(X=A.X.repeat(2, 1), N=torch.full((20,), noise))
    z = z.repeat(2)
    belief = iterate(z, look(name, A, z, 20), A.times, max_iter=20)
    found = leave_one_out(belief, A.diagonal, A.s2f)
    assert all(x.isfinite().all() for x in (*found, belief.v))
    assert (found.mean - z).abs().max() < 0.2
