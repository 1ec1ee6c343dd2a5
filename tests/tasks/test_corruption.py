from dataclasses import replace

import numpy as np
import pytest

from robustbo import seeds
from robustbo.tasks.corruption import CORRUPTIONS, SOURCES, Constant, RandomPoint, Shift, Uniform, build
from robustbo_problems.hartmann6 import hartmann6

CLEAN = 1.25
X = hartmann6.space.from_unit([0.5] * 6)
ANYWHERE = ["constant", "uniform", "shift", "random-point", "crash", "in-range", "too-good"]
OTHERS = ["failure", "persistent", "repeats", "sticks", *SOURCES]
every_kind = pytest.mark.parametrize("kind", ANYWHERE)


def run(corruption, num, value=CLEAN, seed=0):
    return [corruption.apply(value, X, seeds.generator(seed, trial, "corruption")) for trial in range(num)]


def test_every_kind_is_tested():
    assert sorted(CORRUPTIONS) == sorted(ANYWHERE + OTHERS)


@every_kind
def test_zero_rate_gives_clean_data(kind):
    assert run(build(kind, hartmann6, probability=0), 200) == [(CLEAN, False)] * 200


@every_kind
def test_rate_one_always_corrupts(kind):
    found = run(build(kind, hartmann6, probability=1), 200)
    assert all(is_corrupted and value != CLEAN for value, is_corrupted in found)


@every_kind
def test_the_frequency_is_the_probability(kind):
    num, p = 5000, 0.1
    corruption = build(kind, hartmann6, probability=p)
    found = sum(is_corrupted for _, is_corrupted in run(corruption, num))
    assert abs(found - num * p) < 4 * np.sqrt(num * p * (1 - p))


@every_kind
def test_draws_depend_on_seed_and_trial_alone(kind):
    corruption = build(kind, hartmann6, probability=0.3)
    found = run(corruption, 100)
    assert run(corruption, 100) == found
    other = run(corruption, 100, value=-7.0)
    assert [mask for _, mask in other] == [mask for _, mask in found]
    off = CLEAN + 7.0 if kind in ("shift", "too-good") else 0.0  # which differ by so much from the truth
    assert [value + off for value, mask in other if mask] == pytest.approx([value for value, mask in found if mask])
    assert [mask for _, mask in run(corruption, 100, seed=1)] != [mask for _, mask in found]


@every_kind
def test_a_higher_rate_corrupts_the_same_trials_and_more(kind):
    low, high = (
        {trial for trial, (_, mask) in enumerate(run(build(kind, hartmann6, probability=p), 200)) if mask}
        for p in (0.1, 0.4)
    )
    assert low < high


def test_a_constant_replaces_the_value():
    assert run(Constant(1.0), 3) == [(100.0, True)] * 3
    assert run(Constant(1.0, value=-5.0), 3) == [(-5.0, True)] * 3


@pytest.mark.parametrize(("low", "high"), [(-3.0, 3.0), (10.0, 11.0)])
def test_a_uniform_value_fills_its_range(low, high):
    values = [value for value, _ in run(Uniform(1.0, low, high), 1000)]
    assert low <= min(values) < low + 0.02 * (high - low)
    assert high - 0.02 * (high - low) < max(values) <= high
    assert np.mean(values) == pytest.approx((low + high) / 2, abs=4 * (high - low) / np.sqrt(12_000))


def test_a_shift_adds_an_error_that_fills_its_range():
    errors = np.array([value for value, _ in run(Shift(1.0, 1.0, 2.0), 2000)]) - CLEAN
    assert 1.0 <= errors.min() < 1.01
    assert 1.99 < errors.max() <= 2.0
    with pytest.raises(ValueError, match="low must not exceed high"):
        Shift(1.0, 2.0, 1.0)


def test_a_random_point_gives_a_value_that_the_objective_takes():
    for trial, (value, _) in enumerate(run(RandomPoint(1.0, hartmann6), 50)):
        generator = seeds.generator(0, trial, "corruption")
        generator.random()  # whether the trial is corrupted
        assert value == hartmann6(hartmann6.space.from_unit(generator.random(6)))
        assert 0 < value <= hartmann6.optimum


