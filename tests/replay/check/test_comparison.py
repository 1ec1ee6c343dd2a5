import math
import re

import pandas as pd
import pytest

import robustbo as rb
from robustbo.errors import ReplayMismatch
from robustbo.replay.check import rounding
from robustbo.replay.check.comparison import Comparison, Match

SPACE = rb.Space(x=rb.Float(10, 30), rate=rb.Float(1e-6, 1.0, log=True), n=rb.Int(1, 9), kind=rb.Choice("a", "b"))
ASK = {"params": {"x": 20.0, "rate": 0.01, "n": 3, "kind": "a"}, "expected": 5.0, "expected_sd": 1.0, "repeats": 4}
ASKS = rounding.asks(SPACE, {None: 2.0})


def with_params(**changes):
    return ASK | {"params": ASK["params"] | changes}


def verdict(recorded, recomputed, may_be=rounding.exactly):
    same = Comparison("here", "", to_the_end=True)
    same("trial 3: it", recorded, recomputed, may_be, of=3, is_counted=True)
    return same.agreement.verdict


@pytest.mark.parametrize(
    ("again", "must_be"),
    [
        (ASK, Match.BITS),
        (with_params(x=20.0 + 19e-6), Match.ROUNDING),  # of a range of 20
        (with_params(x=20.0 + 21e-6), Match.DIFFERENT),
        (with_params(rate=0.01 * math.exp(0.9e-6 * math.log(1e6))), Match.ROUNDING),
        (with_params(rate=0.01 * math.exp(1.1e-6 * math.log(1e6))), Match.DIFFERENT),
        (with_params(n=4), Match.DIFFERENT),
        (with_params(kind="b"), Match.DIFFERENT),
        (ASK | {"expected": 5.0 + 1.9e-5}, Match.ROUNDING),  # of a spread of 2
        (ASK | {"expected_sd": 1.0 + 2.1e-5}, Match.DIFFERENT),
        (ASK | {"repeats": 5}, Match.DIFFERENT),
        ({key: ASK[key] for key in ("params", "expected", "expected_sd")}, Match.DIFFERENT),
    ],
)
def test_asks(again, must_be):
    assert verdict(ASK, again, ASKS) is must_be


def test_a_row_of_a_pool_is_the_same_row_or_another():
    pool = rb.Pool(pd.DataFrame({"x": [0.1, 0.1 + 1e-9, 0.9]}))
    may_be = rounding.asks(pool, {None: 1.0})
    assert verdict({"params": {"x": 0.1}}, {"params": {"x": 0.1 + 1e-9}}, may_be) is Match.DIFFERENT


@pytest.mark.parametrize(
    ("recorded", "again", "must_be"),
    [
        (4.0, math.nextafter(4.0, 5), Match.ROUNDING),
        (1e9, 1e9 * (1 + 0.9e-12), Match.ROUNDING),
        (1e9, 1e9 * (1 + 1.1e-12), Match.DIFFERENT),
        (1e-17, 0.0, Match.ROUNDING),  # beside a spread of 2: a sum that cancels
        (1e-11, 0.0, Match.DIFFERENT),
        (None, 0.0, Match.DIFFERENT),
        ({"y": 1.0, "z": 2.0}, {"y": 1.0, "z": 2.0 + 1e-13}, Match.ROUNDING),
        ({"y": 1.0}, {"y": 1.0, "z": 2.0}, Match.DIFFERENT),
        (math.nan, 4.0, Match.DIFFERENT),  # a comparison with NaN is false
        (4.0, math.inf, Match.DIFFERENT),
        (math.inf, -math.inf, Match.DIFFERENT),
        ({"y": math.nan, "z": 2.0}, {"y": 1.0, "z": 2.0 + 1e-13}, Match.DIFFERENT),
        ({"y": math.nan, "z": 2.0}, {"y": math.nan, "z": 2.0}, Match.BITS),
    ],
)
def test_values(recorded, again, must_be):
    assert verdict(recorded, again, rounding.values({None: 2.0})) is must_be


def test_the_values_of_each_outcome_have_their_own_spread():
    may_be = rounding.values({"small": 1e-9, "large": 1e9})
    assert verdict({"small": 0.0}, {"small": 1e-18}, may_be) is Match.DIFFERENT
    assert verdict({"large": 0.0}, {"large": 1e-18}, may_be) is Match.ROUNDING


def test_flags_are_equal_or_different():
    assert verdict([1, 2], [1, 3]) is Match.DIFFERENT
    assert verdict(1.0, math.nextafter(1.0, 2)) is Match.DIFFERENT  # unless rounding may do something to it


def test_it_counts_and_says_where_the_largest_difference_is():
    same = Comparison("here", "")
    for number, off in enumerate((0.0, 1e-7, 6e-7)):
        same(f"trial {number}: ask", ASK, with_params(x=20.0 + off), ASKS, of=number, is_counted=True)
    same("trial 0: clean value", 4.0, math.nextafter(4.0, 5), rounding.values({}), of=0)
    assert (same.agreement.bits, same.agreement.rounding) == (0, 3)
    assert str(same.agreement) == "3 asks: the same to rounding (largest difference 3e-08 of x's range, trial 2: ask)"


def test_it_ends_at_a_difference_and_says_how_far():
    same = Comparison("here", "torch 1 -> 2")
    said = (
        r"here, trial 3: ask: recorded .*20\.0.*, recomputed .*22\.0.*, 0\.1 of x's range apart: 1e\+05 times what "
        r"rounding may do \(libraries have changed: torch 1 -> 2\)"
    )
    with pytest.raises(ReplayMismatch, match=said):
        same("trial 3: ask", ASK, with_params(x=22.0), ASKS, of=3)


def test_it_may_go_on_to_the_end():
    same = Comparison("here", "", to_the_end=True)
    for number, x in enumerate((20.0, 25.0, 20.0 + 1e-6)):
        same(f"trial {number}: ask", ASK, with_params(x=x), ASKS, of=number, is_counted=True)
    found = same.agreement
    assert (found.bits, found.rounding, found.different, found.verdict) == (1, 1, 1, Match.DIFFERENT)
    assert re.match("3 asks: 1 the same to the last bit, 1 to rounding, 1 different", str(found))


def test_an_integer_beyond_all_floats_is_different():
    assert verdict({"value": 10**400}, {"value": 1.0}) == Match.DIFFERENT
