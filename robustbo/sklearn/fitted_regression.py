"""A surrogate fitted to a table's rows, in arrays."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from botorch.models.gpytorch import GPyTorchModel
from gpytorch.settings import min_variance
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

from robustbo.determinism.isolation import seed_everything
from robustbo.loop.observations.units import center_and_scale
from robustbo.numerics.sources.labels import SourceLabels
from robustbo.sklearn.arguments import RowNoise
from robustbo.sklearn.fit_progress import FitProgress
from robustbo.sklearn.groups import GroupedFit, check_method, fit_beside_groups
from robustbo.surrogates import registry
from robustbo.surrogates.common import contract, priors
from robustbo.surrogates.common.capabilities import Capabilities
from robustbo.surrogates.common.diagnostics import Diagnostics
from robustbo.surrogates.common.map_gp import MapGP
from robustbo.surrogates.common.quiet import quiet

Array = NDArray[np.float64]

AT_ONCE = 4096  # rows that are judged together
HALF = 0.5  # probability beyond which a value is called wrong
SMALLEST, LARGEST = 1e-150, 1e150  # differences whose squares are numbers
LEAST_VARIANCE = 1e-10  # of a prediction, where values differ by numbers of the order of 1


class Weightless(NamedTuple):
    """Rows that do not count: they are judged by what the others predict, and nothing else is made of them.

    Attributes:
        counts: ``n`` truth values, of all rows.
        X: ``m x d`` inputs of those that do not count.
        y: ``m`` values.
    """

    counts: NDArray[np.bool_]
    X: Array
    y: Array

    def among(self, judged: dict[str, Any], model: Any, progress: FitProgress) -> dict[str, Any]:
        """The verdicts on all rows, from those on the rows that count."""
        parts = zip(torch.tensor(self.X).split(AT_ONCE), torch.tensor(self.y).split(AT_ONCE), strict=True)
        verdicts = []
        with progress.stage(f"judging {len(self.y):,} more rows", len(self.y)) as stage:
            for X, y in parts:
                of = model.diagnose_others(X, y, None)
                verdicts.append(_verdicts(of, of.weight))
                stage.advance(len(y))
        mine = {
            name: None if of is None else np.concatenate([part[name] for part in verdicts])
            for name, of in verdicts[0].items()
        }
        return {name: None if of is None else self._place(of, mine[name]) for name, of in judged.items()}

    def _place(self, of_counting: NDArray[Any], mine: Any) -> NDArray[Any]:
        both = np.empty(len(self.counts), dtype=of_counting.dtype)
        both[self.counts], both[~self.counts] = of_counting, mine
        return both


def _verdicts(of_others: Diagnostics, right: torch.Tensor | None) -> dict[str, Any]:
    """Expectations of values, and verdicts on them, by the regressor's attributes."""
    wrong = None if right is None else (1 - right).numpy()
    return {
        "expected_": of_others.expected.numpy(),
        "expected_sd_": of_others.sd.numpy(),
        "evidence_": of_others.evidence.numpy(),
        "probability_wrong_": wrong,
        "outlier_mask_": of_others.is_outlier.numpy() if wrong is None else wrong > HALF,
    }


def _check_noise(name: str, can: Capabilities, noise: RowNoise) -> None:
    """Raise a ValueError for noise that a method of that name cannot take."""
    if can.mixes_noise or not noise.is_mixed:
        return
    if noise.weight is not None:
        raise ValueError(f"sample_weight is taken by 'relevance-pursuit' and 'standard', got {name!r}; leave it out")
    raise ValueError(f"noise_sd must be known for all rows or for none with {name!r}, got NaN among them")


def _scale_of(y: Array) -> float:
    """The order of magnitude of the differences between values.

    Raises:
        ValueError: If their squares are no numbers.
    """
    scale = center_and_scale(tuple(y.tolist()))[1]
    if not SMALLEST <= scale <= LARGEST:
        raise ValueError(
            f"y must have values that differ by {SMALLEST:g} to {LARGEST:g}, got differences of about {scale:.2g}; "
            "divide y by a power of ten"
        )
    return scale


