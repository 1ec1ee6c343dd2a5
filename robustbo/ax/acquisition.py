"""Ax's acquisition with draws of its own, failures, and our noisy expected improvement where that is what is asked."""

from typing import Any

import torch
from ax.generators.torch.botorch_modular.acquisition import Acquisition
from ax.generators.torch_base import TorchOptConfig
from ax.generators.utils import filter_constraints_and_fixed_features
from botorch.acquisition import AcquisitionFunction
from botorch.acquisition.logei import qLogProbabilityOfFeasibility
from torch import Tensor

from robustbo import seeds
from robustbo.ax.formula import closed_form
from robustbo.ax.viability import OPTION, Viable
from robustbo.determinism.isolation import seed_everything
from robustbo.determinism.surroundings import pin_surroundings
from robustbo.loop.acquisition.log_nei import ClosedForm
from robustbo.surrogates.common.contract import quiet


class SeededAcquisition(Acquisition):
    """Ax's, drawing from a seed and the number of points that it knows, so that a client that was loaded goes on alike.

    Its option ``seed`` is the root. Where arms have failed, the probability of a value counts too. Where no arm is
    believed to keep the outcome constraints, it is the probability of keeping them.
    """

    acqf: AcquisitionFunction

    def _update_objective_thresholds(self, torch_opt_config: TorchOptConfig) -> None:
        """Update the thresholds as Ax does, from all points that have a value of any metric that counts.

        Ax takes those that have values of all of them.
        """
        self.X_observed = self._measured_points(torch_opt_config)
        super()._update_objective_thresholds(torch_opt_config)

    def _measured_points(self, config: TorchOptConfig) -> Tensor | None:
        """The points with a value of any metric that counts, within the constraints if any is."""
        Xs = self.surrogate.Xs
        Xs = Xs if self._subset_idcs is None else [Xs[i] for i in self._subset_idcs.tolist()]
        if all(torch.equal(X, Xs[0]) for X in Xs):
            return self.X_observed
        X = torch.tensor(list(dict.fromkeys(tuple(row) for X in Xs for row in X.tolist())), dtype=Xs[0].dtype)
        X = filter_constraints_and_fixed_features(X, bounds := self.search_space_digest.bounds)
        feasible = filter_constraints_and_fixed_features(X, bounds, config.linear_constraints, config.fixed_features)
        return feasible if len(feasible) else X if len(X) else None

    @pin_surroundings
    def _instantiate_acquisition(self) -> None:
        with seed_everything(self._seed("samples")), quiet():
            if not self._is_any_feasible():
                options = dict[str, Any]()
                self.botorch_acqf_classes_with_options = [(qLogProbabilityOfFeasibility, options)]
            super()._instantiate_acquisition()
        self._asked_for = self.acqf
        self.acqf = self._viable(self.acqf)

    def _is_any_feasible(self) -> bool:
        """Return whether any point measured is believed to keep outcome constraints and the thresholds of objectives.

        Ax would look at the values as they were told, of which a wrong one says that there is such a point, or hides
        the only one; an acquisition function that needs one then ends in an error.
        """
        if self.X_observed is None or (self._outcome_constraints is None and self._objective_thresholds is None):
            return True
        with torch.no_grad():
            mean = self._model.posterior(self.X_observed).mean
        is_feasible = torch.ones(len(mean), dtype=torch.bool)
        if self._outcome_constraints is not None:
            A, b = self._outcome_constraints
            is_feasible &= (mean @ A.T <= b.squeeze(-1)).all(-1)
        if self._objective_thresholds is not None:
            is_feasible &= (mean @ self._objective_weights.T >= self._objective_thresholds).all(-1)
        return bool(is_feasible.any())

    @pin_surroundings
    def optimize(self, n: int, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor, Tensor]:
        """Candidates, as in Ax; a single one by the closed form, in our model's outcomes, where Ax would sample."""
        as_asked = self.acqf
        with seed_everything(self._seed("restarts")), quiet():
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

    def _closed_form(self) -> ClosedForm | None:
        """The closed form of what is asked for, if there is one."""
        return closed_form(self, self._asked_for, self._seed("samples") % 2**31)

    def _seed(self, purpose: str) -> int:
        num_points = sum(len(X) for X in (*self.surrogate.Xs[:1], self.X_pending) if X is not None)
        return seeds.derive(self.options.get("seed", 0), num_points, purpose)
