import json
from pathlib import Path

import pytest
import torch
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.models import SingleTaskGP
from botorch.models.transforms.outcome import Standardize
from gpytorch.kernels import MaternKernel, ScaleKernel

from robustbo.numerics.pursuit import walk
from robustbo.numerics.pursuit.support_fit import prefix_rows
from robustbo.surrogates import registry
from robustbo.surrogates.common.contract import capabilities_for, diagnose, fit
from robustbo.surrogates.common.priors import kernel_module, likelihood_module
from robustbo.surrogates.pursuit.model import RelevancePursuitGP

FIXTURES = Path(__file__).parents[2] / "fixtures"


def data(n=24, outliers=(4, 11), magnitude=5.0):
    X = torch.rand(n, 2, generator=torch.Generator().manual_seed(0))
    Y = torch.sin(6 * X[:, :1]) + X[:, 1:]
    truth = Y.clone()
    Y[list(outliers)] += magnitude
    return X, Y, truth


def test_at_any_magnitude_the_fit_is_the_fit_without_the_outliers():
    X, _, truth = data()
    kept = [i for i in range(24) if i not in (4, 11)]
    without = fit(RelevancePursuitGP(X[kept], truth[kept], num_outliers=0, levels=(0,)))
    expected = without.posterior(X).mean
    for magnitude in (10.0, 1e12):
        model = fit(RelevancePursuitGP(*data(magnitude=magnitude)[:2], is_averaged=False))
        assert model.support == [4, 11]
        torch.testing.assert_close(model.posterior(X).mean, expected, atol=0.05, rtol=0)
        assert model.rho[[4, 11]].sqrt().tolist() == pytest.approx([magnitude] * 2, rel=0.1)


def test_without_outliers_it_is_a_gp_with_the_same_hyperparameters():
    X, _, Y = data()
    model = fit(RelevancePursuitGP(X, Y, num_outliers=0, levels=(0,)))
    plain = SingleTaskGP(
        X, Y, None, likelihood_module(), kernel_module("matern52", 2, True), outcome_transform=model.outcome_transform
    )
    plain.load_state_dict(model.state_dict(), keep_transforms=True)
    Z = torch.rand(7, 2)
    torch.testing.assert_close(plain.eval().posterior(Z).mean, model.posterior(Z).mean)
    torch.testing.assert_close(plain.posterior(Z).variance, model.posterior(Z).variance)


@pytest.mark.parametrize("case", ["01_1d", "02_2d"])
@pytest.mark.parametrize("direction", ["backward", "forward"])
def test_with_botorchs_model_and_rule_it_finds_botorchs_support_and_no_lower_maximum_at_any_size(case, direction):
    recorded = json.loads((FIXTURES / f"relevance_pursuit_fit_{case}.json").read_text())
    X, Y = torch.tensor(recorded["X"]), torch.tensor(recorded["y"]).unsqueeze(-1)
    model = fit(
        RelevancePursuitGP(
            X,
            Y,
            outcome_transform=Standardize(m=1),
            kernel="rbf",
            is_signal_free=False,
            selection="botorch",
            direction=direction,
        )
    )
    reference = recorded["runs"]["backward"]
    assert model.support == sorted(reference["final"]["support"])
    theirs = {len(t["support"]): t["log_marginal_likelihood"] + sum_of(t["log_priors"]) for t in reference["trace"]}
    ours = {len(level.support): level.fit.F for level in model.trace}
    shared = sorted(set(ours) & set(theirs))
    assert len(shared) >= 7
    assert all(ours[k] >= theirs[k] - 0.01 for k in shared)


def sum_of(log_priors):
    return sum(log_priors.values()) if isinstance(log_priors, dict) else float(log_priors)


def test_the_trace_has_a_level_a_size_and_a_posterior_over_them():
    model = fit(RelevancePursuitGP(*data()[:2], levels=(0, 1, 2, 0.125)))
    assert [len(level.support) for level in model.trace] == [0, 1, 2, 3]
    assert sum(model.level_posterior) == pytest.approx(1.0)
    best = max(zip(model.level_posterior, model.trace, strict=True), key=lambda pair: pair[0])[1]
    assert best.support == (4, 11)


