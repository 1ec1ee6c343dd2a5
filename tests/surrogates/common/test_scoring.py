import math

import numpy as np
import pytest
import torch
from scipy import stats

from robustbo.surrogates import RelevancePursuitGP, StandardGP, StudentTGP, StudentTProcess
from robustbo.surrogates.baselines.student_t_variational import StudentTVariationalGP
from robustbo.surrogates.common.contract import fit
from robustbo.surrogates.common.scoring import BLOCK, scores


@pytest.fixture(scope="module")
def data():
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(24, 1, generator=generator, dtype=torch.float64)
    Y = torch.sin(6 * X) + 0.1 * torch.randn(24, 1, generator=generator, dtype=torch.float64)
    return X, Y


@pytest.mark.parametrize("options", [{}, {"num_outliers": 0}])
def test_a_normal_prediction_is_scored_by_the_normal_density(data, options):
    X, Y = data
    model = fit((RelevancePursuitGP if options else StandardGP)(X, Y, warp="none", **options))
    at = torch.linspace(0, 1, 9, dtype=torch.float64).unsqueeze(-1)
    y = torch.cos(at).squeeze(-1)
    found = scores(model, at, y)
    with torch.no_grad():
        posterior = model.posterior(at, observation_noise=True)
    mean, sd = posterior.mean.squeeze(-1).numpy(), posterior.variance.detach().squeeze(-1).sqrt().numpy()
    assert found.nlpd == pytest.approx(-stats.norm.logpdf(y.numpy(), mean, sd).mean(), rel=1e-12)
    assert found.rmse == pytest.approx(math.sqrt(np.square(mean - y.numpy()).mean()), rel=1e-12)
    assert found.mae == pytest.approx(np.abs(mean - y.numpy()).mean(), rel=1e-12)


@pytest.mark.parametrize("options", [{}, {"num_outliers": 0}])
def test_a_warped_prediction_is_scored_by_the_density_of_what_is_warped(data, options):
    """By differences of the distribution function."""
    X, Y = data
    model = fit((RelevancePursuitGP if options else StandardGP)(X, (2 * Y).exp(), **options))
    assert model.outcome_transform.t[:2].max() > 0.5
    at, y = X[:5] + 0.01, (2 * Y[:5]).exp().squeeze(-1)
    with torch.no_grad():
        inside = model(at)
        mean, sd = inside.mean, (inside.variance + model.likelihood.noise).sqrt()
        h = 1e-6
        high, low = (model.outcome_transform((y + d).unsqueeze(-1))[0].squeeze(-1) for d in (h, -h))
    wanted = stats.norm.cdf(((high - mean) / sd).numpy()) - stats.norm.cdf(((low - mean) / sd).numpy())
    assert scores(model, at, y).nlpd == pytest.approx(-np.log(wanted / (2 * h)).mean(), rel=1e-5)


def test_the_process_is_scored_by_its_student_t_density(data):
    X, Y = data
    model = fit(StudentTProcess(X, Y))
    with torch.no_grad():
        posterior = model.posterior(X, observation_noise=True)
    mean, scale = posterior.mean.squeeze(-1).numpy(), posterior.scale.detach().squeeze(-1).numpy()
    expected = -stats.t.logpdf(Y.squeeze(-1).numpy(), posterior.df.item(), mean, scale).mean()
    assert scores(model, X, Y.squeeze(-1)).nlpd == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("cls", [StudentTGP, StudentTVariationalGP])
def test_student_t_noise_is_scored_by_its_heavy_tailed_density(data, cls):
    """By quadrature: a normal latent value, and Student-t noise about it."""
    X, Y = data
    model = fit(cls(X, Y, outcome_transform=None))
    found = scores(model, X[:1], Y[0])
    said = model.predictive(X[:1])
    scale, nu = float(said.noise.s2) ** 0.5, float(said.noise.nu)
    f = np.linspace(-1, 1, 20001) * 12 * float(said.variance) ** 0.5 + float(said.mean)
    density = stats.norm.pdf(f, float(said.mean), float(said.variance) ** 0.5) * stats.t.pdf(Y[0].item(), nu, f, scale)
    assert found.nlpd == pytest.approx(-math.log(np.trapezoid(density, f)), rel=1e-6)


def test_many_points_are_scored_in_blocks_as_all_at_once(data):
    X, Y = data
    model = fit(StandardGP(X, Y))
    at = torch.linspace(0, 1, BLOCK + 7, dtype=torch.float64).unsqueeze(-1)
    y = torch.sin(6 * at).squeeze(-1)
    parts = [scores(model, at[rows], y[rows]) for rows in (slice(0, BLOCK), slice(BLOCK, None))]
    expected = (parts[0].nlpd * BLOCK + parts[1].nlpd * 7) / (BLOCK + 7)
    assert scores(model, at, y).nlpd == pytest.approx(expected, rel=1e-12)
