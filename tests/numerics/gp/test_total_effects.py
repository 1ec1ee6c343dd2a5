"""Total effects of inputs: a function whose effects are known, limits, and the properties of an estimator."""

import math

import torch

from robustbo.numerics.gp.total_effects import total_effects


def ishigami(x):
    return torch.sin(x[0]) + 7 * torch.sin(x[1]).square() + 0.1 * x[2] ** 4 * torch.sin(x[0])


def pairs(function, d, m=20_000):
    """Values at uniform points of [-pi, pi]^d, and with one input exchanged each."""
    generator = torch.Generator().manual_seed(0)
    x, other = ((2 * torch.rand(d, m, generator=generator, dtype=torch.float64) - 1) * math.pi for _ in range(2))
    moved = [torch.cat([x[:j], other[j : j + 1], x[j + 1 :]]) for j in range(d)]
    return function(x), torch.stack([function(at) for at in moved])


def test_ishigami_has_the_effects_that_are_known():
    effects = total_effects(*pairs(ishigami, 3))
    torch.testing.assert_close(effects, torch.tensor([0.558, 0.442, 0.244]).double(), atol=0.02, rtol=0)


def test_effects_of_an_additive_function_add_up_to_one_and_an_idle_input_has_none():
    effects = total_effects(*pairs(lambda x: 3 * x[0] + x[1], 3))
    torch.testing.assert_close(effects, torch.tensor([0.9, 0.1, 0.0]).double(), atol=0.02, rtol=0)
    assert effects[2] == 0


def test_what_does_not_vary_or_has_no_point_left_has_no_effect():
    nothing = torch.full((2, 4), math.nan, dtype=torch.float64)
    assert total_effects(torch.ones(4).double(), torch.ones(2, 4).double()).tolist() == [0, 0]
    assert total_effects(torch.arange(4.0).double(), nothing).tolist() == [0, 0]


def test_exchanges_that_are_no_points_are_left_out():
    f, g = pairs(ishigami, 3, 200)
    g[:, 100:] = math.nan
    expected = (f[:100] - g[:, :100]).square().mean(-1) / (2 * f.var(correction=0))
    torch.testing.assert_close(total_effects(f, g), expected)


def test_the_scale_does_not_matter_and_a_batch_is_as_each_alone():
    f, g = pairs(ishigami, 3, 300)
    both = total_effects(torch.stack([f, 1e150 * f]), torch.stack([g, 1e150 * g]))
    torch.testing.assert_close(both[0], total_effects(f, g))
    torch.testing.assert_close(both[1], both[0])


def test_the_gradient_is_finite_where_points_are_missing():
    f, g = pairs(ishigami, 2 + 1, 6)
    g[0, 2] = math.nan
    f.requires_grad_()
    torch.autograd.gradcheck(lambda f: total_effects(f, g), (f,))
