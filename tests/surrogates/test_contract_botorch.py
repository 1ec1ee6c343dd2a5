"""What BoTorch makes of a fitted model: every surrogate does it right, or says that it cannot, and what to do."""

import pickle
from copy import deepcopy

import pytest
import torch
from botorch.cross_validation import efficient_loo_cv
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP, SingleTaskVariationalGP
from botorch.models.transforms.input import Normalize
from botorch.models.utils import gpt_posterior_settings
from botorch.sampling.normal import SobolQMCNormalSampler
from botorch.sampling.pathwise import draw_matheron_paths
from botorch.sampling.pathwise.features import KernelEvaluationMap
from botorch.sampling.pathwise.paths import GeneralizedLinearPath

from robustbo.surrogates.baselines.botorch_relevance_pursuit import BoTorchRelevancePursuitGP as Peer
from robustbo.surrogates.committee.model import CommitteeGP
from robustbo.surrogates.common.cached_posterior import CachedPosterior
from robustbo.surrogates.common.contract import diagnose, marginal_log_likelihood, quiet
from robustbo.surrogates.common.no_fantasies import NoFantasies
from robustbo.surrogates.pursuit.belief import PursuitBelief
from robustbo.surrogates.student_t_process.model import StudentTProcess
from tests.surrogates.dense import left_out
from tests.surrogates.test_contract import CLASSES, data, fitted

Z = torch.rand(6, 2, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
CONDITIONED = [cls for cls in CLASSES if not issubclass(cls, NoFantasies)]
PATHLESS = [StudentTProcess, CommitteeGP]
EXACT = [cls for cls in CLASSES if not issubclass(cls, CachedPosterior | SingleTaskVariationalGP)]


def each(classes):
    return pytest.mark.parametrize("cls", classes, ids=lambda cls: cls.__name__)


def all_but(classes):
    return [cls for cls in CLASSES if cls not in classes]


@pytest.fixture(scope="module")
def models():
    """Fitted models by class and whether the noise is known; with outliers, three of thirty."""
    kept = {}

    def of(cls, is_known=False):
        if (cls, is_known) not in kept:
            X, Y = data(outliers=0.1)
            kept[cls, is_known] = fitted(
                cls, X, Y, torch.linspace(0.002, 0.004, 30).unsqueeze(-1) if is_known else None
            )
        return kept[cls, is_known]

    return of


def inside(model, X):
    """Mean and variance of the latent values in the model's own units."""
    with torch.no_grad(), gpt_posterior_settings():
        found = (model.model if isinstance(model, SingleTaskVariationalGP) else model).eval()(model.transform_inputs(X))
    return found.mean, found.variance


def own_variances(model):
    """The ``n`` variances with which a model's observations enter, and those of new measurements there."""
    if isinstance(model, Peer):
        noise = model.likelihood.noise_covar.base_noise.noise.expand(30)
        return noise + model._outlier_variances(), noise
    noise = model.likelihood.noise.detach().expand(30)
    return noise + model._rho, noise


def built(model, X, y, variances):
    """Predictions in its own units of a model that is built with more observations and with all variances known."""
    N = torch.cat([own_variances(model)[0], variances]).unsqueeze(-1)
    with quiet():  # of outcomes that are not standardized
        twin = SingleTaskGP(
            torch.cat([model.train_inputs[0], X]),
            torch.cat([model.train_targets, y]).unsqueeze(-1),
            N,
            covar_module=deepcopy(model.covar_module),
            mean_module=deepcopy(model.mean_module),
            outcome_transform=None,
        )
    twin.likelihood.noise = N.squeeze(-1)  # GPyTorch has raised what is very small
    return inside(twin, Z)


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one.squeeze(), other, rtol=1e-4, atol=1e-6)


def exact_prior(model, sample_shape):
    """Samples of the prior at the data and at Z, where BoTorch's by random features would be near it."""
    of = model.model if isinstance(model, SingleTaskVariationalGP) else model
    P = torch.cat([model.train_inputs[0], Z]).detach()
    L = torch.linalg.cholesky(of.covar_module(P).to_dense() + 1e-10 * torch.eye(len(P)).to(P)).detach()
    z = torch.randn(*sample_shape, len(P), dtype=P.dtype)
    weight = torch.linalg.solve_triangular(L.mT, z.unsqueeze(-1), upper=True).squeeze(-1)
    return GeneralizedLinearPath(KernelEvaluationMap(of.covar_module, P), weight, of.mean_module)


