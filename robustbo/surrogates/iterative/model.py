"""Computation-aware GP, robust or not: it conditions on few actions on the data, and its variance counts the rest."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
from botorch.models.transforms.input import InputTransform
from torch import Tensor

from robustbo.numerics.gp.ascent import Ascent
from robustbo.numerics.gp.kernels_tiled import TiledCovariance, center_inputs
from robustbo.numerics.gp.log_posterior import log_posterior
from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.posterior import LatentProcess
from robustbo.numerics.iterative import conditioning
from robustbo.numerics.iterative.conditioning import IterationPlan, IterativePosterior
from robustbo.numerics.iterative.policies import NAMES
from robustbo.numerics.pursuit.support_fit import empty
from robustbo.numerics.weighted import map_fit
from robustbo.numerics.weighted.rcgp import PredictionErrors
from robustbo.surrogates.common.capabilities import Capabilities
from robustbo.surrogates.common.map_gp import MapGP
from robustbo.surrogates.common.placement import at_home
from robustbo.surrogates.weighted.observation_weights import ObservationWeights, WeightOptions
from robustbo.validation import one_of, whole_number

ITERATIONS = 100
FIT_SIZE = 1000
EXACT_SIZE = 5000  # up to so many observations the exact variance may be asked for: its matrix has 200 MB
BLOCK = 2**22  # numbers of a block of covariances: 32 MiB


class Variances(NamedTuple):
    """The variances of latent values: of the exact process, what more iterations would remove, and the sum of both.

    In the model's own (transformed) units.
    """

    combined: Tensor
    mathematical: Tensor
    computational: Tensor


@dataclass(frozen=True, kw_only=True)
class ComputationAwareOptions(WeightOptions):
    """The options of `ComputationAwareGP`; see there."""

    policy: str = NAMES[0]
    iterations: int | None = None
    tolerance: float = 0.0
    robust: bool = True
    fit_size: int = FIT_SIZE

    def check(self) -> None:
        """Raise a ValueError or a TypeError for invalid options."""
        super().check()
        one_of("policy", self.policy, NAMES)
        for name, value in (("iterations", self.iterations), ("fit_size", self.fit_size)):
            if value is not None:
                whole_number(name, value, 1)
        if not 0 <= self.tolerance < 1:
            raise ValueError(f"tolerance must lie in [0, 1), got {self.tolerance!r}")

    @property
    def is_robust(self) -> bool:
        """Return whether observations are weighted."""
        return self.robust

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of a weighted process, without a limit on the number of observations."""
        return replace(super().capabilities, is_cubic=False)


