"""Models that keep a posterior of their own beside the hyperparameters, and compute it anew for other observations."""

from typing import Any

import torch
from botorch.models.gpytorch import GPyTorchModel
from botorch.sampling.pathwise.paths import SamplePath
from torch import Tensor

from robustbo.surrogates.common.likelihood import DataPrior, UnusualDataPrior
from robustbo.surrogates.common.no_fantasies import NoFantasies


class CachedPosterior(NoFantasies, GPyTorchModel):
    """A `MapGP` with a posterior of its own, kept for the observations and the parameters it was computed with."""

    _found_at = torch.empty(0, dtype=torch.float64)

    @property
    def has_posterior(self) -> bool:
        """Return whether the posterior has been computed."""
        raise NotImplementedError

    @property
    def _rho(self) -> Tensor:
        return torch.zeros_like(self.train_targets)  # no observation has one added

    def set_train_data(self, inputs: Any = None, targets: Tensor | None = None, strict: bool = True) -> None:
        """Take other data; the hyperparameters stay, and the posterior is computed anew.

        Inputs alone are another view of the same data: BoTorch transforms them, and back, from training to evaluation.
        """
        super().set_train_data(inputs, targets, strict)
        if self.has_posterior and targets is not None:
            self._renew()

    def _take_rows(self) -> None:
        """Do nothing: the variances of single rows are computed with the posterior."""

    def train(self, mode: bool = True) -> Any:
        """Change to training or to evaluation; where parameters have moved since, compute the posterior anew."""
        super().train(mode)
        if not mode and self.has_posterior and not torch.equal(self.parameters_now(), self._found_at):
            self._mark()
            self._renew()
        return self

    def _mark(self) -> None:
        """Record that the posterior is that of the present parameters."""
        self._found_at = self.parameters_now()

    def forward(self, x: Tensor) -> Any:
        """The prior of the latent values; once fitted, that at the data is not all that the posterior follows from."""
        prior = super().forward(x)
        if self.training or not self.has_posterior or not isinstance(prior, DataPrior):
            return prior
        return UnusualDataPrior(prior.mean, prior.lazy_covariance_matrix)

    def path_update(self, **how: Any) -> SamplePath:
        """Refuse sample paths, which the method does not have.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no sample paths; draw joint samples with model.posterior(X).rsample(...), or "
            "take a surrogate that has: relevance-pursuit, student-t, conjugate"
        )
