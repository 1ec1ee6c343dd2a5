import json
from pathlib import Path

import pytest
import torch
from torch.autograd import gradcheck

from robustbo.numerics.committee.aggregation import COMBINE, entropy_weights

FIXTURE = json.loads((Path(__file__).parents[2] / "fixtures" / "rbcm_01.json").read_text())
NAMES = {
    "poe": "poe",
    "gpoe": "gpoe_uniform",
    "entropy-gpoe": "gpoe_entropy",
    "normalized-entropy-gpoe": "gpoe_entropy_normalised",
    "bcm": "bcm",
    "rbcm": "rbcm",
}


def experts(model):
    found = FIXTURE["models"][model]["experts"]
    mu, v = (torch.tensor([expert[key] for expert in found]) for key in ("latent_mean", "latent_var"))
    return mu, v, torch.tensor(FIXTURE["prior_variance_at_test"])


@pytest.mark.parametrize("model", FIXTURE["models"])
@pytest.mark.parametrize("name", NAMES)  # the papers' rules; ours is in test_errors
def test_the_reference(model, name):
    mean, variance = COMBINE[name](*experts(model))
    wanted = FIXTURE["models"][model]["combined"][NAMES[name]]
    torch.testing.assert_close(mean, torch.tensor(wanted["mean"]), rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(variance, torch.tensor(wanted["var"]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("model", FIXTURE["models"])
def test_entropy_weights_are_the_references(model):
    _, v, v0 = experts(model)
    torch.testing.assert_close(entropy_weights(v, v0), torch.tensor(FIXTURE["models"][model]["beta_entropy"]))


@pytest.mark.parametrize("name", COMBINE)
class TestEachRule:
    def test_one_expert_keeps_its_mean(self, name):
        mu, v, v0 = torch.tensor([[0.7, -2.0]]), torch.tensor([[0.1, 0.2]]), torch.ones(2)
        mean, variance = COMBINE[name](mu, v, v0)
        if name in ("poe", "gpoe", "bcm", "normalized-entropy-gpoe", "calibrated"):
            torch.testing.assert_close(mean, mu[0])
            torch.testing.assert_close(variance, v[0])
        assert (mean.sign() == mu[0].sign()).all()

    def test_order_does_not_matter(self, name):
        mu, v, v0 = experts("gaussian")
        torch.testing.assert_close(COMBINE[name](mu, v, v0), COMBINE[name](mu.flip(0), v.flip(0), v0))

    def test_batches_are_loops(self, name):
        mu, v, v0 = experts("student_t_signed_W")
        stacked = COMBINE[name](torch.stack([mu, 2 * mu]), torch.stack([v, 0.5 * v]), torch.stack([v0, v0]))
        torch.testing.assert_close(stacked.mean[1], COMBINE[name](2 * mu, 0.5 * v, v0).mean)

    def test_derivatives(self, name):
        mu, v = torch.randn(3, 4), 0.2 + 0.5 * torch.rand(3, 4)
        assert gradcheck(COMBINE[name], (mu.requires_grad_(), v.requires_grad_(), torch.full((4,), 1.1)))


@pytest.mark.parametrize("name", ["entropy-gpoe", "normalized-entropy-gpoe", "rbcm", "calibrated"])
def test_where_nobody_knows_anything_it_is_the_prior_and_its_slopes_are_finite(name):
    mu, v, v0 = torch.zeros(3, 2), torch.tensor([[1.0, 1.3]] * 3).requires_grad_(), torch.ones(2)
    mean, variance = COMBINE[name](mu, v, v0)
    torch.testing.assert_close(mean, torch.zeros(2))
    torch.testing.assert_close(variance, v0)
    (slope,) = torch.autograd.grad(mean.sum() + variance.sum(), v)
    assert slope.isfinite().all()


def test_far_from_all_data_the_committees_return_to_the_prior_and_the_product_does_not():
    mu, v, v0 = torch.zeros(5, 1), torch.ones(5, 1), torch.ones(1)
    assert COMBINE["bcm"](mu, v, v0).variance.item() == pytest.approx(1.0)
    assert COMBINE["rbcm"](mu, v, v0).variance.item() == pytest.approx(1.0)
    assert COMBINE["poe"](mu, v, v0).variance.item() == pytest.approx(0.2)
