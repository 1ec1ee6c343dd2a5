import torch
from gpytorch.kernels import MaternKernel, RBFKernel

from robustbo.numerics.gp.leave_one_out import leave_one_out
from robustbo.numerics.gp.outlier_gain import gain, optimal_variance


def covariance(case):
    X, kernel = torch.tensor(case["X"]), case["kernel"]
    module = (
        RBFKernel(ard_num_dims=X.shape[1]) if kernel["name"] == "rbf" else MaternKernel(2.5, ard_num_dims=X.shape[1])
    )
    module.lengthscale = torch.tensor(kernel["lengthscales"])
    K = kernel["variance"] * module(X).to_dense().detach()
    return K + case["noise_variance"] * torch.eye(len(X))


def left_out(case, support):
    y, rho = torch.tensor(case["y"]) - case["mean"], torch.tensor(support["rho"])
    return y, leave_one_out(y, covariance(case), rho)


def test_leave_one_out_of_the_reference_cases(fixed):
    for support in fixed["supports"].values():
        _, (mean, variance) = left_out(fixed, support)
        torch.testing.assert_close(mean, torch.tensor(support["loo_mean"]), rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(variance, torch.tensor(support["loo_var"]), rtol=1e-9, atol=1e-9)


def test_variances_and_gains_of_the_reference_cases(fixed):
    for support in fixed["supports"].values():
        y, (mean, variance) = left_out(fixed, support)
        inactive = torch.tensor(support["inactive"], dtype=torch.long)
        e, v = (y - mean)[inactive], variance[inactive]
        torch.testing.assert_close(optimal_variance(e, v), torch.tensor(support["rho_star"]), rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(gain(e, v), torch.tensor(support["mll_gain"]), rtol=1e-9, atol=1e-9)


def test_the_gain_is_what_the_likelihood_gains():
    Sg, y = torch.eye(3) + 0.5, torch.tensor([0.1, 4.0, -0.3])
    mean, v = leave_one_out(y, Sg, torch.zeros(3))

    def log_likelihood(rho):
        return torch.distributions.MultivariateNormal(torch.zeros(3), Sg + torch.diag(rho)).log_prob(y)

    best = torch.zeros(3)
    best[1] = optimal_variance(y - mean, v)[1]
    torch.testing.assert_close(gain(y - mean, v)[1], log_likelihood(best) - log_likelihood(torch.zeros(3)))


def test_gradients_of_the_gain():
    e, v = torch.tensor([3.0, -2.0, 0.5], requires_grad=True), torch.tensor([1.0, 2.0, 1.0], requires_grad=True)
    assert torch.autograd.gradcheck(gain, (e, v))


def test_an_expected_value_gains_nothing():
    assert torch.equal(gain(torch.tensor([0.0, 1.0]), torch.ones(2)), torch.zeros(2))
    assert torch.equal(optimal_variance(torch.tensor([0.0, 1.0]), torch.ones(2)), torch.zeros(2))


def test_extreme_errors_have_finite_gains_and_gradients():
    e = torch.tensor([0.0, 1e-160, 1e100, -1e150], requires_grad=True)
    value = gain(e, torch.ones(4))
    value.sum().backward()
    assert value.isfinite().all()
    assert e.grad.isfinite().all()


def test_a_batch_is_a_loop():
    e, v = torch.randn(3, 5) * 3, torch.rand(3, 5) + 0.1
    assert torch.equal(gain(e, v), torch.stack([gain(*row) for row in zip(e, v, strict=True)]))
