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
from robustbo.loop.acquisition.build import maximize_with_botorch
from robustbo.loop.acquisition.feasibility_weight import FeasibilityWeighted, inner_closed_form, with_fewer_samples
from robustbo.loop.acquisition.log_nei import ClosedForm
from robustbo.loop.candidates.target import Target
from robustbo.loop.feasibility.model import FeasibilityModel
from robustbo.loop.observations.table import Row
from robustbo.loop.optimize_acqf import maximizer
from robustbo.loop.optimize_acqf.ties import first_of_best
from robustbo.loop.surrogate.fallback import check_finite
from robustbo.searchspace.encoding import category_counts, decode, input_columns
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.region.region import Region
from robustbo.searchspace.region.sampling import spread_over
from robustbo.searchspace.space import Space
from robustbo.surrogates.common.contract import quiet
from robustbo.surrogates.transforms.input_encoding import one_hot_inputs

CHUNK = 256  # points whose acquisition is computed at once
MANY = 2048  # points of a longer list: these are computed exactly
MOST_MOVED = 32  # points measured with other values of what is fixed now, that count as known here


@dataclass(frozen=True)
class Search:
    """A search for the next point; a pure function of what it holds.

    Attributes:
        name: That of the acquisition function, one of `ACQUISITIONS`.
        target: The surrogates, and the acquisition function of them.
        feasibility: The model of where trials give a value; None where none has failed.
        pending: Unit-cube rows of the points whose values are not known to a surrogate.
        region: The points that may be asked for.
        seed: The seed of everything random in here.
    """

    name: str
    target: Target
    feasibility: FeasibilityModel | None
    pending: Sequence[Row]
    region: Region
    seed: int

    def next_point(self) -> dict[str, Value]:
        """The point where to measure next.

        Raises:
            ArithmeticError: If there is none.
        """
        with self._apart(), quiet():
            function = self._function()
            if inner_closed_form(function) is None and not self.region.is_restricted:
                x = maximize_with_botorch(function, self._space, len(self.target.fitted.X))
                check_finite(*x.tolist())
                return self._space.from_unit(decode(self._space, x.unsqueeze(0))[0])
            with no_draws() if self.target.is_ours else nullcontext():
                score, coarse = partial(self._score, function), partial(self._coarse, function)
                gradient = None if inner_closed_form(function) is None else partial(self._score_with_gradient, function)
                return maximizer.maximize(score, self.region, self._best(), self.seed, coarse, gradient)

    def values_at(self, rows: Sequence[Sequence[float]]) -> Tensor:
        """The acquisition function at ``m`` unit-cube rows, where not every point will do."""
        with self._apart(), quiet(), torch.no_grad():
            return self._score(self._function(), torch.tensor(rows, dtype=torch.float64))

    def best_of(self, rows: Tensor) -> int:
        """The index, of ``m`` unit-cube rows, of the best; of many, of those that a coarser function finds best."""
        with self._apart(), quiet(), torch.no_grad():
            function, indices = self._function(), torch.arange(len(rows))
            if len(rows) > MANY:
                indices = self._coarse(function, rows).topk(MANY, sorted=False).indices.sort().values
            return int(indices[first_of_best(self._score(function, rows[indices]))])

    @contextmanager
    def _apart(self) -> Iterator[None]:
        levels = category_counts(self._space).values()
        is_sampled = any(count > MAX_DISCRETE_VALUES for count in levels)  # by Python's generator
        with (
            (isolation if self.target.is_ours else seed_everything)(self.seed),
            seed_python(self.seed) if is_sampled else nullcontext(),
        ):
            yield

    def _function(self) -> AcquisitionFunction:
        fitted = self.target.fitted
        X_pending = fitted.encoded(self.pending) if self.pending else None
        is_all_of_region = not (self.region.is_restricted or self.region.are_outside(self.target.rows).any())
        X_best = None if is_all_of_region else fitted.encoded(self._best())
        function = self.target.build(self.name, X_pending, seeds.derive(self.seed, 0, "samples") % 2**31, X_best)
        if isinstance(function, ClosedForm):  # its samples are drawn
            function.forward = no_draws()(function.forward)
        if self.feasibility is None:
            return function
        return FeasibilityWeighted(function, self.feasibility.predictor, one_hot_inputs(fitted.space))

    @property
    def _space(self) -> Space:
        return self.target.fitted.space

    def _score(self, function: AcquisitionFunction, rows: Tensor) -> Tensor:
        parts = self.target.fitted.encoded(rows).unsqueeze(-2).split(CHUNK)
        return torch.cat([function(part) for part in parts])

    def _coarse(self, function: AcquisitionFunction, rows: Tensor) -> Tensor:
        with with_fewer_samples(function):
            return self._score(function, rows)

    def _score_with_gradient(self, function: ClosedForm | FeasibilityWeighted, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Values, and gradients along the columns that are inputs as they are."""
        value, slope = function.value_and_gradient(self.target.fitted.encoded(rows))
        return value, torch.zeros_like(rows).index_copy(-1, torch.tensor(input_columns(self._space)), slope)

    def _best(self) -> Tensor:
        """Points of the region, the best first: those measured, with what is fixed as now, or the nearest ones."""
        is_outside = self.region.are_outside(self.target.rows)
        rows = self.region.canonical(self.region.complete(self.region.nearest(self.target.rows, is_outside)))
        rows = rows[self.region.holds(rows)]
        rows = (rows if len(rows) else spread_over(self.region)[:MOST_MOVED]).unique(dim=0)
        with torch.no_grad():
            mean = self.target.means(self.target.fitted.encoded(rows))
        rows = rows[mean.argsort(descending=True, stable=True)]
        return rows[:MOST_MOVED] if self.region.fixed or is_outside.any() else rows
