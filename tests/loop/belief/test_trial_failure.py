import math

import pytest
import torch

from robustbo.loop.belief.trial_failure import failure_probabilities, log_likelihood_ratio

RATE = 0.1


def probabilities(*rows):
    return torch.tensor(rows, dtype=torch.float64)


def by_bayes(q, rate):
    """The same as it is written: a trial has failed, or each of its values is right or has an error of its own."""
    fails, own = rate / 2, rate / (2 - rate)
    ratios = (q / (1 - q)) / (rate / (1 - rate))
    together = fails * ratios.prod(-1)
    return together / (together + (1 - fails) * (1 - own + own * ratios).prod(-1))


def test_it_is_bayes_rule_for_two_causes_that_are_as_frequent():
    q = torch.rand(20, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    torch.testing.assert_close(failure_probabilities(q, 0.2), by_bayes(q, 0.2))


def test_several_doubts_add_up_to_a_failure_and_each_alone_would_not():
    doubtful = probabilities([0.4, 0.4, 0.4])
    assert failure_probabilities(doubtful, RATE).item() > 0.5
    assert all(failure_probabilities(doubtful[:, [m]], RATE).item() < 0.5 for m in range(3))


@pytest.mark.parametrize("wrong", [0.9, 1.0])
def test_one_gross_value_costs_no_other_outcome_its_own(wrong):
    assert failure_probabilities(probabilities([wrong, 0.005, 0.005], [wrong, 0.09, 0.09]), RATE).max().item() < 0.5
    assert (
        failure_probabilities(probabilities([wrong, 0.3, 0.3]), RATE).item() > 0.5
    )  # but it does where they look wrong too


def test_one_outcome_cannot_tell_a_failure_from_an_error_of_its_own():
    assert failure_probabilities(probabilities([0.0], [0.5], [1.0]), RATE).max().item() <= 0.5


def test_what_is_not_there_says_nothing():
    q = probabilities([0.9, math.nan, 0.3], [math.nan, math.nan, math.nan])
    of_two, of_none = failure_probabilities(q, RATE)
    assert of_two == failure_probabilities(q[:1, [0, 2]], RATE)
    assert of_none.item() == pytest.approx(RATE / 2)
    assert log_likelihood_ratio(q, RATE)[1].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("rate", [1e-6, 0.1, 0.999])
def test_certainties_give_finite_probabilities(rate):
    found = failure_probabilities(probabilities([0.0] * 4, [1.0] * 4, [0.0, 1.0, 0.0, 1.0]), rate)
    assert ((found >= 0) & (found <= 1)).all()
    assert found[0] < found[1]


def test_neither_the_order_of_trials_nor_of_outcomes_matters():
    q = torch.rand(5, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    torch.testing.assert_close(failure_probabilities(q.flip(0, 1), RATE), failure_probabilities(q, RATE).flip(0))


def test_more_doubt_in_any_outcome_is_more_doubt_in_the_trial():
    q = torch.rand(30, 3, generator=torch.Generator().manual_seed(2), dtype=torch.float64) * 0.9
    assert (failure_probabilities(q + probabilities([0.0, 0.05, 0.0]), RATE) > failure_probabilities(q, RATE)).all()
