import math

import numpy as np
import pytest

from robustbo import seeds
from robustbo.tasks.corruption import build
from robustbo_problems.synthetic import branin

DISC = {"region": "disc", "center_1": 0.542773, "center_2": 0.151667, "radius": 0.25}
INSIDE, OUTSIDE = dict(branin.optimizer), {"x1": -5.0, "x2": 15.0}


def failed(corruption, x, num=2000):
    found = [corruption.apply(1.25, x, seeds.generator(0, trial, "corruption")) for trial in range(num)]
    assert not any(is_corrupted for _, is_corrupted in found)
    assert all(value == 1.25 or math.isnan(value) for value, _ in found)
    return [math.isnan(value) for value, _ in found]


def test_all_fails_in_the_region_and_nothing_out_of_it():
    corruption = build("failure", branin, **DISC)
    assert all(failed(corruption, INSIDE))
    assert not any(failed(corruption, OUTSIDE))


def test_flakes_have_their_rate_anywhere_and_come_besides():
    flakes, both = build("failure", branin, probability=0.2), build("failure", branin, probability=0.2, **DISC)
    found = failed(flakes, OUTSIDE)
    assert abs(np.mean(found) - 0.2) < 4 * np.sqrt(0.2 * 0.8 / len(found))
    assert found == failed(flakes, INSIDE) == failed(both, OUTSIDE)
    assert all(failed(both, INSIDE))


@pytest.mark.parametrize("x", [INSIDE, OUTSIDE])
def test_it_draws_in_the_same_order_whatever_happens(x):
    drawn = seeds.generator(0, 3, "corruption")
    build("failure", branin, probability=0.2, **DISC).apply(1.0, x, drawn)
    after = seeds.generator(0, 3, "corruption")
    after.random()
    assert drawn.random() == after.random()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"probability": 1.5}, r"probability must lie in \[0, 1\], got 1\.5"),
        ({"region": 3}, r"region must be a name, got 3"),
        ({"region": "blob"}, r"region must be one of \['checkerboard'"),
        ({"radius": 0.2}, r"failure without a region has the option 'probability' alone, got \['radius'\]"),
        ({**DISC, "radius": "wide"}, r"radius must be a number, got 'wide'"),
    ],
)
def test_what_makes_no_failure_is_refused(options, match):
    with pytest.raises(ValueError, match=match):
        build("failure", branin, **options)
