"""Relevance pursuit beside the values of other sources."""

import math

import numpy as np
import pytest
import torch

from robustbo.loop.acquisition.build import build_acquisition
from robustbo.numerics.transfer.spread import robust_spread
from robustbo.surrogates.common import contract
from robustbo.surrogates.common.contract import outcome_transform
from robustbo.surrogates.common.model_averaging import by_fits
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.transfer.auxiliary import AuxiliaryValues
from robustbo.surrogates.transfer.model import TransferGP
from robustbo.surrogates.transfer.value import gain_of_recommendation, values_of_rows

RNG = np.random.default_rng(5)
X, Z = torch.from_numpy(RNG.random((9, 1))), torch.from_numpy(RNG.random((24, 1)))
TEST = torch.linspace(0, 1, 40, dtype=torch.float64).unsqueeze(-1)


def objective(x):
    return torch.sin(6 * x[:, 0])


def model_of(source, *, X=X, Z=Z, wrong=(), at_source=(), unit=1.0, center=0.0, trusted=False):
    Y, V = objective(X) + 0.03 * torch.from_numpy(RNG.standard_normal(len(X))), source(Z)
    V = V + 0.03 * torch.from_numpy(RNG.standard_normal(len(V)))
    Y[list(wrong)] += 5.0
    V[list(at_source)] += 5.0
    model = TransferGP(X, (unit * Y + center).unsqueeze(-1))
    zeros = torch.zeros(len(Z), dtype=torch.long)
    unknown = torch.full((len(Z),), torch.nan, dtype=torch.float64)
    model.auxiliary = AuxiliaryValues(
        Z, unit * V + center, zeros, unknown, zeros > 0, torch.ones(len(zeros)), (trusted,)
    )
    return contract.fit(model)


def test_without_other_values_it_is_relevance_pursuit_without_a_warp():
    Y = objective(X).unsqueeze(-1)
    models = [contract.fit(TransferGP(X, Y)), contract.fit(RelevancePursuitGP(X, Y, warp="none"))]
    means = [contract.marginals(model, TEST) for model in models]
    assert torch.equal(means[0][0], means[1][0])
    assert torch.equal(means[0][1], means[1][1])
    assert models[0].relations == ()


@pytest.mark.parametrize(("unit", "center"), [(1.0, 0.0), (250.0, -4000.0)])
def test_an_offset_is_reported_in_the_units_of_the_outcomes(unit, center):
    (source,) = model_of(lambda x: objective(x) + 2.0, unit=unit, center=center).relations
    assert source.relation == "offset"
    assert abs(source.offset - 2.0 * unit) < 3 * source.offset_sd < 0.3 * unit


@pytest.mark.parametrize(("unit", "relation"), [(1.0, "offset"), (-1000.0, "scaled")])
def test_a_source_whose_search_has_converged_has_the_spread_of_all_it_measured(unit, relation):
    """Three values in four are alike."""
    converged = torch.cat([Z[:8], 0.26 + 0.01 * torch.from_numpy(RNG.standard_normal((24, 1)))])
    (source,) = model_of(lambda x: unit * (objective(x) + 1.0), Z=converged).relations
    assert source.relation in (relation, "biased")
    assert source.probabilities["unrelated"] < 0.01
    assert abs(source.scale - unit) < 0.2 * abs(unit)


def test_a_source_in_other_units_is_a_scaled_one():
    (source,) = model_of(lambda x: 1000 * objective(x) + 7000).relations
    assert source.relation == "scaled"
    assert source.scale == pytest.approx(1000, rel=0.1)
    assert source.offset == pytest.approx(7000, rel=0.05)
    assert "same" not in source.probabilities


def test_predictions_learn_from_the_source():
    few = X[:4]
    model = model_of(lambda x: objective(x) - 1.0, X=few)
    mean, sd = contract.marginals(model, TEST)
    assert (mean - objective(TEST)).square().mean().sqrt() < 0.1
    assert ((mean - objective(TEST)).abs() < 4 * sd).all()
    posterior = model.posterior(TEST)
    assert torch.allclose(posterior.mean.squeeze(-1), mean)
    assert torch.allclose(posterior.variance.squeeze(-1).sqrt(), sd, rtol=1e-5)


def test_few_values_are_predicted_by_draws_of_the_hyperparameters():
    model = model_of(lambda x: 1.5 * objective(x) + 0.4 * x[:, 0], X=X[:6])
    weights, processes = zip(*model.predictors(), strict=True)
    assert sum(weights) == pytest.approx(1)
    assert len(processes) > 8
    assert len({process.l.item() for process in processes}) > 8
    mean, sd = contract.marginals(model, TEST)
    by_fit, sure = contract.marginals(by_fits(model), TEST)
    assert (sd > sure).double().mean() > 0.6
    assert (mean - by_fit).abs().max() < 0.1
    density = model.predictive(TEST).log_density(objective(TEST))
    assert density.mean() > 0


