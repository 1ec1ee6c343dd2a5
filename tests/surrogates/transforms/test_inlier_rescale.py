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


def test_inliers_that_are_all_equal_have_no_scale_and_the_unit_changes_no_verdict():
    y = torch.full((40, 1), 7.0, dtype=torch.float64)
    y[[3, 17, 28, 36]], y[25] = 7.1, 9.0
    X = torch.linspace(0, 1, 40, dtype=torch.float64).unsqueeze(-1)
    supports = [fit(RelevancePursuitGP(X, unit * y)).support for unit in (1.0, 1e-3, 1e3)]
    assert supports[0] == supports[1] == supports[2]
    assert 25 in supports[0]