@dataclass(frozen=True)
class FittedRegression:
    """A fitted surrogate, asked and answering in arrays.

    Attributes:
        model: The surrogate.
        seed: Of methods that draw.
        scale: The order of magnitude of the differences between values.
        grouped: What is believed of groups of rows; None where there are none.
        weightless: The rows that were not fitted to, as they do not count; None where all do.
    """

    model: GPyTorchModel
    seed: int
    scale: float
    grouped: GroupedFit | None = None
    weightless: Weightless | None = None

    @classmethod
    def fit(
        cls,
        name: str,
        options: Mapping[str, Any],
        X: Array,
        y: Array,
        noise: RowNoise,
        seed: int,
        groups: SourceLabels | None = None,
    ) -> Self:
        """Fit a surrogate.

        Args:
            name: A registry name.
            options: Its own options.
            X: ``n x d`` inputs, numbers between 0 and 1.
            y: ``n`` values.
            noise: What is known of the noise, and how much rows count.
            seed: Of methods that draw.
            groups: Labels of the rows, of which a group may be in error.

        Raises:
            ValueError: If an option, the noise or the magnitude of the values breaks a rule.
        """
        registry.check_options(name, options)
        model_class: Any = registry.model_class(name)
        if groups is not None:
            check_method(model_class, name)
        _check_noise(name, contract.capabilities_for(model_class, options), noise)
        if (counts := noise.counts) is not None:
            labels = None if groups is None else groups.among(np.flatnonzero(counts))
            fitted = cls.fit(name, options, X[counts], y[counts], noise.at(counts), seed, labels)
            return replace(fitted, weightless=Weightless(counts, X[~counts], y[~counts]))

        scale = _scale_of(y)

        def build(values: Array) -> Any:
            columns = [torch.tensor(x) for x in (values, noise.complete) if x is not None]
            model = model_class(torch.tensor(X), *(column.unsqueeze(-1) for column in columns), **options)
            if noise.is_mixed:
                model.set_noise_parts(*(torch.tensor(part).expand(len(y)) for part in noise.parts))
            return model

        with seed_everything(seed):
            model = contract.fit(build(y))
            if groups is None:
                return cls(model, seed, scale)
            grouped = fit_beside_groups(model, y, groups, build)
            return cls(grouped.model, seed, scale, grouped)

    def diagnose(self, progress: FitProgress) -> dict[str, Any]:
        """Expectations and verdicts on the ``n`` values, by the regressor's attributes."""
        with self._context():
            with progress.stage(f"judging {len(self.model.train_targets):,} rows"):
                of_others, right = contract.diagnose(self.model), contract.probability_right(self.model)
            judged = _verdicts(of_others, right)
            if self.grouped is not None:
                judged["expected_"] += self.grouped.errors
            if self.weightless is not None:
                judged = self.weightless.among(judged, self.model, progress)
        return judged | {"group_errors_": None if self.grouped is None else self.grouped.table}

    @contextmanager
    def _context(self, seed: int | None = None) -> Iterator[None]:
        """Run the block with draws, warnings and the least variance as they are for all questions to the model."""
        least = min_variance(double_value=LEAST_VARIANCE * self.scale**2)
        with seed_everything(self.seed if seed is None else seed), quiet(), torch.no_grad(), least:
            yield

    @property
    def approximation(self) -> str:
        """Sentence on how the posterior is computed, and which rows are only judged."""
        how = contract.approximation(self.model)
        return how if self.weightless is None else f"{how}; {len(self.weightless.y)} more are judged by these"

    def marginals(self, X: Array) -> tuple[Array, Array]:
        """Means and standard deviations of the function at ``m x d`` inputs."""
        with self._context():
            mean, sd = contract.marginals(self.model, torch.from_numpy(X))
        return mean.numpy(), sd.numpy()

    def quantiles(self, X: Array, probabilities: Array) -> Array:
        """``m x q`` quantiles of a right measurement at ``m x d`` inputs."""
        with self._context():
            return contract.quantiles(self.model, torch.from_numpy(X), ndtri(probabilities).tolist()).numpy()

    def joint(self, X: Array) -> tuple[Array, Array]:
        """Means, and the ``m x m`` covariance, of the function at ``m x d`` inputs."""
        with self._context():
            mean, covariance = contract.joint(self.model, torch.from_numpy(X))
        return mean.numpy(), covariance.numpy()

    def samples(self, X: Array, count: int, seed: int) -> Array:
        """``m x count`` samples of the function at ``m x d`` inputs."""
        with self._context(seed):
            posterior: Any = self.model.posterior(torch.from_numpy(X))
            samples: Array = posterior.rsample(torch.Size([count])).squeeze(-1).T.numpy()
            return samples

    @property
    def kernel(self) -> Any:
        """The kernel as scikit-learn's, where the model has a kernel of a name."""
        if not (isinstance(self.model, MapGP) and self.model.is_named):
            return None
        module: Any = self.model.covar_module
        name, is_signal_free = self.model.options.kernel, self.model.options.is_signal_free
        *lengths, signal = priors.get_kernel(module, is_signal_free).exp().tolist() + [1.0] * (not is_signal_free)
        shape = Matern(length_scale=lengths, nu=2.5) if name == "matern52" else RBF(length_scale=lengths)
        noise = float(self.model.likelihood.new_noise.detach())
        return ConstantKernel(signal) * shape + WhiteKernel(noise)
