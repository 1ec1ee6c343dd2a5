import numpy as np
import pytest
import torch

from robustbo.numerics.baselines.box_plot import WHISKER, whiskers


@pytest.mark.parametrize("n", [1, 2, 7, 20])
def test_they_end_so_many_interquartile_ranges_beyond_the_quartiles(n):
    """Quartiles by NumPy."""
    y = torch.randn(n, dtype=torch.float64, generator=torch.Generator().manual_seed(n))
    first, third = np.quantile(y, 0.25, method="lower"), np.quantile(y, 0.75, method="higher")
    low, high = whiskers(y.unsqueeze(-1))
    assert low.item() == pytest.approx(first - WHISKER * (third - first))
    assert high.item() == pytest.approx(third + WHISKER * (third - first))


def test_a_batch_is_each_on_its_own():
    Y = torch.randn(3, 9, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    for end, *each in zip(whiskers(Y), *(whiskers(y) for y in Y), strict=True):
        torch.testing.assert_close(end, torch.stack(each))
        assert end.shape == (3, 1, 2)


def test_equal_values_end_at_themselves():
    assert [end.item() for end in whiskers(torch.full((5, 1), 3.0))] == [3.0, 3.0]


def test_one_wild_value_moves_nothing():
    y = torch.arange(9.0).unsqueeze(-1)
    wild = torch.cat([y[:-1], torch.full((1, 1), 1e30)])
    assert whiskers(wild) == whiskers(y)
