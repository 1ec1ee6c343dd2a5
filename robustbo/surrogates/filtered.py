"""Percentile filtering: a detector flags outliers, a plain GP of the others does the optimization."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import torch
from botorch.models.gpytorch import GPyTorchModel
from botorch.models.transforms.input import InputTransform
from botorch.sampling.pathwise.utils import get_input_transform
from torch import Tensor

from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.gp.model import Model
from robustbo.numerics.pursuit.support_fit import empty
from robustbo.surrogates.baselines.botorch_relevance_pursuit import BoTorchRelevancePursuitGP
from robustbo.surrogates.common import contract
from robustbo.surrogates.common.capabilities import Capabilities
from robustbo.surrogates.common.map_gp import MapGP
from robustbo.surrogates.common.model_averaging import without_averaging
from robustbo.surrogates.common.options import GPOptions
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.student_t.model import StudentTGP
from robustbo.surrogates.transforms.inlier_rescale import standardize_by_inliers
from robustbo.surrogates.transforms.retransform import original_outcomes
from robustbo.validation import one_of, whole_number

DETECTORS: dict[str, type[GPyTorchModel]] = {
    "relevance-pursuit": RelevancePursuitGP,
    "student-t": StudentTGP,
    "botorch-relevance-pursuit": BoTorchRelevancePursuitGP,
}
Between = Literal["keep", "all"]
TAIL, START, EVERY = 0.02, 10, 1  # chosen on 28 runs: docs/explanation/filtered.md
EXCLUDED_VARIANCE = 1e9  # times the outcomes' variance: of an observation that is left out


class FilterVerdict(NamedTuple):
    """The result of a diagnosis.

    Attributes:
        observations: Number of observations diagnosed, the first ones.
        outliers: Sorted indices of the outliers.
        percentiles: The predictive distribution function at each of these.
        is_void: Whether more than half were called outliers, so that all data are used.
    """

    observations: int
    outliers: tuple[int, ...]
    percentiles: tuple[float, ...]
    is_void: bool

    @property
    def exclusions(self) -> tuple[int, ...]:
        """The observations that the plain GP is fitted without."""
        return () if self.is_void else self.outliers


def last_diagnosis_size(count: int, start: int, every: int, between: Between) -> int | None:
    """Number of observations of the last diagnosis that still holds; None if there is none.

    References:
        docs/equations.md section 3.

    Example:
        >>> [last_diagnosis_size(n, start=10, every=5, between="keep") for n in (9, 10, 14, 15)]
        [None, 10, 10, 15]
        >>> last_diagnosis_size(14, start=10, every=5, between="all") is None
        True
    """
    last = count - count % every  # eq. 3.1
    return last if last >= max(start, 1) and (between == "keep" or last == count) else None


@dataclass(frozen=True, kw_only=True)
class FilteredOptions(GPOptions):
    """The options of `FilteredGP`; see there."""

    detector: str = "student-t"
    detector_options: Mapping[str, Any] | None = None
    tail: float = TAIL
    leave_one_out: bool | None = None
    start: int = START
    every: int = EVERY
    between: Between = "keep"

    def check(self) -> None:
        """Raise a ValueError or TypeError for an invalid option."""
        super().check()
        one_of("detector", self.detector, sorted(DETECTORS))
        try:
            DETECTORS[self.detector].make_options(self.detector_options or {})
        except (TypeError, ValueError) as error:
            raise type(error)(f"detector_options must be such as {self.detector!r} takes: {error}") from error
        if not 0 < self.tail < 0.5:
            raise ValueError(f"tail must be in (0, 0.5), got {self.tail!r}")
        one_of("between", self.between, get_args(Between))
        whole_number("start", self.start, 0)
        whole_number("every", self.every, 1)

    @property
    def capabilities(self) -> Capabilities:
        """Robust where the detector is; a verdict is kept for the observations that come after those it is on."""
        is_robust = contract.capabilities_for(DETECTORS[self.detector], self.detector_options or {}).is_robust
        is_kept = self.every > 1 and self.between == "keep"
        return Capabilities(is_robust, is_robust, judges_alone=True, continues=is_kept, is_sequential=is_kept)


class FilteredGP(MapGP):
    """The plain GP of the observations that a robust detector does not flag.

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
        leave_one_out: Whether each observation is predicted by the others, or by all, itself included. By default, by
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

    options_class = FilteredOptions
    verdict: FilterVerdict | None = None

    def begin(self, X: Tensor, Y: Tensor, Yvar: Tensor | None, input_transform: InputTransform | None) -> None:
        """Keep the data for the detector."""
        self._keep_for_detector(X, Y, Yvar, input_transform)

    def _keep_for_detector(
        self, X: Tensor, Y: Tensor, Yvar: Tensor | None, input_transform: InputTransform | None
    ) -> None:
        self._detector_data = X, Y, Yvar, deepcopy(input_transform)
        self._last = last_diagnosis_size(len(X), self.options.start, self.options.every, self.options.between)

    def _take_rows(self) -> None:
        view = get_input_transform(self) if self.training else None  # else they are transformed
        self._keep_for_detector(self.train_inputs[0], *original_outcomes(self, contract.outcome_transform(self)), view)
        super()._take_rows()

    @property
    def warm_start(self) -> tuple[int | None, FilterVerdict | None]:
        """The number of observations of the diagnosis that holds, and its verdict."""
        return self._last, self.verdict

    def continue_from(self, before: tuple[int | None, FilterVerdict | None], _: Tensor) -> None:
        """Keep the verdict of a model fitted to the first of these observations, where no diagnosis is due since."""
        last, verdict = before
        if last == self._last:
            self.verdict = verdict

    def search(self, model: Model) -> Fit:
        """Find the plain GP's hyperparameters on the inliers, and variances that silence the others."""
        if self.verdict is None and self._last is not None:
            self.verdict = self._diagnose(self._last)
        left_out = self._exclusion_mask()
        standardize_by_inliers(self, contract.outcome_transform(self), ~left_out)
        inliers = (~left_out).nonzero().squeeze(-1)
        return empty(self.search_model(inliers)).fit._replace(rho=self._variances(left_out))

    def outlier_variances(self, model: Model, theta: Tensor) -> Tensor:
        """The variances that exclude the outliers of a diagnosis of this model's own rows."""
        self.verdict = None if self._last is None else self._diagnose(self._last)
        return self._variances(self._exclusion_mask())

    def _exclusion_mask(self) -> Tensor:
        mask = torch.zeros(len(self.train_targets), dtype=torch.bool)
        mask[list(self.verdict.exclusions if self.verdict is not None else ())] = True
        return mask

    def _variances(self, left_out: Tensor) -> Tensor:
        y = self.train_targets
        return torch.where(left_out, EXCLUDED_VARIANCE * (1 + (y - y.median()).square()), 0.0)

    def _diagnose(self, count: int) -> FilterVerdict:
        """The verdict on the first ``count`` observations."""
        X, Y, Yvar, input_transform = self._detector_data
        model = DETECTORS[self.options.detector](
            X[:count],
            Y[:count],
            None if Yvar is None else Yvar[:count],
            input_transform=deepcopy(input_transform),
            **(self.options.detector_options or {}),
        )
        if self.vouched is not None:
            model.vouched = self.vouched[:count]
        is_left_out = Yvar is not None if self.options.leave_one_out is None else self.options.leave_one_out
        with torch.enable_grad():  # which BoTorch's fits need
            contract.fit(model)
        single = without_averaging(model)  # where its fits disagree, they would excuse just what is doubtful
        e, log_chance = contract.tails(single, leave_one_out=is_left_out)
        chance = log_chance.exp()
        is_outlier = chance < self.options.tail  # eq. 3.2
        if isinstance(model, MapGP):
            is_outlier &= ~model.is_cleared()
        outliers = is_outlier.nonzero().squeeze(-1)
        percentiles = torch.where(e < 0, chance, 1 - chance)[outliers]
        return FilterVerdict(
            count, tuple(outliers.tolist()), tuple(percentiles.tolist()), is_void=2 * len(outliers) > count
        )
