"""Relevance pursuit beside the values of other sources: predictions averaged over their relations to the objective."""

import math
from typing import Any

import torch
from botorch.models.transforms.outcome import Standardize
from torch import Tensor

from robustbo.errors import FitError
from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.posterior import LatentProcess
from robustbo.numerics.gp.prediction_cache import PredictionCache
from robustbo.numerics.transfer.alone import Remember, forget
from robustbo.numerics.transfer.configuration import FEWEST, GroupFit, Problem
from robustbo.numerics.transfer.relations import KernelPriors, SourceRows
from robustbo.numerics.transfer.search import Averaging, search_relations
from robustbo.numerics.transfer.spread import robust_spread
from robustbo.numerics.transfer.summary import SourceRelation, source_summary
from robustbo.surrogates.common import priors
from robustbo.surrogates.common.contract import outcome_transform
from robustbo.surrogates.common.map_gp import MapGP
from robustbo.surrogates.common.model_averaging import Component
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.transfer.auxiliary import AuxiliaryValues
from robustbo.surrogates.transfer.belief import TransferBelief
from robustbo.surrogates.transfer.joint_problem import Maps, joint_problem
from robustbo.surrogates.transforms.inlier_rescale import standardize_like
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize

SPREAD_KNOWN = 12  # values of the target from which on their own spread is known well enough
UNRELATED = 0.9  # probability of a source's being unrelated from which on nothing is predicted by it


