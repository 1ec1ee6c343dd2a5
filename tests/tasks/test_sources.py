"""Workers in error: who measures, since when, by how much."""

from dataclasses import replace

import numpy as np
import pytest

from robustbo import seeds
from robustbo.tasks.corruption import SOURCES, build
from robustbo.tasks.sources import worker_of
from robustbo_problems.hartmann6 import hartmann6

SPREAD = float(hartmann6.sample.std())
X = hartmann6.space.from_unit([0.5] * 6)


def errors(kind, num=80, root=3, **options):
    """The error of each trial in spreads, whether it is corrupted, and who measured it."""
    corruption = build(kind, hartmann6, **options)
    rows = []
    for number in range(num):
        at = corruption.at(root, number)
        value, wrong = at.apply(2.0, X, seeds.generator(root, number, "corruption"))
        rows.append(((value - 2.0) / SPREAD, wrong, at.source["worker"]))
    return map(np.array, zip(*rows, strict=True))


def test_each_worker_measures_once_a_round_in_an_order_of_its_own():
    rounds = [[worker_of(0, 4 * r + i, 4) for i in range(4)] for r in range(50)]
    assert all(sorted(workers) == [0, 1, 2, 3] for workers in rounds)
    assert len({tuple(workers) for workers in rounds}) > 12
    assert rounds != [[worker_of(1, 4 * r + i, 4) for i in range(4)] for r in range(50)]


@pytest.mark.parametrize(("kind", "begin"), [("source-offset", 0), ("source-step", 20)])
def test_one_worker_is_off_since_a_trial(kind, begin):
    sizes, wrong, workers = errors(kind, error=-0.5)
    is_off = (workers == "w0") & (np.arange(80) >= begin)
    assert is_off.sum() == (20 if begin == 0 else 15)
    np.testing.assert_allclose(sizes, -0.5 * is_off, atol=1e-12)
    assert (wrong == is_off).all()


def test_an_error_of_zero_is_none():
    _, wrong, _ = errors("source-offset", error=0.0)
    assert not wrong.any()


def test_another_worker_may_be_off():
    _, wrong, workers = errors("source-offset", workers=3, worker=2)
    assert {*workers[wrong]} == {"w2"}
    assert {*workers} == {"w0", "w1", "w2"}


def test_a_drift_grows():
    sizes, wrong, workers = errors("drift", begin=10, length=40)
    numbers = np.arange(80)[wrong]
    np.testing.assert_allclose(sizes[wrong], (numbers - 10) / 40, atol=1e-12)
    assert {*workers[wrong]} == {"w0"}
    assert numbers.min() >= 10


def test_a_broken_worker_has_another_error_each_time():
    sizes, wrong, _ = errors("broken-source", num=800, error=2.0)
    assert len({*sizes[wrong]}) == wrong.sum() == 200
    assert sizes[wrong].std() == pytest.approx(2.0, rel=0.2)
    assert not sizes[~wrong].any()


def test_blocks_differ_and_no_value_is_wrong():
    sizes, wrong, workers = errors("block", error=0.5)
    assert not wrong.any()
    by_worker = {worker: sizes[workers == worker] for worker in {*workers}}
    assert all(np.ptp(of) < 1e-12 for of in by_worker.values())
    assert len({of[0] for of in by_worker.values()}) == 4


@pytest.mark.parametrize("kind", SOURCES)
def test_errors_depend_on_the_replication_and_the_trial_alone(kind):
    first, again, other = (build(kind, hartmann6).at(root, 21) for root in (1, 1, 2))
    value = first.apply(2.0, X, seeds.generator(1, 21, "corruption"))
    assert again.apply(2.0, X, seeds.generator(1, 21, "corruption")) == value
    assert replace(other, root=1).apply(2.0, X, seeds.generator(1, 21, "corruption")) == value


@pytest.mark.parametrize(
    ("options", "words"),
    [({"worker": 4}, "one of 4 workers"), ({"probability": 0.5}, "has the options"), ({"root": 1}, "has the options")],
)
def test_what_cannot_be_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        build("source-offset", hartmann6, **options)
