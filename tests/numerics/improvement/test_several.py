import math

import numpy as np
import pytest
import torch
from botorch.utils.multi_objective.hypervolume import Hypervolume

from robustbo.numerics.improvement import noisy, several
from robustbo.numerics.improvement.goals import Goal
from robustbo.numerics.improvement.several import assign_components, log_improvement, over, thin_samples
from robustbo.numerics.linalg.lapack import inverse_root
from tests.numerics.gp.test_posterior import latent

GOALS = {
    "two": (Goal(True, reference=-0.8), Goal(True, reference=-1.0)),
    "two and a bound": (Goal(True, reference=-0.8), Goal(True, reference=-1.0), Goal(False, low=-0.2)),
    "two and an interval": (Goal(True, reference=-0.8), Goal(True, reference=-1.0), Goal(False, -0.2, 0.9)),
    "two of which one is bounded": (Goal(True, -0.1, reference=-0.8), Goal(True, reference=-1.0)),
    "three": (Goal(True, reference=-0.8), Goal(True, reference=-1.0), Goal(True, reference=-0.5)),
    "four": tuple(Goal(True, reference=-0.5) for _ in range(4)),
    "one and a bound": (Goal(True), Goal(False, high=0.4)),
    "one that is bounded": (Goal(True, low=0.2),),
}
x = torch.tensor([[0.2, 0.9], [0.5, 0.5], [0.9, 0.1], [0.05, 0.4]], dtype=torch.float64)


def turned(i, l=0.7):
    """A process of an outcome of its own, with values of its own at inputs of its own."""
    given = latent(noise=0.1 + 0.1 * i, l=(0.4 + 0.1 * i, l), m=0.3 - 0.2 * i)
    y = torch.cos(4 * given.X[:, i % 2] + i)
    keep = torch.arange(8) != i  # a value is missing
    covariance = torch.linalg.inv(given.root.mT @ given.root)[keep][:, keep]
    root = inverse_root(torch.linalg.cholesky(covariance))
    return given._replace(X=given.X[keep], root=root, al=root.mT @ root @ (y[keep] - given.m))


def mixtures(M):
    one = torch.ones(1)
    return [(one, [turned(i)]) for i in range(M)]


def improvements(goals, S=64, mixed=None, **options):
    Z = latent().X
    normal = torch.randn(S, len(goals), len(Z), generator=torch.Generator().manual_seed(1))
    return over(mixtures(len(goals)) if mixed is None else mixed, goals, Z, normal, 0, **options)


def gain_of(goals, Y, is_feasible, more, reference):
    """By how much ``N x M`` outcomes enlarge the hypervolume that points dominate."""
    objective = torch.tensor([goal.is_objective for goal in goals])
    found = []
    volume = Hypervolume(reference)
    before = volume.compute(Y[is_feasible]) if is_feasible.any() else 0.0
    for y in more:
        keeps = all(goal.low <= v <= goal.high for goal, v in zip(goals, y.tolist(), strict=True))
        found.append(volume.compute(torch.cat([Y[is_feasible], y[objective][None]])) - before if keeps else 0.0)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", GOALS)
def test_it_is_the_mean_of_sampled_gains(name):
    """The new point sampled too, given data and baseline, and the hypervolumes BoTorch's: to four standard errors."""
    goals, S, N = GOALS[name], 12, 160
    to = improvements(goals, S)
    found = log_improvement(to, x)[0].exp()
    rng = torch.Generator().manual_seed(5)
    gains = torch.zeros(len(x), S, N)
    for b in range(len(x)):
        said = [several._outcome_moments(of, x[b : b + 1].numpy()) for of in to.outcomes]
        for s in range(S):
            drawn = [of.M[s, 0] + of.sd[0, 0] * torch.randn(N, generator=rng) for of in said]
            Y, is_in = torch.from_numpy(to.Y[s]), torch.from_numpy(to.is_in[s])
            gains[b, s] = torch.tensor(gain_of(goals, Y, is_in, torch.stack(drawn, -1), torch.tensor(to.reference)))
    mean, error = gains.mean((1, 2)), (gains.var(2) / N).sum(1).sqrt() / S
    assert ((found - mean).abs() < 4 * error + 1e-4).all()


@pytest.mark.parametrize("p", [1, 3])
def test_one_objective_without_bounds_is_the_noisy_improvement(p):
    """To rounding; of several components the samples are shared out, where each has them all there."""
    latents = [latent(), latent(noise=0.5, l=(0.9, 0.3)), latent(s2f=0.5, m=-0.4)][:p]
    weights = torch.ones(1) if p == 1 else torch.tensor([0.5, 0.2, 0.3])
    S = 64 if p == 1 else 20000
    normal = torch.randn(S, 8, generator=torch.Generator().manual_seed(1))
    theirs = noisy.over(latents, weights.log(), latents[0].X, normal)
    ours = over([(weights, latents)], [Goal(True)], latents[0].X, normal[:, None], 0)
    (value, slope), (expected, its_slope) = log_improvement(ours, x), noisy.log_improvement(theirs, x)
    if p == 1:
        torch.testing.assert_close(value, expected, rtol=1e-10, atol=0)
        torch.testing.assert_close(slope, its_slope, rtol=1e-8, atol=0)
    else:
        torch.testing.assert_close(value, expected, rtol=0, atol=0.05)


@pytest.mark.parametrize("name", GOALS)
def test_the_gradient_agrees_with_differences(name):
    to, step = improvements(GOALS[name]), 1e-6
    value, gradient = log_improvement(to, x)
    torch.testing.assert_close(log_improvement(to, x, is_sloped=False)[0], value)
    for j in range(2):
        up, down = (log_improvement(to, x + s * torch.eye(2)[j])[0] for s in (step, -step))
        torch.testing.assert_close(gradient[:, j], (up - down) / (2 * step), rtol=1e-4, atol=1e-6)


