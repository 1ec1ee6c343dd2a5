"""What is predicted of a new measurement has the tails of the noise."""

import math

import pytest
import torch

from robustbo.surrogates.common.contract import fit
from robustbo.surrogates.common.scoring import scores
from robustbo.surrogates.pursuit.model import RelevancePursuitGP

X = torch.linspace(0, 1, 60, dtype=torch.float64).unsqueeze(-1)
WAVE = 20 * torch.sin(6 * X)
NEW = torch.tensor([[0.21], [0.52], [0.83]], dtype=torch.float64)


def noise(dof):
    generator = torch.Generator().manual_seed(3)
    normal = torch.randn(60, 1, generator=generator, dtype=torch.float64)
    if math.isinf(dof):
        return normal
    chi2 = torch.randn(60, dof, generator=generator, dtype=torch.float64).square().sum(-1, keepdim=True)
    return normal * (dof / chi2).sqrt()


@pytest.fixture(scope="module", params=["a warp", "no warp", "known noise"])
def model(request):
    known = {"train_Yvar": torch.full_like(X, 1.0)} if request.param == "known noise" else {}
    options = {} if request.param == "a warp" else {"warp": "none"}
    return fit(RelevancePursuitGP(X, WAVE + noise(3), **known, **options))


@pytest.mark.few(1)
def test_the_density_is_one_in_all(model):
    grid = torch.linspace(-80, 80, 16_001, dtype=torch.float64)
    for x in NEW:
        density = model.predictive(x.expand(len(grid), 1)).log_density(grid).exp()
        assert torch.trapezoid(density, grid).item() == pytest.approx(1.0, abs=5e-3)


def test_scores_are_by_that_density(model):
    y = model.posterior(NEW).mean.squeeze(-1) + 3.0
    assert scores(model, NEW, y).nlpd == pytest.approx(-model.predictive(NEW).log_density(y).mean().item())


@pytest.mark.parametrize("options", [{}, {"is_averaged": False}])
def test_the_noise_of_a_new_value_has_the_tails_that_were_seen(options):
    multiples = [
        fit(RelevancePursuitGP(X, WAVE + noise(dof), warp="none", **options)).belief().noise_multiple
        for dof in (math.inf, 2)
    ]
    assert 1 <= multiples[0] < 2 < multiples[1]


def test_a_kernel_of_ones_own_has_the_density_too():
    kernel = RelevancePursuitGP(X, WAVE).covar_module
    model = fit(RelevancePursuitGP(X, WAVE + noise(3), warp="none", covar_module=kernel))
    assert model.predictive(NEW).log_density(model.posterior(NEW).mean.squeeze(-1)).isfinite().all()
