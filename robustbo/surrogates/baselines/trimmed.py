"""A baseline: the trimmed marginal likelihood, a given share of the observations left out."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from robustbo.numerics.baselines.trimming import removal, trim_by_projection
from robustbo.numerics.gp.log_posterior import log_posterior
from robustbo.numerics.gp.map_fit import Fit, maximize_alone
from robustbo.numerics.gp.model import Model, noise
from robustbo.numerics.gp.outlier_gain import errors
from robustbo.numerics.pursuit.support_fit import empty
from robustbo.surrogates.common.capabilities import Capabilities
from robustbo.surrogates.common.map_gp import MapGP
from robustbo.surrogates.common.options import GPOptions
from robustbo.validation import one_of, real

ALGORITHMS = ("greedy", "projected-gradient")
FRACTION = 0.2  # the authors'
REFITS = 10  # of a greedy walk, at most; in between, observations go one at a time
ROUNDS = 5  # of the projected climb and a fit to what it keeps, at most
FTOL = 1e-5
LEFT_OUT = 999_999_995_904.0  # added variance of those left out (1e12 in float32): none of their weight is left


@dataclass(frozen=True, kw_only=True)
class TrimmedOptions(GPOptions):
    """The options of `TrimmedGP`; see there."""

    fraction: float = FRACTION
    algorithm: str = ALGORITHMS[0]

    def check(self) -> None:
        """Raise a ValueError, or a TypeError where a number is needed, for invalid options."""
        super().check()
        if not 0 <= real("fraction", self.fraction) < 1:
            raise ValueError(f"fraction must lie in [0, 1), got {self.fraction!r}")
        one_of("algorithm", self.algorithm, ALGORITHMS)

    @property
    def capabilities(self) -> Capabilities:
        """Robust unless nothing is left out."""
        is_robust = self.fraction > 0
        return Capabilities(is_robust=is_robust, is_heeded=is_robust, is_cubic=True, trims=is_robust)


class TrimmedGP(MapGP):
    """The GP of a given share of the observations, chosen so that they are likeliest; the others are left out for good.

    Args:
        train_X: ``n x d`` inputs; other arguments as in `MapGP`.
        train_Y: ``n x 1`` outcomes.
        fraction: Share of the observations that is left out, in [0, 1): int(fraction n) of them, outliers or not.
        algorithm: "greedy" (the one whose removal leaves the likeliest rest, again and again) or "projected-gradient"
            (a relaxation of the choice).

    References:
        Andrade and Takeda (2023), Robust Gaussian process regression with the trimmed marginal likelihood;
        docs/equations.md section 9.

    Example:
        >>> import torch
        >>> from robustbo.surrogates.common.contract import fit
        >>> X = torch.linspace(0, 1, 20, dtype=torch.float64).unsqueeze(-1)
        >>> Y = torch.sin(6 * X)
        >>> Y[[4, 11]] += 1e6
        >>> fit(TrimmedGP(X, Y, fraction=0.1)).support
        [4, 11]
    """

    options_class = TrimmedOptions

    def search(self, model: Model) -> Fit:
        """Find hyperparameters and the observations that are kept."""
        h, full_fit = int(self.options.fraction * len(model.y)), empty(model).fit
        if h == 0:
            return full_fit
        is_kept, fit = (self._greedy if self.options.algorithm == "greedy" else self._project)(model, full_fit, h)
        return fit._replace(rho=_removal_variances(is_kept))

    def outlier_variances(self, model: Model, theta: Tensor) -> Tensor:
        """The greedy choice at given hyperparameters."""
        is_kept = torch.ones(len(model.y), dtype=torch.bool)
        for _ in range(int(self.options.fraction * len(model.y))):
            is_kept = self._without_worst(theta, is_kept)
        return _removal_variances(is_kept)

    def _greedy(self, model: Model, fit: Fit, h: int) -> tuple[Tensor, Fit]:
        is_kept, step = torch.ones(len(model.y), dtype=torch.bool), math.ceil(h / REFITS)
        for removals in range(h):
            is_kept = self._without_worst(fit.theta, is_kept)
            if (removals + 1) % step == 0 or removals + 1 == h:
                fit = self._refit(is_kept, fit.theta)
        return is_kept, fit

    def _without_worst(self, theta: Tensor, is_kept: Tensor) -> Tensor:
        rows = is_kept.nonzero().squeeze(-1)
        e, v = errors(self._of(rows), theta, theta.new_zeros(len(rows)))
        return is_kept.index_fill(0, rows[removal(e, v).argmax()], False)

    def _project(self, model: Model, fit: Fit, h: int) -> tuple[Tensor, Fit]:
        best, before = (torch.ones(len(model.y), dtype=torch.bool), fit), None
        for round_ in range(ROUNDS):
            value = log_posterior(model, fit.theta, _removal_variances(best[0]))
            r = model.y - value.evidence.m
            is_kept = trim_by_projection(value.covariance.K, noise(model, fit.theta), r, h)
            if before is not None and torch.equal(is_kept, before):
                break
            before, fit = is_kept, self._refit(is_kept, fit.theta)
            if round_ == 0 or fit.F > best[1].F:
                best = is_kept, fit
        return best

    def _refit(self, is_kept: Tensor, theta: Tensor) -> Fit:
        return maximize_alone(self._of(is_kept.nonzero().squeeze(-1)), theta, ftol=FTOL)

    def _of(self, rows: Tensor) -> Model:
        return super().search_model(rows)


def _removal_variances(is_kept: Tensor) -> Tensor:
    """``n`` variances that are added to single observations, of which some are kept as they are."""
    return torch.zeros(len(is_kept), dtype=torch.float64).masked_fill(~is_kept, LEFT_OUT)
