import torch

from robustbo.numerics.gp.covariance import stationary
from robustbo.numerics.gp.parameters import LogNormal
from robustbo.numerics.pursuit.convex import convexity


def covariance(case):
    X, kernel = torch.tensor(case["X"]), case["kernel"]
    function = stationary(X, kernel["name"], LogNormal(0.0, 1.0), None)
    K = kernel["variance"] * function.at(torch.tensor(kernel["lengthscales"]).log()).K
    return K + case["noise_variance"] * torch.eye(len(X))


def test_gradient_and_hessian_of_the_reference_cases(fixed):
    K0, r = covariance(fixed), torch.tensor(fixed["y"]) - fixed["mean"]
    for support in fixed["supports"].values():
        found = convexity(K0, r, torch.tensor(support["s"]))
        torch.testing.assert_close(found.gradient, torch.tensor(support["gradient_s"]), rtol=1e-9, atol=1e-8)
        torch.testing.assert_close(found.hessian, torch.tensor(support["hessian_s"]), rtol=1e-9, atol=1e-6)


def test_it_is_autograds():
    K0, r, s = torch.eye(4) + 0.3, torch.tensor([0.1, 2.0, -1.0, 0.4]), torch.tensor([0.0, 0.9, 0.2, 0.5])

    def twice_negative(s):
        rho = K0.diagonal() * s / (1 - s)
        return -2 * torch.distributions.MultivariateNormal(torch.zeros(4), K0 + torch.diag(rho)).log_prob(r)

    found = convexity(K0, r, s)
    torch.testing.assert_close(found.gradient, torch.autograd.functional.jacobian(twice_negative, s))
    torch.testing.assert_close(found.hessian, torch.autograd.functional.hessian(twice_negative, s))


def test_gradcheck_and_batches():
    K0, r, s = torch.eye(3) + 0.2 * torch.ones(2, 3, 3), torch.randn(2, 3), torch.rand(2, 3) * 0.9
    assert torch.autograd.gradcheck(lambda r, s: convexity(K0, r, s), (r.requires_grad_(), s.requires_grad_()))
    batched = convexity(K0, r, s)
    torch.testing.assert_close(batched.hessian[1], convexity(K0[1], r[1], s[1]).hessian)


def test_near_one_it_is_finite():
    found = convexity(torch.eye(2) + 0.1, torch.tensor([1e6, 0.0]), torch.tensor([1 - 1e-12, 0.0]))
    assert found.gradient.isfinite().all()
    assert found.hessian.isfinite().all()
