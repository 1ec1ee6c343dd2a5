"""Summary of a source's relation to the objective: how much higher it reads, by which factor, with what bias.

References:
    docs/equations.md section 22.
"""

import math
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp
from torch import Tensor

from robustbo.numerics.gp.model import Model
from robustbo.numerics.linalg.lapack import Array
from robustbo.numerics.transfer.configuration import GroupFit
from robustbo.numerics.transfer.laplace import curvature
from robustbo.numerics.transfer.relations import Relation
from robustbo.numerics.transfer.search import Averaging


class SourceRelation(NamedTuple):
    """The relation of a source to the objective: y = scale f + offset + bias(x) + noise, in the units of some values.

    Attributes:
        relation: The likeliest: "same", "offset", "scaled", "biased" or "unrelated".
        probabilities: Of each relation that it may have.
        evidence: Nats that speak for its saying something of the objective.
        offset: How much higher its values read than scale times the objective, on average over its rows; NaN where it
            is unrelated.
        error_sd: Standard deviation of what remains of that where the factor is known.
        pivot: Value of the objective about which the factor turns.
        scale: rho, the factor; 1 where it is not free.
        scale_sd: Standard deviation of that.
        bias: omega, the standard deviation of its bias, which is a function of the inputs; 0 where it has none.
        bias_sd: Standard deviation of that.
        wrong: The rows that are wrong by themselves.
    """

    relation: Relation
    probabilities: dict[Relation, float]
    evidence: float
    offset: float
    error_sd: float
    pivot: float
    scale: float
    scale_sd: float
    bias: float
    bias_sd: float
    wrong: Collection[int]

    @property
    def offset_sd(self) -> float:
        """Standard deviation of the offset, which the factor's is a part of."""
        return math.hypot(self.error_sd, self.pivot * self.scale_sd)

    def in_units(self, slope: float, center: float) -> "SourceRelation":
        """The relation in other units of all values, of which the present ones are (y - center) / slope."""
        return self._replace(
            offset=slope * self.offset + center * (1 - self.scale),
            error_sd=abs(slope) * self.error_sd,
            pivot=slope * self.pivot + center,
            bias=abs(slope) * self.bias,
            bias_sd=abs(slope) * self.bias_sd,
        )

    def in_units_of_source(self, unit: float, center: float) -> "SourceRelation":
        """The relation where the source alone has other units, in which its values are unit y + center."""
        return self._replace(
            offset=unit * self.offset + center,
            error_sd=unit * self.error_sd,
            scale=unit * self.scale,
            scale_sd=unit * self.scale_sd,
            bias=unit * self.bias,
            bias_sd=unit * self.bias_sd,
        )


def source_summary(averaging: Averaging, s: int, depth: float = 0.0) -> SourceRelation:
    """The summary of a source, by its place; where it has levels, of the one at a distance from the target's."""
    probabilities = averaging.probabilities[s]
    relation: Relation = max(probabilities, key=lambda r: probabilities[r])
    evidence = _evidence(averaging, s)
    configuration = next((c for c in averaging.configurations if c.relations[s] == relation), None)
    if relation == "unrelated" or configuration is None:
        return SourceRelation("unrelated", probabilities, evidence, *(math.nan,) * 7, averaging.alone[s + 1].wrong)
    fit, group = configuration.fit, s + 1
    at, scale, scale_sd, bias, bias_sd = fit.joint.at_name, 1.0, 0.0, 0.0, 0.0
    sds, theta = _standard_deviations(fit.model, fit), fit.level.fit.theta.numpy()
    if f"scale{group}" in at:
        scale, scale_sd = float(theta[at[f"scale{group}"]]), float(sds[at[f"scale{group}"]])
    if f"bias{group}" in at:
        bias = math.exp(0.5 * theta[at[f"bias{group}"]])
        bias *= math.sqrt(fit.joint.error_height(fit.level.fit.theta, group, depth)) if depth else 1.0
        bias_sd = 0.5 * bias * float(sds[at[f"bias{group}"]])
    error, error_sd = average_error(fit, group, depth) if relation != "same" else (0.0, 0.0)
    m = fit.value.evidence.m.item()
    rows = _rows_at(fit, group, depth).nonzero().flatten().tolist()
    wrong = fit.wrong & frozenset(fit.numbers[rows].tolist())
    sizes = error + m * (1 - scale), error_sd, m, scale, scale_sd, bias, bias_sd
    return SourceRelation(relation, probabilities, evidence, *sizes, wrong)


def _rows_at(fit: GroupFit, group: int, depth: float) -> Tensor:
    """``n`` booleans: the rows of a source, of one of its levels where it has any."""
    is_own, depths = fit.group == group, fit.joint.rows.depth
    return is_own if not depth or depths is None else is_own & ((depths - depth).abs() < 1e-9)


def average_error(fit: GroupFit, group: int, depth: float = 0.0) -> tuple[float, float]:
    """Posterior mean and standard deviation of a source's offset and bias together, averaged over its rows.

    Args:
        fit: A fit.
        group: Of the source.
        depth: Distance of a level: over its rows alone.
    """
    rows = (fit.group == group).numpy()
    E, evidence = fit.joint.errors_of_rows(fit.level.fit.theta, group).numpy(), fit.value.evidence
    mean = _rows_at(fit, group, depth).numpy()[rows].astype(float)
    mean /= mean.sum()
    c = np.zeros(len(rows))
    c[rows] = E @ mean
    P, P1 = evidence.P.numpy(), evidence.P1.numpy()
    variance = mean @ E @ mean - c @ P @ c + (c @ P1) ** 2 / P1.sum()  # eq. 22.10
    return float(c @ evidence.al.numpy()), math.sqrt(max(float(variance), 0.0))


def _standard_deviations(model: Model, fit: GroupFit) -> Array:
    return np.sqrt(np.linalg.inv(curvature(model, fit.value)).diagonal())


def _evidence(averaging: Averaging, s: int) -> float:
    """Log odds of all relations but "unrelated" to that, with equal prior odds."""
    unrelated = [h for r, h in averaging.heights.items() if r[s] == "unrelated"]
    joined = [h for r, h in averaging.heights.items() if r[s] != "unrelated"]
    if not unrelated or not joined:
        return math.nan
    return float(
        logsumexp(joined) - logsumexp(unrelated) - math.log(len({r[s] for r in averaging.heights} - {"unrelated"}))
    )
