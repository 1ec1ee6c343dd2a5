import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from robustbo.numerics.gp.kernels import KERNELS, squared_differences
from robustbo.numerics.student_t import likelihood
from robustbo.numerics.student_t import mode as laplace_mode
from robustbo.numerics.student_t.laplace import Noise, approximate, mode_point, mode_problem
from robustbo.numerics.student_t.mode import climb, cold_starts, em, find_mode
from tests.numerics.student_t.laplace_cases import NAMES, load


def height(K, y, noise, a):
    f = K @ a
    return (likelihood.log_density(y - f, *noise).sum() - 0.5 * a @ f).item()


@pytest.mark.parametrize("name", NAMES)
def test_the_fixtures_best_mode_is_found(name):
    """In case 07 the start at y ends in a worse one, and plain Newton from 0 in the worst."""
    case = load(name)
    y = case.y - case.m
    mode = find_mode(case.K, y, case.noise, cold_starts(case.K, y, case.noise))
    expected = case.content["modes"][0]
    assert (case.m + case.K @ mode.a).tolist() == pytest.approx(expected["f_hat"], rel=1e-9, abs=1e-12)
    assert height(case.K, y, case.noise, mode.a) == pytest.approx(expected["psi"], rel=1e-12)
    assert mode.converged


def draw(generator):
    """A small data set, with values that may be off by a million and a covariance that may be singular."""

    def uniform(low, high, *shape):
        return low + (high - low) * torch.rand(shape, generator=generator)

    n, d = (int(torch.randint(1, high, (), generator=generator)) for high in (41, 4))
    X = torch.rand(n, d, generator=generator)
    if uniform(0, 1) < 0.1:
        X = X[torch.randint(0, n, (n,), generator=generator)]
    s2, s2f = 10 ** uniform(-4, 1), 10 ** uniform(-1, 2)
    kernel = KERNELS["matern52" if uniform(0, 1) < 0.5 else "rbf"]
    K = kernel(squared_differences(X, X), 10 ** uniform(-1.3, 0.7, d), s2f).K
    y = torch.sin(5 * X.sum(-1)) + s2.sqrt() * torch.randn(n, generator=generator)
    wrong = 10 ** uniform(-1, 6, n) * torch.where(uniform(0, 1, n) < 0.5, 1.0, -1.0)
    y = torch.where(uniform(0, 1, n) < 0.2, y + wrong, y)
    return K, y, Noise(s2, 10 ** uniform(0, 5))


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(4))
def test_five_hundred_small_data_sets_end_at_a_strict_maximum(seed):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(500):
        K, y, noise = draw(generator)
        mode = find_mode(K, y, noise, cold_starts(K, y, noise))
        g = likelihood.gradient(y - K @ mode.a, *noise)
        assert (mode.a - g).abs().max() <= 1e-8 * g.abs().max().clamp_min(1.0)
        assert math.isfinite(approximate(K, y, torch.zeros(()), noise, mode.a).L)


def test_expectation_maximization_never_falls():
    K, y, noise = draw(torch.Generator().manual_seed(3))
    given, f = mode_problem(K, y, noise), torch.zeros_like(y).numpy()
    heights = [height(K, y, noise, torch.from_numpy(em(given, f, steps))) for steps in range(1, 12)]
    assert all(after >= before - 1e-9 * abs(before) for before, after in pairwise(heights))


def test_newton_alone_climbs_from_anywhere():
    K, y, noise = draw(torch.Generator().manual_seed(4))
    generator, given = torch.Generator().manual_seed(0), mode_problem(K, y, noise)
    for scale in (0.01, 1.0, 100.0):
        assert climb(given, mode_point(given, scale * torch.randn(len(y), generator=generator).numpy())).converged


def test_a_high_start_is_not_left_for_a_lower_one():
    case = load("07_multimodal_1d")
    worse = case.K @ torch.tensor(case.content["modes"][1]["K_inv_f_hat"])
    starts = [worse, *cold_starts(case.K, case.y, case.noise)]
    modes = [find_mode(case.K, case.y, case.noise, [start]) for start in starts]
    assert find_mode(case.K, case.y, case.noise, starts).Psi == max(mode.Psi for mode in modes)
    assert modes[0].Psi < modes[1].Psi


def test_many_degrees_of_freedom_give_the_gaussian_posterior_mean():
    K, y, _ = draw(torch.Generator().manual_seed(5))
    y = y.clamp(-5, 5)
    noise = Noise(torch.tensor(0.3), torch.tensor(1e12))
    expected = torch.linalg.solve(K + 0.3 * torch.eye(len(y)), y)
    torch.testing.assert_close(find_mode(K, y, noise, cold_starts(K, y, noise)).a, expected, rtol=1e-6, atol=1e-8)


def test_equal_values_and_one_observation_will_do():
    for n in (1, 5):
        K, y, noise = torch.ones(n, n), torch.full((n,), 2.0), Noise(torch.tensor(0.1), torch.tensor(4.0))
        assert find_mode(K, y, noise, cold_starts(K, y, noise)).converged


class TestFromAModeNearby:
    """Of a covariance 5 % larger."""

    case = load("07_multimodal_1d")
    K, y, noise = case.K, case.y - case.m, case.noise

    @property
    def start(self):
        near = find_mode(0.95 * self.K, self.y, self.noise, cold_starts(0.95 * self.K, self.y, self.noise))
        return 0.95 * self.K @ near.a

    def test_newton_ends_where_expectation_maximization_does_without_it(self, monkeypatch):
        start = self.start
        slowly = find_mode(self.K, self.y, self.noise, [start], em_steps=30)
        monkeypatch.setattr(laplace_mode, "em", lambda *_: pytest.fail("expectation maximization"))
        directly = find_mode(self.K, self.y, self.noise, [start], em_steps=0)
        assert directly.converged
        torch.testing.assert_close(directly.a, slowly.a, rtol=1e-8, atol=1e-8)

    def test_more_steps_with_the_same_factors_spare_factorizations(self, monkeypatch):
        start, counts = self.start, []
        for again in (laplace_mode._again, lambda _, here, *__: here):
            monkeypatch.setattr(laplace_mode, "_again", again)
            counts.append(find_mode(self.K, self.y, self.noise, [start], em_steps=0).num_iter)
        assert counts[0] < counts[1]


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e9])
def test_from_anywhere_else_expectation_maximization_begins(scale, monkeypatch):
    K, y, noise = draw(torch.Generator().manual_seed(5))
    start, begun = scale * torch.randn(len(y), generator=torch.Generator().manual_seed(0)), []
    monkeypatch.setattr(laplace_mode, "em", lambda *given: begun.append(given) or em(*given))
    assert find_mode(K, y, noise, [start], em_steps=0).converged
    assert begun


@pytest.mark.parametrize("there", [{"Psi": -1.0, "residual": 1e-9}, {"Psi": math.nan, "residual": math.nan}])
def test_what_is_no_better_ends_the_steps_with_the_same_factors(there, monkeypatch):
    K, y, noise = draw(torch.Generator().manual_seed(5))
    given = mode_problem(K, y, noise)
    here = mode_point(given, y.numpy())._replace(Psi=0.0, residual=0.2)
    factors = laplace_mode.signed_posterior(given.K, np.ones(len(y)))
    monkeypatch.setattr(laplace_mode, "mode_point", lambda *_: here._replace(**there))
    assert laplace_mode._again(given, here, factors, 1e-10) is here
