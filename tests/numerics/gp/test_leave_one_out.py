import pytest
import torch

from robustbo.numerics.gp.leave_one_out import factor, leave_one_out


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
    K0, rho = covariance(), torch.tensor([0.0, 0.3, 0.0, 2.0, 0.0, 0.0])
    r, Sg = torch.arange(6.0), K0 + torch.diag(rho)
    mean, variance = leave_one_out(r, K0, rho)
    for i in range(6):
        rest = [j for j in range(6) if j != i]
        weights = torch.linalg.solve(Sg[rest][:, rest], Sg[rest, i])
        torch.testing.assert_close(mean[i], weights @ r[rest])
        torch.testing.assert_close(variance[i], K0[i, i] - weights @ Sg[rest, i])


def test_leave_one_out_of_one_observation_is_the_prior():
    mean, variance = leave_one_out(torch.tensor([5.0]), torch.tensor([[4.0]]), torch.zeros(1))
    assert (mean.item(), variance.item()) == (0.0, 4.0)


def test_gradients_of_leave_one_out():
    def both(r, A, rho):
        return leave_one_out(r, A @ A.mT + torch.eye(4), rho)

    r, A = torch.randn(2, 4, requires_grad=True), torch.randn(2, 4, 4, requires_grad=True)
    rho = torch.rand(2, 4, requires_grad=True)
    assert torch.autograd.gradcheck(both, (r, A, rho))


def test_a_batch_is_a_loop_and_order_does_not_matter():
    Sg, r, rho = covariance(batch=(3,)), torch.randn(3, 6), torch.rand(3, 6)
    batched = leave_one_out(r, Sg, rho)
    order = torch.tensor([3, 1, 5, 0, 2, 4])
    for b in range(3):
        permuted = leave_one_out(r[b, order], Sg[b][order][:, order], rho[b, order])
        torch.testing.assert_close(batched.mean[b, order], permuted.mean)
        torch.testing.assert_close(batched.variance[b, order], permuted.variance)


@pytest.mark.parametrize("huge", [1e12, 1e24, 1e200])
def test_beside_a_huge_added_variance_nothing_cancels(huge):
    K0, r = covariance(), torch.tensor([1.0, huge**0.5, 0, 0, 0, 0], requires_grad=True)
    rest = [0, 2, 3, 4, 5]
    mean, variance = leave_one_out(r, K0, torch.tensor([0, huge, 0, 0, 0, 0]))
    weights = torch.linalg.solve(K0[rest][:, rest], K0[rest, 1])
    torch.testing.assert_close(variance[1], K0[1, 1] - weights @ K0[rest, 1], rtol=1e-6, atol=0)
    alone = leave_one_out(r[rest], K0[rest][:, rest], torch.zeros(5))
    torch.testing.assert_close(mean[rest], alone.mean, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(variance[rest], alone.variance, rtol=1e-5, atol=0)
    mean.sum().backward()
    assert r.grad.isfinite().all()


def test_an_inverse_at_hand_serves_unless_a_variance_is_gross():
    K0, r = torch.eye(4) + 0.3, torch.tensor([1.0, -2.0, 0.5, 0.1])
    moderate, gross = torch.tensor([0.0, 2.0, 0.0, 0.0]), torch.tensor([0.0, 1e12, 0.0, 0.0])
    inverse = torch.linalg.inv(K0 + torch.diag(moderate))
    torch.testing.assert_close(leave_one_out(r, K0, moderate, inverse), leave_one_out(r, K0, moderate))
    torch.testing.assert_close(leave_one_out(r, K0, gross, torch.eye(4)), leave_one_out(r, K0, gross))
