"""A committee whose observations lie in files: the workers of a Dask cluster read them, each its own part."""

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import torch
from torch import Tensor

from robustbo.determinism.threads import on_one_thread
from robustbo.errors import FitError
from robustbo.numerics.committee import evidence as committee
from robustbo.numerics.committee import partition
from robustbo.numerics.committee.aggregation import COMBINE, ExpertPrediction, Experts, Sums
from robustbo.numerics.committee.evidence import SharedHyperparameters, Total
from robustbo.numerics.committee.map_fit import CommitteeModel, search
from robustbo.numerics.committee.partition import Shards, experts_at_once, scatter_blocks
from robustbo.numerics.gp.ascent import Ascent
from robustbo.numerics.gp.outlier_gain import gain
from robustbo.numerics.student_t import predictive
from robustbo.numerics.student_t.laplace import Noise
from robustbo.surrogates.committee.cluster import CHUNKS, CommitteeCluster
from robustbo.surrogates.committee.files import MemoryMap
from robustbo.surrogates.committee.options import DEFAULT_RULE, EXPERT_SIZE, CommitteeOptions, check_address
from robustbo.surrogates.committee.parts import Part, SampleScaling
from robustbo.surrogates.committee.prediction import JOINT
from robustbo.surrogates.common import priors as base_gp
from robustbo.surrogates.student_t.likelihood import DOF
from robustbo.surrogates.student_t.model import TAIL


class Suspect(NamedTuple):
    """An observation with a tail probability below `TAIL`, given the others of its expert.

    Attributes:
        row: Its row in the files.
        value: The measurement.
        expected: The prediction of the others.
        sd: Standard deviation of that prediction, noise included.
        evidence: Log-likelihood ratio of its having an error of its own, in nats.
        weight: Its weight in the fit, 1 being full.
    """

    row: int
    value: float
    expected: float
    sd: float
    evidence: float
    weight: float


