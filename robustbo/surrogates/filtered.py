"""Percentile filtering: a detector calls the outliers, a plain GP of the others does the optimization."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Literal, NamedTuple, get_args

import torch
from botorch.models.gpytorch import GPyTorchModel
from botorch.models.transforms.input import InputTransform
from botorch.models.transforms.outcome import OutcomeTransform
from botorch.utils.types import DEFAULT
from gpytorch.likelihoods import Likelihood
from gpytorch.means import Mean
from gpytorch.module import Module
from torch import Tensor

from robustbo.numerics.gp.log_posterior import Model
from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.pursuit.support_fit import empty
from robustbo.surrogates.baselines.botorch_relevance_pursuit import BoTorchRelevancePursuitGP
from robustbo.surrogates.common import contract
from robustbo.surrogates.common.averaged import alone
from robustbo.surrogates.common.capabilities import Capabilities
from robustbo.surrogates.common.map_gp import MapGP
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.student_t.model import StudentTGP
from robustbo.surrogates.transforms.inlier_rescale import standardize_on
from robustbo.validation import one_of, whole

DETECTORS: dict[str, type[GPyTorchModel]] = {
    "relevance-pursuit": RelevancePursuitGP,
    "student-t": StudentTGP,
    "botorch-relevance-pursuit": BoTorchRelevancePursuitGP,
}
Between = Literal["keep", "all"]
TAIL, START, EVERY = 0.02, 10, 1  # by the recorded runs/filter-*; see the README
GROSS = 1e9  # times the outcomes' variance: of an observation that is left out


class Verdict(NamedTuple):
    """What a diagnosis found.

    Attributes:
        observations: How many, the first ones, were diagnosed.
        outliers: Sorted indices of those that were called outliers.
        percentiles: The predictive distribution function at each of these.
        is_void: Whether more than half were called outliers, so that all data are used.
    """

    observations: int
    outliers: tuple[int, ...]
    percentiles: tuple[float, ...]
    is_void: bool

    @property
    def left_out(self) -> tuple[int, ...]:
        """The observations that the plain GP is not given."""
        return () if self.is_void else self.outliers


def last_diagnosis(count: int, start: int, every: int, between: Between) -> int | None:
    """How many observations the last diagnosis saw, if there was one that still holds.

    References:
        docs/equations.md section 3.

    Example:
        >>> [last_diagnosis(n, start=10, every=5, between="keep") for n in (9, 10, 14, 15)]
        [None, 10, 10, 15]
        >>> last_diagnosis(14, start=10, every=5, between="all") is None
        True
    """
    last = count - count % every  # eq. 3.1
    return last if last >= max(start, 1) and (between == "keep" or last == count) else None


class FilteredGP(MapGP):
    """The plain GP of what a robust detector does not call an outlier.

    The detector is fitted to all observations, and one whose predictive distribution function is below ``tail`` or
    above 1 - ``tail`` is an outlier, unless most of those at its point agree with it. No rejection is permanent: each
    diagnosis judges all observations anew. One that calls more than half of them outliers is void: all are used then.

    Args:
        train_X: ``n x d`` inputs, of which a diagnosis in between sees the first ones; all that is not said here is as
            in `MapGP`. The loop has them in the order of trials: a late tell, or a verdict of the user's, moves those
            behind it, and the diagnosis is made anew.
        train_Y: ``n x 1`` outcomes.
        detector: A name of `DETECTORS`.
        detector_options: The detector's own options.
        tail: Chance of a value beyond which it is an outlier, on either side; in (0, 0.5).
        leave_one_out: Whether each observation is predicted by the others, or by all, itself included. Unless given, by
            all (which did better in the recorded runs), but by the others where the noise is known: a fit that is told
            of small noise passes through a wrong value, which would excuse it.
        start: No diagnoses before that many observations.
        every: Diagnose once in that many.
        between: "keep" the last verdict in between, or use "all" data, as the source has it.

    Attributes:
        verdict: After the fit, the diagnosis that holds, or None.

    References:
        Martinez-Cantin et al. (2018), Practical Bayesian optimization in the presence of outliers; docs/equations.md
        section 3.

    Example:
        >>> import torch
        >>> from robustbo.surrogates.common.contract import fit
        >>> X = torch.linspace(0, 1, 20, dtype=torch.float64).unsqueeze(-1)
        >>> Y = torch.sin(6 * X)
        >>> Y[[4, 11]] += 1e6
        >>> fit(FilteredGP(X, Y)).verdict.outliers
        (4, 11)
    """

    def __init__(
        self,
        train_X: Tensor,
        train_Y: Tensor,
        train_Yvar: Tensor | None = None,
        likelihood: Likelihood | None = None,
        covar_module: Module | None = None,
        mean_module: Mean | None = None,
        outcome_transform: OutcomeTransform | Any = DEFAULT,
        input_transform: InputTransform | None = None,
        *,
        detector: str = "student-t",
        detector_options: Mapping[str, Any] | None = None,
        tail: float = TAIL,
        leave_one_out: bool | None = None,
        start: int = START,
        every: int = EVERY,
        between: Between = "keep",
        kernel: str = "matern52",
        is_signal_free: bool = True,
    ) -> None:
        self.check_values(detector, detector_options, tail, start, every, between)
        self._detector, self._detector_options = detector, dict(detector_options or {})
        self.capabilities = self.capabilities_for(detector, detector_options)
        self._tail = tail
        self._leave_one_out = train_Yvar is not None if leave_one_out is None else leave_one_out
        self._last = last_diagnosis(len(train_X), start, every, between)
        self._told = (train_X, train_Y, train_Yvar, deepcopy(input_transform))
        self.verdict: Verdict | None = None
        super().__init__(
            train_X,
            train_Y,
            train_Yvar,
            likelihood,
            covar_module,
            mean_module,
            outcome_transform,
            input_transform,
            kernel=kernel,
            is_signal_free=is_signal_free,
        )

    @classmethod
    def capabilities_for(
        cls, detector: str = "student-t", detector_options: Mapping[str, Any] | None = None, **_: Any
    ) -> Capabilities:
        """Robust where the detector is."""
        is_robust = contract.capabilities_for(DETECTORS[detector], detector_options or {}).is_robust
        return Capabilities(is_robust=is_robust, is_heeded=is_robust, judges_alone=True, continues=True)

    @classmethod
    def check_values(
        cls,
        detector: str = "student-t",
        detector_options: Mapping[str, Any] | None = None,
        tail: float = TAIL,
        start: int = START,
        every: int = EVERY,
        between: str = "keep",
        **_: Any,
    ) -> None:
        """Raise a ValueError or TypeError for an option that cannot be."""
        one_of("detector", detector, sorted(DETECTORS))
        known = contract.own_options(DETECTORS[detector])
        if unknown := sorted(set(detector_options or {}) - known):
            raise TypeError(f"detector {detector!r} has the options {sorted(known)}, got {unknown[0]!r}")
        if not 0 < tail < 0.5:
            raise ValueError(f"tail must be in (0, 0.5), got {tail!r}")
        one_of("between", between, get_args(Between))
        whole("start", start, 0)
        whole("every", every, 1)

    def continue_from(self, before: MapGP) -> None:
        """Keep the verdict of a model fitted to all but the last observation, where no diagnosis is due since."""
        if isinstance(before, FilteredGP) and before._last == self._last:
            self.verdict = before.verdict

    def search(self, model: Model) -> Fit:
        """The plain GP's hyperparameters on what is left, and variances beside which the others tell nothing."""
        if self.verdict is None and self._last is not None:
            self.verdict = self._diagnose(self._last)
        left_out = self._left_out()
        standardize_on(self, contract.outcome_transform(self), ~left_out)
        inliers = (~left_out).nonzero().squeeze(-1)
        return empty(self.search_model(inliers)).fit._replace(rho=self._variances(left_out))

    def added_variances(self, model: Model, theta: Tensor) -> Tensor:
        """Those of the observations that a diagnosis of this model's own rows leaves out."""
        self.verdict = None if self._last is None else self._diagnose(self._last)
        return self._variances(self._left_out())

    def _left_out(self) -> Tensor:
        mask = torch.zeros(len(self.train_targets), dtype=torch.bool)
        mask[list(self.verdict.left_out if self.verdict is not None else ())] = True
        return mask

    def _variances(self, left_out: Tensor) -> Tensor:
        y = self.train_targets
        return torch.where(left_out, GROSS * (1 + (y - y.median()).square()), 0.0)

    def _diagnose(self, count: int) -> Verdict:
        """The verdict on the first ``count`` observations."""
        X, Y, Yvar, input_transform = self._told
        model = DETECTORS[self._detector](
            X[:count],
            Y[:count],
            None if Yvar is None else Yvar[:count],
            input_transform=deepcopy(input_transform),
            **self._detector_options,
        )
        with torch.enable_grad():  # which BoTorch's fits need
            contract.fit(model)
        with alone(model):  # where its fits disagree, they would excuse just what is doubtful
            e, log_chance = contract.tails(model, leave_one_out=self._leave_one_out)
        chance = log_chance.exp()
        is_outlier = chance < self._tail  # eq. 3.2
        if isinstance(model, MapGP):
            is_outlier &= ~model.cleared()
        outliers = is_outlier.nonzero().squeeze(-1)
        percentiles = torch.where(e < 0, chance, 1 - chance)[outliers]
        return Verdict(count, tuple(outliers.tolist()), tuple(percentiles.tolist()), is_void=2 * len(outliers) > count)
