"""A committee of small GPs that share their hyperparameters, for histories of any size."""

import math
from typing import Any, NamedTuple

import torch
from botorch.models.transforms.input import InputTransform
from gpytorch.distributions import MultivariateNormal
from gpytorch.likelihoods import Likelihood
from torch import Tensor

from robustbo.numerics.committee import evidence, map_fit
from robustbo.numerics.committee import partition as shards
from robustbo.numerics.committee.aggregation import COMBINE, Experts
from robustbo.numerics.committee.errors import Pairs, first_pairs
from robustbo.numerics.committee.evidence import SharedHyperparameters
from robustbo.numerics.committee.map_fit import CommitteeModel
from robustbo.numerics.committee.partition import Shards
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.outlier_gain import gain
from robustbo.surrogates.committee.cluster import search_on_cluster
from robustbo.surrogates.committee.options import CommitteeOptions
from robustbo.surrogates.committee.prediction import predict
from robustbo.surrogates.common import priors
from robustbo.surrogates.common.cached_posterior import CachedPosterior
from robustbo.surrogates.common.contract import outcome_transform
from robustbo.surrogates.common.diagnostics import Diagnostics
from robustbo.surrogates.common.map_gp import ALL, MapGP
from robustbo.surrogates.common.units import expectations_in_outcome_units
from robustbo.surrogates.student_t.likelihood import heavy_tailed_likelihood
from robustbo.surrogates.student_t.model import TAIL


class Committee(NamedTuple):
    """The state that predictions need.

    Attributes:
        parts: Rows by expert.
        shards: The observations by expert.
        shared: What experts share.
        experts: The experts.
        pairs: Covariances of the first experts' observations, by which the correlation of errors is known everywhere;
            none where experts have neighbourhoods, or the rule is another.
    """

    parts: list[Tensor]
    shards: Shards
    shared: SharedHyperparameters
    experts: Experts
    pairs: Pairs