@pytest.mark.parametrize(
    ("kind", "options", "match"),
    [
        ("gaussian", {"probability": 0.1}, r"kind must be one of \[.*'constant', .*\], got 'gaussian'"),
        ("constant", {}, r"probability must lie in \[0, 1\], got None"),
        ("constant", {"probability": -0.1}, r"probability must lie in \[0, 1\], got -0\.1"),
        ("uniform", {"probability": 1.1}, r"probability must lie in \[0, 1\], got 1\.1"),
        ("uniform", {"probability": float("nan")}, r"probability must lie in \[0, 1\], got nan"),
        ("random-point", {"probability": True}, r"probability must lie in \[0, 1\], got True"),
        ("random-point", {"probability": "0.1"}, r"probability must lie in \[0, 1\], got '0\.1'"),
        (
            "constant",
            {"probability": 0.1, "size": 3},
            r"constant has the options \['probability', 'value'\], got 'size'",
        ),
        ("uniform", {"probability": 0.1, "value": 3}, r"uniform has the options .*, got 'value'"),
        ("random-point", {"probability": 0.1, "low": 3}, r"random-point has the options \['probability'\], got 'low'"),
        ("sticks", {"probability": 0.1, "last": 3}, r"sticks has the options \['probability'\], got 'last'"),
    ],
)
def test_a_spec_that_breaks_a_rule_is_refused(kind, options, match):
    with pytest.raises(ValueError, match=match):
        build(kind, hartmann6, **options)


class TestPersistent:
    def points(self, num):
        space = hartmann6.space
        return [space.from_unit(np.random.default_rng(i).random(6).tolist()) for i in range(num)]

    def test_a_point_is_always_wrong_or_never(self):
        corruption = build("persistent", hartmann6, probability=0.3)
        for x in self.points(50):
            found = {corruption.apply(CLEAN, x, seeds.generator(0, trial, "corruption")) for trial in range(5)}
            assert found in ({(CLEAN, False)}, {(100.0, True)})

    @pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
    def test_the_region_has_its_share_of_the_space(self, share):
        corruption = build("persistent", hartmann6, probability=share)
        inside = sum(corruption.apply(CLEAN, x, np.random.default_rng(0))[1] for x in self.points(2000))
        assert abs(inside - 2000 * share) <= 4 * np.sqrt(2000 * share * (1 - share))

    def test_value_and_place_are_options(self):
        corruptions = [build("persistent", hartmann6, probability=0.3, value=-7.0, place=place) for place in (0, 1)]
        masks = [[c.apply(CLEAN, x, np.random.default_rng(0)) for x in self.points(100)] for c in corruptions]
        assert {value for value, _ in masks[0]} == {CLEAN, -7.0}
        assert masks[0] != masks[1]


def test_a_problems_own_failure_is_a_kind():
    def fail(x, generator):
        return x["x1"] + generator.integers(10, 20)

    made = replace(hartmann6, failures={"leak": fail})
    corruption = build("leak", made, probability=0.3)
    found = run(corruption, 100)
    hit = [value for value, mask in found if mask]
    assert run(corruption, 100) == found
    assert 15 < len(hit) < 45
    assert set(hit) <= {0.5 + i for i in range(10, 20)}
    assert len(set(hit)) > 5
    masks = [mask for _, mask in run(build("constant", hartmann6, probability=0.3), 100)]
    assert masks == [mask for _, mask in found]  # the same trials as any other kind


def test_it_has_no_options_and_no_other_problem_has_it():
    made = replace(hartmann6, failures={"leak": lambda x, generator: 0.0})
    with pytest.raises(ValueError, match="leak has the option 'probability' alone, got"):
        build("leak", made, probability=0.3, value=1.0)
    with pytest.raises(ValueError, match=r"kind must be one of \[.*'constant', .*got 'leak'"):
        build("leak", hartmann6, probability=0.3)


def test_a_failure_must_not_have_the_name_of_another_kind():
    made = replace(hartmann6, failures={"uniform": lambda x, generator: 0.0})
    with pytest.raises(ValueError, match="hartmann6's failures must have names of their own, got 'uniform'"):
        build("uniform", made, probability=0.3)