class StreamedCommittee:
    """A `CommitteeGP` of observations that no single machine needs to hold: they stay with the workers that read them.

    Experts get rows from all over the files. Inputs and outcomes are scaled by a sample, the first part. It predicts
    and judges; it has no derivatives and is no BoTorch model.

    Args:
        observations: Files that all workers can read.
        cluster: Address of a Dask scheduler.
        expert_size: Observations an expert, about.
        combine: How predictions become one: a name of `numerics.committee.aggregation.COMBINE`.
        noise: "student-t" or "normal".
        dof: Degrees of freedom, or None to learn them.
        fit_experts: Number of experts that the hyperparameters are fitted to, rounded up to whole parts (of 14 experts
            of 256 where memory_mib is 64); by default all.
        memory_mib: MiB that a chunk of experts may take on a worker, about.
        kernel: "matern52" or "rbf".

    Raises:
        ValueError: If an option cannot be, or the files do not hold n x d and n numbers, finite in the sample.
        ImportError: If Dask is not installed.

    Example::

        with StreamedCommittee(MemoryMap("X.npy", "y.npy"), "tcp://10.0.0.1:8786") as model:
            model.fit(lambda count, evidence: print(count, evidence))
            mean, variance = model.predict(X)
            wrong = model.outliers()
    """

    def __init__(
        self,
        observations: MemoryMap,
        cluster: str,
        *,
        expert_size: int = EXPERT_SIZE,
        combine: str = DEFAULT_RULE,
        noise: str = "student-t",
        dof: float | None = DOF,
        fit_experts: int | None = None,
        memory_mib: int = 64,
        kernel: str = "matern52",
    ) -> None:
        check_address(cluster)
        options = CommitteeOptions(
            expert_size=expert_size,
            combine=combine,
            noise=noise,
            dof=dof,
            fit_experts=fit_experts,
            memory_mib=memory_mib,
            kernel=kernel,
        )
        n, self._d = observations.shape
        self._memory, self._rule, self._kernel = options.memory, COMBINE[combine], kernel
        self._dof = options.nu
        per_part = CHUNKS * experts_at_once(expert_size, self._d, self._memory)
        blocks = scatter_blocks(n, math.ceil(n / (per_part * expert_size)), torch.Generator().manual_seed(0))
        sample = observations.read(torch.cat(partition.rows_of(blocks[0], n, expert_size)))
        self._scaling = SampleScaling.of(*sample)
        self._sample = partition.shard(*self._scaling.to(*sample), [torch.arange(len(sample[1]))])
        self._parts = [Part(observations, n, part, expert_size, self._scaling) for part in blocks]
        self._num_fit_parts = len(blocks) if fit_experts is None else math.ceil(fit_experts / per_part)
        self._address = cluster
        self._cluster: CommitteeCluster | None = None
        self.shared: SharedHyperparameters | None = None

    @on_one_thread
    def fit(self, progress: Callable[[int, float], None] | None = None) -> Ascent:
        """Find the hyperparameters, and the experts, which stay on the workers.

        Args:
            progress: Called after each evaluation, with how many there were and the log evidence.

        Raises:
            FitError: If no hyperparameters give a finite likelihood.
            ValueError: If a number in the files is not finite.
            OSError: If no scheduler answers, or a worker cannot read the files.
        """
        self.close()
        l_prior = base_gp.length_scale_prior(self._d)
        priors = l_prior, base_gp.SIGNAL_PRIOR, base_gp.NOISE_PRIOR
        model = CommitteeModel(self._sample, self._kernel, *priors, self._dof, self._memory)
        does_all = self._num_fit_parts >= len(self._parts)
        cluster = self._on(self._parts[: self._num_fit_parts])
        try:
            ascent = search(model._replace(evidence=_with_progress(cluster, progress)))
            if not math.isfinite(ascent.F):
                raise FitError(
                    "the observations must give a finite likelihood for some hyperparameters, but they do not"
                )
        except BaseException:
            cluster.close()
            raise
        if not does_all:
            cluster.close()
        self.shared, self._cluster = model.hyperparameters(ascent.x), cluster if does_all else self._on(self._parts)
        self._cluster.condition(self.shared)
        return ascent

    @on_one_thread
    def predict(self, X: Tensor, *, observation_noise: bool = False) -> ExpertPrediction:
        """Means and variances of the latent function, or of measurements, at ``q x d`` inputs, in the outcomes' units.

        Raises:
            ValueError: If it has not been fitted, has been closed, or the inputs are not ``q x d`` finite numbers.
        """
        cluster, shared = self._require_fit()
        X = torch.as_tensor(X, dtype=torch.float64).detach()
        if X.dim() != 2 or X.shape[-1] != self._d or not X.isfinite().all():
            raise ValueError(f"X must be q x {self._d} finite numbers, got {tuple(X.shape)}")
        if not len(X):
            return ExpertPrediction(X.new_empty(0), X.new_empty(0))
        predictions = [self._latent(cluster, shared, part.clone()) for part in self._scaling.inputs(X).split(JOINT)]
        mean, variance = (torch.cat(column) for column in zip(*predictions, strict=True))
        if observation_noise:
            variance = variance + (shared.s2 if shared.nu is None else predictive.variance(Noise(shared.s2, shared.nu)))
        center, scale = self._scaling.center, self._scaling.scale
        return ExpertPrediction(center + scale * (shared.m + mean), scale.square() * variance)

    @on_one_thread
    def outliers(self) -> list[Suspect]:
        """The observations that are treated as outliers, by falling evidence.

        Raises:
            ValueError: If it has not been fitted, or has been closed.
        """
        cluster, shared = self._require_fit()
        suspects_by_part = cluster.map_parts(
            [partial(_suspects, part=part, shared=shared, memory=self._memory) for part in self._parts]
        )
        return sorted((suspect for part in suspects_by_part for suspect in part), key=lambda s: (-s.evidence, s.row))

    def close(self) -> None:
        """Let go of the workers; what they hold is lost."""
        if self._cluster is not None:
            self._cluster.close()
        self._cluster = None

    def __enter__(self) -> "StreamedCommittee":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _require_fit(self) -> tuple[CommitteeCluster, SharedHyperparameters]:
        if self._cluster is None or self.shared is None:
            raise ValueError("the committee must have been fitted, and not closed: call fit() first")
        return self._cluster, self.shared

    def _on(self, parts: Sequence[Part]) -> CommitteeCluster:
        return CommitteeCluster(self._address, [part.read for part in parts], self._memory)

    def _latent(self, cluster: CommitteeCluster, shared: SharedHyperparameters, X: Tensor) -> ExpertPrediction:
        task = partial(committee.sum_predictions, shared=shared, X=X, rule=self._rule)
        sums = reduce(Sums.plus, cluster.map_parts([task] * len(self._parts)))
        rho: Tensor | float = 1.0
        if self._rule.is_correlated:
            (rho,) = cluster.map_parts([partial(committee.error_correlation, shared=shared, X=X)])  # the first part's
        return self._rule.finish(sums, shared.s2f.expand(len(X)), rho)


def _with_progress(
    cluster: CommitteeCluster, progress: Callable[[int, float], None] | None
) -> Callable[[SharedHyperparameters, Any], Total]:
    """Return a cluster's evidence as a function that reports each value to ``progress``."""
    count = itertools.count(1)

    def evidence(shared: SharedHyperparameters, before: Any) -> Total:
        total = cluster.evidence(shared, before)
        if progress is not None:
            progress(next(count), total.L.item())
        return total

    return evidence


def _suspects(
    by_expert: Shards, experts: Experts, part: Part, shared: SharedHyperparameters, memory: float
) -> list[Suspect]:
    judged = committee.judge(by_expert, shared, experts, memory)
    index, is_row = partition.indices(part.rows)
    flagged = is_row & (judged.log_chance < math.log(TAIL))
    center, scale = part.scaling.center, part.scaling.scale
    y, e = by_expert.y[flagged], judged.e[flagged]
    columns = (
        index[flagged],
        center + scale * y,
        center + scale * (y - e),
        scale * judged.variance[flagged].sqrt(),
        gain(e, judged.variance[flagged]),
        judged.weight[flagged],
    )
    return [Suspect(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
