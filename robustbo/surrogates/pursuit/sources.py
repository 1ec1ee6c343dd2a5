"""The errors of sources that a fitted relevance pursuit finds among its values, and where a fit beside them begins."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.linalg.lapack import Array
from robustbo.numerics.pursuit.growth import Pursuit
from robustbo.numerics.pursuit.support_fit import Level, level_at
from robustbo.numerics.sources.atoms import NO_SHIFTS, Atom, Key, Timeline, block_effects, timelines
from robustbo.numerics.sources.candidates import Candidate
from robustbo.numerics.sources.evidence import sizes_of
from robustbo.numerics.sources.labels import SourceLabels
from robustbo.numerics.sources.overlap import Overlap
from robustbo.numerics.sources.place import Place, Problem, settle
from robustbo.numerics.sources.search import Rest, State, place_without, search_atoms
from robustbo.numerics.sources.shared import log_factors_of
from robustbo.surrogates.common.contract import outcome_transform
from robustbo.surrogates.common.units import outcome_units
from robustbo.surrogates.pursuit.beginnings import WarmStart
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.transforms.robust_standardize import RobustStandardize

OF_REGION = 0.5  # share of a source's indicator that the inputs explain where it measured one region: 1 % by chance
LARGEST = 700.0  # log odds of which a probability is computed
FEWEST_OF_REGION = 6  # of its rows: fewer lie together by chance


class AtomFinding(NamedTuple):
    """Belief in an atom, in the units of the outcomes.

    Attributes:
        atom: The atom.
        sizes: Posterior mean of the size of each of its vectors.
        sds: Their standard deviations.
        spread: A likely prior standard deviation of them.
        log_factor: Log Bayes factor, in nats.
        log_odds: Log posterior odds.
        is_distinguishable: Whether the inputs do not tell it.
    """

    atom: Atom
    sizes: Array
    sds: Array
    spread: float
    log_factor: float
    log_odds: float
    is_distinguishable: bool

    @property
    def probability(self) -> float:
        """The posterior probability of the atom."""
        return 1 / (1 + math.exp(-max(self.log_odds, -LARGEST)))

    def by_level(self, codes: NDArray[np.int_], unit: float = 1.0) -> list[tuple[int, float, float]]:
        """Levels, sizes and standard deviations of the errors that it is: one, or of a block effect one a level.

        Args:
            codes: Levels of the atom's source at the rows of the fit.
            unit: By which sizes are multiplied.
        """
        sizes, sds = (unit * self.sizes).tolist(), (abs(unit) * self.sds).tolist()
        if self.atom.kind == "block":
            return list(zip([int(codes[rows[0]]) for rows in self.atom.columns], sizes, sds, strict=True))
        if self.atom.kind == "broken":
            spread = abs(unit) * self.spread
            return [(self.atom.level, spread, spread / math.sqrt(2 * len(self.atom.columns)))]
        return [(self.atom.level, sizes[0], sds[0])]


class SourceFindings(NamedTuple):
    """The errors of sources.

    Attributes:
        believed: Atoms that are more probable than not.
        doubtful: The likeliest of each other source, and of everything.
        warm_start: Where a fit beside the believed ones begins.
        regional: Source and level of those that measured one region only, as the inputs tell.
        log_factors: Of all atoms, for other outcomes; empty where there are none.
    """

    believed: tuple[AtomFinding, ...]
    doubtful: tuple[AtomFinding, ...]
    warm_start: WarmStart
    regional: frozenset[tuple[int, int]] = frozenset()
    log_factors: Mapping[Key, float] = NO_SHIFTS

    @property
    def faults(self) -> list[AtomFinding]:
        """The doubtful ones that are somebody's fault: all but block effects."""
        return [finding for finding in self.doubtful if finding.atom.kind != "block"]


def find_sources(
    model: RelevancePursuitGP,
    labels: SourceLabels,
    blocks: frozenset[str] = frozenset(),
    *,
    shifts: Mapping[Key, float] = NO_SHIFTS,
    is_one_of_several: bool = False,
) -> SourceFindings:
    """The errors of the sources of a fitted model's values.

    Args:
        model: A fitted model, with a named kernel.
        labels: Of its values.
        blocks: The kinds of source of which the user has said that their levels differ.
        shifts: Of log prior probabilities, by what other outcomes say.
        is_one_of_several: Whether other outcomes are to learn of it.
    """
    model.eval()
    with torch.no_grad():
        problem, level, t = straight_problem(model, labels, blocks)
        problem = problem.shift_priors(shifts) if shifts else problem
        state, rest = search_atoms(problem, level) if problem.lines else (State((), (), (), level), Rest([], []))
        find, keys = partial(_describe_atom, problem, state, unit_of(model)), {atom.key[:2] for atom in state.atoms}
        places = [place_without(problem, state, i) for i in range(len(state.atoms))]
        believed = tuple(map(find, places, state.atoms, state.gains))
        doubts = [c for c in _of_each_source(rest.candidates) if c.atom.key[:2] not in keys]
        beside_all = [place_without(problem, state, None)] * len(doubts) if doubts else []
        doubtful = tuple(find(place, c.atom, c.score) for place, c in zip(beside_all, doubts, strict=True))
        X, d = model.train_inputs[0], model.train_inputs[0].shape[-1]
        regional = _regional_sources(X, state.level.fit.theta[:d].exp(), problem.lines)
        log_factors = log_factors_of(problem, state, rest) if is_one_of_several else NO_SHIFTS
        return SourceFindings(believed, doubtful, _warm_start(model, state.level, t), regional, log_factors)


