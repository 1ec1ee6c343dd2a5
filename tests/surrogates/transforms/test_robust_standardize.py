import pytest
import torch

from robustbo.surrogates.transforms.robust_standardize import RobustStandardize


def learned(Y):
    transform = RobustStandardize(m=1)
    return transform, transform(torch.tensor(Y).unsqueeze(-1))[0].squeeze(-1)


def test_normal_values_come_out_standard():
    Y = 3 + 2 * torch.randn(20_000, generator=torch.Generator().manual_seed(0))
    _, Z = learned(Y.tolist())
    assert abs(Z.median()) < 0.02
    assert abs(Z.std() - 1) < 0.03


@pytest.mark.parametrize("wild", [1e2, 1e12, 1e200])
def test_a_wild_value_moves_nothing(wild):
    usual = [float(i) for i in range(11)]
    _, reference = learned([*usual, 5.0])
    _, Z = learned([*usual, wild])
    assert (Z[:11] - reference[:11]).abs().max() < 0.5
    assert Z.isfinite().all()
    assert Z.square().isfinite().all()


def test_untransforming_gives_the_values_back():
    transform, Z = learned([1.0, 2.0, 4.0, 8.0])
    Y, Yvar = transform.untransform(Z.unsqueeze(-1), torch.ones(4, 1))
    torch.testing.assert_close(Y.squeeze(-1), torch.tensor([1.0, 2.0, 4.0, 8.0]))
    assert Yvar[0] == transform.stdvs.square()


@pytest.mark.parametrize("Y", [[5.0], [5.0, 5.0], [5.0] * 9 + [6.0]])
def test_few_and_equal_values_are_no_trouble(Y):
    _, Z = learned(Y)
    assert Z.isfinite().all()


def test_in_evaluation_mode_it_learns_nothing():
    transform, _ = learned([0.0, 1.0, 2.0])
    center = transform.means.clone()
    transform.eval()
    transform(torch.tensor([[100.0]]))
    torch.testing.assert_close(transform.means, center)


@pytest.mark.parametrize("share", [0.3, 0.45])
def test_up_to_half_of_the_values_may_be_gross(share):
    Y = torch.randn(200, 1, generator=torch.Generator().manual_seed(0))
    Y[: int(share * 200)] = 1e4
    transform = RobustStandardize(m=1)
    transform(Y)
    assert 0.5 < transform.stdvs.item() < 5


@pytest.mark.parametrize("size", [1e12, 1e20, 1e100])
def test_three_gross_values_of_ten_do_not_make_the_others_equal(size):
    Y = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, size, -size, size], dtype=torch.float64).unsqueeze(-1)
    transform = RobustStandardize(m=1)
    transform(Y)
    assert transform.stdvs.item() < 5
