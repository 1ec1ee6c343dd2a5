import pytest
import torch

from robustbo.numerics.gp.plateau import find_plateau


def data(*values):
    y = torch.tensor(values, dtype=torch.float64)
    return torch.arange(len(y), dtype=torch.float64).unsqueeze(-1), y


def test_the_value_of_a_plateau_is_as_uncertain_as_others_are_away_from_it():
    plateau = find_plateau(*data(0.5, 0.5, 0.7, 0.5, 0.5, 0.9, 0.5, 0.1, 0.5), 0.1)
    assert plateau.is_on.tolist() == [True, True, False, True, True, False, True, False, True]
    assert plateau.value == 0.5
    assert plateau.variance.item() == pytest.approx((0.3 * 0.4) ** 2)


@pytest.mark.parametrize(
    "values",
    [
        [1.0, 2.0, 3.0, 4.0],  # nothing recurs
        [0.5] * 9,  # nothing else was seen
        [0.5] * 37 + [9.0, 8.0, 7.0],  # these may be errors
        [0.5, 0.5, 1.0, 2.0, 3.0, 4.0],  # two are none
        [float(i % 5) for i in range(20)],  # coarse values
    ],
)
def test_no_plateau(values):
    assert find_plateau(*data(*values), 0.1) is None


def test_how_many_others_may_be_errors_depends_on_their_rate():
    X, y = data(*[0.5] * 30, *range(1, 10))
    assert find_plateau(X, y, 0.1) is None
    assert find_plateau(X, y, 0.01) is not None


def test_copies_of_a_point_count_once():
    X, y = data(*[0.5] * 6, 0.1, 0.7, 0.2)
    assert find_plateau(X, y, 0.1) is not None
    X[:6] = 0.0
    assert find_plateau(X, y, 0.1) is None


def test_the_order_and_the_unit_do_not_matter():
    X, y = data(0.5, 0.5, 0.7, 0.5, 0.5, 0.9, 0.5, 0.1, 0.5)
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(0))
    one, other = find_plateau(X, y, 0.1), find_plateau(X[order], 1e6 * y[order], 0.1)
    assert torch.equal(one.is_on[order], other.is_on)
    assert other.variance.item() == pytest.approx(1e12 * one.variance.item())
