import math
from fractions import Fraction

import numpy as np
import pytest
import torch

from robustbo import validation


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        (2, 2.0),
        (2.5, 2.5),
        (-math.inf, -math.inf),
        (Fraction(1, 2), 0.5),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3.0),
        (np.array(1.5), 1.5),
        (torch.tensor(2.5, dtype=torch.float64), 2.5),
        (torch.tensor(2), 2.0),
    ],
    ids=repr,
)
def test_every_kind_of_real_number_becomes_a_float(given, plain):
    found = validation.real("value", given)
    assert found == plain
    assert type(found) is float


def test_nan_is_a_real_number_here():
    assert math.isnan(validation.real("value", math.nan))


@pytest.mark.parametrize(
    "given",
    [
        True,
        np.True_,
        torch.tensor(True),
        "1.5",
        b"1",
        1j,
        None,
        [1.0],
        {},
        object(),
        np.ones(2),
        torch.ones(2),
        10**400,
    ],
    ids=lambda given: repr(given)[:20],
)
def test_what_is_no_real_number_is_refused(given):
    with pytest.raises(TypeError, match="value must be a real number, got "):
        validation.real("value", given)


@pytest.mark.parametrize(("given", "plain"), [(None, None), (0, 0.0), (np.float64(0.5), 0.5)])
def test_a_noise_sd_is_none_or_a_number(given, plain):
    assert validation.noise_sd(given) == plain


@pytest.mark.parametrize("given", [-1e-9, math.nan, math.inf])
def test_a_noise_sd_must_be_finite_and_not_negative(given):
    with pytest.raises(ValueError, match=f"sd must be finite and at least 0, got {given}"):
        validation.noise_sd(given)


def test_a_noise_sd_must_be_a_number():
    with pytest.raises(TypeError, match="sd must be a real number, got 'x'"):
        validation.noise_sd("x")


@pytest.mark.parametrize("given", [3, np.int64(3), np.uint8(3), torch.tensor(3)], ids=repr)
def test_every_kind_of_whole_number_is_an_index(given):
    found = validation.index(given)
    assert found == 3
    assert type(found) is int


def test_a_whole_number_is_an_index_as_a_table_with_an_empty_cell_has_it():
    assert [validation.index(each) for each in (3, np.int64(3), 3.0, np.float64(3))] == [3] * 4


@pytest.mark.parametrize("given", [True, np.True_, 3.5, float("nan"), "3", None, [3]], ids=repr)
def test_what_is_no_whole_number_is_no_index(given):
    with pytest.raises(TypeError, match="trial must be a Trial"):
        validation.index(given)


@pytest.mark.parametrize("masked", [np.ma.masked, np.ma.array([1.0], mask=[True])], ids=["constant", "array"])
def test_what_is_masked_is_no_number(masked):
    with pytest.raises((TypeError, ValueError), match="value"):
        validation.real("value", masked)
    assert validation.real("value", np.ma.array([1.0])) == 1.0
