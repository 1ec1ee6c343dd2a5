import pytest
import torch

from robustbo.surrogates.baselines.botorch_relevance_pursuit import BoTorchRelevancePursuitGP
from robustbo.surrogates.common.contract import diagnose, fit


def data():
    X = torch.linspace(0, 1, 20).unsqueeze(-1)
    Y = torch.sin(6 * X)
    Y[[4, 11]] += 5.0
    return X, Y


def test_evidence_against_an_outlier_is_what_the_likelihood_loses_without_its_variance():
    model = fit(BoTorchRelevancePursuitGP(*data()))
    diagnosis = diagnose(model)
    assert diagnosis.is_outlier.nonzero().flatten().tolist() == [4, 11]
    X, y = model.train_inputs[0], model.train_targets
    with torch.no_grad():
        prior = model.likelihood(model.forward(X), [X])
        Sg = prior.covariance_matrix
        plain = model.covar_module(X).to_dense() + model.likelihood.noise_covar.base_noise(X, shape=y.shape).to_dense()
    without = Sg.clone()
    without[4, 4] = plain[4, 4]
    log_likelihoods = [torch.distributions.MultivariateNormal(prior.mean, S).log_prob(y) for S in (Sg, without)]
    assert diagnosis.evidence[4] == pytest.approx((log_likelihoods[0] - log_likelihoods[1]).item(), rel=1e-3)


def test_single_variances_are_no_part_of_the_state():
    model = fit(BoTorchRelevancePursuitGP(*data()))
    assert not [key for key in model.state_dict() if "rho" in key and "constraint" not in key]


def test_the_prior_mean_must_be_positive():
    with pytest.raises(ValueError, match=r"prior_mean_of_support must be positive, got 0"):
        BoTorchRelevancePursuitGP(*data(), prior_mean_of_support=0)