def test_a_known_number_is_kept_to():
    assert len(fit(RelevancePursuitGP(*data()[:2], num_outliers=3)).support) == 3
    assert fit(RelevancePursuitGP(*data()[:2], num_outliers=0)).support == []
    assert set(fit(RelevancePursuitGP(*data()[:2], num_outliers=99)).trace[-1].support) >= {4, 11}  # of at most half


def test_a_higher_rate_suspects_more():
    generator = torch.Generator().manual_seed(3)
    X = torch.rand(40, 1, generator=generator)
    Y = torch.sin(6 * X) + 0.1 * torch.randn(40, 1, generator=generator)
    Y[::8] += 0.6
    counts = [len(fit(RelevancePursuitGP(X, Y, outlier_rate=rate)).support) for rate in (0.001, 0.4)]
    assert counts[0] < counts[1]


@pytest.mark.slow
def test_a_kernel_of_ones_own_goes_through_autograd_to_the_same_fit():
    X, Y, _ = data()
    named = fit(RelevancePursuitGP(X, Y, is_averaged=False))
    own = fit(RelevancePursuitGP(X, Y, covar_module=kernel_module("matern52", 2, True)))
    assert own.support == named.support
    torch.testing.assert_close(own.posterior(X).mean, named.posterior(X).mean, atol=0.02, rtol=0)
    plain = fit(RelevancePursuitGP(X, Y, covar_module=ScaleKernel(MaternKernel(1.5))))
    assert plain.support == [4, 11]


def test_known_noise_is_kept_and_outliers_are_found_beside_it():
    X, Y, truth = data()
    model = fit(RelevancePursuitGP(X, Y, torch.full_like(Y, 1e-4)))
    assert model.support == [4, 11]
    assert (model.posterior(X).mean - truth).abs().max() < 0.5


@pytest.mark.few(2)
@pytest.mark.parametrize("is_averaged", [True, False])
@pytest.mark.parametrize("noise", [None, 1e-4])
def test_outlier_variances_are_the_observations_not_the_points(is_averaged, noise):
    X, Y, _ = data()
    known = None if noise is None else torch.full_like(Y, noise)
    model = fit(RelevancePursuitGP(X, Y, known, is_averaged=is_averaged))
    assert model.support == [4, 11]
    again = model.posterior(X, observation_noise=True).variance  # of measurements at all the points once more
    alone = model.posterior(X[[4, 5]], observation_noise=True).variance
    assert alone[0] < 10 * alone[1]
    torch.testing.assert_close(again[[4, 5]], alone)


def test_loading_a_state_finds_the_outliers_of_other_rows():
    X, Y, _ = data()
    model = fit(RelevancePursuitGP(X, Y))
    other = RelevancePursuitGP(X[:8], Y[:8])
    other.load_state_dict(model.state_dict())
    other.eval()
    assert other.support == [4]
    assert abs(other.posterior(X[4:5]).mean.item() - model.posterior(X[4:5]).mean.item()) < 0.5


def test_it_serves_an_acquisition_with_gradients():
    X, Y, _ = data()
    acquisition = qLogNoisyExpectedImprovement(fit(RelevancePursuitGP(X, Y)), X)
    Z = torch.rand(3, 2, 2, requires_grad=True)
    acquisition(Z).sum().backward()
    assert Z.grad.isfinite().all()