class ComputationAwareGP(ObservationWeights, MapGP):
    """A GP for more observations than a Cholesky factor allows, whose variance counts what it did not compute.

    Hyperparameters are those of the exact model (`ConjugateGP` or `StandardGP`) of at most ``fit_size`` observations,
    drawn at random; then all are looked at, through at most ``iterations`` actions, once a round of weights. Memory
    grows linearly with n, work quadratically; a posterior is joint, so ask for many points in parts.

    Args:
        train_X: ``n x d`` inputs; other arguments as in `MapGP`.
        train_Y: ``n x 1`` outcomes.
        train_Yvar: ``n x 1`` known noise variances.
        policy: The actions: "residual" (conjugate gradients), "preconditioned" (the same, by a pivoted Cholesky factor
            of rank 50), "unit" (one observation after the other), "weight" (the same, the weightiest first),
            "eigenvectors" (of the covariance in units of the noise, the largest first), or "pseudo-inputs" (kernel
            columns at the observations that a pivoted Cholesky factorization picks).
        iterations: Actions at most, 100 by default; n is as many as there can be.
        tolerance: Residual, relative to the targets, at which to stop; 0 goes on, for the sake of the variance.
        robust: Whether observations are weighted as in `ConjugateGP` (IterRCGP) or not (IterGP).
        quantile, threshold, rounds, is_weighted: As in `ConjugateGP`.
        fit_size: Observations at most that the hyperparameters are found from.

    Attributes:
        solution: After the fit, what the iterations computed, in the model's own (transformed) units.

    References:
        Computation-aware robust Gaussian processes; Wenger and others (2022), Posterior and computational uncertainty
        in Gaussian processes; docs/equations.md section 8.

    Example:
        >>> import torch
        >>> from robustbo.surrogates.common.contract import fit
        >>> X = torch.linspace(0, 1, 50, dtype=torch.float64).unsqueeze(-1)
        >>> model = fit(ComputationAwareGP(X, torch.sin(6 * X), iterations=10))
        >>> model.solution.belief.D.shape[-1] <= 10
        True
    """

    options_class = ComputationAwareOptions
    solution: IterativePosterior | None = None

    def begin(self, X: Tensor, Y: Tensor, Yvar: Tensor | None, input_transform: InputTransform | None) -> None:
        """Raise a ValueError for a custom kernel."""
        if self._named is None:
            raise ValueError(
                "covar_module must not be given: this model has its own kernel products; give the kernel's name"
            )

    def search_model(self, rows: Tensor | slice | None = None) -> Model:
        """The model for the search: of the rows that hyperparameters are fitted to, unless others are given."""
        order = torch.randperm(len(self.train_targets), generator=torch.Generator().manual_seed(0))
        return super().search_model(order[: self.options.fit_size].sort().values if rows is None else rows)

    def search(self, model: Model) -> Ascent | Fit:
        """The hyperparameters of the exact model, which is robust or not."""
        return map_fit.search(model, self.options.weight_rule) if self.options.robust else empty(model).fit

    def _adopt(self, estimate: Any) -> None:
        model = self.search_model()
        self._set_theta(model, estimate.x if self.options.robust else estimate.theta)
        if self.options.robust:
            self.mean_module.constant = map_fit.prior_mean(self.train_targets)
        else:
            self.mean_module.constant = log_posterior(model, estimate.theta, estimate.rho).evidence.m
        self._follow(model)

    @at_home
    def _follow(self, model: Model) -> None:
        """Compute the posterior of this model's own rows, where they are."""
        kernel, scales, s2f = self._stationary()
        r = self.train_targets - self.mean_module.constant.detach()
        noise = self.likelihood.noise.detach().expand_as(r)
        prior = TiledCovariance(kernel, center_inputs(self.train_inputs[0] / scales), s2f, noise)
        plan = IterationPlan(self.options.policy, self.options.iterations or ITERATIONS, self.options.tolerance)
        self.solution = conditioning.condition_in_rounds(prior, r, self.options.weight_rule, plan)
        self._mark()
        self._set_outlier_variances(noise * (self.solution.weighting.J - 1))

    @property
    def has_posterior(self) -> bool:
        """Return whether the posterior has been computed."""
        return self.solution is not None

    def explain_at(self, X: Tensor) -> tuple[Tensor, Tensor]:
        """Moves of mean and covariance at ``... x q x d`` points; see `ExplicitPosterior`; in blocks."""
        block, n = max(1, BLOCK // X[..., 0].numel()), len(self.train_targets)
        parts = (
            self._project_rows(self.covar_module(X, self.train_inputs[0][rows]).to_dense(), rows)
            for rows in (slice(start, start + block) for start in range(0, n, block))
        )
        on_mean, root = next(parts)
        for mean, more in parts:
            on_mean, root = on_mean + mean, root + more
        return on_mean, root @ root.mT

    def draw_weights(self, u: Tensor) -> Tensor:
        """See `ExplicitPosterior`: D D' takes the place of the observations' inverse covariance."""
        assert self.solution is not None
        belief = self.solution.belief
        return belief.v - (u + self.solution.A.N.sqrt() * torch.randn_like(u)) @ belief.D @ belief.D.mT

    def _project_rows(self, k: Tensor, rows: slice) -> tuple[Tensor, Tensor]:
        assert self.solution is not None
        return k @ self.solution.belief.v[rows], k @ self.solution.belief.D[rows]

    def variances(self, X: Tensor) -> Variances:
        """The variance of the latent values at ``... x d`` points, and where it comes from. O(n^3).

        Raises:
            ValueError: If there are too many observations for the exact process's matrix.
        """
        self.eval()
        assert self.solution is not None
        if (n := len(self.train_targets)) > EXACT_SIZE:
            raise ValueError(f"variances needs at most {EXACT_SIZE} observations, got {n}; posterior(X) has the sum")
        with torch.no_grad():
            X = self.transform_inputs(X)
            k = self.covar_module(X, self.train_inputs[0]).to_dense()
            L = torch.linalg.cholesky(self.solution.A.dense())
            explained = torch.linalg.solve_triangular(L, k.mT, upper=False).square().sum(-2)
            combined = self.solution.A.s2f - self.solution.belief.variance_reduction(k)
        mathematical = self.solution.A.s2f - explained
        return Variances(combined, mathematical, combined - mathematical)

    @property
    def is_named(self) -> bool:
        """Return whether the explicit formulas of the acquisition can be had, which need an n x n matrix."""
        return len(self.train_targets) <= EXACT_SIZE

    def latent(self) -> LatentProcess:
        """The process as far as it was looked at, in numbers, for explicit formulas."""
        assert self.solution is not None
        belief = self.solution.belief
        return self._latent(self.mean_module.constant.detach(), belief.D.mT, belief.v)

    @property
    def leave_one_out(self) -> PredictionErrors:
        """Errors and variances, in the model's own units, where an observation's row is left out of every action."""
        assert self.solution is not None
        return self.solution.left_out

    @property
    def in_sample(self) -> PredictionErrors:
        """Errors and variances where each value is predicted by all, itself included."""
        assert self.solution is not None
        return self.solution.in_sample

    @property
    def share(self) -> Tensor:
        """``n`` squared weights."""
        assert self.solution is not None
        return self.solution.weighting.share
