"""The search for the next point: an acquisition function, maximized over a region."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial

import torch
from botorch.acquisition import AcquisitionFunction
from botorch.optim.optimize_mixed import MAX_DISCRETE_VALUES
from torch import Tensor

from robustbo import seeds
from robustbo.determinism.generator import no_draws
from robustbo.determinism.isolation import isolation, seed_everything, seed_python
from robustbo.lazy import cached_property
from robustbo.loop.acquisition.build import build_acquisition, has_closed_form, maximize_with_botorch
from robustbo.loop.acquisition.feasibility_weight import FeasibilityWeighted, closed_form_of, with_fewer_samples
from robustbo.loop.acquisition.log_nei import ClosedForm, Mixture
from robustbo.loop.feasibility.model import FeasibilityModel
from robustbo.loop.observations.table import Row
from robustbo.loop.optimize_acqf import maximizer
from robustbo.loop.optimize_acqf.ties import first_of_best
from robustbo.loop.surrogate.fallback import check_finite
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.numerics.improvement.conditioned import means
from robustbo.searchspace.encoding import category_counts, decode, input_columns
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.region.region import Region
from robustbo.searchspace.region.sampling import spread_over
from robustbo.surrogates.common.contract import quiet
from robustbo.surrogates.transforms.input_encoding import one_hot_inputs

CHUNK = 256  # points whose acquisition is computed at once
MANY = 2048  # points of a longer list: these are computed exactly
MOST_MOVED = 32  # points measured with other values of what is fixed now, that count as known here


@dataclass(frozen=True)
class Search:
    """A search for the next point; a pure function of what it holds.

    Attributes:
        name: Of the acquisition function, one of `ACQUISITIONS`.
        fitted: The surrogate.
        viability: Where trials give a value; None where none has failed.
        pending: Unit-cube rows of the points asked and not told.
        region: What may be asked for.
        seed: Of everything random in here.
    """

    name: str
    fitted: FittedSurrogate
    viability: FeasibilityModel | None
    pending: Sequence[Row]
    region: Region
    seed: int

    @property
    def is_ours(self) -> bool:
        """Whether the surrogate is one of this library."""
        return self.fitted.is_ours

    @cached_property
    def measured(self) -> Tensor:
        """``n x d`` unit-cube rows of the points measured."""
        return torch.tensor(self.fitted.observations.X, dtype=torch.float64)

    def next_point(self) -> dict[str, Value]:
        """Where to measure next.

        Raises:
            ArithmeticError: If that is nowhere.
        """
        with self._apart(), quiet():
            function = self._function()
            if closed_form_of(function) is None and not self.region.is_restricted:
                x = maximize_with_botorch(function, self.fitted.space, len(self.fitted.X))
                check_finite(*x.tolist())
                return self.fitted.space.from_unit(decode(self.fitted.space, x.unsqueeze(0))[0])
            with no_draws() if self.is_ours else nullcontext():
                score, coarse = partial(self._score, function), partial(self._coarse, function)
                sloped = None if closed_form_of(function) is None else partial(self._sloped, function)
                return maximizer.maximize(score, self.region, self._best(), self.seed, coarse, sloped)

    def values_at(self, rows: Sequence[Sequence[float]]) -> Tensor:
        """The acquisition function at ``m`` unit-cube rows, where not every point will do."""
        with self._apart(), quiet(), torch.no_grad():
            return self._score(self._function(), torch.tensor(rows, dtype=torch.float64))

    def best_of(self, rows: Tensor) -> int:
        """Which of ``m`` unit-cube rows it is greatest at; of many, of those that a coarser function finds best."""
        with self._apart(), quiet(), torch.no_grad():
            function, among = self._function(), torch.arange(len(rows))
            if len(rows) > MANY:
                among = self._coarse(function, rows).topk(MANY, sorted=False).indices.sort().values
            return int(among[first_of_best(self._score(function, rows[among]))])

    @contextmanager
    def _apart(self) -> Iterator[None]:
        levels = category_counts(self.fitted.space).values()
        is_sampled = any(count > MAX_DISCRETE_VALUES for count in levels)  # by Python's generator
        with (
            (isolation if self.is_ours else seed_everything)(self.seed),
            seed_python(self.seed) if is_sampled else nullcontext(),
        ):
            yield

    def _function(self) -> AcquisitionFunction:
        fitted = self.fitted
        X_pending = fitted.encoded(self.pending) if self.pending else None
        best = fitted.encoded(self._best()) if self.region.is_restricted else None
        function = self._build(X_pending, best)
        if isinstance(function, ClosedForm):  # its samples are drawn
            function.forward = no_draws()(function.forward)
        if self.viability is None:
            return function
        return FeasibilityWeighted(function, self.viability.predictor, one_hot_inputs(fitted.space))

    def _build(self, X_pending: Tensor | None, X_best: Tensor | None) -> AcquisitionFunction:
        fitted = self.fitted
        return build_acquisition(self.name, fitted.model, fitted.X, X_pending, self._samples, X_best, self._latents)

    @property
    def _samples(self) -> int:
        return seeds.derive(self.seed, 0, "samples") % 2**31

    def _score(self, function: AcquisitionFunction, rows: Tensor) -> Tensor:
        parts = self.fitted.encoded(rows).unsqueeze(-2).split(CHUNK)
        return torch.cat([function(part) for part in parts])

    def _coarse(self, function: AcquisitionFunction, rows: Tensor) -> Tensor:
        with with_fewer_samples(function):
            return self._score(function, rows)

    def _sloped(self, function: ClosedForm | FeasibilityWeighted, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Values, and gradients along what is an input as it is."""
        value, slope = function.sloped(self.fitted.encoded(rows))
        return value, torch.zeros_like(rows).index_copy(-1, torch.tensor(input_columns(self.fitted.space)), slope)

    def _best(self) -> Tensor:
        """Points of the region, the best first: those measured, with what is fixed as it is now."""
        rows = self.region.canonical(self.region.complete(self.measured))
        rows = rows[self.region.holds(rows)]
        rows = (rows if len(rows) else spread_over(self.region)[:MOST_MOVED]).unique(dim=0)
        with torch.no_grad():
            mean = self._means(self.fitted.encoded(rows))
        rows = rows[mean.argsort(descending=True, stable=True)]
        return rows[:MOST_MOVED] if self.region.fixed else rows

    def _means(self, X: Tensor) -> Tensor:
        """Posterior means at ``m x d`` inputs, or what stands in the same order."""
        model = self.fitted.model
        if self._latents is None:
            return model.posterior(X).mean.squeeze(-1)
        weights, processes = zip(*self._latents, strict=True)
        return X.new_tensor(weights) @ means(processes, model.transform_inputs(X))

    @cached_property
    def _latents(self) -> Mixture | None:
        model = self.fitted.model
        return model.latents() if has_closed_form(model) else None
