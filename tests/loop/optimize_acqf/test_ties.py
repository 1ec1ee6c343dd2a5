import math

import torch

from robustbo.loop.optimize_acqf.ties import TIE, first_of_best, level_ties


def of(*values):
    return torch.tensor(values, dtype=torch.float64)


def test_the_first_of_what_ties_is_taken_however_the_last_digits_fall():
    for slip in (-1e-12, 0.0, 1e-12):
        assert first_of_best(of(-9.0, 1.0, 1.0 + slip, 0.5)) == 1


def test_what_is_better_by_more_is_taken():
    assert first_of_best(of(1.0, 1.0 + 2 * TIE)) == 1


def test_values_that_do_not_tie_stay_as_they_are():
    assert level_ties(of(0.0, 1.0, 1.0 - 1e-9)).tolist() == [0.0, 1.0, 1.0]


def test_no_number_is_the_greatest_where_none_is_finite():
    assert first_of_best(of(-math.inf, -math.inf)) == 0