class CommitteeGP(CachedPosterior, MapGP):
    """Experts on parts of the observations, hyperparameters in common, predictions combined.

    An expert's noise is Student-t (by Laplace's approximation, as in `StudentTGP`) or normal. Time and memory grow
    linearly with the number of observations. With one expert it is that expert. Covariances: see `prediction`.

    Args:
        train_X: ``n x d`` inputs; other arguments as in `MapGP`.
        train_Y: ``n x 1`` outcomes.
        train_Yvar: ``n x 1`` known squared scales (variances where it is normal) of the noise.
        num_experts: Number of experts; by default as many as ``expert_size`` makes.
        expert_size: Observations an expert, about.
        partition: "random" (the source's) or "clustered" (neighbours together).
        combine: How predictions become one: a name of `aggregation.COMBINE`; "calibrated" minds that experts' errors
            are correlated, "rbcm" is the robust Bayesian committee machine.
        noise: "student-t" (the robust distributed GP) or "normal" (the distributed GP).
        dof: Degrees of freedom, or None to learn them.
        fit_experts: Number of experts that the hyperparameters are fitted to, drawn at random; by default all.
        memory_mib: MiB that a chunk of experts may take, about.
        cluster: Address of a Dask scheduler whose workers do the fit; by default this process.

    References:
        Mair and Brefeld (2018), Distributed robust Gaussian process regression; Deisenroth and Ng (2015), Distributed
        Gaussian processes; docs/equations.md sections 2 and 9.

    Example:
        >>> import torch
        >>> from robustbo.surrogates.common.contract import diagnose, fit
        >>> X = torch.linspace(0, 1, 60, dtype=torch.float64).unsqueeze(-1)
        >>> Y = torch.sin(6 * X)
        >>> Y[[4, 31]] += 1e6
        >>> diagnose(fit(CommitteeGP(X, Y, num_experts=3))).is_outlier.nonzero().flatten().tolist()
        [4, 31]
    """

    options_class = CommitteeOptions
    committee: Committee | None = None

    def begin(self, X: Tensor, Y: Tensor, Yvar: Tensor | None, input_transform: InputTransform | None) -> None:
        """Raise a ValueError for a custom kernel."""
        if self._named is None:
            raise ValueError("covar_module must not be given: experts are evaluated together; give the kernel's name")

    def new_likelihood(self, noise: Tensor | None) -> Likelihood:
        """Student-t noise of a scale to be learned or of ``n`` known squared scales, or normal noise."""
        return (
            super().new_likelihood(noise)
            if self.options.nu == math.inf
            else heavy_tailed_likelihood(noise, self.options.nu)
        )

    def search_model(self, rows: Tensor | slice | None = None) -> Model:
        """Return the model of one expert, the first, unless rows are given: a search over all needs no more of it."""
        return super().search_model(self._parts()[0] if rows is None else rows)

    def _parts(self) -> list[Tensor]:
        n = len(self.train_targets)
        count = min(self.options.num_experts or math.ceil(n / self.options.expert_size), n)
        if self.options.is_dealt:
            return shards.random_parts(n, count, torch.Generator().manual_seed(0))
        return shards.cluster_parts(self.train_inputs[0], count)

    def _shards(self, parts: list[Tensor]) -> Shards:
        return shards.shard(self.train_inputs[0], self.train_targets, parts, self._noise_variances(ALL))

    def search(self, model: Model) -> Any:
        """The highest of the maxima that the starts lead to."""
        parts = self._parts()
        if self.options.fit_experts is not None:
            sample = torch.randperm(len(parts), generator=torch.Generator().manual_seed(0))[: self.options.fit_experts]
            parts = [parts[i] for i in sorted(sample.tolist())]
        assert self._named is not None
        by_expert, (kernel, is_signal_free) = self._shards(parts), self._named
        l_prior = priors.length_scale_prior(by_expert.X.shape[-1])
        s2f_prior = priors.SIGNAL_PRIOR if is_signal_free else None
        nu, memory, cluster = self.options.nu, self.options.memory, self.options.cluster
        of = CommitteeModel(by_expert, kernel, l_prior, s2f_prior, priors.NOISE_PRIOR, nu, memory)
        return map_fit.search(of) if cluster is None else search_on_cluster(cluster, of)

    def _adopt(self, ascent: Any) -> None:
        model = self.search_model()
        self._set_theta(model, ascent.x)
        self.mean_module.constant = ascent.x[-1]
        if self.options.nu is None:
            self.likelihood.set_dof(ascent.x[-2].exp().item())
        self._follow(model)

    def _follow(self, model: Model) -> None:
        """Find the experts for this model's own rows."""
        nu = None if self.options.nu == math.inf else self.likelihood.dof.to(self.train_targets)
        s2, m = self.likelihood.noise.detach().max(), self.mean_module.constant.detach()
        shared, parts = SharedHyperparameters(*self._stationary(), s2, nu, m), self._parts()
        by_expert = self._shards(parts)
        experts = evidence.build_experts(by_expert, shared, None, self.options.memory)
        compares_first = self.options.is_dealt and COMBINE[self.options.combine].is_correlated
        pairs = first_pairs(by_expert, shared.covariance) if compares_first else {}
        self.committee = Committee(parts, by_expert, shared, experts, pairs)
        self._mark()
        self._set_outlier_variances(torch.zeros_like(self.train_targets))

    @property
    def has_posterior(self) -> bool:
        """Return whether the experts have been fitted."""
        return self.committee is not None

    @property
    def is_named(self) -> bool:
        """Return False: the explicit formulas of the acquisition need one process."""
        return False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Predict latent values at transformed points: in evaluation mode the committee does, once fitted."""
        if self.training or self.committee is None:
            return super().__call__(*args, **kwargs)
        (X,) = args
        _, by_expert, shared, experts, pairs = self.committee
        rule = COMBINE[self.options.combine]
        mean, covariance = predict(self.covar_module, X, by_expert, experts, shared, rule, pairs)
        return MultivariateNormal(self.mean_module(X) + mean, covariance)

    def diagnose(self) -> Diagnostics:
        """Return each observation's prediction by the others of its expert, its weight, and the evidence against it.

        An observation is flagged where its tail is below `TAIL`, unless most of those at its point agree with it.
        """
        self.eval()
        if self.committee is None:
            raise ValueError("the committee must have been fitted: call fit(model) first")
        parts, by_expert, shared, experts, _ = self.committee
        judged = evidence.judge(by_expert, shared, experts, self.options.memory)
        index, is_row = shards.indices(parts)
        e, variance, log_chance, weight = (
            torch.empty_like(self.train_targets).index_put((index[is_row],), x[is_row]) for x in judged
        )
        transform, y = outcome_transform(self), self.train_targets
        expected, sd = expectations_in_outcome_units(transform, y, y - e, variance.sqrt())
        is_outlier = (log_chance < math.log(TAIL)) & ~self.is_cleared()
        return Diagnostics(expected, sd, gain(e, variance), is_outlier, None if shared.nu is None else weight)

    def approximation(self) -> str:
        """Sentence on how many experts there are."""
        if self.committee is None:
            return "not fitted"
        n, count = len(self.train_targets), len(self.committee.parts)
        return f"{count} expert{'s' if count > 1 else ''}, about {n / count:.0f} of {n} values each"

    @property
    def support(self) -> list[int]:
        """Sorted indices of the outliers."""
        return self.diagnose().is_outlier.nonzero().flatten().tolist()
