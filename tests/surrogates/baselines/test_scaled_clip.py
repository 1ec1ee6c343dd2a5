import pytest
import torch

from robustbo.surrogates.baselines.scaled_clip import ClippedStandardize, ScaledClipGP
from robustbo.surrogates.baselines.standard import StandardGP
from robustbo.surrogates.common.contract import diagnose, fit
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize


def data(wrong=()):
    X = torch.linspace(0, 1, 21).unsqueeze(-1)
    Y = torch.sin(6 * X)
    Y[list(wrong)] += 1e6
    return X, Y


def test_values_are_scaled_by_median_and_median_absolute_deviation_and_clipped_on_both_sides():
    Y = torch.tensor([[-1e9], [0.0], [1.0], [2.0], [3.0], [4.0], [1e9]])
    scaled, _ = ClippedStandardize(m=1)(Y)
    mad = 2.0 / 0.67448975
    torch.testing.assert_close(scaled.squeeze(-1), torch.tensor([-5.0, *((Y[1:6, 0] - 2.0) / mad), 5.0]))


def test_it_is_the_standard_gp_where_nothing_is_clipped():
    X, Y = data()
    ours, plain = fit(ScaledClipGP(X, Y)), fit(StandardGP(X, Y, outcome_transform=RobustStandardize(m=1)))
    torch.testing.assert_close(ours.posterior(X).mean, plain.posterior(X).mean, atol=1e-3, rtol=0)
    assert not diagnose(ours).is_outlier.any()


def test_what_is_clipped_is_flagged_and_still_pulls():
    X, Y = data(wrong=[7])
    model = fit(ScaledClipGP(X, Y))
    assert diagnose(model).is_outlier.nonzero().flatten().tolist() == [7]
    assert model.support == []
    assert model.posterior(X).mean.abs().max() < 10


def test_a_clip_at_nothing_is_refused():
    with pytest.raises(ValueError, match=r"clip must be positive, got 0"):
        ScaledClipGP(*data(), clip=0)
