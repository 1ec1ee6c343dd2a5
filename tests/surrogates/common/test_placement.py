"""Data in single precision, and on another device: a stand-in for one, since tests run without."""

from copy import deepcopy

import pytest
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.models import ModelListGP

from robustbo.surrogates.baselines.standard import StandardGP
from robustbo.surrogates.committee.model import CommitteeGP
from robustbo.surrogates.common.contract import diagnose, fit, marginals, probability_right, quantiles
from robustbo.surrogates.iterative.model import ComputationAwareGP
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.student_t.model import StudentTGP
from robustbo.surrogates.student_t_process.model import StudentTProcess
from robustbo.surrogates.weighted.model import ConjugateGP
from tests.surrogates.elsewhere import DEVICE, Elsewhere, Watch

X = torch.rand(13, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
Y = torch.sin(6 * X[:, :1]) + X[:, 1:] ** 2
Y[3] += 20
Z = torch.rand(2, 3, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
CLASSES = [StandardGP, RelevancePursuitGP, ConjugateGP, CommitteeGP, StudentTGP, StudentTProcess, ComputationAwareGP]


@pytest.fixture(scope="module")
def models():
    return {cls: fit(cls(X, Y)) for cls in CLASSES}


@pytest.fixture(scope="module")
def pursuit(models):
    return models[RelevancePursuitGP]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_predictions_are_in_the_type_of_the_points(cls, models):
    model = models[cls]
    points = Z.float().requires_grad_()
    posterior, precise = model.posterior(points), model.posterior(points.detach().double())
    for found, expected in ((posterior.mean, precise.mean), (posterior.variance, precise.variance)):
        assert found.dtype == torch.float32
        torch.testing.assert_close(found, expected.float())
    posterior.mean.sum().backward()
    assert points.grad.dtype == torch.float32
    assert posterior.rsample(torch.Size([2])).dtype == torch.float32
    assert {of.dtype for of in marginals(model, Z[0].float())} == {torch.float32}
    assert quantiles(model, Z[0].float(), [-1.0]).dtype == torch.float32


def test_a_fit_to_single_precision_is_that_to_the_same_numbers():
    one, other = fit(StandardGP(X.float(), Y.float())), fit(StandardGP(X.float().double(), Y.float().double()))
    assert torch.equal(one.posterior(Z).mean, other.posterior(Z).mean)
    more = one.condition_on_observations(X[:2].float(), Y[:2].float())
    assert more.posterior(Z.float()).mean.dtype == torch.float32


def test_whole_numbers_and_several_devices_are_refused():
    with pytest.raises(ValueError, match=r"float32 or torch.float64, got train_X torch.float64, train_Y torch.int64; "):
        StandardGP(X, Y.long())
    with pytest.raises(ValueError, match=r"on one device, got train_X on cpu, train_Y on meta; call .to\(device\)"):
        StandardGP(X, torch.empty(13, 1, dtype=torch.float64, device="meta"))


@pytest.mark.few(3)
@pytest.mark.parametrize("cls", CLASSES[1:], ids=lambda cls: cls.__name__)
def test_a_model_predicts_where_it_has_been_moved_and_nothing_leaves_there(cls, models):
    model = models[cls]
    with Watch() as watch:
        there, points = deepcopy(model).to(DEVICE), Z.to(DEVICE).requires_grad_()
        watch.moves.clear()
        posterior = there.posterior(points)
        (posterior.mean.sum() + posterior.variance.sum()).backward()
        assert not watch.moves["back"]
        assert isinstance(points.grad, Elsewhere)
    here = model.posterior(Z)
    torch.testing.assert_close(posterior.mean.inner, here.mean, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(posterior.variance.inner, here.variance, rtol=1e-7, atol=1e-9)


def test_what_the_cpu_computes_comes_to_the_data_and_predictions_go_on(pursuit):
    with Watch():
        there = deepcopy(pursuit).to(DEVICE)
        before = there.posterior(Z.to(DEVICE)).mean
        expected, right = diagnose(there).expected.inner, probability_right(there).inner
        assert torch.equal(there.posterior(Z.to(DEVICE)).mean.inner, before.inner)
        assert quantiles(there, Z[0].to(DEVICE), [1.0]).device == DEVICE
    torch.testing.assert_close(expected, diagnose(pursuit).expected)
    torch.testing.assert_close(right, probability_right(pursuit))


def test_an_acquisition_function_has_gradients_there(pursuit):
    with Watch() as watch:
        there, points = deepcopy(pursuit).to(DEVICE), Z[:, :1].to(DEVICE).requires_grad_()
        watch.moves.clear()
        LogExpectedImprovement(there, torch.tensor(0.5, dtype=torch.float64, device=DEVICE))(points).sum().backward()
        assert not watch.moves["back"]
    here = Z[:, :1].clone().requires_grad_()
    LogExpectedImprovement(pursuit, 0.5)(here).sum().backward()
    torch.testing.assert_close(points.grad.inner, here.grad)


def test_a_fit_to_data_elsewhere_is_that_to_the_same_data_here():
    few = slice(0, 8)
    with Watch():
        there = fit(StudentTGP(X[few].to(DEVICE), Y[few].to(DEVICE)))
        assert {part.device for part in there.parameters()} == {DEVICE}
        found = there.posterior(Z.to(DEVICE)).mean.inner
    torch.testing.assert_close(found, fit(StudentTGP(X[few], Y[few])).posterior(Z).mean)


def test_products_of_a_large_kernel_are_computed_where_the_data_are():
    few = slice(0, 8)
    with Watch():
        there = fit(ComputationAwareGP(X[few].to(DEVICE), Y[few].to(DEVICE), iterations=4))
        assert there.solution.belief.D.device == DEVICE
        found = there.posterior(Z.to(DEVICE)).mean.inner
    torch.testing.assert_close(found, fit(ComputationAwareGP(X[few], Y[few], iterations=4)).posterior(Z).mean)


def test_the_only_outcome_can_be_chosen_and_no_other(pursuit):
    assert torch.equal(pursuit.subset_output([0]).posterior(Z).mean, pursuit.posterior(Z).mean)
    with pytest.raises(ValueError, match=r"idcs must be \[0\], since RelevancePursuitGP has one outcome, got \[1\]"):
        pursuit.subset_output([1])


def test_models_make_a_list(models):
    of = models[RelevancePursuitGP], models[StandardGP]
    several = ModelListGP(*of)
    assert torch.equal(several.posterior(Z).mean, torch.cat([model.posterior(Z).mean for model in of], -1))
    assert torch.equal(several.subset_output([1]).posterior(Z).mean, of[1].posterior(Z).mean)
    more = several.condition_on_observations([X[:2], X[:2]], Y[:2].expand(2, 2))
    assert more.posterior(Z).mean.shape == (2, 3, 2)
    twin = ModelListGP(*(type(model)(X, Y) for model in of))
    twin.load_state_dict(several.state_dict())
    torch.testing.assert_close(twin.eval().models[1].posterior(Z).mean, of[1].posterior(Z).mean)
