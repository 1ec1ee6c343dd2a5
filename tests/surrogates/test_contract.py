"""What every surrogate must do; a new one is done when it is in the registry and passes."""

import dataclasses
import functools
import inspect
import re
import warnings

import pytest
import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms.input import Normalize
from botorch.utils.datasets import SupervisedDataset

from robustbo.surrogates.common.contract import (
    BOTORCH_ARGUMENTS,
    capabilities_for,
    diagnose,
    marginal_log_likelihood,
    outcome_transform,
    own_options,
    quiet,
)
from robustbo.surrogates.common.units import expectations_in_outcome_units
from robustbo.surrogates.pursuit.belief import PursuitBelief
from robustbo.surrogates.registry import SURROGATES
from tests.surrogates.dense import left_out

CLASSES = sorted(set(SURROGATES.values()), key=lambda cls: cls.__name__)


def able(**wanted):
    """The surrogates that can do what is wanted; nothing else is a reason to leave one out."""
    found = [
        cls
        for cls in CLASSES
        if all(getattr(capabilities_for(cls, {}), name) is value for name, value in wanted.items())
    ]
    return pytest.mark.parametrize("surrogate", found, ids=lambda cls: cls.__name__)


def truth(X):
    return torch.sin(6 * X[:, :1]) + X[:, 1:] ** 2


