import json
import math
from pathlib import Path

import mpmath
import pytest
import torch

from robustbo.numerics.committee import map_fit
from robustbo.numerics.committee.aggregation import COMBINE, latent
from robustbo.numerics.committee.evidence import SharedHyperparameters, build_experts, evidence, judge
from robustbo.numerics.committee.map_fit import CommitteeModel, search
from robustbo.numerics.committee.partition import random_parts, shard
from robustbo.numerics.gp import parameters
from robustbo.numerics.gp.kernels import KERNELS, squared_differences
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.parameters import LogNormal
from robustbo.numerics.student_t.map_fit import HeavyModel
from robustbo.numerics.student_t.map_fit import search as search_one
from robustbo.surrogates.common import priors

FIXTURE = json.loads((Path(__file__).parents[2] / "fixtures" / "rbcm_01.json").read_text())


def reference(is_normal):
    X, y, X_test = (torch.tensor(FIXTURE[key]) for key in ("X", "y", "X_test"))
    kernel, noise = FIXTURE["kernel"], FIXTURE["likelihood"]
    s2 = torch.tensor(FIXTURE["gaussian_noise_variance"] if is_normal else noise["sigma2"])
    nu = None if is_normal else torch.tensor(noise["nu"])
    shared = SharedHyperparameters(
        kernel["name"], torch.tensor(kernel["lengthscales"]), torch.tensor(kernel["variance"]), s2, nu, torch.zeros(())
    )
    return shard(X, y, [torch.tensor(rows) for rows in FIXTURE["partition"]]), shared, X_test


