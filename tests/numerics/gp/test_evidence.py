import pytest
import torch

from robustbo.numerics.gp.evidence import evidence


def problem(n=5, batch=()):
    generator = torch.Generator().manual_seed(0)
    A = torch.randn(*batch, n, n, generator=generator)
    return A @ A.mT + torch.eye(n), torch.randn(*batch, n, generator=generator)


def test_it_is_the_density_at_the_best_mean():
    Sg, y = problem()
    found = evidence(Sg, y)

    def density(m):
        return torch.distributions.MultivariateNormal(m.expand(5), Sg).log_prob(y)

    torch.testing.assert_close(found.L, density(found.m))
    assert all(density(found.m + step) < found.L for step in (-1e-3, 1e-3))


def test_the_gradient_is_autograds():
    Sg, y = problem()
    Sg.requires_grad_()
    found = evidence(Sg.detach(), y)
    torch.distributions.MultivariateNormal(found.m.expand(5), Sg).log_prob(y).backward()
    torch.testing.assert_close(found.G, (Sg.grad + Sg.grad.mT) / 2)


def test_gradcheck_of_a_batch():
    Sg, y = problem(3, batch=(2,))
    root = torch.linalg.cholesky(Sg).requires_grad_()
    assert torch.autograd.gradcheck(lambda R, y: evidence(R @ R.mT, y)[:4], (root, y.requires_grad_()))


def test_one_observation_is_its_own_mean():
    found = evidence(torch.tensor([[4.0]]), torch.tensor([7.0]))
    assert (found.m.item(), found.al.item()) == (7.0, 0.0)


def test_an_indefinite_matrix_is_said():
    assert not evidence(torch.diag(torch.tensor([1.0, -1.0])), torch.ones(2)).converged


@pytest.mark.parametrize("m", [None, torch.tensor([0.5, -1.0, 3.0], dtype=torch.float64)])
def test_a_batch_is_a_loop_and_order_does_not_matter(m):
    Sg, y = problem(batch=(3,))
    batched, order = evidence(Sg, y, m), torch.tensor([4, 2, 0, 1, 3])
    for b in range(3):
        single = evidence(Sg[b][order][:, order], y[b, order], None if m is None else m[b])
        torch.testing.assert_close(batched.L[b], single.L)
        torch.testing.assert_close(batched.m[b], single.m)
        torch.testing.assert_close(batched.G[b][order][:, order], single.G)


def test_what_it_is_given_stays():
    Sg, y = problem()
    before = Sg.clone()
    evidence(Sg, y)
    assert torch.equal(Sg, before)


def test_extreme_values_are_finite():
    found = evidence(torch.diag(torch.tensor([1.0, 1e200])), torch.tensor([0.0, 1e100]))
    assert all(part.isfinite().all() for part in found[:5])
