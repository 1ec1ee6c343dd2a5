import copy
from threading import Thread

import pytest
import torch
from botorch.models import SingleTaskGP
from botorch.sampling.pathwise import draw_matheron_paths
from botorch.utils.sampling import draw_sobol_normal_samples
from gpytorch.kernels import MaternKernel, ScaleKernel

from robustbo.loop.acquisition.build import build_acquisition
from robustbo.loop.acquisition.log_nei import NUM_SAMPLES
from robustbo.numerics.belief import draws
from robustbo.numerics.gp.kernels import KERNELS, squared_differences
from robustbo.numerics.improvement.noisy import log_improvement, over
from robustbo.numerics.pursuit.averaging import moments, probabilities
from robustbo.numerics.pursuit.walk import best_per_support, plausible_levels
from robustbo.numerics.pursuit.warped import with_warp
from robustbo.surrogates.common.contract import diagnose, fit
from robustbo.surrogates.common.model_averaging import without_averaging
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.transforms.learned_warp import LearnedWarp

Z = torch.rand(7, 1, generator=torch.Generator().manual_seed(2), dtype=torch.float64)


def doubtful(n=16):
    """A sine, one value of which is better than its neighbours say: wrong, or a peak."""
    x = torch.arange(n) / (n - 1)
    y = torch.sin(3 * x) + 0.1 * torch.sin(40 * x)
    y[10] += 0.4
    return x.unsqueeze(-1), y.unsqueeze(-1)


@pytest.fixture(scope="module")
def of_all():
    return fit(RelevancePursuitGP(*doubtful()))


@pytest.fixture
def model(of_all):
    """One that a test may change."""
    return copy.deepcopy(of_all)


