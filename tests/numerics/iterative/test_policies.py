import pytest
import torch

from robustbo.numerics.iterative import policies
from robustbo.numerics.iterative.solver import iterate
from tests.numerics.iterative.test_solver import example, latent


def test_an_unknown_name_is_refused():
    A, z, _ = example()
    with pytest.raises(ValueError, match="policy must be one of"):
        policies.by_name("cg", A, z, 1 / A.N, 3)


def test_unit_vectors_come_in_their_order_and_the_weightiest_first():
    A, z, _ = example()
    S, AS = policies.by_name("weight", A, z, torch.arange(12.0), 12)(0, z)
    assert torch.equal(S, torch.eye(12).flip(-1))
    torch.testing.assert_close(AS, A.dense() @ S)


def test_eigenvectors_are_those_of_the_covariance_where_the_noise_is_the_same():
    A, _, _ = example()
    A = A._replace(N=torch.full((12,), 0.3))
    found = policies.eigenvectors(A, 4)
    wanted = torch.linalg.eigh(A.dense()).eigenvectors.flip(-1)[:, :4]
    torch.testing.assert_close((found.mT @ wanted).abs() * 0.3**0.5, torch.eye(4))


def test_eigenvectors_do_not_look_at_the_noisiest_first():
    A, _, _ = example()
    A = A._replace(N=A.N.index_fill(0, torch.tensor([5]), 1e6))
    first = policies.eigenvectors(A, 1).squeeze(-1)
    assert first.abs().argmax() != 5


def test_a_precondition_takes_fewer_actions():
    A, z, _ = example(200, noise=1e-4)
    A = A._replace(N=torch.full_like(z, 1e-3))
    plain, helped = (
        iterate(z, policies.residual(A, z, by), A.times, max_iter=200, tol=1e-6)
        for by in (None, policies.preconditioner(A, 50))
    )
    assert helped.converged
    assert helped.D.shape[-1] < 0.7 * plain.D.shape[-1]


def test_the_preconditioner_is_an_inverse():
    A, z, _ = example(30)
    L, pivots = policies.pivoted_cholesky(A, 8)
    assert len(set(pivots.tolist())) == 8
    torch.testing.assert_close((L @ L.mT)[pivots], latent(A)[pivots])
    P = L @ L.mT + torch.diag(A.N)
    torch.testing.assert_close(policies.preconditioner(A, 8)(P @ z), z)


def test_eigenvectors_by_lanczos_are_eigenvectors(monkeypatch):
    A, _, _ = example(40)
    wanted = policies.eigenvectors(A, 5)
    monkeypatch.setattr(policies, "DENSE", 0)
    found = policies.eigenvectors(A, 5)
    together = (found * wanted).sum(0).abs() / found.norm(dim=0) / wanted.norm(dim=0)
    torch.testing.assert_close(together, torch.ones(5), rtol=1e-6, atol=1e-6)
