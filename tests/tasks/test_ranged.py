from dataclasses import replace

import numpy as np
import pytest

from robustbo import seeds
from robustbo.tasks.corruption import build
from robustbo.tasks.noise import noise
from robustbo.tasks.problem import SAMPLED
from robustbo_problems.hartmann6 import hartmann6

CLEAN = 1.25
X = hartmann6.space.from_unit([0.5] * 6)
LOSS = replace(hartmann6, direction="minimize", objective=lambda x: -hartmann6(x))


def drawn(kind, problem=hartmann6, **options):
    corruption = build(kind, problem, probability=1.0, **options)
    return [corruption.apply(CLEAN, X, seeds.generator(0, trial, "corruption")) for trial in range(1000)]


def test_a_sample_is_of_fixed_points_and_drawn_once():
    calls = []
    made = replace(hartmann6, objective=lambda x: calls.append(x) or hartmann6(x))
    first = made.sample
    assert made.sample is first
    assert len(calls) == len(first) == SAMPLED
    np.testing.assert_array_equal(first, hartmann6.sample)
    assert len(np.unique(first)) == SAMPLED


@pytest.mark.parametrize(("problem", "worst"), [(hartmann6, min), (LOSS, max)])
def test_a_crash_gives_the_worst_of_the_sample(problem, worst):
    assert set(drawn("crash", problem)) == {(worst(problem.sample), True)}


def test_in_range_fills_the_range_of_the_sample():
    values = [value for value, _ in drawn("in-range")]
    low, high = hartmann6.sample.min(), hartmann6.sample.max()
    assert low <= min(values) < low + 0.02 * (high - low)
    assert high - 0.02 * (high - low) < max(values) <= high
    assert np.mean(values) == pytest.approx((low + high) / 2, abs=4 * (high - low) / np.sqrt(12_000))


@pytest.mark.parametrize(("problem", "sign"), [(hartmann6, 1), (LOSS, -1)])
def test_too_good_is_better_by_some_ranges(problem, sign):
    reach = np.ptp(hartmann6.sample)
    assert set(drawn("too-good", problem)) == {(CLEAN + sign * 10 * reach, True)}
    assert set(drawn("too-good", problem, ranges=2)) == {(CLEAN + sign * 2 * reach, True)}


@pytest.mark.parametrize("dof", [None, 5.0])
def test_noise_has_its_scale_in_spreads(dof):
    draws = [noise(hartmann6, 0.05, dof, seeds.generator(0, trial, "noise")) for trial in range(4000)]
    sd = 0.05 * hartmann6.sample.std() * (1.0 if dof is None else np.sqrt(dof / (dof - 2)))
    assert np.std(draws) == pytest.approx(sd, rel=0.1)
    assert abs(np.mean(draws)) < 4 * sd / np.sqrt(4000)


def test_student_t_noise_has_heavier_tails():
    gaussian, heavy = (
        np.abs([noise(hartmann6, 0.05, dof, seeds.generator(0, trial, "noise")) for trial in range(4000)])
        for dof in (None, 2.0)
    )
    assert heavy.max() / np.median(heavy) > 3 * gaussian.max() / np.median(gaussian)
