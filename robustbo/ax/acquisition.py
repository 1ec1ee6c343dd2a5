"""Ax's acquisition with draws of its own, failures, and our noisy expected improvement where that is what is asked."""

from typing import Any

import torch
from ax.core.search_space import SearchSpaceDigest
from ax.generators.torch.botorch_modular.acquisition import Acquisition
from ax.generators.torch_base import TorchOptConfig
from ax.generators.utils import filter_constraints_and_fixed_features
from botorch.acquisition import AcquisitionFunction
from botorch.acquisition.logei import qLogProbabilityOfFeasibility
from botorch.models.model import Model
from botorch.optim.optimize import optimize_acqf_discrete
from torch import Tensor

from robustbo import seeds
from robustbo.ax.formula import closed_form
from robustbo.ax.unmeasured import AxRegion, Constraints, Rounding, alternatives
from robustbo.ax.viability import OPTION, Viable
from robustbo.determinism.isolation import seed_everything
from robustbo.determinism.surroundings import pin_surroundings
from robustbo.surrogates.common.contract import quiet


class SeededAcquisition(Acquisition):
    """Ax's, drawing from a seed and the number of points that it knows, so that a client that was loaded goes on alike.

    Its option ``seed`` is the root. Where arms have failed, the probability of a value counts too. Where no arm is
    believed to keep the outcome constraints, it is the probability of keeping them.
    """

    acqf: AcquisitionFunction
    _objective_thresholds: Tensor | None

    def _update_objective_thresholds(self, torch_opt_config: TorchOptConfig) -> None:
        """Infer the thresholds that the user leaves out, from all points that have a value of any metric that counts.

        Ax takes those that have values of all of them; and while no point keeps a user's threshold, it replaces that.
        """
        self.X_observed = self._measured_points(torch_opt_config)
        self._user_thresholds = self._objective_thresholds
        super()._update_objective_thresholds(torch_opt_config)
        user_limits, ax_limits = self._user_thresholds, self._objective_thresholds
        if user_limits is not None and ax_limits is not None:
            self._objective_thresholds = torch.where(user_limits.isnan(), ax_limits, user_limits)

    @property
    def objective_thresholds(self) -> Tensor | None:
        """The thresholds that Ax notes; None while some are unknown, which it cannot note."""
        thresholds = self._objective_thresholds
        return None if thresholds is None or thresholds.isnan().any() else thresholds

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
                options, self._objective_thresholds = dict[str, Any](), self._user_thresholds
                self.botorch_acqf_classes_with_options = [(qLogProbabilityOfFeasibility, options)]
            super()._instantiate_acquisition()
        self.acqf = self._viable(self.acqf)

    def _construct_botorch_acquisition(
        self, botorch_acqf_class: type[AcquisitionFunction], botorch_acqf_options: dict[str, Any], model: Model
    ) -> AcquisitionFunction:
        """The closed form for a single candidate, in our model's outcomes, where there is one; else Ax's, by samples.

        That of several objectives compiles C++ when it is first made, for minutes.
        """
        ours = closed_form(self, botorch_acqf_class, self._seed("samples") % 2**31) if self.n == 1 else None
        if ours is not None:
            return ours
        return super()._construct_botorch_acquisition(botorch_acqf_class, botorch_acqf_options, model)

    def _is_any_feasible(self) -> bool:
        """Return whether any point measured is believed to keep outcome constraints and the thresholds that are given.

        Ax would look at the values as they were told, of which a wrong one says that there is such a point, or hides
        the only one; an acquisition function that needs one then ends in an error.
        """
        thresholds = self._user_thresholds
        if self.X_observed is None or (self._outcome_constraints is None and thresholds is None):
            return True
        with torch.no_grad():
            mean = self._model.posterior(self.X_observed).mean
        is_feasible = torch.ones(len(mean), dtype=torch.bool)
        if self._outcome_constraints is not None:
            A, b = self._outcome_constraints
            is_feasible &= (mean @ A.T <= b.squeeze(-1)).all(-1)
        if thresholds is not None:
            is_feasible &= ~(mean @ self._objective_weights.T < thresholds).any(-1)  # NaN where none is given
        return bool(is_feasible.any())

    @pin_surroundings
    def optimize(
        self,
        n: int,
        search_space_digest: SearchSpaceDigest,
        inequality_constraints: Constraints | None = None,
        equality_constraints: Constraints | None = None,
        fixed_features: dict[int, float] | None = None,
        rounding_func: Rounding | None = None,
        **rest: Any,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Candidates, as in Ax; in place of a single one that is measured already, or pending, the best of others.

        Ax would ask for it five times, then take a random point.
        """
        limits = inequality_constraints, equality_constraints, fixed_features, rounding_func
        with seed_everything(self._seed("restarts")), quiet():
            result = super().optimize(n, search_space_digest, *limits, **rest)
            if n > 1:
                return result
            X_trials = torch.cat([*self.surrogate.Xs, *([] if self.X_pending is None else [self.X_pending])])
            region = AxRegion(search_space_digest, *limits)
            X = alternatives(result[0], X_trials, region, self._seed("others") % 2**31)
            return (*optimize_acqf_discrete(self.acqf, 1, X), result[-1]) if len(X) else result

    def _viable(self, function: AcquisitionFunction) -> AcquisitionFunction:
        """The function, and the probability of a value where arms have failed."""
        if (ended := self.options.get(OPTION)) is None:
            return function
        bounds = ended.X.new_tensor(self.search_space_digest.bounds)
        return Viable(function, ended, bounds, self._seed("failures"))

    def _seed(self, purpose: str) -> int:
        num_points = sum(len(X) for X in (*self.surrogate.Xs[:1], self.X_pending) if X is not None)
        return seeds.derive(self.options.get("seed", 0), num_points, purpose)
