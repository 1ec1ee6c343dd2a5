"""Ax's acquisition with draws of its own, failures, and our noisy expected improvement where that is what is asked."""

from typing import Any

import torch
from ax.generators.torch.botorch_modular.acquisition import Acquisition
from botorch.acquisition import AcquisitionFunction
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.acquisition.objective import IdentityMCObjective, PosteriorTransform, ScalarizedPosteriorTransform
from torch import Tensor

from robustbo import seeds
from robustbo.ax.viability import OPTION, Viable
from robustbo.determinism.isolation import seeded
from robustbo.determinism.surroundings import pinned
from robustbo.loop.acquisition import has_formulas
from robustbo.loop.log_ei import LogNEI
from robustbo.surrogates.common.contract import quiet


class SeededAcquisition(Acquisition):
    """Ax's, drawing from a seed and the number of points that it knows, so that a client that was loaded goes on alike.

    Its option ``seed`` is the root. Where arms have failed, the probability of a value counts too.
    """

    acqf: AcquisitionFunction

    @pinned
    def _instantiate_acquisition(self) -> None:
        with seeded(self._seed("samples")), quiet():
            super()._instantiate_acquisition()
        self._asked_for = self.acqf
        self.acqf = self._viable(self.acqf)

    @pinned
    def optimize(self, n: int, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor, Tensor]:
        """Candidates, as in Ax; a single one by the closed form, in our model's outcomes, where Ax would sample."""
        as_asked = self.acqf
        with seeded(self._seed("restarts")), quiet():
            if n == 1 and (ours := self._closed_form()) is not None:
                self.acqf = self._viable(ours)
            try:
                return super().optimize(n, *args, **kwargs)
            finally:
                self.acqf = as_asked

    def _viable(self, function: AcquisitionFunction) -> AcquisitionFunction:
        """The function, and the probability of a value where arms have failed."""
        if (ended := self.options.get(OPTION)) is None:
            return function
        bounds = ended.X.new_tensor(self.search_space_digest.bounds)
        return Viable(function, ended, bounds, self._seed("failures"))

    def _closed_form(self) -> LogNEI | None:
        """The noisy expected improvement of one of our models' only outcome, if it is what is asked for."""
        model, asked_for = self.surrogate.model, self._asked_for
        if type(asked_for) is not qLogNoisyExpectedImprovement or not has_formulas(model):
            return None
        is_alone = type(asked_for.objective) is IdentityMCObjective and asked_for._constraints is None
        if not is_alone or (sign := _sign(asked_for.posterior_transform)) is None:
            return None
        turned = [(p, latent._replace(m=sign * latent.m, al=sign * latent.al)) for p, latent in model.latents()]
        known = torch.cat([X for X in (self.X_observed, self.X_pending) if X is not None])
        return LogNEI(model, known, self._seed("samples") % 2**31, latents=turned)

    def _seed(self, purpose: str) -> int:
        known = sum(len(X) for X in (*self.surrogate.Xs[:1], self.X_pending) if X is not None)
        return seeds.derive(self.options.get("seed", 0), known, purpose)


def _sign(transform: PosteriorTransform | None) -> float | None:
    """By which one outcome is multiplied, 1 or -1; None where something else is done to it."""
    if transform is None:
        return 1.0
    if type(transform) is not ScalarizedPosteriorTransform or transform.offset != 0:
        return None
    weights = transform.weights.tolist()
    return weights[0] if weights in ([1.0], [-1.0]) else None
