import pytest
import torch

from robustbo.numerics.gp.resolution import resolution, rounding_variance


@pytest.mark.parametrize("step", [0.01, 0.5, 25.0, 1e-6])
@pytest.mark.parametrize("level", [0.0, 3.0])
def test_the_step_that_all_values_are_multiples_of_is_found(step, level):
    steps = torch.randint(0, 40, (30,), generator=torch.Generator().manual_seed(1))
    y = step * (steps + round(level / step)).double()
    assert resolution(y) == pytest.approx(step)
    y[4] = 1e7 * step + 0.3  # a gross value has digits of its own
    assert resolution(y) == pytest.approx(step)


@pytest.mark.parametrize(("wrong", "step"), [(1, 1.0), (2, 1.0), (4, 0.1)])
def test_a_few_values_with_a_digit_more_hide_no_step(wrong, step):
    y = 20 + torch.randint(0, 12, (40,), generator=torch.Generator().manual_seed(3)).double()
    y[:wrong] = y[:wrong] / 10
    y[:wrong] += 0.1 * (y[:wrong] == y[:wrong].round())
    assert resolution(y) == pytest.approx(step)


def test_values_that_recur_at_a_few_levels_alone_are_no_grid():
    y = torch.rand(40, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    y[:38] = (3 * y[:38]).round()
    assert resolution(y) == 0


def test_a_last_digit_that_flickers_is_a_step():
    y = torch.full((40,), 8.4, dtype=torch.float64)
    y[[3, 17, 31]] = 8.41
    assert resolution(y) == pytest.approx(0.01)
    assert rounding_variance(0.01) == pytest.approx(0.01**2 / 12)


@pytest.mark.parametrize("y", [torch.rand(200, dtype=torch.float64), torch.ones(20, dtype=torch.float64)])
def test_values_of_full_precision_and_equal_ones_have_none(y):
    assert resolution(y) == 0.0


def test_of_few_values_it_cannot_be_told():
    assert resolution(torch.arange(7.0, dtype=torch.float64)) == 0.0


@pytest.mark.parametrize(
    ("common", "rare", "step"),
    [
        (8.4, [8.41], 0.01),  # many steps from zero
        (0.0, [1e6], 0.0),  # one may be an error
        (5.0, [1e6], 0.0),
        (7.0, [14.0], 0.0),
        (0.0, [1e6, 1e6], 0.0),
        (0.0, [0.01, 0.01, 0.01], 0.01),
    ],
)
def test_of_two_values_alone_the_distance_is_a_step_where_there_is_more_to_say_so(common, rare, step):
    y = torch.tensor([common] * 14 + rare, dtype=torch.float64)
    assert resolution(y) == pytest.approx(step)


def test_of_equal_values_and_gross_ones_the_others_say_what_is_typical():
    others = torch.rand(6, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    y = torch.cat([torch.zeros(12, dtype=torch.float64), others, torch.full((12,), 1e200, dtype=torch.float64)])
    assert resolution(y) == 0.0


def test_a_step_beyond_all_numbers_is_no_error():
    assert rounding_variance(1e200) == float("inf")