class TestMoreObservations:
    X, Y = torch.tensor([[0.2, 0.3], [0.9, 0.1]]).double(), torch.tensor([[1.2], [-0.5]]).double()

    @pytest.mark.few(14)
    @pytest.mark.parametrize("is_known", [False, True])
    @pytest.mark.parametrize("noise", [None, 0.05])
    @each(CONDITIONED)
    def test_give_the_model_that_is_built_with_known_variances(self, cls, noise, is_known, models):
        model = models(cls, is_known)
        model.posterior(Z)
        y = model.outcome_transform(self.Y)[0].squeeze(-1)
        variances = own_variances(model)[1].mean().expand(2) if noise is None else torch.full((2,), noise)
        given = {} if noise is None else {"noise": torch.full((2, 1), noise)}
        more = model.condition_on_observations(self.X, self.Y, **given)
        assert_same(inside(more, Z), built(model, self.X, y, variances))

    @each(CONDITIONED)
    def test_twice_is_as_at_once(self, cls, models):
        model = models(cls)
        once = model.condition_on_observations(self.X, self.Y)
        twice = model.condition_on_observations(self.X[:1], self.Y[:1])
        twice.posterior(Z)
        assert_same(inside(twice.condition_on_observations(self.X[1:], self.Y[1:]), Z), inside(once, Z))

    @each(CONDITIONED)
    def test_at_the_points_of_the_data_they_are_no_outliers(self, cls, models):
        """All measured once more: the second value of an outlier's point counts as any."""
        model = models(cls)
        X, y = model.train_inputs[0], model.train_targets.clamp(max=model.train_targets.median() + 0.5)
        Y = model.outcome_transform.untransform(y.unsqueeze(-1))[0]
        more = model.condition_on_observations(X, Y)
        y = model.outcome_transform(Y)[0].squeeze(-1)
        assert_same(inside(more, Z), built(model, X, y, own_variances(model)[1]))

    @pytest.mark.few(7)
    @pytest.mark.parametrize("is_known", [False, True])
    @each(CONDITIONED)
    def test_imagined_ones_do_so_in_any_batch(self, cls, is_known, models):
        model, X = models(cls, is_known), torch.rand(3, 2, 2, generator=torch.Generator().manual_seed(1)).double()
        usual = own_variances(model)[1].mean()
        for how, noise in (({}, usual), ({"observation_noise": torch.full((1, 1), 0.05)}, torch.tensor(0.05))):
            fantasies = model.fantasize(X, SobolQMCNormalSampler(torch.Size([2]), seed=0), **how)
            mean, variance = inside(fantasies, Z)
            variance = variance.expand_as(mean)
            assert mean.shape == (2, 3, 6)
            for i in range(2):
                for j in range(3):
                    y = fantasies.train_targets[i, j, 30:]
                    assert_same((mean[i, j], variance[i, j]), built(model, X[j], y, noise.expand(2)))

    @pytest.mark.few(3)
    @each(CONDITIONED)
    def test_may_be_transformed(self, cls):
        X, Y = data(outliers=0.1)
        with quiet():
            model = cls(10 * X, Y, input_transform=Normalize(d=2))
            fit_gpytorch_mll(marginal_log_likelihood(model))
        model.eval().posterior(10 * Z)
        more = model.condition_on_observations(10 * self.X, self.Y)
        y, X = model.outcome_transform(self.Y)[0].squeeze(-1), model.transform_inputs(10 * self.X)
        twin = built(model, X, y, own_variances(model)[1].mean().expand(2))
        with torch.no_grad(), gpt_posterior_settings():
            found = more.eval()(Z)
        assert_same((found.mean, found.variance), twin)
        more.train()
        with torch.no_grad(), gpt_posterior_settings():
            found = more.eval()(Z)
        assert_same((found.mean, found.variance), twin)

    @each([cls for cls in CLASSES if cls not in CONDITIONED])
    def test_are_refused_with_what_to_do_by_the_others(self, cls, models):
        model = models(cls)
        match = f"{cls.__name__} has no fantasies; fit a new one to all observations"
        with pytest.raises(NotImplementedError, match=match):
            model.condition_on_observations(self.X, self.Y)
        with pytest.raises(NotImplementedError, match=match):
            model.fantasize(self.X, SobolQMCNormalSampler(torch.Size([2]), seed=0))


class TestSamplePaths:
    @pytest.mark.few(10)
    @pytest.mark.parametrize("is_known", [False, True])
    @each(all_but(PATHLESS))
    def test_have_mean_and_spread_of_the_posterior(self, cls, is_known, models):
        model = models(cls, is_known)
        torch.manual_seed(0)
        paths = draw_matheron_paths(model, torch.Size([2048]), prior_sampler=exact_prior)
        for part in paths.modules():
            if hasattr(part, "output_transform"):
                part.output_transform = None  # in the model's own units, in which the posterior is normal
        values, (mean, variance) = paths(Z).detach(), inside(model, Z)
        assert ((values.mean(0) - mean).abs() < 4.5 * (variance / 2048).sqrt()).all()
        torch.testing.assert_close(values.std(0), variance.sqrt(), rtol=0.1, atol=1e-4)

    @each(PATHLESS)
    def test_are_refused_with_what_to_do_by_the_others(self, cls, models):
        with pytest.raises(NotImplementedError, match=f"{cls.__name__} has no sample paths; draw joint samples"):
            draw_matheron_paths(models(cls), torch.Size([4]))


