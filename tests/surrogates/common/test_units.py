"""Expectations in the outcome's units, where that warps: on the side of the observation, and back."""

import pytest
import torch

from robustbo.surrogates.common.units import errors_in_model_units, expectations_in_outcome_units, in_model_units
from robustbo.surrogates.transforms.arcsinh import RobustArcsinh
from robustbo.surrogates.transforms.learned_warp import LearnedWarp


def warp(kind):
    transform = kind(m=1)
    transform(torch.linspace(-2, 5, 30, dtype=torch.float64).pow(3).unsqueeze(-1))
    if kind is LearnedWarp:
        transform.t = torch.tensor([0.3, 0.5, -0.2], dtype=torch.float64)
    return transform.eval()


GRID = torch.cartesian_prod(
    torch.tensor([-1.5, -0.3, 0.0, 2.0], dtype=torch.float64),  # mean
    torch.tensor([0.01, 0.3, 0.6], dtype=torch.float64),  # sd
    torch.tensor([-6.0, -1.5, -0.99, 0.0, 0.3, 1.01, 4.0], dtype=torch.float64),  # how many of them off
)


@pytest.mark.parametrize("kind", [RobustArcsinh, LearnedWarp])
class TestWarped:
    def test_an_observation_is_within_one_standard_deviation_if_and_only_if_it_is_so_in_the_models_units(self, kind):
        mean, sd, off = GRID.unbind(-1)
        transform, y = warp(kind), mean + off * sd
        expected, outside = expectations_in_outcome_units(transform, y, mean, sd)
        outcome = transform.untransform(y.unsqueeze(-1))[0].squeeze(-1)
        shown = (outcome - expected).abs() / outside
        assert torch.equal(shown <= 1, off.abs() <= 1)
        assert (shown >= off.abs() * (1 - 1e-9))[off.abs() > 1].all()

    def test_a_standard_deviation_is_the_way_to_a_quantile_of_what_is_expected(self, kind):
        transform, mean, sd = warp(kind), torch.tensor([0.5], dtype=torch.float64), torch.tensor([0.7]).double()
        for side in (-1, 1):
            expected, outside = expectations_in_outcome_units(transform, mean + side * 0.2, mean, sd)
            quantile = transform.untransform((mean + side * sd).unsqueeze(-1))[0].squeeze(-1)
            torch.testing.assert_close(expected + side * outside, quantile)

    def test_errors_are_found_again(self, kind):
        mean, sd, off = GRID.unbind(-1)
        transform, y = warp(kind), mean + off * sd
        e, inside = errors_in_model_units(transform, y, *expectations_in_outcome_units(transform, y, mean, sd))
        torch.testing.assert_close(e, off * sd, atol=1e-9, rtol=1e-7)
        apart = off != 0  # else rounding chooses the side
        torch.testing.assert_close(inside[apart], sd[apart], atol=1e-9, rtol=1e-6)


def test_without_a_transform_units_are_the_same():
    y, mean, sd = torch.tensor([[1.0, 2.0], [0.0, 5.0], [0.5, 1.0]], dtype=torch.float64)
    assert torch.equal(expectations_in_outcome_units(None, y, mean, sd)[1], sd)
    assert torch.equal(errors_in_model_units(None, y, mean, sd)[0], in_model_units(None, y, sd)[0] - mean)