def test_of_several_components_the_gradient_agrees_with_differences():
    mixed = [(torch.tensor([0.7, 0.3]), [turned(0), turned(0, l=0.2)]), *mixtures(2)[1:]]
    to, step = improvements(GOALS["two"], mixed=mixed), 1e-6
    value, gradient = log_improvement(to, x)
    assert sorted(of.shape[1] for of in to.outcomes[0].a) == [19, 45]
    for j in range(2):
        up, down = (log_improvement(to, x + s * torch.eye(2)[j])[0] for s in (step, -step))
        torch.testing.assert_close(gradient[:, j], (up - down) / (2 * step), rtol=1e-4, atol=1e-6)
    alone = torch.cat([log_improvement(to, point[None])[0] for point in x])
    torch.testing.assert_close(value, alone, rtol=1e-10, atol=0)


def shifted(goals, by):
    return tuple(
        Goal(
            goal.is_objective,
            goal.low + by,
            goal.high + (by if goal.high < math.inf else 0),
            None if goal.reference is None else goal.reference + by,
        )
        for goal in goals
    )


@pytest.mark.parametrize("name", [name for name in GOALS if name != "one that is bounded"])
def test_far_below_all_logarithms_are_finite_and_in_order(name):
    """A front out of reach: the farther, the less; the slopes those of differences."""
    step, last = 1e-6, None
    for by in (0.0, 10.0, 1e2, 1e4):
        to = improvements(shifted(GOALS[name], by))
        value, gradient = log_improvement(to, x)
        assert value.isfinite().all()
        assert gradient.isfinite().all()
        for j in range(2):
            up, down = (log_improvement(to, x + s * torch.eye(2)[j])[0] for s in (step, -step))
            torch.testing.assert_close(gradient[:, j], (up - down) / (2 * step), rtol=1e-3, atol=1e-3)
        if last is not None and "one" not in name:
            assert (value < last).all()
        last = value


@pytest.mark.parametrize("name", GOALS)
def test_in_logarithms_throughout_it_is_the_same(name, monkeypatch):
    to = improvements(GOALS[name])
    value, gradient = log_improvement(to, x)
    monkeypatch.setattr("robustbo.numerics.improvement.boxes.DEEP", -math.inf)
    again, its_gradient = log_improvement(to, x)
    torch.testing.assert_close(again, value, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(its_gradient, gradient, rtol=1e-7, atol=1e-9)


def test_at_a_point_of_the_baseline_and_far_away_all_is_finite():
    to = improvements(GOALS["two and a bound"])
    for at in (latent().X.double(), torch.full((1, 2), 1e6)):
        assert all(part.isfinite().all() for part in log_improvement(to, at))


def test_where_nothing_keeps_the_bounds_the_bounds_are_what_counts():
    goals = (Goal(True), Goal(False, low=30.0))
    to = improvements(goals)
    assert not to.is_in.any()
    assert to.reference[0] == to.Y.min()
    assert log_improvement(to, x)[0].isfinite().all()


def test_what_does_not_count_is_not_improved_upon_and_what_is_pending_is_conditioned_on():
    counts = torch.arange(8) < 3
    to = improvements(GOALS["two"], counts=counts)
    assert not to.is_in[:, 3:].any()
    kept = torch.arange(8) == 7
    to = improvements(GOALS["two"], counts=counts, required=kept)
    n = to.outcomes[0].processes.al.shape[-1]
    assert any((row == latent().X[7].numpy()).all() for row in to.outcomes[0].processes.XZ[n:])


def test_thinned_it_is_that_of_every_so_many_samples():
    mixed = [(torch.tensor([0.7, 0.3]), [turned(0), turned(0, l=0.2)]), *mixtures(2)[1:]]
    to = improvements(GOALS["two"], mixed=mixed)
    few = [log_improvement(thin_samples(to, 1), x)[0], log_improvement(to, x)[0]]
    torch.testing.assert_close(*few)
    eighth = thin_samples(to, 8)
    assert len(eighth.Y) == 8
    for of, whole in zip(eighth.outcomes, to.outcomes, strict=True):
        M, all_of = (several._outcome_moments(each, x.numpy()).M for each in (of, whole))
        np.testing.assert_allclose(M, all_of[::8])


def test_each_component_has_as_many_samples_as_its_weight_says():
    found = assign_components(np.array([0.5, 0.125, 0.375]), 128, np.random.default_rng(0))
    assert np.bincount(found).tolist() == [64, 16, 48]
    assert (found[:64] != 0).any()
    assert assign_components(np.ones(1), 4, np.random.default_rng(0)).tolist() == [0, 0, 0, 0]


def test_an_upper_bound_of_an_objective_counts_as_a_factor():
    """An approximation: as if what is gained did not depend on it."""
    free, capped = (Goal(True, reference=-0.8), Goal(True, reference=-1.0)), Goal(True, high=50.0, reference=-0.8)
    torch.testing.assert_close(
        log_improvement(improvements(free), x), log_improvement(improvements((capped, free[1])), x)
    )
    to, step = improvements((Goal(True, high=0.6, reference=-0.8), free[1])), 1e-6
    value, gradient = log_improvement(to, x)
    assert (value <= log_improvement(to._replace(outcomes=improvements(free).outcomes), x)[0]).all()
    for j in range(2):
        up, down = (log_improvement(to, x + s * torch.eye(2)[j])[0] for s in (step, -step))
        torch.testing.assert_close(gradient[:, j], (up - down) / (2 * step), rtol=1e-4, atol=1e-6)