@pytest.mark.parametrize("model", ["student_t_signed_W", "gaussian"])
class TestTheReference:
    def test_experts_and_committees(self, model):
        shards, shared, X_test = reference(model == "gaussian")
        found = build_experts(shards, shared)
        D = squared_differences(X_test, shards.X)
        k = KERNELS[shared.kernel](D, shared.l, shared.s2f).K
        mu, v = latent(k, found, shared.s2f.expand(len(X_test)))
        for i, expert in enumerate(FIXTURE["models"][model]["experts"]):
            torch.testing.assert_close(mu[i], torch.tensor(expert["latent_mean"]), rtol=1e-9, atol=1e-9)
            torch.testing.assert_close(v[i], torch.tensor(expert["latent_var"]), rtol=1e-9, atol=1e-9)
        wanted = FIXTURE["models"][model]["combined"]["rbcm"]
        mean, variance = COMBINE["rbcm"](mu, v, torch.tensor(FIXTURE["prior_variance_at_test"]))
        torch.testing.assert_close(mean, torch.tensor(wanted["mean"]), rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(variance, torch.tensor(wanted["var"]), rtol=1e-9, atol=1e-9)

    def test_the_sum_of_the_evidences(self, model):
        shards, shared, _ = reference(model == "gaussian")
        name = "gaussian" if model == "gaussian" else "student_t_clamped_W"
        assert evidence(shards, shared).L.item() == pytest.approx(FIXTURE["models"][name]["sum_log_marginal"], rel=1e-9)


def data(n=50, seed=0):
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(n, 2, generator=generator)
    y = torch.sin(6 * X[:, 0]) + X[:, 1] ** 2 + 0.05 * torch.randn(n, generator=generator)
    y[:5] += 5.0
    return X, y


def model(num_experts, dof, known=False):
    X, y = data()
    parts = random_parts(len(y), num_experts, torch.Generator().manual_seed(1))
    shards = shard(X, y, parts, torch.linspace(0.01, 0.02, len(y)) if known else None)
    return CommitteeModel(
        shards, "matern52", priors.length_scale_prior(2), priors.SIGNAL_PRIOR, priors.NOISE_PRIOR, dof
    )


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("dof", [4.0, None, math.inf])
def test_the_gradient_of_the_search(dof, known):
    given = model(3, dof, known)
    x = given.starts[1] + 0.1
    value = map_fit.evaluate(given, x)
    slopes = map_fit.slopes(given, value)
    for i in range(len(x)):
        step = torch.zeros_like(x)
        step[i] = 1e-5
        up, down = (map_fit.evaluate(given, at, value).F for at in (x + step, x - step))
        assert slopes[i].item() == pytest.approx((up - down) / 2e-5, rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("dof", [4.0, math.inf])
def test_chunks_make_no_difference(dof):
    given = model(4, dof)
    shared = given.hyperparameters(given.starts[0])
    whole, parts = (evidence(given.shards, shared, memory=memory) for memory in (1e9, 1.0))
    for one, other in zip(whole, parts, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("dof", [4.0, None])
def test_one_expert_is_found_as_alone(dof):
    X, y = data()
    base = Model(y, priors.covariance_function(X, "matern52", True), priors.NOISE_PRIOR)
    alone, found = search_one(HeavyModel(base, dof)), search(model(1, dof))
    assert found.converged
    assert pytest.approx(alone.F, abs=0.05) == found.F


def test_padding_counts_for_nothing():
    """Three experts of 17, 17 and 16, or each by itself."""
    given = model(3, 4.0)
    shared = given.hyperparameters(given.starts[0])
    whole = evidence(given.shards, shared)
    alone = 0.0
    for i, mask in enumerate(given.shards.mask):
        kept = mask > 0
        X, y = given.shards.X[i, kept], given.shards.y[i, kept]
        alone += evidence(shard(X, y, [torch.arange(len(y))]), shared).L.item()
    assert whole.L.item() == pytest.approx(alone, rel=1e-12)


def test_judged_by_the_others_of_the_expert():
    given = model(2, math.inf)
    shared = given.hyperparameters(given.starts[0])
    found = judge(given.shards, shared, build_experts(given.shards, shared))
    X, y = given.shards.X[0], given.shards.y[0]
    rest = shard(X[1:], y[1:], [torch.arange(len(y) - 1)])
    k = KERNELS["matern52"](squared_differences(X[:1], X[1:]), shared.l, shared.s2f).K
    one = build_experts(rest, shared)
    mean, variance = (x.squeeze() for x in latent(k.unsqueeze(0), one, shared.s2f.expand(1)))
    e, variance = y[0] - shared.m - mean, variance + shared.s2
    torch.testing.assert_close(found.e[0, 0], e)
    torch.testing.assert_close(found.variance[0, 0], variance)
    torch.testing.assert_close(found.log_chance[0, 0].exp(), torch.special.ndtr(-e.abs() / variance.sqrt()))
    assert (found.weight == 1).all()


def test_priors_are_of_all_but_the_mean():
    given = model(2, None)
    priors = parameters.priors(given.blocks)
    assert len(priors) == len(given.bounds) - 1 == len(given.starts[0]) - 1
    assert all(isinstance(prior, LogNormal) for prior in priors)


@pytest.mark.parametrize("nu", [4.0, None])
def test_variances_keep_their_digits_where_the_signal_is_large(nu):
    """A linear function with little noise: by an inverse matrix they would be lost."""
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(512, 3, generator=generator)
    y = 6 * X.sum(-1) + 0.03 * torch.randn(512, generator=generator)
    y[:50] += 6.0
    numbers = (torch.tensor(x) for x in (3e4, 7e-4))
    shared = SharedHyperparameters(
        "matern52", torch.full((3,), 200.0), *numbers, None if nu is None else torch.tensor(nu), y.median()
    )
    of = shard(X, y, random_parts(512, 2, generator))
    found = build_experts(of, shared)
    judged = judge(of, shared, found)
    assert all(part.isfinite().all() for part in judged)
    if nu is not None:
        assert (judged.log_chance.exp()[of.y - 6 * of.X.sum(-1) > 3] < 1e-3).all()
    few = of.part(slice(0, 1))._replace(X=of.X[:1, :20], y=of.y[:1, :20], mask=of.mask[:1, :20])
    found, K = build_experts(few, shared), shared.prior(few)[1]
    with mpmath.workdps(60):
        A = mpmath.matrix(K[0].tolist())
        J = mpmath.eye(20) + mpmath.diag(found.W[0].tolist()) * A
        V = A - A * mpmath.inverse(J) * mpmath.diag(found.W[0].tolist()) * A
        exact = torch.tensor([float(V[i, i]) for i in range(20)])
    variance = found.variance(K, K.diagonal(dim1=-2, dim2=-1))[0]
    torch.testing.assert_close(variance, exact, rtol=1e-4, atol=1e-9)
