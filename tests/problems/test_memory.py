import math

from robustbo.replay.score.feasible import search
from robustbo_problems.memory import out_of_memory

FAILS = out_of_memory.regions["out-of-memory"]


def test_the_optimum_is_one_and_does_not_fit():
    at = out_of_memory.optimizer
    assert out_of_memory(at) == out_of_memory.optimum
    assert at["width"] * at["depth"] > 2 * 1500
    assert FAILS(at)
    for other in ({"width": 400}, {"depth": 9}, {"learning_rate": 0.0035}, {"learning_rate": 0.0028}):
        assert out_of_memory({**at, **other}) > out_of_memory.optimum


def test_what_just_fits_does_not_fail():
    assert not FAILS({"width": 750, "depth": 2})
    assert FAILS({"width": 751, "depth": 2})


def test_too_large_a_rate_costs_more_than_one_as_much_too_small():
    at = out_of_memory.optimizer
    fast, slow = (out_of_memory({**at, "learning_rate": at["learning_rate"] * factor}) for factor in (8, 1 / 8))
    assert fast > 1.5 * slow


def test_the_best_that_fits_is_that_of_all_widths_and_depths():
    best = min(
        0.06 + 0.02 * math.log2(width / 384) ** 2 + 0.03 * math.log2(depth / 10) ** 2
        for width in range(16, 1025)
        for depth in range(1, 17)
        if width * depth <= 1500
    )
    assert abs(search(out_of_memory, FAILS) - best) < 1e-9
