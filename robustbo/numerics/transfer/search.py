"""The search over relations of several sources to the objective: one source at a time, the others as they are.

References:
    docs/equations.md section 22.
"""

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.gp import kernels
from robustbo.numerics.transfer.alone import Remember, fit_alone, fit_source, forget
from robustbo.numerics.transfer.configuration import (
    FEWEST,
    GroupFit,
    Problem,
    Relations,
    Values,
)
from robustbo.numerics.transfer.full_rank import spectrum
from robustbo.numerics.transfer.group_fits import Beginning, refine_fit, refit_with, rough_fit
from robustbo.numerics.transfer.relations import SCALED, TARGET, JoinedSource, Relation

UNRELATED: Relation = "unrelated"
SWEEPS = 2  # over the sources
PLAUSIBLE = 15.0  # nats below the best at which a configuration is still tried with the wrong values of others
HOPELESS = 60.0  # nats below an unrelated source at which a fit has no second beginning
LEAST = 0.01  # probability of a configuration that is averaged over


class Configuration(NamedTuple):
    """Relations of all sources to the objective, and the fit of those that say something of it.

    Attributes:
        relations: One a source.
        fit: Of the target and of the sources that are not unrelated.
        log_evidence: Of all values, those of unrelated sources by themselves.
    """

    relations: Relations
    fit: GroupFit
    log_evidence: float


class Averaging(NamedTuple):
    """Configurations and their posterior probabilities.

    Attributes:
        configurations: The likeliest first.
        weights: Their probabilities.
        alone: The fit of each group by itself, the target's first.
        probabilities: Of each source, those of its relations.
        heights: The log evidence of every configuration that was tried.
    """

    configurations: tuple[Configuration, ...]
    weights: tuple[float, ...]
    alone: tuple[GroupFit, ...]
    probabilities: tuple[dict[Relation, float], ...]
    heights: dict[Relations, float]

    @property
    def num_rows(self) -> int:
        """Number of values of all groups."""
        return sum(len(fit.numbers) for fit in self.alone)


def search_relations(problem: Problem, least: float = LEAST, remember: Remember = forget) -> Averaging:
    """The likely relations of the sources of some values to the target's objective.

    Args:
        problem: The values.
        least: Probability of a configuration that is averaged over.
        remember: Keeps what follows from the values of a source alone.
    """
    return _Search(problem, remember).run(least)


