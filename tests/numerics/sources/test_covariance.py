import torch

from robustbo.numerics.belief.hyperparameters import systems_at
from robustbo.numerics.gp.covariance import stationary
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.parameters import LogNormal
from robustbo.numerics.sources.covariance import with_shared_errors

X, A = (
    torch.linspace(0, 1, 6, dtype=torch.float64).unsqueeze(-1),
    torch.tensor([[1.0], [0], [1], [0], [1], [0]]).double(),
)
NOISE = LogNormal(-4.0, 1.0)


def test_all_but_the_matrices_is_as_without_shared_errors():
    """The priors too, with which hyperparameters are drawn; and many matrices at once have the errors as one has."""
    inner = stationary(X, "matern52", LogNormal(0.0, 1.0), LogNormal(0.0, 1.0))
    model = Model(X.squeeze(-1), inner, NOISE)
    beside = with_shared_errors(model, A)
    assert beside.covariance.priors == inner.priors
    assert beside.covariance.prior_precision is inner.prior_precision
    theta = torch.tensor([[-1.0, 0.3, -3.0], [0.5, -0.2, -2.0]], dtype=torch.float64)
    torch.testing.assert_close(beside.covariance.at(theta[0, :2]).K, inner.at(theta[0, :2]).K + A @ A.mT)
    more = torch.from_numpy(systems_at(beside, theta.numpy()).K - systems_at(model, theta.numpy()).K)
    torch.testing.assert_close(more, (A @ A.mT).expand(2, 6, 6))


def test_no_errors_change_nothing():
    model = Model(X.squeeze(-1), stationary(X, "rbf", LogNormal(0.0, 1.0), None), NOISE)
    assert with_shared_errors(model, A[:, :0]) is model
