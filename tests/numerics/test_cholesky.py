import pytest
import torch

from robustbo.numerics.cholesky import factor, leave_one_out


def covariance(n=6, batch=(), seed=0):
    A = torch.randn(*batch, n, n, generator=torch.Generator().manual_seed(seed))
    return A @ A.mT + torch.eye(n)


def test_factor_reproduces_the_matrix_without_jitter():
    Sg = covariance(batch=(3,))
    L, jitter = factor(Sg)
    torch.testing.assert_close(L @ L.mT, Sg)
    assert torch.equal(jitter, torch.zeros(3))


def test_a_singular_matrix_gets_the_jitter_that_is_returned():
    Sg = torch.ones(5, 5)
    L, jitter = factor(Sg)
    assert 0 < jitter <= 1e-4
    torch.testing.assert_close(L @ L.mT, Sg + jitter * torch.eye(5))


def test_an_indefinite_matrix_is_refused():
    with pytest.raises(ValueError, match="positive definite up to a jitter"):
        factor(torch.diag(torch.tensor([1.0, -1.0])))


def test_leaving_one_out_is_conditioning_on_the_rest():
    Sg, rho = covariance(), torch.tensor([0.0, 0.3, 0.0, 2.0, 0.0, 0.0])
    r = torch.arange(6.0)
    mean, variance = leave_one_out(r, factor(Sg).L, rho)
    for i in range(6):
        rest = [j for j in range(6) if j != i]
        weights = torch.linalg.solve(Sg[rest][:, rest], Sg[rest, i])
        torch.testing.assert_close(mean[i], weights @ r[rest])
        torch.testing.assert_close(variance[i], Sg[i, i] - rho[i] - weights @ Sg[rest, i])


def test_leave_one_out_of_one_observation_is_the_prior():
    mean, variance = leave_one_out(torch.tensor([5.0]), torch.tensor([[2.0]]), torch.zeros(1))
    assert (mean.item(), variance.item()) == (0.0, 4.0)


def test_gradients_of_leave_one_out():
    def both(r, A, rho):
        return leave_one_out(r, torch.linalg.cholesky(A @ A.mT + torch.eye(4) + torch.diag_embed(rho)), rho)

    r, A = torch.randn(2, 4, requires_grad=True), torch.randn(2, 4, 4, requires_grad=True)
    rho = torch.rand(2, 4, requires_grad=True)
    assert torch.autograd.gradcheck(both, (r, A, rho))


def test_a_batch_is_a_loop_and_order_does_not_matter():
    Sg, r, rho = covariance(batch=(3,)), torch.randn(3, 6), torch.rand(3, 6)
    batched = leave_one_out(r, factor(Sg).L, rho)
    order = torch.tensor([3, 1, 5, 0, 2, 4])
    for b in range(3):
        permuted = leave_one_out(r[b, order], factor(Sg[b][order][:, order]).L, rho[b, order])
        torch.testing.assert_close(batched.mean[b, order], permuted.mean)
        torch.testing.assert_close(batched.variance[b, order], permuted.variance)


def test_a_huge_residual_and_a_huge_variance_stay_finite():
    rho = torch.tensor([0.0, 1e12, 0, 0, 0, 0])
    r = torch.tensor([1.0, 1e100, 0, 0, 0, 0], requires_grad=True)
    left_out = leave_one_out(r, factor(covariance() + torch.diag(rho)).L, rho)
    left_out.mean.sum().backward()
    assert left_out.mean.isfinite().all()
    assert left_out.variance.isfinite().all()
    assert r.grad.isfinite().all()