def test_only_sources_that_are_all_unrelated_leave_the_prediction_to_the_target():
    many = torch.linspace(0, 1, 14, dtype=torch.float64).unsqueeze(-1)
    assert model_of(lambda x: torch.cos(17 * x[:, 0]), X=many).is_of_unrelated
    assert not model_of(objective).is_of_unrelated
    assert not contract.fit(TransferGP(X, objective(X).unsqueeze(-1))).is_of_unrelated


def test_six_values_most_of_which_are_near_each_other_are_standardized_by_the_source():
    target = torch.tensor([[0.0], [0.01], [0.02], [0.03], [0.5], [0.9]], dtype=torch.float64)
    model = model_of(objective, X=target)
    spread = outcome_transform(model).stdvs.item()
    assert spread == pytest.approx(robust_spread(model.auxiliary.Y))
    in_other_units = model_of(lambda x: 1000 * objective(x), X=target)
    assert outcome_transform(in_other_units).stdvs.item() < 2


def test_wrong_values_of_both_are_probable_and_right_ones_are_not():
    model = model_of(objective, wrong=(3,), at_source=(0, 11))
    wrong = 1 - contract.probability_right(model)
    assert wrong[3] > 0.9
    assert wrong[[i for i in range(len(X)) if i != 3]].max() < 0.5
    assert set((model.auxiliary_wrong > 0.5).nonzero().flatten().tolist()) == {0, 11}
    assert model.relations[0].wrong == (0, 11)
    diagnosis = contract.diagnose(model)
    assert diagnosis.is_outlier.tolist() == [i == 3 for i in range(len(X))]
    assert torch.isfinite(diagnosis.expected).all()


def test_a_trusted_source_is_the_same():
    (source,) = model_of(lambda x: objective(x) + 2.0, trusted=True).relations
    assert source.relation == "same"
    assert source.probabilities == {"same": 1.0}
    assert math.isnan(source.evidence)


def test_a_row_of_a_source_that_says_something_is_worth_something():
    useful = model_of(lambda x: objective(x) + 2.0)
    useless = model_of(lambda x: torch.cos(11 * x[:, 0]))
    assert useless.relations[0].relation == "unrelated"
    worth = [values_of_rows(model, 1, TEST, TEST) for model in (useful, useless)]
    assert worth[0].max() > 3 * worth[1].max() >= 0
    assert values_of_rows(useful, 0, TEST, TEST).max() > 0


def test_a_value_of_the_target_where_its_best_is_believed_to_be_can_be_recommended_then():
    """The gain there is that of the means at least, though the best mean anywhere would hardly rise."""
    model = model_of(lambda x: objective(x) + 2.0)
    means = contract.marginals(model, TEST)[0]
    order = means.argsort()
    low, best = TEST[order[:5]], TEST[order[-1:]]
    rise = float(means[order[-1]] - means[order[4]]) / outcome_transform(model).stdvs.item()
    assert 0.99 * rise < gain_of_recommendation(model, best, low) < rise + 0.1
    assert values_of_rows(model, 0, best, TEST)[0] < 0.1 * rise
    assert gain_of_recommendation(model, low[:1], TEST) < 0.1 * rise


def test_all_processes_are_of_the_same_rows_so_that_an_acquisition_takes_them():
    model = model_of(lambda x: objective(x) + 2.0, X=X[:2])  # so few that several relations are likely
    weights, processes = zip(*model.latents(), strict=True)
    assert len({len(fit.numbers) for _, fit in model.weighted_fits}) == 2
    assert all(torch.equal(process.X, processes[0].X) for process in processes)
    function = build_acquisition("auto", model, X[:2], None, 0)
    assert torch.isfinite(function(TEST.unsqueeze(-2))).all()
    mean = sum(weight * process.marginals(TEST)[0] for weight, process in model.latents())
    units = outcome_transform(model)
    assert torch.allclose(units.means.item() + units.stdvs.item() * mean, contract.marginals(by_fits(model), TEST)[0])
    assert sum(weights) == pytest.approx(1.0)


def test_replicates_of_the_target_clear_each_other_beside_a_source():
    X = torch.linspace(0, 1, 12, dtype=torch.float64).unsqueeze(-1)
    Y = torch.sin(6 * X)
    X, Y = torch.cat([X, X[4:5], X[4:5]]), torch.cat([Y, torch.tensor([[3.02], [2.99]])])
    Y[4] = 3.0
    model, zeros = TransferGP(X, Y), torch.zeros(len(Z), dtype=torch.long)
    unknown = torch.full((len(Z),), torch.nan, dtype=torch.float64)
    model.auxiliary = AuxiliaryValues(
        Z, objective(Z) + 0.5, zeros, unknown, zeros > 0, torch.ones(len(zeros)), (False,)
    )
    contract.fit(model)
    assert model.is_cleared()[[4, 12, 13]].all()
    assert model.probability_right()[[4, 12, 13]].min() > 0.9


@pytest.mark.parametrize("center", [30.0, 5000.0, 1e7])
def test_a_source_that_reads_far_off_is_related_by_an_offset(center):
    (source,) = model_of(lambda x: objective(x) + center).relations
    assert source.relation == "offset"
    assert abs(source.offset - center) < 0.5
