import pytest
import torch
from sklearn.preprocessing import PowerTransformer

from robustbo.surrogates.baselines.power_transform import PowerTransformGP, YeoJohnson
from robustbo.surrogates.common.contract import fit
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize


def values(kind):
    z = torch.randn(60, 1, generator=torch.Generator().manual_seed(0))
    return {"log-normal": z.exp(), "left-skewed": -z.exp(), "normal": z, "heavy": z**5, "cubic": (z + 3) ** 3}[kind]


@pytest.mark.parametrize("kind", ["log-normal", "left-skewed", "normal", "heavy", "cubic"])
class TestDefinition:
    def test_it_is_scikit_learns_after_robust_standardization(self, kind):
        Y, transform = values(kind), YeoJohnson(m=1)
        wanted = PowerTransformer("yeo-johnson").fit_transform(RobustStandardize(m=1)(Y)[0].numpy())
        torch.testing.assert_close(transform(Y)[0], torch.from_numpy(wanted), rtol=1e-5, atol=1e-5)

    def test_the_way_back_is_the_same_values(self, kind):
        Y, transform = values(kind), YeoJohnson(m=1)
        U, _ = transform(Y)
        torch.testing.assert_close(transform.eval().untransform(U)[0], Y, rtol=1e-8, atol=1e-8)

    def test_the_stretch_is_the_derivative_of_the_way_back(self, kind):
        transform = YeoJohnson(m=1)
        U, _ = transform(values(kind))
        inside = U[(U.abs() < 1.0)]
        slope = (transform.unwarp(inside + 1e-6) - transform.unwarp(inside - 1e-6)) / 2e-6
        torch.testing.assert_close(transform.stretch(inside), slope, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(("power", "sign"), [(-0.7, 1.0), (2.7, -1.0)])
def test_beyond_the_bound_a_prediction_counts_as_just_within(power, sign):
    transform = YeoJohnson(m=1)
    transform.power = power
    u = sign * torch.tensor([1.4, 5.0, 100.0])
    back = transform.unwarp(u)
    assert back.isfinite().all()
    assert back[1] == back[2]
    assert transform.stretch(u).isfinite().all()


@pytest.mark.parametrize(
    "Y",
    [
        torch.full((4, 1), 2.0, dtype=torch.float64),
        torch.tensor([[5.0]], dtype=torch.float64),
        torch.tensor([[0.0], [1.0], [1e300]], dtype=torch.float64),
    ],
)
def test_values_that_say_nothing_of_a_power_have_one(Y):
    U, _ = YeoJohnson(m=1)(Y)
    assert U.isfinite().all()


def test_a_skewed_function_is_predicted_in_its_own_units():
    X = torch.linspace(0, 1, 40).unsqueeze(-1)
    Y = torch.exp(4 * torch.sin(6 * X))
    model = fit(PowerTransformGP(X, Y))
    posterior = model.posterior(X)
    assert (posterior.mean.log() - Y.log()).abs().max() < 0.3
    assert model.outcome_transform.power < 0.5