class _Search:
    """A search, and all that has been fitted in it."""

    def __init__(self, problem: Problem, remember: Remember) -> None:
        self._problem = problem
        sources = (fit_source(problem, group + 1, remember) for group in range(problem.num_sources))
        self._alone = fit_alone(problem, TARGET), *sources
        self._fits: dict[Relations, GroupFit] = {}

    def run(self, least: float) -> Averaging:
        """Move one source at a time to its likeliest relation, until none moves."""
        S = self._problem.num_sources
        none = self._nothing
        self._fits[none] = self._alone[TARGET]
        by_itself = [self._visit(self._with_unrelated(none, s), s) for s in range(S)]
        current = tuple(best[s] for s, best in enumerate(by_itself))
        if S > 1:
            for _ in range(SWEEPS):
                before = current
                for s in range(S):
                    current = self._visit(current, s)
                if current == before:
                    break
        self._refine()
        self._exchange()
        return self._average(least)

    def _with_unrelated(self, relations: Relations, s: int) -> Relations:
        return _with_relation(relations, s, "unrelated")

    def _visit(self, relations: Relations, s: int) -> Relations:
        """The best configuration that differs from another in one source at most."""
        tried = []
        for relation in self._problem.allowed[s]:
            other = _with_relation(relations, s, relation)
            if other not in self._fits:
                self._fits[other] = self._rough_fit(other, s)
            tried.append(other)
        return max(tried, key=self._log_evidence)

    def _starts(self, relations: Relations, s: int) -> Iterator[Beginning]:
        """Hyperparameters and wrong values at which the fit of a configuration begins."""
        group, relation = s + 1, relations[s]
        base = self._fits.get(self._with_unrelated(relations, s), self._alone[TARGET])
        noise = {
            f"noise{g}": v
            for g, fit in enumerate(self._alone)
            for v in [fit.values.get(f"noise{fit.group[0]}")]
            if v is not None
        }
        wrong = base.wrong | self._alone[group].wrong
        simpler = [self._fits.get(_with_relation(relations, s, r)) for r in SIMPLER[relation]]
        for fit in sorted(filter(None, simpler), key=lambda fit: -fit.score):
            if relation == "scaled":
                yield Beginning({**fit.values, f"scale{group}": _number(self._signed_ratio(group))}, fit.wrong)
            if relation == "biased" and self._problem.source(group, relation).is_ordered:
                yield Beginning({**self._alone[group].values, **fit.values}, fit.wrong)
                yield Beginning(fit.values, fit.wrong)
            elif relation == "biased":
                yield Beginning({**fit.values, **self._screen_bias(fit, group)}, fit.wrong)
        for fit in (self._alone[group], base):
            if fit is self._alone[TARGET] and len(fit.numbers) < FEWEST:
                continue
            shared = {name: v for name, v in fit.values.items() if name in ("l", "s2f")}
            if relation != "biased" or not any(simpler):
                yield Beginning({**noise, **base.values, **noise, **shared}, wrong)

    def _rough_fit(self, relations: Relations, s: int) -> GroupFit:
        """A rough fit of a configuration; of a simple one with no more beginnings where it is none by far."""
        base, hopeless = self._fits.get(self._with_unrelated(relations, s)), -math.inf
        if base is not None and relations[s] not in SCALED:  # with a scale there are maxima apart
            hopeless = base.score + self._alone[s + 1].score - HOPELESS
        return rough_fit(self._problem, self._sources(relations), [*self._starts(relations, s)], hopeless)

    def _sources(self, relations: Iterable[Relation]) -> tuple[JoinedSource, ...]:
        return tuple(self._problem.source(s + 1, r) for s, r in enumerate(relations) if r != "unrelated")

    def _signed_ratio(self, group: int) -> float:
        """The scale of a source by the spread of its values, with the sign of what it says of the target's."""
        target, own = self._alone[TARGET], self._alone[group]
        spread = [float(fit.model.y.quantile(0.75) - fit.model.y.quantile(0.25)) for fit in (own, target)]
        K = kernels.KERNELS[self._problem.priors.kernel]
        rows = self._problem.rows
        X, Z = rows.X[target.numbers], rows.X[own.numbers]
        k = K(kernels.squared_differences(X, Z), *own.joint.signal(own.level.fit.theta)).K
        agreement = float((k @ own.value.evidence.al) @ (target.model.y - target.model.y.median()))
        ratio = min(max(spread[0] / max(spread[1], 1e-3), 0.2), 5.0)
        return math.copysign(ratio, agreement)

    def _screen_bias(self, fit: GroupFit, group: int) -> Values:
        """Hyperparameters at which a bias gains most, others held: a start alone, since a climb gains more."""
        rows, theta = (fit.group == group).numpy(), fit.level.fit.theta
        X = self._problem.rows.X[fit.numbers][rows]
        Sg = fit.value.covariance.K.numpy() + np.diag(fit.level.fit.rho.numpy())
        r = (fit.value.y - fit.value.evidence.m).numpy()
        l, _ = fit.joint.signal(theta)
        K_d, unit = np.zeros_like(Sg), torch.tensor(1.0, dtype=torch.float64)
        K = kernels.KERNELS[self._problem.priors.kernel](kernels.squared_differences(X, X), l, unit).K
        K_d[np.ix_(rows, rows)] = K.numpy()
        omega2, _ = spectrum(Sg, K_d, r).best()
        return {f"bias{group}": _number(math.log(omega2)), f"ratio{group}": _number(0.0)}

    def _refine(self) -> None:
        """Climb to the end where that may be plausible."""
        best = max(map(self._log_evidence, self._fits))
        for relations in [r for r in self._fits if self._log_evidence(r) > best - 2 * PLAUSIBLE]:
            if relations != self._nothing:
                self._fits[relations] = refine_fit(self._fits[relations])

    def _exchange(self) -> None:
        """Try each plausible configuration with the wrong values of the others: none wins by a luckier search."""
        best = max(map(self._log_evidence, self._fits))
        plausible = [r for r in self._fits if self._log_evidence(r) > best - PLAUSIBLE and r != self._nothing]
        sets = {self._fits[r].wrong for r in plausible}
        for relations in plausible:
            fit = self._fits[relations]
            rows = frozenset(fit.numbers.tolist())
            rivals = {wrong & rows for wrong in sets} - {fit.wrong}
            for wrong in sorted(rivals, key=sorted):
                other = refit_with(fit, wrong)
                self._fits[relations] = max(self._fits[relations], other, key=lambda fit: fit.score)

    @property
    def _nothing(self) -> Relations:
        return tuple(UNRELATED for _ in range(self._problem.num_sources))

    def _log_evidence(self, relations: Relations) -> float:
        alone = [self._alone[s + 1].log_evidence for s, r in enumerate(relations) if r == "unrelated"]
        return self._fits[relations].log_evidence + math.fsum(alone)  # eq. 22.9

    def _may_be(self, s: int, relation: Relation) -> bool:
        """Return whether a source may have a relation."""
        return relation in self._problem.allowed[s]

    def _average(self, least: float) -> Averaging:
        may_be = [r for r in self._fits if all(map(self._may_be, range(len(r)), r))]
        ranked = sorted(may_be, key=lambda r: -self._log_evidence(r))
        heights = np.array([self._log_evidence(r) for r in ranked])
        top = heights.max()  # -inf where a trusted source is believed, whatever it reads
        w = np.exp(heights - top) if math.isfinite(top) else np.ones_like(heights)
        w /= w.sum()
        shares = [{r: 0.0 for r in of} for of in self._problem.allowed]
        for relations, weight in zip(ranked, w, strict=True):
            for share, relation in zip(shares, relations, strict=True):
                share[relation] += float(weight)
        likely = [i for i, weight in enumerate(w) if weight >= min(least, w.max())]
        weights = tuple((w[likely] / w[likely].sum()).tolist())
        configurations = tuple(Configuration(ranked[i], self._fits[ranked[i]], float(heights[i])) for i in likely)
        return Averaging(
            configurations, weights, self._alone, tuple(shares), dict(zip(ranked, heights.tolist(), strict=True))
        )


SIMPLER: dict[Relation, tuple[Relation, ...]] = {
    "same": (),
    "offset": ("same",),
    "scaled": ("offset",),
    "biased": ("offset", "scaled"),
    "unrelated": (),
}


def _with_relation(relations: Relations, s: int, relation: Relation) -> Relations:
    return tuple(relation if i == s else r for i, r in enumerate(relations))


def _number(x: float) -> Tensor:
    return torch.tensor([x], dtype=torch.float64)