class TestLeavingOneOut:
    @pytest.mark.parametrize("is_known", [False, True])
    @each(EXACT)
    def test_is_that_of_a_slow_twin(self, cls, is_known, models):
        model = models(cls, is_known)
        total, noise = own_variances(model)
        expected, sd = left_out(model)
        found = efficient_loo_cv(model, untransform=False).posterior
        torch.testing.assert_close(found.mean.flatten(), expected, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(found.variance.flatten(), sd.square() - noise + total, rtol=1e-4, atol=1e-6)
        latent = efficient_loo_cv(model, observation_noise=False, untransform=False).posterior.variance.flatten()
        is_usual = total < 10 * noise
        torch.testing.assert_close(latent[is_usual], (sd.square() - noise)[is_usual], rtol=1e-4, atol=1e-6)
        if cls is not Peer:  # BoTorch subtracts another variance than it has added there
            rounding = 1e-10 * total.max().item()  # of a variance from which a much larger one is subtracted
            torch.testing.assert_close(latent, sd.square() - noise, rtol=1e-4, atol=1e-6 + rounding)

    @each([cls for cls in EXACT if not issubclass(cls, PursuitBelief)])  # which expects what its draws do
    def test_expects_what_the_diagnosis_does(self, cls, models):
        model = models(cls)
        found = efficient_loo_cv(model).posterior.mean.flatten()
        torch.testing.assert_close(found, diagnose(model).expected, rtol=1e-4, atol=1e-5)

    @each([cls for cls in CLASSES if issubclass(cls, CachedPosterior)])
    def test_is_refused_with_what_to_do_where_it_would_be_wrong(self, cls, models):
        with pytest.raises(NotImplementedError, match=r"diagnose\(model\)"):
            efficient_loo_cv(models(cls))


class TestCopies:
    @pytest.mark.few(24)
    @pytest.mark.parametrize("is_known", [False, True])
    @pytest.mark.parametrize(
        "copied", [deepcopy, lambda model: pickle.loads(pickle.dumps(model))], ids=["deep", "pickle"]
    )
    @each(CLASSES)
    def test_predict_and_judge_alike(self, cls, copied, is_known, models):
        model = models(cls, is_known)
        other = copied(model)
        assert torch.equal(other.posterior(Z).mean, model.posterior(Z).mean)
        assert torch.equal(other.posterior(Z).variance, model.posterior(Z).variance)
        for one, of_copy in zip(diagnose(model), diagnose(other), strict=True):
            assert (one is None and of_copy is None) or torch.equal(one, of_copy)

    @each(CLASSES)
    def test_of_a_model_with_a_loaded_state_too(self, cls, models):
        model = models(cls)
        other = cls(*data(outliers=0.1))
        other.load_state_dict(model.state_dict())
        other.eval()
        copied = pickle.loads(pickle.dumps(other))
        assert torch.equal(copied.posterior(Z).mean, other.posterior(Z).mean)


@pytest.mark.few(3)
@each([cls for cls in EXACT if cls is not Peer])
def test_the_outliers_of_other_data_are_found_anew(cls):
    X, Y = data(outliers=0.1)
    with quiet():
        model, other = (cls(X[rows], Y[rows], outcome_transform=None) for rows in (slice(12, None), slice(0, 20)))
        fit_gpytorch_mll(marginal_log_likelihood(model))
        other.load_state_dict(model.state_dict())
        model.set_train_data(X[:20], Y[:20].squeeze(-1), strict=False)
    assert model.support == other.support
    assert_same(inside(model, Z), inside(other, Z))


class TestNoise:
    @each(CLASSES)
    def test_of_a_tensor_all_is_added_once(self, cls, models):
        model = models(cls)
        noise = torch.linspace(0.2, 0.4, 6).unsqueeze(-1)
        latent, noisy = model.posterior(Z), model.posterior(Z, observation_noise=noise)
        mean, _ = inside(model, Z)
        _, expected = model.outcome_transform.untransform(mean.unsqueeze(-1), noise)
        torch.testing.assert_close(noisy.variance - latent.variance, expected, rtol=1e-5, atol=1e-8)
        torch.testing.assert_close(noisy.mean, latent.mean)

    @pytest.mark.parametrize("is_known", [False, True])
    @each(CLASSES)
    def test_of_a_measurement_widens_the_prediction_in_any_batch(self, cls, is_known, models):
        model = models(cls, is_known)
        X = torch.rand(2, 3, 2, dtype=torch.float64, requires_grad=True)
        latent, noisy = model.posterior(X), model.posterior(X, observation_noise=True)
        assert noisy.variance.shape == (2, 3, 1)
        assert (noisy.variance > latent.variance).all()
        noisy.variance.sum().backward()
        assert X.grad.isfinite().all()
