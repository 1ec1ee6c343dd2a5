"""The error that a new value has by its source, from the belief in the sources of those that were told."""

import math

import pytest

from robustbo.loop.observations.correction import SourceBelief
from robustbo.numerics.sources.errors import SourceError


def error(source, level, kind, size=2.0, sd=0.5):
    return SourceError(source, level, kind, None, size, sd, 8.0, 0.9, (0,), True)


def belief(*believed, doubtful=()):
    return SourceBelief((0,), (*believed, *doubtful), None, len(believed))


def test_a_value_has_the_errors_of_its_source_and_of_everything():
    of_all, own = error("", None, "drift", -1.0, 0.3), error("reactor", "R3", "step", 2.0, 0.4)
    shift = belief(own, of_all, doubtful=[error("reactor", "R1", "offset")]).shift_at({"reactor": "R3"})
    assert shift == (1.0, pytest.approx(0.5))


def test_nothing_is_added_where_nothing_is_believed_or_nobody_is_named():
    of_r3 = belief(error("reactor", "R3", "offset"), doubtful=[error("reactor", "R1", "offset")])
    assert of_r3.shift_at({"reactor": "R1"}) is None
    assert of_r3.shift_at({"plate": "R3"}) is None
    assert belief(error("", None, "step")).shift_at({}) is None


def test_nobody_knows_which_way_a_broken_source_errs():
    assert belief(error("reactor", "R3", "broken", 2.0, 0.5)).shift_at({"reactor": "R3"}) == (0.0, 2.0)


def test_a_new_level_of_a_block_differs_as_much_as_the_others():
    plates = belief(error("plate", "1", "block", 3.0, 0.0), error("plate", "2", "block", -4.0, 0.0))
    assert plates.shift_at({"plate": "2"}) == (-4.0, 0.0)
    assert plates.shift_at({"plate": "3"}) == (0.0, pytest.approx(math.sqrt(12.5)))
