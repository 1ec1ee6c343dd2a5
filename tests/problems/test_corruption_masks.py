"""A problem's own failure hits exactly the trials that its mask says."""

import pytest

from robustbo import seeds
from robustbo.tasks.corruption import build
from robustbo_problems.rover import rover


@pytest.mark.parametrize("variant", ["robot", "ebo_small", "ebo_large"])
def test_a_breakdown_hits_the_trials_that_its_mask_says(variant):
    made = rover(variant)
    corruption = build("breakdown", made, probability=0.3)
    x = made.space.from_unit([i / 60 for i in range(len(made.space))])
    clean, hits = made(x), 0
    for trial in range(60):
        value, is_corrupted = corruption.apply(clean, x, seeds.generator(2, trial, "corruption"))
        assert is_corrupted == (seeds.generator(2, trial, "corruption").random() < 0.3)
        assert is_corrupted == (value != clean)
        hits += is_corrupted
    assert 8 < hits < 30
