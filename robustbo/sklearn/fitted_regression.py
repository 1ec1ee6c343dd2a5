"""A surrogate fitted to a table's rows, in arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from botorch.models.gpytorch import GPyTorchModel
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel
from torch import Tensor

from robustbo.determinism.isolation import seed_everything
from robustbo.surrogates import registry
from robustbo.surrogates.common import contract, priors
from robustbo.surrogates.common.map_gp import MapGP
from robustbo.surrogates.common.quiet import quiet
from robustbo.surrogates.common.units import in_model_units, in_outcome_units

Array = NDArray[np.float64]

HALF = 0.5  # probability beyond which a value is called wrong


@dataclass(frozen=True)
class FittedRegression:
    """A fitted surrogate, asked and answering in arrays.

    Attributes:
        model: The surrogate.
        seed: Of methods that draw.
    """

    model: GPyTorchModel
    seed: int

    @classmethod
    def fit(cls, name: str, options: Mapping[str, Any], X: Array, y: Array, noise: Array | None, seed: int) -> Self:
        """Fit a surrogate.

        Args:
            name: A registry name.
            options: Its own options.
            X: ``n x d`` inputs, numbers between 0 and 1.
            y: ``n`` values.
            noise: ``n`` noise variances, where they are known.
            seed: Of methods that draw.
        """
        registry.check_options(name, options)
        columns = [torch.tensor(x) for x in (y, noise) if x is not None]
        inputs: Any = torch.tensor(X), *(column.unsqueeze(-1) for column in columns)
        with seed_everything(seed):
            return cls(contract.fit(registry.model_class(name)(*inputs, **options)), seed)

    @property
    def diagnosis(self) -> dict[str, Any]:
        """What is said of each of the ``n`` values, by the regressor's attributes."""
        with seed_everything(self.seed), quiet(), torch.no_grad():
            of_others, right = contract.diagnose(self.model), contract.probability_right(self.model)
        wrong = None if right is None else (1 - right).numpy()
        return {
            "expected_": of_others.expected.numpy(),
            "expected_sd_": of_others.sd.numpy(),
            "evidence_": of_others.evidence.numpy(),
            "probability_wrong_": wrong,
            "outlier_mask_": of_others.is_outlier.numpy() if wrong is None else wrong > HALF,
        }

    def marginals(self, X: Array) -> tuple[Array, Array]:
        """Means and standard deviations of the function at ``m x d`` inputs."""
        return self._marginals(X, is_noisy=False)

    def quantiles(self, X: Array, probabilities: Array) -> Array:
        """``m x q`` quantiles of a right measurement at ``m x d`` inputs."""
        scores = ndtri(probabilities)
        if contract.capabilities(self.model).has_predictive and isinstance(self.model, MapGP):
            with quiet(), torch.no_grad():
                predictive: Any = self.model.predictive(torch.from_numpy(X))
            if hasattr(predictive, "quantiles"):
                return np.stack([predictive.quantiles(score).numpy() for score in scores], axis=1)
        mean, sd = self._marginals(X, is_noisy=True)
        transform = contract.outcome_transform(self.model)
        inside, width = in_model_units(transform, torch.from_numpy(mean), torch.from_numpy(sd))
        ends = [in_outcome_units(transform, inside + score * width, width)[0] for score in scores]
        return np.stack([end.numpy() for end in ends], axis=1)

    def covariance(self, X: Array) -> Array:
        """``m x m`` covariance of the function at ``m x d`` inputs."""
        with quiet(), torch.no_grad():
            posterior: Any = self.model.posterior(torch.from_numpy(X))
            return _covariance(posterior).numpy()

    def samples(self, X: Array, count: int, seed: int) -> Array:
        """``m x count`` samples of the function at ``m x d`` inputs."""
        with seed_everything(seed), quiet(), torch.no_grad():
            posterior: Any = self.model.posterior(torch.from_numpy(X))
            return posterior.rsample(torch.Size([count])).squeeze(-1).T.numpy()

    @property
    def kernel(self) -> Any:
        """The kernel as scikit-learn's where it is a named one, else the model's own."""
        if not (isinstance(self.model, MapGP) and self.model.is_named):
            return getattr(self.model, "covar_module", None)
        name, is_signal_free = self.model._named  # type: ignore[misc]
        module: Any = self.model.covar_module
        *lengths, signal = priors.get_kernel(module, is_signal_free).exp().tolist() + [1.0] * (not is_signal_free)
        shape = Matern(length_scale=lengths, nu=2.5) if name == "matern52" else RBF(length_scale=lengths)
        noise = float(self.model.likelihood.new_noise.detach())
        return ConstantKernel(signal) * shape + WhiteKernel(noise)

    @property
    def log_likelihood(self) -> float | None:
        """Log marginal likelihood of the values in the model's units, where the fit has one."""
        likelihood = getattr(getattr(self.model, "map_estimate", None), "L", None)
        return None if likelihood is None else float(likelihood)

    @property
    def approximation(self) -> str:
        """Sentence on how the posterior was computed."""
        n = len(self.model.train_targets)
        if (committee := getattr(self.model, "committee", None)) is not None:
            experts = len(committee.parts)
            return f"{experts} experts, {n / experts:.0f} of {n} values each"
        return f"exact, {n} values"

    def _marginals(self, X: Array, *, is_noisy: bool) -> tuple[Array, Array]:
        with seed_everything(self.seed), quiet(), torch.no_grad():
            mean, sd = contract.marginals(self.model, torch.from_numpy(X), is_noisy)
        return mean.numpy(), sd.numpy()


def _covariance(posterior: Any) -> Tensor:
    """Covariance of a posterior of one outcome, by its distribution or by that of its samples' transform."""
    if hasattr(posterior, "distribution"):
        covariance: Tensor = posterior.distribution.covariance_matrix
        return covariance
    inner = posterior._posterior.distribution.covariance_matrix  # of warped outcomes
    stretch = (posterior.variance.squeeze(-1) / inner.diagonal(dim1=-2, dim2=-1)).sqrt()
    scaled: Tensor = inner * stretch.unsqueeze(-1) * stretch.unsqueeze(-2)
    return scaled