def data(n=30, outliers=0.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(n, 2, generator=generator)
    Y = truth(X) + 0.05 * torch.randn(n, 1, generator=generator)
    Y[: int(outliers * n)] += 20.0
    return X, Y


def fitted(cls, X, Y, Yvar=None):
    with quiet():
        model = cls(X, Y, Yvar)
        fit_gpytorch_mll(marginal_log_likelihood(model))
    return model.eval()


def rmse(model, X):
    return (model.posterior(X).mean - truth(X)).square().mean().sqrt().item()


@pytest.fixture(params=CLASSES, ids=lambda cls: cls.__name__, scope="module")
def surrogate(request):
    return request.param


@functools.cache
def known(cls, outliers=0.0):
    """A model of these data, which several tests look at."""
    return fitted(cls, *data(outliers=outliers))


@functools.cache
def known_copies(cls, *values):
    """What a model says of clean data and of these values at one point."""
    return diagnose(fitted(cls, *with_copies(*values)))


@pytest.fixture
def clean(surrogate):
    return known(surrogate)


class TestContract:
    def test_botorch_arguments_are_positional_and_options_are_not(self, surrogate):
        *given, options = list(inspect.signature(surrogate.__init__).parameters.values())[1:]
        assert tuple(p.name for p in given) == BOTORCH_ARGUMENTS
        assert options.kind is options.VAR_KEYWORD

    def test_an_option_that_there_is_not_is_answered_with_those_that_there_are(self, surrogate):
        known = sorted(own_options(surrogate))
        with pytest.raises(
            TypeError, match=rf"has the options {re.escape(str(known))}, got '{known[0]}s'; did you mean"
        ):
            surrogate(*data(6), **{f"{known[0]}s": 1})

    def test_options_reach_it_through_construct_inputs(self, surrogate):
        """As Ax hands over its ``model_options``."""
        options = dataclasses.asdict(surrogate.options_class())
        X, Y = data(6)
        training = SupervisedDataset(X, Y, feature_names=["a", "b"], outcome_names=["y"])
        model = surrogate(**surrogate.construct_inputs(training, **options))
        assert model.train_targets.shape == (6,)
        assert dataclasses.asdict(model.options) == options

    @pytest.mark.few(12)
    @pytest.mark.parametrize("batch", [(), (2,), (3, 2)])
    def test_posterior_has_the_shape_of_the_question(self, clean, batch):
        posterior = clean.posterior(torch.rand(*batch, 4, 2))
        assert posterior.mean.shape == posterior.variance.shape == (*batch, 4, 1)
        assert posterior.rsample(torch.Size([5])).shape == (5, *batch, 4, 1)

    def test_posterior_has_gradients_that_agree_with_differences(self, clean):
        def mean_and_variance(X):
            posterior = clean.posterior(X)
            return posterior.mean, posterior.variance

        assert torch.autograd.gradcheck(mean_and_variance, (torch.rand(3, 2, requires_grad=True),), atol=1e-4)

    def test_state_can_be_loaded_onto_fewer_rows(self, surrogate, clean):
        X, Y = data()
        other = surrogate(X[:11], Y[:11])
        other.load_state_dict(clean.state_dict(), keep_transforms=False)
        other.eval()
        theirs, ours = clean.state_dict(), other.state_dict()
        assert all(torch.equal(theirs[key], ours[key]) for key in theirs if not key.startswith("outcome_transform"))
        assert other.posterior(X).mean.isfinite().all()

    @able(trims=False)
    def test_clean_data_give_nearly_the_plain_gp(self, surrogate):
        grid = torch.rand(50, 2, generator=torch.Generator().manual_seed(1))
        assert rmse(known(surrogate), grid) < 1.5 * rmse(known(SingleTaskGP), grid)

    @able(is_robust=True)
    def test_gross_outliers_are_shrugged_off_where_robustness_is_claimed(self, surrogate):
        grid = torch.rand(50, 2, generator=torch.Generator().manual_seed(1))
        model = known(surrogate, 0.2)
        assert rmse(model, grid) < 0.2 * rmse(known(SingleTaskGP, 0.2), grid)
        assert diagnose(model).is_outlier.nonzero().flatten().tolist() == list(range(6))

    def test_diagnosis_speaks_the_outcomes_units(self, clean):
        _, Y = data()
        found = diagnose(clean)
        assert all(entry.shape == (30,) for entry in found if entry is not None)
        assert (found.expected - Y.squeeze(-1)).abs().median() < 0.2
        assert (found.expected - Y.squeeze(-1)).abs().max() < 1.5
        assert (found.sd > 0).all()
        assert (found.evidence >= 0).all()

    @pytest.mark.few(12)
    @able(leaves_one_out=True)
    @pytest.mark.parametrize("outliers", [0.0, 0.2])
    def test_leaving_one_out_is_that_of_a_dense_slow_twin(self, surrogate, outliers):
        model = known(surrogate, outliers)
        if isinstance(model, PursuitBelief):
            return  # which leaves it out of all that is sampled: tests/numerics/belief/test_left_out.py
        found = diagnose(model)
        expected, sd = expectations_in_outcome_units(outcome_transform(model), model.train_targets, *left_out(model))
        torch.testing.assert_close(found.expected, expected, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(found.sd, sd, rtol=1e-5, atol=1e-6)

    def test_slopes_of_what_a_fit_maximizes_agree_with_differences(self, surrogate):
        model = fitted(surrogate, *data(12))
        mll = marginal_log_likelihood(model).train()
        of = mll.model  # of a variational one, the inner model

        def value():
            X = model.train_inputs[0]
            return mll(of(X), model.train_targets, *([] if of is not model else [[X]]))

        free = [p for p in mll.parameters() if p.requires_grad and p.numel()]
        with torch.no_grad():  # away from the maximum, where they would be zero
            for p in free:
                p.mul_(1.1)
        slopes = torch.autograd.grad(value(), free, allow_unused=True)
        for p, slope in zip(free, slopes, strict=True):
            differences = torch.stack([difference(value, p, i) for i in range(min(p.numel(), 3))])
            known = torch.zeros_like(p) if slope is None else slope
            torch.testing.assert_close(known.flatten()[:3], differences, rtol=1e-3, atol=1e-6)

    @pytest.mark.few(24)
    @pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
    def test_few_observations_will_do(self, surrogate, n):
        model = fitted(surrogate, *data(n))
        assert model.posterior(torch.rand(3, 2)).mean.isfinite().all()
        assert all(entry.isfinite().all() for entry in diagnose(model) if entry is not None)

    def test_equal_values_and_repeated_points_will_do(self, surrogate):
        X = torch.rand(4, 2).repeat(2, 1)
        for Y in (torch.full((8, 1), 3.0), torch.arange(8.0).unsqueeze(-1)):
            posterior = fitted(surrogate, X, Y).posterior(X)
            assert posterior.mean.isfinite().all()
            assert (posterior.variance >= 0).all()

    @pytest.mark.few(12)
    @pytest.mark.parametrize("value", [0.2, 4.0])
    @able(leaves_one_out=True)
    def test_the_evidence_of_one_copy_sees_the_other(self, surrogate, value):
        """A copy with the same value clears it: alone it was far more suspicious."""
        alone, copied = known_copies(surrogate, value), known_copies(surrogate, value, value)
        assert copied.evidence[-1] <= alone.evidence[-1] + 0.1
        assert (copied.expected[-1] - value).abs() < (alone.expected[-1] - value).abs() + 0.05

    @pytest.mark.few(12)
    @pytest.mark.parametrize("value", [2.0, 4.0])
    @able(hears_replicates=True)
    def test_two_that_agree_clear_each_other(self, surrogate, value):
        assert flagged_copies(surrogate, value, value) == []

    @able(is_robust=True)
    def test_two_that_disagree_are_judged_with_the_neighbours(self, surrogate):
        assert flagged_copies(surrogate, 20.0, None) == [0]
        assert flagged_copies(surrogate, None, 20.0) == [1]

    @pytest.mark.few(7)
    @pytest.mark.parametrize("place", [0, 1, 2])
    @able(is_robust=True, hears_replicates=True)
    def test_of_three_the_majority_is_believed(self, surrogate, place):
        values = [3.0, 3.02]
        values.insert(place, -20.0)
        assert flagged_copies(surrogate, *values) == [place]

    def test_inputs_may_be_transformed(self, surrogate):
        """BoTorch swaps the training inputs for transformed ones, and back, as the mode changes."""
        X, Y = data(12)
        with quiet():
            model = surrogate(10 * X, Y, input_transform=Normalize(d=2))
            fit_gpytorch_mll(marginal_log_likelihood(model))
        posterior = model.eval().posterior(10 * X)
        assert (posterior.mean - Y).square().mean().sqrt() < 0.5
        model.train()
        torch.testing.assert_close(model.eval().posterior(10 * X).mean, posterior.mean)
        assert all(entry.isfinite().all() for entry in diagnose(model) if entry is not None)

    def test_known_noise_is_honoured(self, surrogate):
        X, Y = data(12)
        trusting, doubting = (fitted(surrogate, X, Y, torch.full_like(Y, v)) for v in (1e-4, 1.0))
        assert rmse_at_data(trusting, X, Y) < 0.5 * rmse_at_data(doubting, X, Y)


def difference(value, p, i, step=1e-6):
    """The slope of a value in one entry of a parameter, by what it is on both sides."""
    sides = []
    for move in (step, -step):
        with torch.no_grad():
            before = p.clone()
            p.view(-1)[i] += move
            sides.append(value().detach())
            p.copy_(before)
    return (sides[0] - sides[1]) / (2 * step)


def with_copies(*values):
    """30 clean observations, and these values (None for a clean one) measured at one point."""
    X, Y = data()
    point = torch.tensor([[0.5, 0.5]]).to(X)
    wanted = [truth(point).item() if value is None else value for value in values]
    return torch.cat([X, point.repeat(len(values), 1)]), torch.cat([Y, torch.tensor(wanted).to(Y).unsqueeze(-1)])


def flagged_copies(surrogate, *values):
    return known_copies(surrogate, *values).is_outlier[30:].nonzero().flatten().tolist()


def rmse_at_data(model, X, Y):
    return (model.posterior(X).mean - Y).square().mean().sqrt().item()


def test_warnings_outside_a_quiet_block_are_heard():
    with quiet():
        warnings.warn("hush", DeprecationWarning, stacklevel=1)
    with pytest.warns(DeprecationWarning, match="heard"):
        warnings.warn("heard", DeprecationWarning, stacklevel=1)