def straight_problem(
    model: RelevancePursuitGP, labels: SourceLabels, blocks: frozenset[str] = frozenset()
) -> tuple[Problem, Level, Tensor]:
    """The search over a fitted model's values without a warp, the level that it begins at, and the warp's coordinates.

    Args:
        model, labels, blocks: As in `find_sources`.
    """
    bent = model.search_model()
    fit = model.components[0].fit if model.components else model.fit_now(bent)
    d, count = model.train_inputs[0].shape[-1], len(fit.theta) - len(bent.warp)
    straight, t, overlap = bent._replace(warp=()), fit.theta[count:], Overlap(model.train_inputs[0])

    def is_told_apart(at: Fit, A: Array) -> bool:
        return overlap.is_distinguishable(at.theta[:d].exp(), A)

    penalty, lines = model.options.penalty(straight), list(timelines(labels))
    warped = bent.warp_at(fit.theta) if t.any() else None
    of_fit = None if warped is None else torch.from_numpy(warped.y)
    problem = Problem(straight, penalty, lines, block_effects(labels, blocks), is_told_apart, of_fit)
    level = level_at(straight, straight.groups.of(fit.support), fit._replace(theta=fit.theta[:count]))
    return problem, settle(problem, np.zeros((problem.n, 0)), level) if t.any() and lines else level, t


def _regional_sources(X: Tensor, lengthscales: Tensor, lines: Sequence[Timeline]) -> frozenset[tuple[int, int]]:
    """Source and level of those whose rows the inputs tell, as of one that measured one region only."""
    overlap, regional = Overlap(X), set[tuple[int, int]]()
    for line in lines:
        if line.source >= 0 and len(line.rows) >= FEWEST_OF_REGION:
            a = np.zeros((len(X), 1))
            a[line.rows] = 1.0
            if overlap.share(lengthscales, a) > OF_REGION:
                regional.add((line.source, line.level))
    return frozenset(regional)


def _of_each_source(candidates: list[Candidate]) -> list[Candidate]:
    """The likeliest of each source."""
    best: dict[tuple[int, int], Candidate] = {}
    for candidate in candidates:
        best.setdefault(candidate.atom.key[:2], candidate)
    return list(best.values())


def _describe_atom(
    problem: Problem, state: State, scale: float, place: Place, atom: Atom, log_odds: float
) -> AtomFinding:
    """The belief in an atom, at the place of a state without it."""
    A = atom.matrix(problem.n)
    posterior, is_apart = sizes_of(place.precision, A), problem.is_told_apart(state.level.fit, A)
    log_odds = log_odds if is_apart else min(log_odds, 0.0) - np.log(2.0)  # as probably the objective's own shape
    sizes, sds = scale * posterior.means, scale * posterior.sds
    return AtomFinding(atom, sizes, sds, scale * posterior.spread, log_odds - atom.log_prior, log_odds, is_apart)


def unit_of(model: RelevancePursuitGP) -> float:
    """The units of the outcomes that the search sees as 1: before a warp."""
    transform = outcome_transform(model)
    return transform.stdvs.item() if isinstance(transform, RobustStandardize) else 1.0


def _warm_start(model: RelevancePursuitGP, level: Level, t: Tensor) -> WarmStart:
    """The start of a fit at a level without a warp, with the warp that the model has."""
    fit = level.fit._replace(theta=torch.cat([level.fit.theta, t]))
    pursued, before = level._replace(fit=fit, cache=None), model.warm_start
    center, scale = outcome_units(outcome_transform(model))
    is_straight, evidence = (True, 0.0) if before is None else (before.is_straight, before.warp_evidence)
    return WarmStart(Pursuit([pursued], pursued), center, scale, is_straight, evidence)


def errors_in_rows(findings: tuple[AtomFinding, ...], matrices: list[Array]) -> tuple[Array, Tensor]:
    """Errors of ``m`` values, by how much they read too high, and the part that they share and nobody knows.

    Args:
        findings: What is believed.
        matrices: ``m x k`` numbers of each atom at these values.

    Returns:
        ``m`` errors, of all but broken sources, whose errors nobody knows; and ``m x k`` atoms, each times a standard
        deviation of what is not known of its size.
    """
    errors, shared = np.zeros(len(matrices[0])), list[Array]()
    for finding, A in zip(findings, matrices, strict=True):
        if finding.atom.kind != "broken":
            errors += A @ finding.sizes
        shared.append(A * finding.spread)
    return errors, torch.from_numpy(np.concatenate(shared, axis=1))
