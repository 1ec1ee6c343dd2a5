"""The search over relations of several sources to the objective: one source at a time, the others as they are.

References:
    docs/equations.md section 22.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from robustbo.numerics.transfer.alone import Remember, fit_alone, fit_source, forget
from robustbo.numerics.transfer.beginnings import beginnings
from robustbo.numerics.transfer.configuration import GroupFit, Problem, Relations, with_relation
from robustbo.numerics.transfer.group_fits import Beginning, refine_fit, refit_from, rough_fit
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
        by_itself = [self._visit(with_relation(none, s, UNRELATED), s) for s in range(S)]
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
        for _ in range(SWEEPS):
            if not self._visit_neighbors():
                break
            self._refine()
            self._exchange()
        return self._average(least)

    def _visit(self, relations: Relations, s: int) -> Relations:
        """The best configuration that differs from another in one source at most."""
        tried = []
        for relation in self._problem.allowed[s]:
            other = with_relation(relations, s, relation)
            if other not in self._fits:
                self._fits[other] = self._rough_fit(other, s)
            tried.append(other)
        return max(tried, key=self._log_evidence)

    def _visit_neighbors(self) -> bool:
        """Visit what differs in one source from the best of all; return whether there was anything new."""
        num_visited, best = len(self._fits), max(self._fits, key=self._log_evidence)
        for s in range(self._problem.num_sources):
            self._visit(best, s)
        return len(self._fits) > num_visited

    def _rough_fit(self, relations: Relations, s: int) -> GroupFit:
        """A rough fit of a configuration; of a simple one with no more beginnings where it is none by far."""
        base, hopeless = self._fits.get(with_relation(relations, s, UNRELATED)), -math.inf
        if base is not None and relations[s] not in SCALED:  # with a scale there are maxima apart
            hopeless = base.score + self._alone[s + 1].score - HOPELESS
        starts = beginnings(self._problem, self._alone, self._fits, relations, s)
        return rough_fit(self._problem, self._sources(relations), [*starts], hopeless)

    def _sources(self, relations: Iterable[Relation]) -> tuple[JoinedSource, ...]:
        return tuple(self._problem.source(s + 1, r) for s, r in enumerate(relations) if r != "unrelated")

    def _refine(self) -> None:
        """Climb to the end where that may be plausible."""
        best = max(map(self._log_evidence, self._fits))
        for relations in [r for r in self._fits if self._log_evidence(r) > best - 2 * PLAUSIBLE]:
            if relations != self._nothing:
                self._fits[relations] = refine_fit(self._fits[relations])

    def _exchange(self) -> None:
        """Try each plausible configuration with the wrong values of the others: none wins by a luckier search.

        And with their hyperparameters besides, without which a fit may climb back to where it was.
        """
        best = max(map(self._log_evidence, self._fits))
        plausible = [r for r in self._fits if self._log_evidence(r) > best - PLAUSIBLE and r != self._nothing]
        rivals = [self._fits[r] for r in sorted(plausible, key=self._log_evidence)]
        for relations in plausible:
            fit = self._fits[relations]
            rows = frozenset(fit.numbers.tolist())
            by_wrong = {rival.wrong & rows: rival.values for rival in rivals if rival.wrong & rows != fit.wrong}
            for wrong in sorted(by_wrong, key=sorted):
                tried = [refit_from(fit, Beginning(values, wrong)) for values in ({}, by_wrong[wrong])]
                self._fits[relations] = max(self._fits[relations], *tried, key=lambda fit: fit.score)

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
