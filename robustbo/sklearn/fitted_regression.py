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

from robustbo.determinism.isolation import seed_everything
from robustbo.numerics.sources.labels import SourceLabels
from robustbo.sklearn.groups import GroupedFit, check_method, fit_beside_groups
from robustbo.surrogates import registry
from robustbo.surrogates.common import contract, priors
from robustbo.surrogates.common.map_gp import MapGP
from robustbo.surrogates.common.quiet import quiet

Array = NDArray[np.float64]

HALF = 0.5  # probability beyond which a value is called wrong


@dataclass(frozen=True)
class FittedRegression:
    """A fitted surrogate, asked and answering in arrays.

    Attributes:
        model: The surrogate.
        seed: Of methods that draw.
        grouped: What is believed of groups of rows; None where there are none.
    """

    model: GPyTorchModel
    seed: int
    grouped: GroupedFit | None = None

    @classmethod
    def fit(
        cls,
        name: str,
        options: Mapping[str, Any],
        X: Array,
        y: Array,
        noise: Array | None,
        seed: int,
        groups: SourceLabels | None = None,
    ) -> Self:
        """Fit a surrogate.

        Args:
            name: A registry name.
            options: Its own options.
            X: ``n x d`` inputs, numbers between 0 and 1.
            y: ``n`` values.
            noise: ``n`` noise variances where any are known, NaN of those that are not.
            seed: Of methods that draw.
            groups: Labels of the rows, of which a group may be in error.
        """
        registry.check_options(name, options)
        model_class: Any = registry.model_class(name)
        if groups is not None:
            check_method(model_class, name)
        is_partly_known = noise is not None and bool(np.isnan(noise).any())
        if is_partly_known and not contract.capabilities_for(model_class, options).mixes_noise:
            raise ValueError(f"noise_sd must be known for all rows or for none with {name!r}, got NaN among them")

        def build(values: Array) -> Any:
            columns = [torch.tensor(x) for x in (values, None if is_partly_known else noise) if x is not None]
            model = model_class(torch.tensor(X), *(column.unsqueeze(-1) for column in columns), **options)
            if is_partly_known:
                variances = torch.tensor(noise)
                model.set_noise_parts(variances.nan_to_num(0.0), variances.isnan().double())
            return model

        with seed_everything(seed):
            model = contract.fit(build(y))
            if groups is None:
                return cls(model, seed)
            grouped = fit_beside_groups(model, y, groups, build)
            return cls(grouped.model, seed, grouped)

    @property
    def diagnosis(self) -> dict[str, Any]:
        """Expectations and verdicts on the ``n`` values, by the regressor's attributes."""
        with seed_everything(self.seed), quiet(), torch.no_grad():
            of_others, right = contract.diagnose(self.model), contract.probability_right(self.model)
        wrong = None if right is None else (1 - right).numpy()
        errors = 0.0 if self.grouped is None else self.grouped.errors
        return {
            "expected_": of_others.expected.numpy() + errors,
            "expected_sd_": of_others.sd.numpy(),
            "evidence_": of_others.evidence.numpy(),
            "probability_wrong_": wrong,
            "outlier_mask_": of_others.is_outlier.numpy() if wrong is None else wrong > HALF,
            "group_errors_": None if self.grouped is None else self.grouped.table,
        }

    def marginals(self, X: Array) -> tuple[Array, Array]:
        """Means and standard deviations of the function at ``m x d`` inputs."""
        with seed_everything(self.seed), quiet(), torch.no_grad():
            mean, sd = contract.marginals(self.model, torch.from_numpy(X))
        return mean.numpy(), sd.numpy()

    def quantiles(self, X: Array, probabilities: Array) -> Array:
        """``m x q`` quantiles of a right measurement at ``m x d`` inputs."""
        with seed_everything(self.seed), quiet(), torch.no_grad():
            return contract.quantiles(self.model, torch.from_numpy(X), ndtri(probabilities).tolist()).numpy()

    def joint(self, X: Array) -> tuple[Array, Array]:
        """Means, and the ``m x m`` covariance, of the function at ``m x d`` inputs."""
        with seed_everything(self.seed), quiet(), torch.no_grad():
            mean, covariance = contract.joint(self.model, torch.from_numpy(X))
        return mean.numpy(), covariance.numpy()

    def samples(self, X: Array, count: int, seed: int) -> Array:
        """``m x count`` samples of the function at ``m x d`` inputs."""
        with seed_everything(seed), quiet(), torch.no_grad():
            posterior: Any = self.model.posterior(torch.from_numpy(X))
            samples: Array = posterior.rsample(torch.Size([count])).squeeze(-1).T.numpy()
            return samples

    @property
    def kernel(self) -> Any:
        """The kernel as scikit-learn's, where the model has a kernel of a name."""
        if not (isinstance(self.model, MapGP) and self.model.is_named):
            return None
        module: Any = self.model.covar_module
        name, is_signal_free = self.model.options.kernel, self.model.options.is_signal_free
        *lengths, signal = priors.get_kernel(module, is_signal_free).exp().tolist() + [1.0] * (not is_signal_free)
        shape = Matern(length_scale=lengths, nu=2.5) if name == "matern52" else RBF(length_scale=lengths)
        noise = float(self.model.likelihood.new_noise.detach())
        return ConstantKernel(signal) * shape + WhiteKernel(noise)
