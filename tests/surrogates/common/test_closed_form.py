import pytest
import torch

from robustbo.numerics.gp.outlier_gain import gain
from robustbo.numerics.gp.wrong_density import NEEDLE
from robustbo.surrogates.baselines.standard import StandardGP
from robustbo.surrogates.common.contract import diagnose, fit
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.student_t.model import StudentTGP
from robustbo.surrogates.weighted.model import ConjugateGP

X = torch.linspace(0, 1, 31, dtype=torch.float64).unsqueeze(-1)
Y = torch.sin(6 * X)


def odd(values):
    return values[1::2]


def fitted(cls, **known):
    wrong = Y.clone()
    wrong[[4, 12]] += 5.0
    return fit(cls(X[::2], wrong[::2], **known))


@pytest.mark.parametrize("cls", [RelevancePursuitGP, StudentTGP, ConjugateGP])
def test_of_values_it_was_not_fitted_to_those_far_off_are_outliers(cls):
    values = odd(Y).flatten() + 4.0 * (torch.arange(15) == 6)
    found = fitted(cls).diagnose_others(odd(X), values, None)
    assert found.is_outlier.nonzero().flatten().tolist() == [6]
    assert found.evidence.argmax() == 6


def test_a_model_without_outliers_of_its_own_has_none_among_others():
    found = fit(StandardGP(X[::2], Y[::2])).diagnose_others(odd(X), odd(Y).flatten() + 9.0, None)
    assert not found.is_outlier.any()
    assert found.weight is None


def test_the_evidence_is_what_a_value_gains_by_a_variance_of_its_own():
    model = fitted(StandardGP, outcome_transform=None)
    values = odd(Y).flatten() + 0.1 + 4.0 * (torch.arange(15) == 6)
    found = model.diagnose_others(odd(X), values, None)
    posterior = model.posterior(odd(X), observation_noise=True)
    mean, variance = posterior.mean.detach().flatten(), posterior.variance.detach().flatten()
    torch.testing.assert_close(found.evidence, gain(values - mean, variance))
    torch.testing.assert_close(found.sd, variance.sqrt())


def test_noise_that_is_known_counts():
    model = fitted(RelevancePursuitGP, train_Yvar=torch.full((16, 1), 1e-4, dtype=torch.float64))
    values, sds = odd(Y).flatten() + 1.0, torch.tensor([0.01, 1.0, 10.0], dtype=torch.float64).repeat(5)
    found = model.diagnose_others(odd(X), values, sds)
    assert found.is_outlier.tolist() == [True, False, False] * 5
    assert (found.sd >= 0.9 * sds).all()  # a learned warp makes less of it on one side
    assert (found.weight[::3] < NEEDLE).all()  # each may be the objective itself
    assert (found.weight[1::3] > 0.5).all()


def test_one_more_value_is_judged_as_if_it_had_been_left_out():
    model = fitted(RelevancePursuitGP)
    told = diagnose(model)
    i = 5
    rest = [j for j in range(16) if j != i]
    without = RelevancePursuitGP(
        X[::2][rest], model.outcome_transform.untransform(model.train_targets[rest].unsqueeze(-1))[0]
    )
    fit(without)
    found = without.diagnose_others(X[::2][[i]], Y[::2][i], None)
    torch.testing.assert_close(found.expected, told.expected[[i]], atol=0.05, rtol=0.0)
