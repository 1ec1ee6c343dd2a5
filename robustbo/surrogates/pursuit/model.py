"""Relevance pursuit of our own: explicit gradients, closed-form gains, and no cap on an outlier's variance."""

import math
from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from robustbo.numerics.gp import warp
from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.prediction_cache import PredictionCache
from robustbo.numerics.gp.replicates import Groups, find_recurring_groups
from robustbo.numerics.pursuit import growth
from robustbo.numerics.pursuit.averaging import probabilities
from robustbo.numerics.pursuit.growth import Pursuit
from robustbo.numerics.pursuit.support_fit import Level, level_at, screen
from robustbo.numerics.pursuit.walk import best_per_support, level_posterior, plausible_levels
from robustbo.numerics.pursuit.warped import with_warp
from robustbo.surrogates.common.contract import outcome_transform
from robustbo.surrogates.common.map_gp import ALL
from robustbo.surrogates.common.units import outcome_units
from robustbo.surrogates.common.warped_gp import FEWEST
from robustbo.surrogates.pursuit.beginnings import WarmStart, bend, rescale, straighten
from robustbo.surrogates.pursuit.options import PursuitOptions
from robustbo.surrogates.pursuit.replicates import PursuitOfReplicates
from robustbo.surrogates.pursuit.warp_evidence import PRICE, SETTLED, evidence_of_warp
from robustbo.surrogates.transforms.inlier_rescale import RESCALE, standardize_by_inliers, standardize_like
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize
from robustbo.surrogates.transforms.warp import WarpedStandardize