class TransferGP(TransferBelief, RelevancePursuitGP):
    """A relevance pursuit that also learns from values of other sources: old studies, simulators, other labs.

    A source reads rho f(x) + b + delta(x) with noise of its own. Whether it is the same as the target, has an offset, a
    scale, a bias that is a function of x, or nothing to do with it, is weighed by evidence, and predictions are
    averaged. Single wrong values are pursued in the target's values and in those of all sources. Without auxiliary
    values it is a `RelevancePursuitGP` without a warp.

    Args:
        train_X: ``n x d`` inputs of the target; other arguments as in `RelevancePursuitGP`.
        train_Y: ``n x 1`` outcomes.
        train_Yvar: ``n x 1`` known noise variances.

    Attributes:
        auxiliary: Set before a fit: the values of other sources.
        remember: Set before a fit by whoever fits again and again: keeps what follows from a source's values alone.
        relations: After the fit, the relation of each source.

    References:
        Kennedy and O'Hagan (2000), Predicting the output from a complex computer code when fast approximations are
        available; docs/equations.md section 22.

    Example:
        >>> import torch
        >>> from robustbo.surrogates.common.contract import fit
        >>> X = torch.linspace(0, 1, 5, dtype=torch.float64).unsqueeze(-1)
        >>> Z = torch.linspace(0, 1, 30, dtype=torch.float64).unsqueeze(-1)
        >>> model, n = TransferGP(X, torch.sin(6 * X)), len(Z)
        >>> Y, none = torch.sin(6 * Z[:, 0]) + 2.0, torch.full((n,), torch.nan, dtype=torch.float64)
        >>> zeros = torch.zeros(n, dtype=torch.long)
        >>> model.auxiliary = AuxiliaryValues(Z, Y, zeros, none, zeros > 0, torch.ones(len(Z)), (False,))
        >>> (source,) = fit(model).relations
        >>> source.relation, round(source.offset, 1)
        ('offset', 2.0)
    """

    auxiliary: AuxiliaryValues | None = None
    remember: Remember = staticmethod(forget)
    _averaging: Averaging | None = None
    _rows_of_all: SourceRows
    _maps: Maps = ()  # of each source: center and scale in its rows' units

    def new_outcome_transform(self) -> Standardize:
        """Return the transform of outcomes, which are not warped: an offset is one number only without a warp."""
        return RobustStandardize(m=1)

    def search(self, model: Model) -> Any:
        """Search the relations of the sources, and the wrong values of all."""
        if self.auxiliary is None:
            return super().search(model)
        if not self.is_named:
            raise FitError("values of other sources need a kernel by its name; leave covar_module out")
        self._set_scale(self.auxiliary)
        problem, self._maps = joint_problem(self, self.auxiliary)
        self._rows_of_all = problem.rows
        self._averaging = self.search_all(problem)
        best = self._averaging.configurations[0]
        return self._own_fit(best.fit, best.fit.score)

    def search_all(self, problem: Problem) -> Averaging:
        """The likely relations of all sources."""
        return search_relations(problem, remember=self.remember)

    def _set_scale(self, auxiliary: AuxiliaryValues) -> None:
        """Standardize few outcomes by the spread of the sources' values: their own is known too badly.

        From `FEWEST` outcomes on that is done only if the spread lies between that of most outcomes and that of all, so
        that the sources may well have the same units.
        """
        transform, n = outcome_transform(self), len(self.train_targets)
        if n >= SPREAD_KNOWN or not isinstance(transform, RobustStandardize):
            return
        spreads = [robust_spread(auxiliary.Y[auxiliary.source == s]) for s in range(len(auxiliary.trusted))]
        usable = sorted(spread for spread in spreads if spread > 0)
        if not usable:
            return
        scale = torch.full_like(transform.stdvs, usable[len(usable) // 2])
        ratio, width = (scale / transform.stdvs).item(), self.train_targets.max() - self.train_targets.min()
        if n < FEWEST or 1 < ratio < width:
            standardize_like(self, transform, transform.means, scale)

    def noise_of_rows(self) -> tuple[Tensor, Tensor]:
        """``n`` known noise variances of the target's values, NaN where it is inferred, and shares of that."""
        y = self.train_targets
        if (parts := self.noise_parts()) is not None:
            return torch.where(parts[1] > 0, torch.full_like(y, math.nan), parts[0]), parts[1]
        s2 = self._noise_variances(slice(None))
        return (torch.full_like(y, math.nan) if s2 is None else s2), torch.ones_like(y)

    @property
    def kernel_priors(self) -> KernelPriors:
        """The kernel of the objective, with the priors of its hyperparameters and of noise."""
        assert self._named is not None
        kernel, is_signal_free = self._named
        signal, prior = (
            priors.SIGNAL_PRIOR if is_signal_free else None,
            priors.length_scale_prior(self.train_inputs[0].shape[-1]),
        )
        return KernelPriors(kernel, prior, signal, priors.NOISE_PRIOR, self._least_noise())

    def _own_fit(self, fit: GroupFit, F: float) -> Fit:
        """A fit of all groups as one of the target's values alone."""
        values, n = fit.values, len(self.train_targets)
        theta = torch.cat([values[name] for name in ("l", "s2f", "noise0") if name in values])
        return Fit(theta, fit.level.fit.rho[:n].clone(), F, F, 0, True)

    def _adopt(self, estimate: Any) -> None:
        if self._averaging is None:
            super()._adopt(estimate)
            return
        MapGP._adopt(self, estimate)
        pairs = zip(self._averaging.weights, self._averaging.configurations, strict=True)
        self._components = tuple(self._component(weight, configuration.fit) for weight, configuration in pairs)
        self._components_at = self.parameters_now(), self.train_inputs[0]

    def _component(self, weight: float, fit: GroupFit) -> Component:
        values = fit.values
        s2 = values["noise0"].exp().item() if "noise0" in values else math.nan
        return Component(weight, self._own_fit(fit, math.nan), s2, self._objective_by(fit))

    def _objective_by(self, fit: GroupFit) -> LatentProcess:
        """The objective given all values: sources enter by their scales, those that are unrelated with no weight.

        All processes are of the same rows, as formulas for several take them.
        """
        evidence, a = fit.value.evidence, fit.joint.scales(fit.level.fit.theta)
        X = self._rows_of_all.X
        al, root, rows = X.new_zeros(len(X)), X.new_zeros(len(a), len(X)), fit.numbers
        al[rows], root[:, rows] = a * evidence.al, evidence.root * a  # eq. 22.5
        lengthscales, s2f = fit.joint.signal(fit.level.fit.theta)
        return LatentProcess(self.kernel, lengthscales, s2f, evidence.m, X, root, al)

    def latent(self) -> LatentProcess:
        """The objective given all values, by the likeliest relations."""
        return self._objective_by(self._averaging.configurations[0].fit) if self._averaging else super().latent()

    def _condition(self, model: Model, estimate: Any) -> PredictionCache:
        if self._averaging is None:
            return super()._condition(model, estimate)
        fit, n = self._averaging.configurations[0].fit, len(self.train_targets)
        cache = fit.cache
        return PredictionCache(cache.m, cache.root[:, :n].contiguous(), cache.al[:n], cache.e[:n], cache.v[:n])

    def single_fits(self) -> Any:
        """Refuse where it predicts by values of other sources: BoTorch's tools know the target's alone.

        Raises:
            NotImplementedError: There.
        """
        self._refuse("sample paths")
        return super().single_fits()

    def get_fantasy_model(self, inputs: Tensor, targets: Tensor, **kwargs: Any) -> Any:
        """Refuse likewise; see `single_fits`."""
        self._refuse("fantasies")
        return super().get_fantasy_model(inputs, targets, **kwargs)

    def _refuse(self, name: str) -> None:
        if self._averaging is not None:
            raise NotImplementedError(
                f"{name} are not available for a fit with values of other sources; fit a new model"
            )

    @property
    def kernel(self) -> str:
        """The kernel's name."""
        assert self._named is not None
        return str(self._named[0])

    @property
    def is_of_unrelated(self) -> bool:
        """Return whether all sources are almost certainly unrelated: predict by the target's values alone then.

        References:
            docs/equations.md (22.15).
        """
        return self._averaging is not None and all(
            share.get("unrelated", 0.0) > UNRELATED for share in self._averaging.probabilities
        )

    @property
    def maps(self) -> tuple[tuple[float, float], ...]:
        """Center and scale of each source's values, where these are in units of their own; (0, 1) elsewhere."""
        return self._maps

    @property
    def weighted_fits(self) -> list[tuple[float, GroupFit]]:
        """Probabilities of the configurations that it predicts by, and their fits."""
        if self._averaging is None:
            return []
        fits = (configuration.fit for configuration in self._averaging.configurations)
        return list(zip(self._averaging.weights, fits, strict=True))

    @property
    def mixture_fits(self) -> list[tuple[float, GroupFit]]:
        """Weights and fits that predictions are averaged over: of few values, with draws of the hyperparameters."""
        return [(part.weight, part.fit) for part in self._parts()] or self.weighted_fits

    @property
    def relations(self) -> tuple[SourceRelation, ...]:
        """The relation of each source to the objective, after a fit."""
        if self._averaging is None or self.auxiliary is None:
            return ()
        return tuple(self.relation(s + 1) for s in range(len(self._maps)))

    def relation(self, group: int, depth: float = 0.0) -> SourceRelation:
        """The relation of a source 1, 2, ... to the objective; where it has levels, that of the one at a distance."""
        assert self._averaging is not None
        s, n, transform = group - 1, len(self.train_targets), outcome_transform(self)
        of = source_summary(self._averaging, s, depth)
        center, unit = self._maps[s]
        own = of._replace(wrong=tuple(sorted(row - n for row in of.wrong))).in_units_of_source(unit, center)
        return own.in_units(transform.stdvs.item(), transform.means.item())