@pytest.mark.few(6)
@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("values", ["equal", "huge", "different"])
def test_bad_data_leave_a_usable_model(n, values):
    X = torch.full((n, 2), 0.5) if values == "different" else torch.rand(n, 2)
    Y = {"equal": torch.ones(n, 1), "huge": torch.ones(n, 1), "different": torch.arange(float(n)).unsqueeze(-1)}[values]
    if values == "huge":
        Y = Y + torch.arange(float(n)).unsqueeze(-1)
        Y[-1] = 1e300
    model = fit(RelevancePursuitGP(X, Y))
    assert model.posterior(torch.rand(4, 2)).mean.isfinite().all()
    if values != "huge":  # whose square, the variance in outcome units, no float64 holds
        assert all(entry.isfinite().all() for entry in diagnose(model) if entry is not None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"direction": "sideways"}, "direction must be one of"),
        ({"selection": "best"}, "selection must be one of"),
        ({"levels": ()}, "levels must be fractions"),
        ({"levels": (-1,)}, "levels must be fractions"),
        ({"outlier_rate": 1.0}, "outlier_rate must lie between 0 and 1, got 1.0"),
        ({"num_outliers": -1}, "num_outliers must be a whole number of at least 0, got -1"),
        ({"kernel": "linear"}, r"kernel must be one of \['matern52', 'rbf'\]"),
        ({"likelihood": likelihood_module()}, "likelihood must not be given"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        RelevancePursuitGP(*data()[:2], **options)


@pytest.mark.parametrize("shape", [(24, 2), (24,), (2, 24, 1)])
def test_one_outcome_without_batches_is_asked_for(shape):
    X = torch.rand(*shape[:-2], 24, 2) if len(shape) > 1 else torch.rand(24, 2)
    with pytest.raises(ValueError, match="train_X must be n x d and train_Y n x 1"):
        RelevancePursuitGP(X, torch.rand(shape))


@pytest.mark.slow
def test_on_gaussian_data_nothing_is_suspected_beyond_chance():
    flagged = 0
    for seed in range(10):
        generator = torch.Generator().manual_seed(seed)
        X = torch.rand(40, 1, generator=generator)
        Y = torch.sin(6 * X) + 0.2 * torch.randn(40, 1, generator=generator)
        flagged += len(fit(RelevancePursuitGP(X, Y)).support)
    assert flagged / 400 < 0.02


def test_a_warm_fit_visits_the_plausible_levels_and_the_chosen_one_and_those_next_to_them(monkeypatch):
    outliers, sizes = [4, 11, 15, 20], tuple(range(9))
    X, Y, _ = data(outliers=outliers)
    before = fit(RelevancePursuitGP(X[:-1], Y[:-1], levels=sizes))
    assert before.support == outliers
    none, *others = before.trace
    implausible = [level._replace(fit=level.fit._replace(F=-1e3)) for level in others]
    levels = [none._replace(fit=none.fit._replace(F=others[3].fit.F)), *implausible]
    before._pursued = before._pursued._replace(levels=levels)
    visited, resume = [], walk.resume

    def spy(supports, level_of, sizes, refit):
        visited.append(sizes)
        return resume(supports, level_of, sizes, refit)

    monkeypatch.setattr(walk, "resume", spy)
    after = RelevancePursuitGP(X, Y, levels=sizes)
    after.continue_from(before.warm_start, prefix_rows(len(X), len(X) - 1))
    assert fit(after).support == outliers
    assert visited == [[0, 1, 3, 4, 5]]


class TestAValueThatRecurs:
    """A sensor that sticks: with so many alike, each alone is what its like predict."""

    def stuck(self, share, value=100.0, n=40, seed=3):
        generator = torch.Generator().manual_seed(seed)
        X = torch.rand(n, 2, generator=generator)
        truth = torch.sin(6 * X[:, :1]) + X[:, 1:] + 0.02 * torch.randn(n, 1, generator=generator)
        bad = torch.rand(n, generator=generator).argsort()[: int(share * n)].sort().values
        return X, truth.index_fill(0, bad, value), truth, bad.tolist()

    @pytest.mark.few(2)
    @pytest.mark.parametrize(("share", "value"), [(0.1, -4.0), (0.3, -4.0), (0.1, 100.0), (0.45, 100.0), (0.45, 1e12)])
    def test_is_left_out_however_often(self, share, value):
        X, Y, truth, bad = self.stuck(share, value)
        model = fit(RelevancePursuitGP(X, Y))
        assert model.support == bad
        assert (model.posterior(X).mean - truth).abs().max() < 0.3

    def test_pays_the_full_price_under_the_rules_of_others_and_a_known_number(self):
        X, Y, _, _ = self.stuck(0.45)
        other = fit(RelevancePursuitGP(X, Y, selection="botorch"))
        assert not other.search_model().groups.recurring
        assert len(fit(RelevancePursuitGP(X, Y, num_outliers=3)).support) == 3

    def test_is_left_out_by_a_warm_fit_too(self):
        X, Y, _, bad = self.stuck(0.45)
        before = fit(RelevancePursuitGP(X[:-1], Y[:-1]))
        after = RelevancePursuitGP(X, Y)
        after.continue_from(before.warm_start, prefix_rows(len(X), len(X) - 1))
        assert fit(after).support == bad

    def test_two_such_values_are_left_out_together(self):
        X, Y, _, bad = self.stuck(0.4)
        Y[bad[::2]], Y[bad[1::2]] = 2.5, -2.0
        assert fit(RelevancePursuitGP(X, Y)).support == bad

    def test_is_left_out_where_two_others_are_equal_by_chance(self):
        X, Y, _, bad = self.stuck(0.45)
        one, other = [i for i in range(40) if i not in bad][:2]
        Y[one] = Y[other]
        assert set(bad) <= set(fit(RelevancePursuitGP(X, Y)).support)

    def test_is_left_out_of_a_model_that_gets_its_state_from_another(self):
        X, Y, _, bad = self.stuck(0.45)
        model, again = fit(RelevancePursuitGP(X, Y)), RelevancePursuitGP(X, Y)
        again.load_state_dict(model.state_dict())
        assert again.support == bad

    def test_coarse_outcomes_are_none(self):
        X, _, truth, _ = self.stuck(0.0)
        assert fit(RelevancePursuitGP(X, (truth / 0.5).round() * 0.5)).search_model().groups.recurring == ()

    def test_a_plateau_stays(self):
        """A quarter of the values are the function's ceiling."""
        X, _, truth, _ = self.stuck(0.0, n=60)
        model = fit(RelevancePursuitGP(X, truth.clamp(max=truth.quantile(0.75).item())))
        assert len(model.search_model().groups.recurring) == 1
        assert model.support == []


class TestProbabilityRight:
    """Of each observation, over all sets of outliers."""

    def given(self, off=()):
        x = torch.arange(20) / 19
        y = torch.sin(3 * x) + 0.1 * torch.sin(40 * x)
        for i, by in off:
            y[i] += by
        return x.unsqueeze(-1), y.unsqueeze(-1)

    def test_gross_values_are_wrong_doubtful_ones_may_be_and_the_others_are_right(self):
        model = fit(RelevancePursuitGP(*self.given([(3, 1e6), (10, 0.4)])))
        right = model.probability_right()
        assert right[3] < 1e-6
        assert 0.01 < right[10] < 0.95
        assert right[[i for i in range(20) if i not in (3, 10)]].min() > max(0.7, right[10])

    @pytest.mark.parametrize("options", [{}, {"covar_module": ScaleKernel(MaternKernel(2.5))}])
    def test_it_is_the_same_whenever_it_is_asked_and_changes_nothing(self, options):
        model = fit(RelevancePursuitGP(*self.given([(3, 5.0), (10, 0.4)]), **options))
        Z = torch.rand(5, 1)
        before = model.posterior(Z).mean
        first = model.probability_right()
        assert torch.equal(first, model.probability_right())
        assert ((first >= 0) & (first <= 1)).all()
        torch.testing.assert_close(model.posterior(Z).mean, before, rtol=1e-12, atol=1e-12)

    def test_a_value_that_is_told_to_be_imprecise_is_not_wrong_for_it(self):
        X, Y = self.given()
        known = torch.full_like(Y, 0.05**2)
        known[7] = 5.0**2
        assert fit(RelevancePursuitGP(X, Y, known)).probability_right()[7] > 0.8

    def test_gross_values_cast_no_doubt_on_the_others(self):
        X, Y = self.given([(i, 100.0) for i in (3, 9, 15)])
        right = fit(RelevancePursuitGP(X, Y)).probability_right()
        others = [i for i in range(20) if i not in (3, 9, 15)]
        assert right[others].mean() > 0.9

    def test_a_known_number_or_rate_counts(self):
        X, Y = self.given([(10, 0.9)])
        none, some, many = (
            fit(RelevancePursuitGP(X, Y, **known)).probability_right()
            for known in ({"num_outliers": 0}, {"outlier_rate": 0.05}, {"outlier_rate": 0.5})
        )
        assert none.min() > 0.99
        assert many.mean() < some.mean() < none.mean()

    @pytest.mark.parametrize("options", [{"is_averaged": False}, {"covar_module": ScaleKernel(MaternKernel(2.5))}])
    def test_one_fit_and_kernels_of_ones_own_have_it_too(self, options):
        right = fit(RelevancePursuitGP(*self.given([(3, 50.0)]), **options)).probability_right()
        assert right[3] < 0.02  # it may be a needle
        assert right.median() > 0.8

    def test_values_that_agree_at_a_point_are_right(self):
        X, Y = self.given([(10, 2.0)])
        right = fit(RelevancePursuitGP(torch.cat([X, X[10:11]]), torch.cat([Y, Y[10:11]]))).probability_right()
        assert right[[10, 20]].min() > 0.9

    @pytest.mark.parametrize("n", [1, 2, 3])
    def test_few_observations_have_one(self, n):
        X, Y = self.given()
        right = fit(RelevancePursuitGP(X[:n], Y[:n])).probability_right()
        assert ((right > 0.5) & (right <= 1)).all()


def test_the_usual_idiom_of_gpytorch_knows_the_outliers_of_the_data_and_new_measurements_have_none():
    X = torch.linspace(0, 1, 20).unsqueeze(-1)
    Y = torch.sin(6 * X)
    Y[[4, 11]] += 1e3
    model = fit(RelevancePursuitGP(X, Y))
    prior = model.forward(model.train_inputs[0])
    alike = [model.likelihood(prior, *model.train_inputs), model.likelihood(prior, [*model.train_inputs])]
    assert all(found.variance[4] > 5 * found.variance[5] for found in alike)
    noisy = model.posterior(model.train_inputs[0], observation_noise=True).variance
    assert noisy[4] < 5 * noisy[5]


class WithItsOwn(RelevancePursuitGP):
    """One of ours with an option of its own."""

    def __init__(self, *args, extra=1, **options):
        super().__init__(*args, **options)
        self.extra = extra


def test_a_subclass_may_take_options_of_its_own():
    name = registry.name_of(WithItsOwn)
    registry.check_options(name, {"extra": 2, "num_outliers": 0})
    assert not capabilities_for(WithItsOwn, {"extra": 2, "num_outliers": 0}).is_robust
    with pytest.raises(TypeError, match="extra"):
        registry.check_options(name, {"extar": 2})


@pytest.mark.few(1)
@pytest.mark.parametrize("gross", [1e2, 1e8, 1e14])
def test_of_many_observations_too_the_fit_is_the_fit_without_the_gross_ones_at_any_magnitude(gross):
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(300, 2, generator=generator)
    Y = torch.sin(5 * X[:, :1]) + X[:, 1:] + 0.01 * torch.randn(300, 1, generator=generator)
    wrong, Z = list(range(5, 300, 20)), torch.rand(9, 2, generator=generator)
    truth = torch.sin(5 * Z[:, :1]) + Z[:, 1:]
    Y[wrong] += gross
    model = fit(RelevancePursuitGP(X, Y, outcome_transform=None))
    assert set(wrong) <= set(model.support)
    assert (model.posterior(Z).mean - truth).abs().max() < 0.1
