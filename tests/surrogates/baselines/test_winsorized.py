import numpy as np
import pytest
import torch
from ax.adapter.transforms import winsorize

from robustbo.surrogates.baselines.standard import StandardGP
from robustbo.surrogates.baselines.winsorized import Winsorize, WinsorizedGP
from robustbo.surrogates.common.contract import diagnose, fit

Y = torch.tensor([[-50.0], [0.0], [1.0], [2.0], [3.0], [4.5], [5.0], [70.0]], dtype=torch.float64)


@pytest.mark.parametrize("sides", ["bad", "both"])
def test_the_tails_end_where_the_whiskers_of_a_box_plot_do(sides):
    """By NumPy's quantiles, lower and higher."""
    transform = Winsorize(m=1, sides=sides)
    standardized, _ = transform(Y)
    first, third = np.quantile(Y, 0.25, method="lower"), np.quantile(Y, 0.75, method="higher")
    high = third + 1.5 * (third - first) if sides == "both" else np.inf
    cut = Y.clamp(first - 1.5 * (third - first), high)
    torch.testing.assert_close(standardized, (cut - cut.mean()) / cut.std())


def test_it_is_ax_s_rule():
    low, high = winsorize._get_auto_winsorization_cutoffs_single_objective(Y.flatten().tolist(), minimize=False)
    transform = Winsorize(m=1)
    transform(Y)
    assert (transform.low.item(), transform.high.item()) == (low, high)


def data(wrong=()):
    X = torch.linspace(0, 1, 21).unsqueeze(-1)
    values = torch.sin(6 * X)
    for row, size in wrong:
        values[row] += size
    return X, values


@pytest.mark.parametrize(("sides", "flagged"), [("bad", [7]), ("both", [7, 12])])
def test_what_is_cut_is_flagged_and_still_pulls(sides, flagged):
    X, values = data([(7, -1e6), (12, 1e6)])
    model = fit(WinsorizedGP(X, values, sides=sides))
    assert diagnose(model).is_outlier.nonzero().flatten().tolist() == flagged
    assert model.support == []


def test_where_nothing_is_cut_it_is_the_plain_gp_on_standardized_values():
    X, values = data()
    from botorch.models.transforms.outcome import Standardize

    ours, plain = fit(WinsorizedGP(X, values)), fit(StandardGP(X, values, outcome_transform=Standardize(m=1)))
    torch.testing.assert_close(ours.posterior(X).mean, plain.posterior(X).mean)


def test_the_cut_is_kept_in_the_state_and_serves_new_values():
    model = fit(WinsorizedGP(*data([(7, -1e6)])))
    other = WinsorizedGP(*data())
    other.load_state_dict(model.state_dict())
    assert other.outcome_transform.low.item() == model.outcome_transform.low.item()
    assert other.outcome_transform.eval()(torch.tensor([[-1e9]]))[0] > -5


def test_sides_that_there_are_not_are_refused():
    with pytest.raises(ValueError, match="sides must be one of"):
        WinsorizedGP(*data(), sides="left")
