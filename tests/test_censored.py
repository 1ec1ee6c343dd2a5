import copy
import json
import math
import pickle

import numpy as np
import pandas as pd
import pytest

import robustbo as rb
from robustbo.censored import censored_value, from_json, read_bound, to_json, value_at_limit


@pytest.mark.parametrize(
    ("text", "sign", "limit"),
    [("<0.05", "<", 0.05), (" > 200 ", ">", 200.0), ("<= 1e-7", "<", 1e-7), (">=-3", ">", -3.0), ("≤ 2", "<", 2.0)],
)
def test_a_bound_is_read_as_people_write_it_and_written_as_it_is_read(text, sign, limit):
    value = read_bound(text)
    assert (value.sign, float(value)) == (sign, limit)
    assert from_json(to_json(value)) == value
    assert value.bound.limit == limit
    assert censored_value(value.bound) == value


@pytest.mark.parametrize("text", ["<", "<>3", "< 3 mg", "<nan", ">inf", "<1_000", "<a"])
def test_a_text_that_begins_as_a_bound_and_is_none_is_refused(text):
    with pytest.raises(ValueError, match="a bound must be < or >"):
        read_bound(text)


@pytest.mark.parametrize("text", ["", "0.05", "n/a", "a < 3", "-2"])
def test_any_other_text_is_none(text):
    assert read_bound(text) is None


@pytest.mark.parametrize("limit", [math.nan, math.inf, -math.inf])
def test_a_limit_is_finite(limit):
    with pytest.raises(ValueError, match="limit of a bound must be finite"):
        rb.Below(limit)


def test_no_table_of_numbers_takes_a_bound_for_one():
    column = pd.DataFrame({"value": [0.5, rb.Below(0.05)]})["value"]
    assert column.dtype == object
    assert np.array([0.5, rb.Above(3)]).dtype == object


def test_a_recorded_bound_is_a_number_that_equals_none():
    below, above = value_at_limit("<", 0.05), value_at_limit(">", 0.05)
    assert below != 0.05
    assert below != above
    assert len({below, above, 0.05, value_at_limit("<", 0.05)}) == 3
    assert f"{below:.1g} {above}" == "<0.05 >0.05"
    assert [pickle.loads(pickle.dumps(v)) for v in (below, above)] == [below, above]
    assert copy.deepcopy(below) == below
    assert json.dumps([to_json(below), to_json(1.5)]) == '["<0.05", 1.5]'
