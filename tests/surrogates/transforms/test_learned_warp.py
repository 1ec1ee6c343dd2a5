import pytest
import torch

from robustbo.numerics.gp.warp import NONE
from robustbo.surrogates.transforms.learned_warp import FAR, LearnedWarp
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize

Y = torch.tensor([[0.0], [1.0], [2.0], [3.0], [1e12]], dtype=torch.float64)


def trained(values=Y, t=NONE):
    transform = LearnedWarp(m=1)
    transform(values)
    transform.t = torch.tensor(t, dtype=torch.float64)
    return transform.eval()


def test_it_is_the_robust_standardization_until_a_fit_has_found_more():
    torch.testing.assert_close(trained()(Y[:4])[0], (RobustStandardize(m=1)(Y)[0])[:4])


@pytest.mark.parametrize("t", [NONE, (1.0, 0.0, 0.0), (0.5, 4.0, 0.0), (0.5, 2.0, -0.9)])
@pytest.mark.parametrize("factor", [1.0, -1.0, 1e-200, 1e150])
def test_the_way_back_is_the_same_values(t, factor):
    values = factor * Y
    transform = trained(values, t)
    back, _ = transform.untransform(transform(values)[0])
    assert ((back - values).abs() <= 1e-10 * (values.abs() + transform.stdvs)).all()


@pytest.mark.parametrize("t", [NONE, (1.0, 2.0, 0.0), (1.0, 2.0, 0.4)])
def test_the_stretch_is_the_derivative_of_the_way_back(t):
    transform = trained(t=t)
    u = transform.warp(torch.tensor([-1e3, -FAR - 1, -2.0, 0.0, 0.5, FAR - 1, FAR + 1, 1e4], dtype=torch.float64))
    slope = (transform.unwarp(u + 1e-6) - transform.unwarp(u - 1e-6)) / 2e-6
    torch.testing.assert_close(transform.stretch(u), slope, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("origin", [0.0, -0.7])
def test_each_side_of_the_origin_has_a_bend_of_its_own(origin):
    transform = trained(t=(0.0, 2.0, origin))
    z = torch.tensor([-5.0, -3.0, 3.0], dtype=torch.float64)
    lower, low, high = transform.warp(z)
    slope = transform.variance_slope(z).sqrt()
    assert (low - lower).item() == pytest.approx(2 * slope[0].item())
    assert high < 1.5 + 2 * abs(origin)
    assert slope[2] < 0.5 * slope[1]


@pytest.mark.parametrize("magnitude", [1e3, 1e100, 1e300])
def test_any_magnitude_stays_one_whose_square_is_no_trouble(magnitude):
    values = Y.clone()
    values[-1] = magnitude
    assert trained(values)(values)[0].abs().max() < 1e4


class TestBeyondAllValues:
    @pytest.fixture
    def fitted(self):
        transform, Y = LearnedWarp(m=1), torch.linspace(0, 1, 21, dtype=torch.float64).unsqueeze(-1).pow(6) * 50
        transform(Y)
        transform.t = torch.tensor([0.0, 3.0, -0.5], dtype=torch.float64)
        u, _ = transform.eval()(Y)
        transform.follow(u)
        return transform, Y, u

    def test_values_stay_as_they_are_to_the_bit(self, fitted):
        transform, Y, u = fitted
        assert torch.equal(transform(Y)[0], u)
        torch.testing.assert_close(transform.untransform(u)[0], Y)

    def test_the_warp_follows_its_tangent(self, fitted):
        transform, _, u = fitted
        beyond = torch.stack([u.max() + step for step in (1e-6, 1.0, 2.0)]).unsqueeze(-1)
        (near, one, two), variances = transform.untransform(beyond, torch.ones_like(beyond))
        assert variances.max() == variances.min()
        assert (two - one).item() == pytest.approx((one - near).item(), rel=1e-4)
        assert (one - near).item() == pytest.approx(variances[0].sqrt().item(), rel=1e-4)
        transform.follow(None)
        assert transform.untransform(beyond)[0][2] > 10 * two

    def test_both_ways_are_inverse(self, fitted):
        transform, Y, _ = fitted
        for values in (10 * Y.max(), Y.min() - Y.max(), 1e6 * Y.max()):
            y = values.reshape(1, 1)
            assert transform.untransform(transform(y)[0])[0].item() == pytest.approx(y.item(), rel=1e-9)

    def test_other_scales_forget_it(self, fitted):
        transform, _, _ = fitted
        transform.take(transform.means, transform.stdvs)
        assert transform.reach == (-float("inf"), float("inf"))
