import pytest
import torch
from botorch.models import SingleTaskGP

from robustbo.errors import FitError
from robustbo.surrogates.common import contract


def model():
    X = torch.rand(10, 2, generator=torch.Generator().manual_seed(0))
    return SingleTaskGP(X, X.sum(-1, keepdim=True))


def test_a_plain_botorch_model_is_diagnosed_without_outliers():
    diagnosis = contract.diagnose(contract.fit(model()))
    assert not diagnosis.is_outlier.any()


def test_diagnosis_is_leaving_one_out_by_hand():
    whole = contract.fit(model())
    diagnosis = contract.diagnose(whole)
    X, Y = whole.train_inputs[0], whole.train_targets
    K = whole.likelihood(whole.forward(X)).covariance_matrix.detach()
    mean, std = whole.outcome_transform.means.item(), whole.outcome_transform.stdvs.item()
    m = whole.mean_module.constant.item()
    weights = torch.linalg.solve(K[1:, 1:], K[1:, 0])
    torch.testing.assert_close(diagnosis.expected[0], mean + std * (m + weights @ (Y[1:] - m)))
    torch.testing.assert_close(diagnosis.sd[0], std * (K[0, 0] - weights @ K[1:, 0]).sqrt())


def test_a_failed_fit_says_which_model_and_how_many_observations():
    broken = model()
    with torch.no_grad():
        broken.train_targets.fill_(float("nan"))
    with pytest.raises(FitError, match="SingleTaskGP could not be fitted to 10 observations"):
        contract.fit(broken)
