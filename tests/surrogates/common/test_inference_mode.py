import pytest
import torch

from robustbo.surrogates.common.contract import fit
from robustbo.surrogates.student_t.model import StudentTGP
from robustbo.surrogates.weighted.model import ConjugateGP
from tests.surrogates.test_contract import data


@pytest.mark.parametrize("outliers", [0.0, 0.1])
@pytest.mark.parametrize("surrogate", [StudentTGP, ConjugateGP])
def test_a_prediction_in_inference_mode_leaves_later_ones_differentiable(surrogate, outliers):
    model = fit(surrogate(*data(outliers=outliers)))
    Z = torch.rand(3, 2, generator=torch.Generator().manual_seed(3))
    with torch.inference_mode():
        model.posterior(Z)
    Z.requires_grad_()
    model.posterior(Z).variance.sum().backward()
    assert Z.grad.isfinite().all()
