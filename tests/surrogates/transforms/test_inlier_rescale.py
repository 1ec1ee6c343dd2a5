import pytest
import torch

from robustbo.surrogates.common.contract import fit
from robustbo.surrogates.common.warped_gp import WARPS
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.transforms.inlier_rescale import RESCALE


@pytest.mark.few(1)
@pytest.mark.parametrize("warp", WARPS)
def test_noise_that_is_known_stays_what_it_is_where_outcomes_are_standardized_anew(warp):
    gen = torch.Generator().manual_seed(0)
    X = torch.rand(40, 2, generator=gen, dtype=torch.float64)
    Y, Yvar = torch.sin(5 * X).sum(-1, keepdim=True), torch.full((40, 1), 0.01, dtype=torch.float64)
    wrong = [*range(0, 40, 4), 1, 5]
    Y[wrong] = 8 + 12 * torch.rand(len(wrong), 1, generator=gen, dtype=torch.float64)
    model = RelevancePursuitGP(X, Y, Yvar, warp=warp)
    transform = model.outcome_transform
    before = transform.stdvs.item()
    fit(model)
    assert before > RESCALE * transform.stdvs.item()
    values, variances = transform.untransform(model.train_targets.unsqueeze(-1), model.likelihood.noise.unsqueeze(-1))
    torch.testing.assert_close((values, variances), (Y, Yvar))