class RelevancePursuitGP(PursuitOfReplicates):
    """A GP that finds the observations with an error of their own, and predicts without their weight.

    An outlier's variance has no cap: at any magnitude the fit is the fit without that point. Outliers are those of the
    likeliest level of the pursuit; predictions are averaged over the levels that it visited, each as much as it is
    plausible.

    Args:
        train_X: ``n x d`` inputs; other arguments as in `MapGP`.
        train_Y: ``n x 1`` outcomes.
        train_Yvar: ``n x 1`` known noise variances.
        direction: "backward" or "forward" through the levels.
        levels: Support sizes to visit, as fractions of n (float) or counts (int). They and the direction are those
            of a search from nothing, which has at most `growth.MANY` observations, and is grown from there.
        selection: "corrected" (`penalty.corrected_rule`; a value that recurs at several points, as from a sensor that
            sticks, counts as one outlier: `penalty.Penalty`), "botorch" or "paper".
        outlier_rate: Your own prior rate of outliers, in (0, 1); with "corrected".
        num_outliers: A known number of outliers, of which at most n / 2 are looked for among n values; takes the place
            of the rule.
        is_averaged: Whether predictions are averaged over the levels (`numerics.pursuit.averaging`), or are those of
            the chosen support alone, as in the paper; with a custom kernel they are that.
        kernel: "matern52" or "rbf".
        is_signal_free: Whether the signal variance is free, or 1 as in BoTorch's default.
        warp: Of the outcomes, as in `WarpOptions`; where predictions are averaged it is that of the chosen level.

    Attributes:
        support: After the fit, the sorted indices of the outliers.
        rho: After the fit, ``n`` added variances in squared outcome units.
        trace: After the fit, one `Level` per visited size, in the model's own (transformed) units.
        level_posterior: After the fit, the posterior probability of each level of the trace, as the paper has it
            (predictions are averaged by `numerics.pursuit.averaging.probabilities`, which are less sure). The support
            that is chosen is a settled one of these, or one beside them, at which a recurring value is out.

    References:
        Ament et al. (2024), Robust Gaussian processes via relevance pursuit; docs/equations.md section 6.

    Example:
        >>> import torch
        >>> from robustbo.surrogates.common.contract import fit
        >>> X = torch.linspace(0, 1, 20, dtype=torch.float64).unsqueeze(-1)
        >>> Y = torch.sin(6 * X)
        >>> Y[[4, 11]] += 1e6
        >>> fit(RelevancePursuitGP(X, Y)).support
        [4, 11]
    """

    options_class = PursuitOptions
    trace: Sequence[Level] = ()
    level_posterior: Sequence[float] = ()
    _straight: Pursuit | None = None
    _is_warm = False
    _warp_evidence = 0.0

    @property
    def warm_start(self) -> WarmStart | None:
        """The end of this search, and center and scale of its outcomes: the start of one with more observations."""
        if self._pursued is None:
            return None
        units = outcome_units(outcome_transform(self))
        return WarmStart(self._pursued, *units, self._is_straight, self._warp_evidence, self._straight)

    def continue_from(self, before: WarmStart, rows: Tensor) -> None:
        """Begin the next pursuit at the levels of another model's, one fitted to most of these observations.

        It visits only those that were plausible, the last choice and those next to them, and sweeps them both ways
        whatever the direction and the sweeps; of many observations see `numerics.pursuit.growth`, which holds the
        hyperparameters, so that outcomes are standardized as the other model's. Of few the levels are rescaled; where
        that cannot be, and the scales are quite other ones, it begins from nothing.
        """
        pursued, center, scale, is_straight, evidence, straight = before
        transform = outcome_transform(self)
        is_many = len(rows) > growth.MANY and isinstance(transform, RobustStandardize)
        if is_many and self._noise_variances(ALL) is None:
            standardize_like(self, transform, center, scale)
        is_bent = isinstance(transform, WarpedStandardize) and self._warp is None  # in a way that no factor tells
        if not self.is_named or is_bent:  # nor does anybody know which parameters of a custom kernel are variances
            if (scale / outcome_units(transform)[1]).log().abs().item() < math.log(RESCALE):
                self._before = pursued, rows
            return
        self._before, self._is_warm = (self._in_units(pursued, scale), rows), True
        self._straight = None if straight is None else self._in_units(straight, scale)
        self._is_straight, self._warp_evidence = is_straight, evidence

    def _in_units(self, pursued: Pursuit, scale: Tensor) -> Pursuit:
        """The levels of outcomes that were standardized by another scale, for those of now."""
        model, factor = self.search_model(), (scale / outcome_units(outcome_transform(self))[1]).item()
        return rescale(pursued, model, (model.s2_known is None) + self.options.is_signal_free, factor)

    def search(self, model: Model) -> Fit:
        """Pursue the support; again on the inliers' scale where it is another, and with replicates that agree.

        A search that holds hyperparameters holds the scale too.
        """
        may_bend = self._warp is not None and self.is_named and FEWEST <= len(model.y) <= growth.MANY
        is_open = may_bend and self._warp_evidence < SETTLED
        self._straight = self._straight if is_open else None
        self._is_followed = self.train_inputs[0], torch.zeros_like(self.train_targets, dtype=torch.bool)
        level = self._decide_warp() if is_open else self._pursue_on_scale()
        return self._follow_replicates(level).fit

    def _pursue_on_scale(self, level: Level | None = None) -> Level:
        """Pursue, unless there is a level, and again on the scale of its inliers where that is another."""
        is_held = self._before is not None and len(self.train_targets) > growth.MANY
        level = self._pursue(self.search_model()) if level is None else level
        _, scale = outcome_units(transform := outcome_transform(self))
        if not is_held and standardize_by_inliers(self, transform, level.fit.rho == 0):
            self._straight = None if self._straight is None else self._in_units(self._straight, scale)
            if self._is_warm:
                self._before = self._in_units(self._pursuit, scale), torch.arange(len(level.fit.rho))
            level = self._pursue(self.search_model())
        return level

    def _decide_warp(self) -> Level:
        """Pursue without a warp, and with one if others speak for it than those that are outliers without one."""
        bent = self._before if self._warp_evidence > 0 and not self._is_straight else None
        if bent is not None:
            self._before = straighten(bent[0]) if self._straight is None else self._straight, bent[1]
        self._is_straight = True
        level = self._pursue(self.search_model())
        model, straight = self.search_model()._replace(warp=warp.FREE), self._pursuit
        self._warp_evidence, t = evidence_of_warp(model, level, None if bent is None else bent[0])
        if self._warp_evidence < PRICE:
            self._straight = None
            return self._pursue_on_scale(level)
        self._is_straight, self._straight = False, straight._replace(best=straight.best._replace(cache=None))
        self._before = (bend(model, straight, t), torch.arange(len(model.y))) if bent is None else bent
        return self._pursue_on_scale()

    def _condition(self, model: Model, estimate: Fit) -> PredictionCache:
        cache = self._pursuit.best.cache or super()._condition(model, estimate)
        levels = [level._replace(cache=None) for level in self._pursuit.levels]
        self.trace, self._pursued = levels, Pursuit(levels, self._pursuit.best._replace(cache=None))
        return cache

    def _adopt(self, estimate: Fit) -> None:
        """Adopt the fit that the pursuit chose, or a likelier one among those that predictions are averaged over.

        With the chosen one's warp another level may be climbed to a far higher maximum than the pursuit found there.
        """
        super()._adopt(estimate)
        if not self.is_named:
            return
        model = self.search_model()
        penalty = self.options.penalty(model)
        levels = plausible_levels(self.trace, penalty) if self.options.is_averaged else []
        climbed = with_warp(model, estimate, levels)
        fits = best_per_support([estimate, *climbed])
        prices = [penalty.total(model.groups.of(fit.support)) for fit in fits]
        weights = probabilities([fit.F - p for fit, p in zip(fits, prices, strict=True)])
        if (likeliest := fits[weights.index(max(weights))]) is not estimate:
            self._take_up(
                model, next(level for level, fit in zip(levels, climbed, strict=True) if fit is likeliest), likeliest
            )
            super()._adopt(likeliest)
            model = self.search_model()
        order = sorted(range(len(fits)), key=lambda i: fits[i] is not likeliest)  # it comes first
        self.average(model, [weights[i] for i in order], [fits[i] for i in order])

    def _take_up(self, model: Model, level: Level, fit: Fit) -> None:
        """Take the fit that was climbed to from a level for the pursuit's, and that level where it is."""
        levels = [level_at(model, level.support, fit) if other is level else other for other in self.trace]
        self._pursued = Pursuit(levels, level_at(model, model.groups.of(fit.support), fit))
        self.map_estimate, self.trace = fit, levels
        self.level_posterior = level_posterior(levels, self.options.penalty(model))

    def search_model(self, rows: Tensor | slice = ALL) -> Model:
        """The model for the search: values that agree at a point clear each other, those that recur count as one."""
        model = super().search_model(rows)
        groups = find_recurring_groups(self.train_inputs[0][rows], model.y) if self.options.is_grouped else Groups()
        vouched = None if self.vouched is None else self.vouched[rows]
        groups = groups if vouched is None else groups.without(vouched)
        return model._replace(cleared=self.is_cleared(rows), vouched=vouched, groups=groups)

    def outlier_variances(self, model: Model, theta: Tensor) -> Tensor:
        """The variances of the observations that gain more than their penalty."""
        return screen(model, theta, self.options.penalty(model).by_size(1)).fit.rho

    def _part(self, full_model: Model, rows: Tensor) -> Model:
        """The model of some observations, with the groups of values that recur among all."""
        return self.search_model(rows)._replace(groups=full_model.groups.among(rows.tolist()))

    def _pursue(self, model: Model) -> Level:
        plan, before, self._before = self.options.plan(model), self._before, None
        if before is not None:
            pursued = growth.continue_pursuit(model, plan, *before)
        else:
            pursued = growth.pursue_from_nothing(partial(self._part, model), self.options.plan, len(model.y))
        self._take(pursued)
        return pursued.best

    def _take(self, pursued: Pursuit) -> None:
        self._pursued, self.trace = pursued, pursued.levels
        self.level_posterior = level_posterior(self.trace, self.options.penalty(self.search_model()))
