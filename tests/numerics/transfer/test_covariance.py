"""The joint covariance and its derivatives, by differences; the objective given all values, in 50 digits."""

import mpmath as mp
import numpy as np
import pytest
import torch

from robustbo.numerics.gp.evidence import evidence
from robustbo.numerics.gp.parameters import LogNormal
from robustbo.numerics.gp.posterior import LatentProcess
from robustbo.numerics.transfer.covariance import JointCovariance
from robustbo.numerics.transfer.relations import LEAST_RATIO, JoinedSource, KernelPriors, SourceRows
from robustbo.numerics.transfer.summary import average_error

GENERATOR = torch.Generator().manual_seed(3)
N, GROUP = 16, torch.tensor([0] * 5 + [1] * 6 + [2] * 5)
X = torch.rand(N, 2, dtype=torch.float64, generator=GENERATOR)
Y = torch.randn(N, dtype=torch.float64, generator=GENERATOR)
UNKNOWN, NONE = torch.full((N,), torch.nan, dtype=torch.float64), torch.zeros(N, dtype=torch.bool)
PRIORS = KernelPriors("matern52", LogNormal(0.4, 1.7), LogNormal(2.0, 2.0), LogNormal(-4.0, 1.0))
SOURCES = (JoinedSource(1, "biased"), JoinedSource(2, "scaled"))


SHARE = torch.where(torch.arange(N) % 3 == 0, 0.5, 1.0).double()  # means of two among single values
DEPTH = torch.tensor([0.0] * 5 + [0.4, 1.6, 0.4, 0.9, 1.6, 0.9] + [0.4, 0.9, 1.6, 0.4, 0.9]).double()


def joint_of(sources=SOURCES, s2_known=UNKNOWN, **options):
    return JointCovariance(SourceRows(X, Y, GROUP, s2_known, NONE, SHARE, DEPTH), sources, PRIORS, **options)


def theta_of(joint):
    generator = torch.Generator().manual_seed(8)
    theta = 0.3 * torch.randn(len(joint.function().bounds), dtype=torch.float64, generator=generator)
    for name, at in joint.at_name.items():
        theta[at] += -1.5 if name.startswith("noise") else 0.0
    return theta


each_relation = pytest.mark.parametrize(
    "sources",
    [
        SOURCES,
        (JoinedSource(1, "same"), JoinedSource(2, "offset")),
        (JoinedSource(1, "biased"), JoinedSource(2, "biased")),
        (JoinedSource(1, "biased", 1.6, 3), JoinedSource(2, "offset", 1.6, 3)),
    ],
    ids=str,
)


@each_relation
@pytest.mark.parametrize("is_tiled", [False, True])
def test_many_matrices_at_once_are_those_of_each(sources, is_tiled, monkeypatch):
    monkeypatch.setattr("robustbo.numerics.transfer.source_errors.MANY", 0 if is_tiled else N)
    shared = torch.randn(N, 2, dtype=torch.float64, generator=GENERATOR)
    known = torch.where(GROUP == 2, torch.full_like(UNKNOWN, 0.04), UNKNOWN)
    joint = JointCovariance(SourceRows(X, Y, GROUP, known, NONE, SHARE, DEPTH, shared=shared), sources, PRIORS)
    theta = theta_of(joint) + torch.tensor([0.0, 0.3, -0.2])[:, None]
    assert torch.allclose(joint.matrices(theta), torch.stack([joint.at(x).K for x in theta]), rtol=1e-12)


@each_relation
def test_derivatives_are_those_of_differences(sources):
    joint = joint_of(sources)
    theta, generator = theta_of(joint), torch.Generator().manual_seed(1)
    G, w = torch.randn(N, N, dtype=torch.float64, generator=generator), torch.ones(N, dtype=torch.float64)
    G = G + G.mT
    w[::2] = -0.5
    covariance = joint.at(theta)
    slopes, tangents = covariance.pullback(G), covariance.tangents(w)
    for i in range(len(theta)):
        step = torch.zeros_like(theta).index_fill(0, torch.tensor([i]), 1e-6)
        ends = [joint.at(theta + sign * step) for sign in (1, -1)]
        heights = [(G * end.K).sum().item() + end.log_prior for end in ends]
        assert slopes[i].item() == pytest.approx((heights[0] - heights[1]) / 2e-6, rel=1e-6, abs=1e-6)
        assert torch.allclose(tangents[i], (ends[0].K - ends[1].K) @ w / 2e-6, atol=1e-7)


def test_known_noise_is_part_of_the_covariance_and_no_coordinate():
    known = torch.where((GROUP == 2) | (torch.arange(N) == 3), torch.full_like(UNKNOWN, 0.04), UNKNOWN)
    joint = joint_of(s2_known=known)
    assert "noise2" not in joint.at_name
    assert "noise1" in joint.at_name
    theta = theta_of(joint)
    silent = joint_of(s2_known=known, has_noise=False)
    rest = torch.cat([theta[at : at + b.size] for b in silent.blocks for at in [joint.at_name[b.name]]])
    more = joint.at(theta).K - silent.at(rest).K
    assert torch.allclose(more, torch.diag(joint.noise(theta)))
    assert torch.equal(joint.noise(theta)[~known.isnan()], known[~known.isnan()])
    assert torch.allclose(joint.noise(theta)[:3], theta[joint.at_name["noise0"]].exp() * SHARE[:3])


