import pytest
import torch

from robustbo.numerics.gp.plateau import plateau_variances


def data(*values):
    y = torch.tensor(values, dtype=torch.float64)
    return torch.arange(len(y), dtype=torch.float64).unsqueeze(-1), y


def test_the_value_of_a_plateau_is_as_uncertain_as_the_nearest_quarter_of_others_is_away_from_it():
    variances = plateau_variances(*data(0.5, 0.5, 0.7, 0.5, 0.5, 0.9, 0.5, 0.1, 0.5, 9.0, 0.5), 0.1)
    assert (variances > 0).tolist() == [True, True, False, True, True, False, True, False, True, False, True]
    assert variances.max().sqrt().item() == pytest.approx(0.3 * 0.2)


@pytest.mark.parametrize(
    "values",
    [
        [1.0, 2.0, 3.0, 4.0],  # nothing recurs
        [0.5] * 9,  # nothing else was seen
        [0.5] * 37 + [9.0, 8.0, 7.0],  # these may be errors
        [0.5, 0.5, 1.0, 2.0, 3.0, 4.0],  # two are none
        [float(i % 5) for i in range(20)],  # coarse values
        [1e6] * 8 + [0.0, 0.1, 0.2, 0.3] * 3,  # a failure's code
    ],
)
def test_no_plateau(values):
    assert plateau_variances(*data(*values), 0.1) is None


def test_how_many_others_may_be_errors_depends_on_their_rate():
    X, y = data(*[0.5] * 30, *range(1, 10))
    assert plateau_variances(X, y, 0.1) is None
    assert plateau_variances(X, y, 0.01) is not None


def test_copies_of_a_point_count_once():
    X, y = data(*[0.5] * 6, 0.1, 0.7, 0.2)
    assert plateau_variances(X, y, 0.1) is not None
    X[:6] = 0.0
    assert plateau_variances(X, y, 0.1) is None


def test_the_order_does_not_matter():
    X, y = data(0.5, 0.5, 0.7, 0.5, 0.5, 0.9, 0.5, 0.1, 0.5)
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(0))
    assert torch.equal(plateau_variances(X, y, 0.1)[order], plateau_variances(X[order], y[order], 0.1))


def test_three_of_four_others_may_be_gross_errors():
    X, y = data(*[0.5] * 13, 0.1, 0.7, 0.2, *(10.0**i for i in range(3, 12)))
    assert plateau_variances(X, y, 0.1).max() < 1
