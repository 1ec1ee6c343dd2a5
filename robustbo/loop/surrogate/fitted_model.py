"""A fitted surrogate that speaks the user's units."""

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import torch
from botorch.models.gpytorch import GPyTorchModel
from torch import Tensor

from robustbo.determinism.isolation import isolation, seed_everything
from robustbo.loop.observations.correction import SourceBelief, SourceShift
from robustbo.loop.observations.expectation import Appraisal, Expectation
from robustbo.loop.observations.table import Observations, Row
from robustbo.loop.observations.units import Units, in_model_units, noise_parts
from robustbo.numerics.sources.errors import SourceError
from robustbo.numerics.transfer.summary import SourceRelation
from robustbo.searchspace.encoding import encode
from robustbo.searchspace.space import Space
from robustbo.surrogates.common import contract
from robustbo.surrogates.common.model_averaging import without_averaging
from robustbo.surrogates.registry import SURROGATES
from robustbo.surrogates.transfer.model import TransferGP


@dataclass(frozen=True)
class FittedSurrogate:
    """A surrogate fitted to a history, speaking the user's units.

    Attributes:
        model: The BoTorch model; it maximizes, whatever the user's direction.
        X: ``n x d`` inputs, encoded for the model.
        observations: What it was fitted to.
        space: The search space.
        units: Of the model; those of an earlier fit, where the search began there.
        seconds: How long the fit took, without those that it began from.
        quarantined: The told trials that are left out; see `robustbo.loop.observations.probability_wrong`.
        appraisals: Those of values that it was not fitted to, for their number; see `robustbo.loop.surrogate.subset`.
        sources: The belief in the sources of all values that count; None where none was told.
        sampled: What follows from the model alone and takes long, once it has been asked for: whoever leaves out other
            values, or says more of others, has the same model, and this with it.
        learning: The fit that learned from other sources, where it found all of them unrelated and predicts by none.
    """

    model: GPyTorchModel
    X: Tensor
    observations: Observations
    space: Space
    units: Units
    seconds: float
    quarantined: tuple[int, ...] = ()
    appraisals: Mapping[int, Appraisal] = field(default_factory=dict)
    sources: SourceBelief | None = None
    sampled: dict[str, list[float] | None] = field(default_factory=dict, repr=False, compare=False)
    learning: "FittedSurrogate | None" = None

    @property
    def is_ours(self) -> bool:
        """Return whether the surrogate is one of this library."""
        return SURROGATES.has(type(self.model))

    @property
    def source_errors(self) -> Sequence[SourceError]:
        """The errors of the sources of its values, whose rows are those of its observations; none unless told."""
        return () if self.sources is None else self.sources.of(self.observations.numbers)

    def source_shift(self, by: Mapping[str, str]) -> SourceShift | None:
        """The error of the next value that a source measures, by what is believed; None where that is nothing."""
        return None if self.sources is None else self.sources.shift_at(by)

    @property
    def with_sources(self) -> "FittedSurrogate":
        """The fit that learned from other sources, if there are any: itself, unless it predicts without them."""
        return self if self.learning is None else self.learning

    @property
    def relations(self) -> dict[str, SourceRelation]:
        """The relation of each other source to the objective, in the user's units; none without their values."""
        if self.learning is not None:
            return self.learning.relations
        if not isinstance(self.model, TransferGP) or self.observations.beside is None:
            return {}
        beside, slope, center = self.observations.beside, self.units.slope, self.units.center
        places = {name: place for name in beside.names if (place := beside.group_of(name)) is not None}
        return {name: self.model.relation(*place).in_units(slope, center) for name, place in places.items()}

    def apart(self, seed: int) -> AbstractContextManager[None]:
        """The context in which code of the surrogate runs, so that what it draws depends on the seed alone."""
        return (isolation if self.is_ours else seed_everything)(seed)

    def in_units(self, mean: Tensor, sd: Tensor) -> tuple[list[float], list[float]]:
        """The model's means and standard deviations in the user's units."""
        return self.units.to_user(mean).tolist(), self.units.sd_to_user(sd).tolist()

    def predict(
        self, X: Tensor, *, is_noisy: bool = False, is_averaged: bool = True
    ) -> tuple[list[float], list[float]]:
        """Posterior mean and standard deviation at ``m x d`` encoded points: of the objective, or of a value there.

        Where the model predicts by several fits, that is by all of them, or by the one that names the outliers.
        """
        with self.apart(0), contract.quiet(), torch.no_grad():
            model = self.model if is_averaged else without_averaging(self.model)
            return self.in_units(*contract.marginals(model, X, is_noisy))

    def at_points(self, *, is_averaged: bool = True) -> dict[Row, tuple[float, float]]:
        """Posterior mean and standard deviation of the objective at each point it was fitted to, by unit-cube row."""
        with self.apart(0), contract.quiet(), torch.no_grad():
            model = self.model if is_averaged else without_averaging(self.model)
            means, sds = self.in_units(*contract.at_inputs(model, self.X))
        by_row: dict[Row, tuple[float, float]] = {}
        for row, *of_point in zip(self.observations.X, means, sds, strict=True):
            by_row.setdefault(row, (of_point[0], of_point[1]))
        return by_row

    @property
    def probability_wrong(self) -> list[float] | None:
        """The probability that each value it was fitted to is wrong; None where the surrogate does not say."""
        if "wrong" not in self.sampled:
            with self.apart(0), contract.quiet():
                right = contract.probability_right(self.model)
            self.sampled["wrong"] = None if right is None else (1 - right).tolist()
        return self.sampled["wrong"]

    def expect(self, rows: Sequence[Row]) -> list[Expectation]:
        """Expectations of the value told at each unit-cube row."""
        if not rows:
            return []
        X = self.encoded(rows)
        means, sds = self.predict(X, is_noisy=True)
        latent = zip(sds, self.predict(X)[1], strict=True)
        noise = [math.sqrt(max((sd - latent_sd) * (sd + latent_sd), 0.0)) for sd, latent_sd in latent]
        dof = contract.noise_dof(self.model)
        return [Expectation(*of_point, dof) for of_point in zip(means, sds, noise, strict=True)]

    def appraise(self, told: Observations) -> dict[int, Appraisal]:
        """Appraisals by trial of values that it was not fitted to, by the rule for those that it was."""
        X, Y, sds = in_model_units(self.space, told, self.units, self.observations)
        with self.apart(0), contract.quiet():
            if (parts := noise_parts(told, self.units, self.observations)) is not None:
                (_, noisy), (_, latent) = contract.marginals(self.model, X, True), contract.marginals(self.model, X)
                sds = (parts[0] + parts[1] * (noisy.square() - latent.square()).clamp_min(0.0)).sqrt()
            diagnosis = self.model.diagnose_others(X, Y, sds)
        expected, sd = self.in_units(diagnosis.expected, diagnosis.sd)
        weight = [None] * len(sd) if diagnosis.weight is None else diagnosis.weight.tolist()
        is_probability = self.probability_wrong is not None
        wrong = [1 - p if is_probability and p is not None else None for p in weight]
        rows = zip(expected, sd, diagnosis.evidence.tolist(), diagnosis.is_outlier.tolist(), weight, wrong, strict=True)
        return dict(zip(told.numbers, (Appraisal(*row) for row in rows), strict=True))

    def prior_rate(self, n: int) -> float:
        """The prior probability of each of n values that it is wrong."""
        return contract.prior_rate(self.model, n)

    def encoded(self, rows: Sequence[Sequence[float]] | Tensor) -> Tensor:
        """``m x d`` inputs of the model for unit-cube rows."""
        return encode(self.space, rows if isinstance(rows, Tensor) else [list(row) for row in rows])
