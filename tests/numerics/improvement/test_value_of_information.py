import pytest
import torch

from robustbo.numerics.gp.wrong_density import NEEDLE
from robustbo.numerics.improvement.value_of_information import expected_improvement, shares, value_of_replicate


def value(y, p, *arguments):
    """Of one value that is wrong with probability p."""
    return value_of_replicate(*(torch.tensor(x, dtype=torch.float64) for x in ([y], [1 - p], *arguments))).item()


@pytest.mark.few(8)
@pytest.mark.parametrize("y", [-1.0, 0.4, 2.5])
@pytest.mark.parametrize("p", [0.0, 0.3, 0.9, 1.0])
@pytest.mark.parametrize(("mu", "sd"), [(0.2, 0.5), (1.5, 1.0)])
def test_it_is_the_mean_over_what_could_come_out(y, p, mu, sd):
    B, f = 1.0, mu + sd * torch.randn(2_000_000, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    knowing = (1 - p) * max(B, y) + p * f.clamp_min(B).mean().item()
    not_knowing = max(B, (1 - p) * y + p * mu)
    assert value(y, p, mu, sd, B) == pytest.approx(knowing - not_knowing, abs=3e-3)


def test_nothing_is_learned_where_nothing_changes_the_choice():
    assert value(-5.0, 0.5, -4.0, 0.1, 3.0) == pytest.approx(0, abs=1e-12)  # poor either way
    assert value(5.0, 0.0, 1.0, 1.0, 3.0) == 0  # no doubt


def test_it_is_largest_where_the_choice_hangs_on_the_answer():
    values = [value(5.0, p, 1.0, 1e-6, 2.0) for p in (0.1, 0.5, 0.75, 0.9, 0.99)]
    assert values.index(max(values)) == 2


@pytest.mark.parametrize("y", [1e300, -1e300])
def test_a_value_of_any_size_gives_a_finite_answer(y):
    assert 0 <= value(y, 1.0, 0.0, 1.0, 1.0) < 1


def test_of_several_values_it_is_the_mean_over_which_is_right():
    y, w = torch.tensor([3.0, -1.0, 2.0], dtype=torch.float64), torch.tensor([0.5, 0.2, 0.1], dtype=torch.float64)
    mu, sd, B = (torch.tensor(x, dtype=torch.float64) for x in (0.5, 1.0, 1.5))
    knowing = 0.5 * 3.0 + 0.2 * 1.5 + 0.1 * 2.0 + 0.2 * (1.5 + expected_improvement(mu, sd, B).item())
    assert value_of_replicate(y, w, mu, sd, B).item() == pytest.approx(knowing - max(1.5, 1.5 - 0.2 + 0.2 + 0.1))
    batch = value_of_replicate(y.expand(4, 3), w.expand(4, 3), *(v.expand(4) for v in (mu, sd, B)))
    torch.testing.assert_close(batch, value_of_replicate(y, w, mu, sd, B).expand(4))


def test_values_that_agree_share_what_is_right_and_what_is_wrong_is_none_of_them():
    p = torch.tensor([[0.1, 0.1], [0.9, 0.3], [1.0, 1.0]], dtype=torch.float64)
    few = NEEDLE / (1 + 2 * NEEDLE)
    expected = torch.tensor([[0.5, 0.5], [0.1, 0.7], [few, few]], dtype=torch.float64)
    torch.testing.assert_close(shares(p), expected)


def test_no_value_is_so_surely_wrong_that_its_share_is_nothing():
    p = torch.tensor([[1.0], [1 - 1e-12], [1 / (1 + NEEDLE)], [0.5]], dtype=torch.float64)
    few = NEEDLE / (1 + NEEDLE)
    expected = torch.tensor([[few], [few], [few], [0.5]], dtype=torch.float64)
    torch.testing.assert_close(shares(p), expected)
    beside = torch.tensor([1.0, 0.0], dtype=torch.float64)  # another that is right says that it is no needle
    torch.testing.assert_close(shares(beside), torch.tensor([0.0, 1.0], dtype=torch.float64))


def test_of_a_needle_that_is_not_believed_all_the_height_is_won():
    y, w, mu, sd, B = (torch.tensor(x, dtype=torch.float64) for x in ([85.0], [0.02], 1.9, 1e-6, 2.0))
    expected = 0.02 * (85.0 - 2.0)
    assert value_of_replicate(y, w, mu, sd, B, is_believed=False).item() == pytest.approx(expected)
    assert value_of_replicate(y, w, mu, sd, B).item() < 0.1 * expected  # one would take the point as it is


def test_expected_improvement_of_a_certain_value_is_the_difference():
    mu, sd, B = (torch.tensor(x, dtype=torch.float64) for x in (3.0, 1e-9, 1.0))
    assert expected_improvement(mu, sd, B).item() == pytest.approx(2.0)
