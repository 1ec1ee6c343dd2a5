import pytest
import torch

from robustbo.surrogates.common.contract import fit
from robustbo.surrogates.pursuit.model import RelevancePursuitGP


def data(n=30):
    X = torch.rand(n, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    return X, (torch.sin(6 * X[:, :1]) + X[:, 1:]).clamp_min(0.8)


def is_on_plateau(model):
    parts = model.noise_parts()
    return None if parts is None else parts[0] > 0


def test_the_values_of_a_plateau_are_noisier():
    X, Y = data()
    assert torch.equal(is_on_plateau(fit(RelevancePursuitGP(X, Y))), (Y.min() == Y).squeeze(-1))


@pytest.mark.parametrize("unit", [1e-200, 1e-12, 1e12, 1e200])
def test_the_unit_does_not_matter(unit):
    X, Y = data()
    assert torch.equal(is_on_plateau(RelevancePursuitGP(X, unit * Y)), is_on_plateau(RelevancePursuitGP(X, Y)))


@pytest.mark.parametrize(
    "arguments", [{"num_outliers": 0}, {"selection": "botorch"}, {"train_Yvar": torch.full((30, 1), 1e-4)}]
)
def test_no_plateau_by_other_rules_or_where_the_noise_is_known(arguments):
    assert is_on_plateau(RelevancePursuitGP(*data(), **arguments)) is None


def test_noise_that_is_known_of_some_stays():
    X, Y = data()
    model, n = RelevancePursuitGP(X, Y), len(Y)
    model.set_noise_parts(torch.full((n,), 1e-4, dtype=torch.float64), torch.zeros(n, dtype=torch.float64))
    least = 1e-4 / model.outcome_transform.stdvs.square().item()
    fixed, share = model.noise_parts()
    assert fixed.min().item() == pytest.approx(least)
    assert fixed.max() > 2 * least
    assert not share.any()


def test_other_rows_have_no_plateau():
    X, Y = data()
    model = fit(RelevancePursuitGP(X, Y))
    model.set_train_data(X, model.train_targets.roll(1) + torch.arange(30), strict=False)
    assert is_on_plateau(model) is None


def test_a_value_that_is_as_expected_moves_nothing():
    X, Y = data()
    model = fit(RelevancePursuitGP(X, Y, is_averaged=False))
    Z = torch.rand(20, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        before = model.posterior(Z).mean
        after = model.condition_on_observations(Z[:1], before[:1]).posterior(Z).mean
    torch.testing.assert_close(after, before)