def test_it_is_the_mixture_of_its_draws_by_dense_formulas(model):
    X, y, drawn = model.train_inputs[0], model.search_model().y, model.belief().draws
    warps = [draw.theta[-3:] for draw in drawn]
    assert any(t.any() for t in warps) or all(t.equal(model._warp.t) for t in warps)
    means, variances = [], []
    for draw in drawn:
        l, s2f = draw.theta[:2].exp()
        k = KERNELS["matern52"](squared_differences(Z, X), l.unsqueeze(0), s2f).K
        own, u = copy.deepcopy(model._warp), draw.m + (k @ draw.root.mT) @ (draw.root @ (own_units(draw, y) - draw.m))
        own.t = draw.theta[-3:]
        sd = (s2f - (k @ draw.root.mT).square().sum(-1)).sqrt()
        normal = torch.linspace(-8, 8, 4001, dtype=torch.float64)
        density = torch.exp(-normal.square() / 2) / torch.exp(-normal.square() / 2).sum()
        through = model._warp.bend(own.unbend(u.unsqueeze(-1) + sd.unsqueeze(-1) * normal))
        means.append(through @ density)
        variances.append((through - means[-1].unsqueeze(-1)).square() @ density)
    w = torch.tensor([draw.weight for draw in drawn], dtype=torch.float64)
    mean, spread = (
        w @ torch.stack(means),
        torch.stack(variances) + (torch.stack(means) - w @ torch.stack(means)).square(),
    )
    said = model.eval()(Z)
    torch.testing.assert_close(said.mean, mean, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(said.variance, w @ spread, rtol=1e-2, atol=1e-4)


def own_units(draw, y):
    """Outcomes before a warp in the units of a draw's."""
    bent = LearnedWarp()
    bent.t = draw.theta[-3:]
    return bent.bend(y)


def test_of_many_values_it_is_the_mixture_of_its_fits_by_their_dense_formulas(monkeypatch):
    monkeypatch.setattr(draws, "MOST", 0)
    model = fit(RelevancePursuitGP(*doubtful()))
    X, y = model.train_inputs[0], model.train_targets
    price = model.options.penalty(model.search_model())
    levels = with_warp(model.search_model(), model.map_estimate, plausible_levels(model.trace, price))
    fits = best_per_support([model.map_estimate, *levels])
    weights = probabilities([found.F - price.total(found.support) for found in fits])
    assert [w for w in weights if w] == [component.weight for component in model.components]
    assert not model._draws()
    means, covariances = [], []
    for found in fits:
        l, s2f, s2 = found.theta[:3].exp()

        def kernel(A, B, l=l, s2f=s2f):
            return KERNELS["matern52"](squared_differences(A, B), l.unsqueeze(0), s2f).K

        Sg_inverse = torch.linalg.inv(kernel(X, X) + torch.diag(s2 + found.rho))
        m, k = Sg_inverse.sum(0) @ y / Sg_inverse.sum(), kernel(Z, X)
        means.append(m + k @ Sg_inverse @ (y - m))
        covariances.append(kernel(Z, Z) - k @ Sg_inverse @ k.T)
    mean = sum(w * mu for w, mu in zip(weights, means, strict=True))
    spread = [C + torch.outer(mu - mean, mu - mean) for mu, C in zip(means, covariances, strict=True)]
    said = model.eval()(Z)
    torch.testing.assert_close(said.mean, mean)
    wanted = sum(w * C for w, C in zip(weights, spread, strict=True))
    torch.testing.assert_close(said.covariance_matrix, wanted, rtol=1e-5, atol=1e-8)


@pytest.mark.slow
def test_the_magnitude_of_what_is_wrong_changes_nothing():
    X, Y = doubtful()
    said = []
    for magnitude in (1e3, 1e6, 1e12):
        wrong = Y.clone()
        wrong[4] += magnitude
        said.append(fit(RelevancePursuitGP(X, wrong)).posterior(Z))
    for other in said[1:]:
        torch.testing.assert_close(other.mean, said[0].mean, atol=1e-2, rtol=0)
        torch.testing.assert_close(other.variance.sqrt(), said[0].variance.sqrt(), atol=1e-2, rtol=0)


def test_the_acquisition_is_that_of_the_mixture(model):
    X = doubtful()[0]
    function = build_acquisition("auto", model, X, None, seed=0)
    weights, latents = zip(*model.latents(), strict=True)
    assert len(weights) > 1
    base = X.unique(dim=0)
    normal = draw_sobol_normal_samples(len(base), NUM_SAMPLES, dtype=X.dtype, seed=0)
    alone = torch.zeros(1)
    is_in = (base.unsqueeze(1) == torch.from_numpy(function._to.processes.XZ[len(X) :])).all(-1).any(-1)
    found = [over([latent], alone, base, normal, required=is_in) for latent in latents]
    parts = torch.stack([log_improvement(each, Z)[0].exp() for each in found])
    torch.testing.assert_close(function(Z.unsqueeze(1)).exp(), torch.tensor(weights) @ parts)


def test_it_is_less_sure_where_the_fits_disagree(model):
    X = doubtful()[0][10:11]
    sd = model.posterior(X).variance.sqrt()
    assert sd > 1.3 * without_averaging(model).posterior(X).variance.sqrt()
    assert model.support == [10]
    assert diagnose(model).is_outlier.nonzero().flatten().tolist() == [10]


def test_predicting_by_one_fit_leaves_the_others_as_they_are(model):
    """In another thread at the same time: each says all along what it says on its own."""
    one, both = without_averaging(model), {}

    def ask(name, asked):
        both[name] = [asked().posterior(Z).mean for _ in range(20)]

    threads = [
        Thread(target=ask, args=pair) for pair in (("all", lambda: model), ("one", lambda: without_averaging(model)))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(one.components) == 1 < len(model.components)
    assert all(mean.equal(model.posterior(Z).mean) for mean in both["all"])
    assert all(mean.equal(one.posterior(Z).mean) for mean in both["one"])
    assert not model.posterior(Z).mean.equal(one.posterior(Z).mean)


def test_the_noise_of_a_new_value_is_averaged(model):
    latent, noisy = (model.posterior(Z, observation_noise=flag).variance for flag in (False, True))
    slope = model.outcome_transform.stretch(model(Z).mean).square() * model.outcome_transform.stdvs.square().squeeze()
    expected = sum(component.weight * component.s2 for component in model.components)
    torch.testing.assert_close((noisy - latent).squeeze(-1), slope * expected * model.belief().noise_multiple)


def test_of_many_values_of_which_only_one_fit_is_plausible_it_is_that_to_the_last_bit(monkeypatch):
    monkeypatch.setattr(draws, "MOST", 0)
    many, one = (fit(RelevancePursuitGP(*doubtful(), num_outliers=1, is_averaged=flag)) for flag in (True, False))
    assert len(many.components) == 1
    assert many.posterior(Z).mean.equal(one.posterior(Z).mean)
    assert many.posterior(Z).variance.equal(one.posterior(Z).variance)


def test_the_fits_are_those_of_these_data_and_parameters(model):
    X, Y = doubtful()
    turned = fit(RelevancePursuitGP(X, Y))
    turned.set_train_data(turned.train_inputs[0].flip(0), strict=False)
    assert turned.components == ()
    model.set_train_data(targets=model.train_targets + 1e-3, strict=False)
    assert model.components == ()
    moved = fit(RelevancePursuitGP(X, Y))
    moved.covar_module.outputscale = 2.0
    assert moved.components == ()
    loaded = RelevancePursuitGP(X, Y)
    loaded.load_state_dict(moved.state_dict())
    assert loaded.eval().components == ()


def test_training_and_back_changes_nothing(model):
    before = model.posterior(Z).mean
    model.train()
    assert model.eval().posterior(Z).mean.equal(before)


def test_fantasies_are_those_of_the_one_fit(model):
    X, Y = torch.tensor([[0.33], [0.9]]), torch.tensor([[0.8], [0.2]])
    more, transform = model.condition_on_observations(X, Y), model.outcome_transform
    known = torch.cat([model.likelihood.noise + model._rho, model.likelihood.noise.expand(2)]).detach().unsqueeze(-1)
    y = torch.cat([model.train_targets, transform(Y)[0].squeeze(-1)]).unsqueeze(-1)
    twin = SingleTaskGP(
        torch.cat([model.train_inputs[0], X]),
        y,
        known,
        covar_module=model.covar_module,
        mean_module=model.mean_module,
        outcome_transform=None,
    )
    found, expected = more(Z), twin.eval()(Z)
    torch.testing.assert_close(found.mean, expected.mean, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(found.variance, expected.variance, rtol=1e-4, atol=1e-6)
    assert more.support == model.support == [10]
    assert len(model.components) > 1


@pytest.mark.slow
def test_sample_paths_are_those_of_all_draws(model):
    torch.manual_seed(0)
    paths = draw_matheron_paths(model, torch.Size([16, 256]))
    values, posterior = paths(Z).detach(), model(Z)
    assert values.shape == (16, 256, 7)
    inside = model.outcome_transform(values.unsqueeze(-1))[0].flatten(0, 1).squeeze(-1)
    assert ((inside.mean(0) - posterior.mean).abs() < 4.5 * (posterior.variance / 4096).sqrt() + 1e-3).all()
    own = paths(Z.expand(16, 256, 7, 1)).detach()  # each at points of its own, as where each is maximized
    torch.testing.assert_close(own, values)
    torch.testing.assert_close(paths(Z.expand(3, 1, 1, 7, 1)).detach(), values.expand(3, 16, 256, 7))
    assert draw_matheron_paths(model, torch.Size([]))(Z).shape == (7,)


def test_gradients_agree_with_differences_at_the_data_too(model):
    at = torch.cat([Z[:2], doubtful()[0][9:11]]).requires_grad_()

    def moments(X):
        posterior = model.posterior(X)
        return posterior.mean, posterior.variance

    assert torch.autograd.gradcheck(moments, (at,), atol=1e-3)


def test_with_known_noise_it_averages_too():
    X, Y = doubtful()
    model = fit(RelevancePursuitGP(X, Y, torch.full_like(Y, 0.01)))
    assert model.posterior(Z, observation_noise=True).variance.isfinite().all()
    assert len(model.components) > 1


def test_a_kernel_of_ones_own_has_the_one_fit():
    model = fit(RelevancePursuitGP(*doubtful(), covar_module=ScaleKernel(MaternKernel(1.5))))
    assert model.components == ()


def test_no_fit_believes_a_recurring_value_at_some_points_only():
    """As a stuck sensor leaves it."""
    X = torch.rand(20, 2, generator=torch.Generator().manual_seed(3))
    Y = torch.sin(6 * X[:, :1]) + X[:, 1:]
    bad = list(range(0, 20, 4))
    Y[bad] = 2.5
    model = fit(RelevancePursuitGP(X, Y))
    assert model.support == bad
    assert any(set(bad) <= set(level.fit.support) for level in model.trace)
    assert all(
        set(bad) <= set(component.fit.support) or not set(bad) & set(component.fit.support)
        for component in model.components
    )


def test_alone_it_predicts_as_the_model_of_one_set():
    X, Y = doubtful()
    model, one = fit(RelevancePursuitGP(X, Y)), fit(RelevancePursuitGP(X, Y, is_averaged=False))
    assert len(model.components) > 1
    found = without_averaging(model).posterior(Z, observation_noise=True)
    expected = one.posterior(Z, observation_noise=True)
    torch.testing.assert_close(found.mean, expected.mean, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(found.variance, expected.variance, rtol=1e-6, atol=1e-6)


def dense(model, X):
    """Mean and covariance of the mixture, computed as a whole."""
    weights, processes = zip(*model.predictors(), strict=True)
    ks = [process.covariance(X, process.X) for process in processes]
    means = [process.mean(k) for process, k in zip(processes, ks, strict=True)]
    covariances = [process.posterior_covariance(X, k) for process, k in zip(processes, ks, strict=True)]
    return moments(X.new_tensor(weights), torch.stack(means), torch.stack(covariances))


@pytest.mark.few(2)
@pytest.mark.parametrize("shape", [(1, 1), (7, 1), (5, 3, 1), (2, 5, 3, 1)])
def test_what_is_computed_late_is_what_would_be_computed_at_once(model, shape):
    X = torch.rand(*shape, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    mean, covariance = dense(model, X)
    said = model.eval()(X)
    torch.testing.assert_close(said.mean, mean, rtol=0, atol=1e-8)
    torch.testing.assert_close(said.variance, covariance.diagonal(dim1=-2, dim2=-1), rtol=0, atol=1e-8)
    torch.testing.assert_close(said.covariance_matrix, covariance, rtol=0, atol=1e-8)
    scaled = said.add_jitter(0.1).lazy_covariance_matrix
    torch.testing.assert_close(scaled.diagonal(dim1=-2, dim2=-1), covariance.diagonal(dim1=-2, dim2=-1) + 0.1)
    posterior = model.posterior(X)
    assert posterior.variance.shape == posterior.rsample(torch.Size([2]))[0].shape == (*shape[:-1], 1)


def test_joint_samples_have_the_covariance_of_the_mixture(model):
    posterior = model.posterior(Z[:3])
    samples = posterior.rsample(torch.Size([20_000])).squeeze(-1)
    wanted = posterior.distribution.covariance_matrix
    scale = wanted.diagonal().sqrt()
    torch.testing.assert_close(
        samples.T.cov() / scale / scale[:, None], wanted / scale / scale[:, None], rtol=0, atol=0.05
    )


def test_variances_of_many_points_need_no_covariance(model, monkeypatch):
    def computed(*_):
        raise MemoryError("the whole covariance")

    monkeypatch.setattr(type(model.components[0].latent), "posterior_covariance", computed)
    posterior = model.posterior(torch.rand(4096, 1, generator=torch.Generator().manual_seed(5), dtype=torch.float64))
    assert posterior.mean.shape == posterior.variance.shape == (4096, 1)
    assert (posterior.variance > 0).all()


def test_the_adopted_fit_is_the_likeliest():
    """A limit of 5e6 beside values of about 13: with the warp of the chosen level another one climbs far higher."""
    points = [(3, 0.926), (5, 0.129), (8, 0.618), (1, 0.321), (2, 0.64), (9, 0.437), (2, 0.472), (3, 0.153), (1, 0.12)]
    points += [(4, 0.028), (4, 0.39), (4, 1.0), (4, 0.261), (9, 0.437), (9, 0.437), (9, 0.0), (4, 0.319), (9, 0.0)]
    points += [(4, 0.292), (5, 0.429), (9, 0.0), (8, 0.618)]
    X = torch.tensor(points, dtype=torch.float64)
    is_limit = (X[:, 0] >= 7) | ((X[:, 1] > 0.7) & (X[:, 0] == 3))
    y = torch.where(is_limit, 5e6, 12 + 0.5 * (X[:, 0] - 4).square() + 8 * (X[:, 1] - 0.3).square())
    model = fit(RelevancePursuitGP(X / X.new_tensor([9.0, 1.0]), y.unsqueeze(-1)))
    weights = [component.weight for component in model.components]
    assert weights[0] == max(weights)
    assert tuple(model.support) == model.components[0].fit.support == model.map_estimate.support
    assert torch.equal(model.map_estimate.theta, model.components[0].fit.theta)
    assert model.warm_start[0].best.fit is model.map_estimate
    assert sum(model.level_posterior) == pytest.approx(1)


def test_what_proves_likelier_is_taken_up(monkeypatch):
    """Whatever the averaging finds likelier than the pursuit did: here a level that climbs by ten nats more."""

    def climbed(_, __, levels):
        first, *rest = [level.fit for level in levels]
        return [first._replace(F=first.F + 50, theta=first.theta + 0.1), *rest]

    monkeypatch.setattr("robustbo.surrogates.pursuit.model.with_warp", climbed)
    model = fit(RelevancePursuitGP(*doubtful()))
    lead = model.components[0]
    assert lead.weight == max(component.weight for component in model.components)
    assert tuple(model.support) == lead.fit.support
    assert torch.equal(model.map_estimate.theta, lead.fit.theta)
    assert sum(torch.equal(level.fit.theta, lead.fit.theta) for level in model.trace) == 1
    assert model.warm_start[0].best.fit is lead.fit
    X = model.train_inputs[0]
    torch.testing.assert_close(without_averaging(model).eval()(X).mean, lead.latent.posterior(X)[0])
    assert model.posterior(X).mean.isfinite().all()