def test_errors_of_levels_are_sums_of_steps_towards_the_target():
    joint = joint_of((JoinedSource(1, "biased", 1.6, 3), JoinedSource(2, "offset", 1.6, 3)))
    theta = theta_of(joint)
    gamma, at, own = theta[joint.at_name["steepness1"]].exp().item(), X[GROUP == 1], DEPTH[GROUP == 1]

    def height(u):
        return np.expm1(gamma * u) / np.expm1(gamma * 1.6)  # (22.13)

    E = joint.errors_of_rows(theta, 1)
    l, omega2 = theta[:2].exp() * theta[joint.at_name["ratio1"]].exp(), theta[joint.at_name["bias1"]].exp()
    free = theta[joint.at_name["offset1"]].exp() + omega2 * matern52(at, at, l)
    nearer = torch.minimum(own[:, None], own)
    assert torch.allclose(E, free * torch.from_numpy(height(nearer.numpy())))  # (22.14)
    assert torch.allclose(joint.errors_between(theta, 1, at, 0.4)[:, 0], (free * height(0.4))[:, 0])
    assert joint.error_variance(theta, 1, 0.9) == pytest.approx(free[0, 0].item() * height(0.9))
    assert joint.error_variance(theta, 1, 0.0) == 0.0  # at the target's level
    assert not joint.sources[0].is_scaled


def matern52(X, Z, l):
    u = torch.cdist(X / l, Z / l)
    return (1 + 5**0.5 * u + 5 * u.square() / 3) * (-(5**0.5) * u).exp()


def test_a_bias_is_no_shorter_than_a_fifth_of_the_objective():
    joint = joint_of()
    low = joint.function().bounds[joint.at_name["ratio1"]][0]
    assert np.exp(low) == pytest.approx(LEAST_RATIO)


def matern(x, z, l, s2f):
    u = mp.sqrt(mp.fsum([((mp.mpf(a) - mp.mpf(b)) / mp.mpf(c)) ** 2 for a, b, c in zip(x, z, l, strict=True)]))
    return mp.mpf(s2f) * (1 + mp.sqrt(5) * u + 5 * u**2 / 3) * mp.exp(-mp.sqrt(5) * u)


def test_the_objective_given_all_values_is_that_of_the_joint_density():
    """(22.2), (22.5) and (22.10) in 50 digits, every term as the model says it."""
    joint = joint_of()
    theta, at = theta_of(joint), joint.at_name
    x, d = theta.tolist(), 2
    l, s2f = [mp.exp(v) for v in x[:d]], mp.exp(x[at["s2f"]])
    rho = {0: mp.mpf(1), 1: mp.mpf(x[at["scale1"]]), 2: mp.mpf(x[at["scale2"]])}
    B2 = {1: mp.exp(x[at["offset1"]]), 2: mp.exp(x[at["offset2"]])}
    l_delta, omega2 = [mp.exp(x[at["ratio1"]]) * v for v in l], mp.exp(x[at["bias1"]])
    noise = {g: mp.exp(x[at[f"noise{g}"]]) for g in range(3)}
    share = SHARE.tolist()
    rows, groups, point = X.tolist(), GROUP.tolist(), [0.3, 0.6]
    with mp.workdps(50):
        Sg, k, c = mp.matrix(N), mp.matrix(N, 1), mp.matrix(N, 1)
        own = [i for i in range(N) if groups[i] == 1]
        for i in range(N):
            for j in range(N):
                Sg[i, j] = rho[groups[i]] * rho[groups[j]] * matern(rows[i], rows[j], l, s2f)
                if groups[i] == groups[j] and groups[i] > 0:
                    Sg[i, j] += B2[groups[i]]
                if groups[i] == groups[j] == 1:
                    Sg[i, j] += matern(rows[i], rows[j], l_delta, omega2)
            Sg[i, i] += noise[groups[i]] * share[i]
            k[i] = rho[groups[i]] * matern(rows[i], point, l, s2f)
            if i in own:
                c[i] = B2[1] + mp.fsum(matern(rows[i], rows[j], l_delta, omega2) for j in own) / len(own)
        P, one, y = Sg**-1, mp.ones(N, 1), mp.matrix(Y.tolist())
        m = (one.T * P * y)[0] / (one.T * P * one)[0]
        al = P * (y - m * one)
        mean, variance = m + (k.T * al)[0], s2f - (k.T * P * k)[0]
        error = (c.T * al)[0]
        error_variance = (
            B2[1] + mp.fsum(matern(rows[i], rows[j], l_delta, omega2) for i in own for j in own) / len(own) ** 2
        )
        error_variance += -(c.T * P * c)[0] + (c.T * P * one)[0] ** 2 / (one.T * P * one)[0]

    value = evidence(joint.at(theta).K, Y)
    fit = _Fit(joint, theta, value)
    assert average_error(fit, 1) == pytest.approx((float(error), float(mp.sqrt(error_variance))), rel=1e-9)
    process = _process(joint, theta, value)
    predicted, covariance = process.posterior(torch.tensor([point], dtype=torch.float64))
    assert predicted.item() == pytest.approx(float(mean), rel=1e-10)
    assert covariance.item() == pytest.approx(float(variance), rel=1e-9)


class _Fit:
    """A fit at given hyperparameters, as the summary of a source takes it."""

    def __init__(self, joint, theta, value):
        self.joint, self.group = joint, joint.group
        self.level = type("Level", (), {"fit": type("Fit", (), {"theta": theta})})
        self.value = type("Value", (), {"evidence": value})


def _process(joint, theta, value):
    a, (l, s2f) = joint.scales(theta), joint.signal(theta)
    return LatentProcess("matern52", l, s2f, value.m, joint.X, value.root * a, a * value.al)
