import pytest
import torch
from gpytorch.kernels import ScaleKernel

from robustbo.surrogates.baselines.standard import StandardGP
from robustbo.surrogates.common import priors as base_gp
from robustbo.surrogates.transforms.arcsinh import RobustArcsinh

X = torch.rand(6, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.mark.parametrize("is_signal_free", [True, False])
@pytest.mark.parametrize("name", ["matern52", "rbf"])
def test_module_and_search_are_the_same_kernel_with_the_same_priors(name, is_signal_free):
    module = base_gp.kernel_module(name, 3, is_signal_free).to(torch.float64)
    function = base_gp.covariance_function(X, name, is_signal_free)
    theta = function.starts[0] + 0.2
    base_gp.set_kernel(module, theta, is_signal_free)
    torch.testing.assert_close(base_gp.get_kernel(module, is_signal_free), theta)
    torch.testing.assert_close(module(X).to_dense().detach(), function.at(theta).K)
    priors = sum(prior.log_prob(closure(owner)).sum() for _, owner, prior, closure, _ in module.named_priors())
    assert function.at(theta).log_prior == pytest.approx(priors.item())


def test_a_covariance_function_is_that_of_the_inputs_as_they_are_now():
    inputs = X.clone()
    first = base_gp.covariance_function(inputs, "matern52", True)
    assert base_gp.covariance_function(X, "matern52", True) is first
    inputs[0] += 0.1
    moved, theta = base_gp.covariance_function(inputs, "matern52", True), first.starts[0]
    assert (moved.at(theta).K[0, 1:] != first.at(theta).K[0, 1:]).all()
    assert torch.equal(base_gp.covariance_function(X, "matern52", True).at(theta).K, first.at(theta).K)


def test_noise_starts_at_the_mode_of_its_prior():
    likelihood = base_gp.likelihood_module()
    assert likelihood.noise.log().item() == pytest.approx(base_gp.NOISE_PRIOR.log_mode)


@pytest.mark.parametrize(("apart", "is_cleared"), [(0.0, True), (0.02, True), (0.2, False)])
@pytest.mark.parametrize("high", [0.3, 30.0])
def test_values_far_out_agree_within_the_same_distance_as_others(high, apart, is_cleared):
    """The transform brings 30.0 and 30.2 as near as 0.3 and 0.309; they are as far apart as 0.3 and 0.5."""
    inputs = torch.rand(12, 1, generator=torch.Generator().manual_seed(0))
    inputs[-1] = inputs[-2]
    Y = torch.linspace(0, 1, 12).unsqueeze(-1)
    Y[-2:, 0] = torch.tensor([high, high + apart])
    assert StandardGP(inputs, Y).is_cleared().tolist() == [False] * 10 + [is_cleared] * 2


@pytest.mark.parametrize("apart", [0.09, 0.1, 0.11])
def test_of_two_values_both_are_cleared_or_neither(apart):
    """However far the transform warps between them."""
    bend = RobustArcsinh(m=1)
    z = torch.tensor([1.0, 1.0 + apart])
    found = base_gp.agrees_with_replicates(torch.zeros(2, 1), bend.warp(z), None, bend).tolist()
    assert found in ([True, True], [False, False])
    assert apart == pytest.approx(base_gp.AGREE) or found == [apart < base_gp.AGREE] * 2


def test_a_gross_value_that_is_rounded_on_its_way_is_the_same():
    y = torch.tensor([40.0, 40.0 + 2e-14])  # sinh: 1e17
    assert base_gp.agrees_with_replicates(torch.zeros(2, 1), y, None, RobustArcsinh(m=1)).all()


@pytest.mark.parametrize("transform", [RobustArcsinh(m=1), None])
def test_known_noise_widens_what_agrees(transform):
    y = torch.tensor([2.0, 2.5])
    for s2, is_cleared in ((1e-4, False), (0.04, True)):
        assert (
            base_gp.agrees_with_replicates(torch.zeros(2, 1), y, torch.full((2,), s2), transform).tolist()
            == [is_cleared] * 2
        )


def test_a_scaled_kernel_is_gpytorchs_and_is_built_without_sympy(monkeypatch):
    def refuse(*_):
        raise AssertionError("torch.broadcast_shapes imports SymPy")

    monkeypatch.setattr(torch, "broadcast_shapes", refuse)
    ours = base_gp.kernel_module("matern52", 3, is_signal_free=True).to(torch.float64)
    monkeypatch.undo()
    theirs = ScaleKernel(ours.base_kernel).to(torch.float64)
    theirs.outputscale = ours.outputscale.detach()
    assert ours.batch_shape == theirs.batch_shape == torch.Size()
    torch.testing.assert_close(ours(X).to_dense(), theirs(X).to_dense())
