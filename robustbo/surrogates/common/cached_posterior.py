"""Models that keep what their observations say besides the hyperparameters: found anew for other observations."""

from typing import Any

import torch
from botorch.models.gpytorch import GPyTorchModel
from botorch.sampling.pathwise.paths import SamplePath
from torch import Tensor

from robustbo.surrogates.common.likelihood import DataPrior, UnusualDataPrior
from robustbo.surrogates.common.no_fantasies import NoFantasies


class CachedPosterior(NoFantasies, GPyTorchModel):
    """A `MapGP` with a posterior of its own, which holds for the observations and the parameters it was found for."""

    _found_at = torch.empty(0, dtype=torch.float64)

    @property
    def has_posterior(self) -> bool:
        """Whether it has been found."""
        raise NotImplementedError

    @property
    def _rho(self) -> Tensor:
        return torch.zeros_like(self.train_targets)  # no observation has one added

    def set_train_data(self, inputs: Any = None, targets: Tensor | None = None, strict: bool = True) -> None:
        """Take other data; the hyperparameters stay, and the rest is found anew.

        Inputs alone are another view of the same data: BoTorch transforms them, and back, from training to evaluation.
        """
        super().set_train_data(inputs, targets, strict)
        if self.has_posterior and targets is not None:
            self._renew()

    def _take_rows(self) -> None:
        """What is known of single rows is found with the posterior."""

    def train(self, mode: bool = True) -> Any:
        """Change to training or to evaluation; where parameters have been moved since, the posterior is found anew."""
        super().train(mode)
        if not mode and self.has_posterior and not torch.equal(self.parameters_now(), self._found_at):
            self._mark()
            self._renew()
        return self

    def _mark(self) -> None:
        """Say that the posterior is that of the parameters as they are."""
        self._found_at = self.parameters_now()

    def forward(self, x: Tensor) -> Any:
        """The prior of the latent values; once fitted, that at the data is not all that the posterior follows from."""
        prior = super().forward(x)
        if self.training or not self.has_posterior or not isinstance(prior, DataPrior):
            return prior
        return UnusualDataPrior(prior.mean, prior.lazy_covariance_matrix)

    def path_update(self, **how: Any) -> SamplePath:
        """Sample paths are not to be had where a method has none.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no sample paths; draw joint samples with model.posterior(X).rsample(...), or "
            "take a surrogate that has: relevance-pursuit, student-t, conjugate"
        )
