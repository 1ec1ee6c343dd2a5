"""The dictionary of error atoms: what may be wrong with all values of a source, or with everything since a time.

An atom is one vector a over the observations, or several of which each has a size of its own: the observations are
y + c a with a size c. A source's offset is one on its rows, a step is one on those since a time, and a drift rises from
zero to one. A broken source has a vector for each of its rows, and a block effect one for each level of its kind.

References:
    docs/equations.md section 20.
"""

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustbo.numerics.linalg.lapack import Array
from robustbo.numerics.sources.errors import Kind
from robustbo.numerics.sources.labels import SourceLabels

FEWEST = 3  # rows of an atom: fewer are single values that are wrong
PRIOR = 0.1  # probability that anything is wrong with a kind of source, or with everything since a time
SHARES = {"offset": 0.4, "step": 0.3, "drift": 0.1, "broken": 0.2}  # of that prior among the kinds of error
SHARES_OF_ALL = {"step": 0.75, "drift": 0.25}  # likewise of everything since a time
BLOCK = 0.02  # probability that the levels of a kind of source differ as expected
EXPECTED_BLOCK = 0.5  # where the user has said that they may
OWNED = 0.9  # correlation with a source's rows, from which on an error of everything is that source's
RAMPS = 4  # times at which a drift may begin

Rows = NDArray[np.intp]
Key = tuple[int, int, Kind, int | None]  # source, level, kind and the row at which it begins
NO_SHIFTS: Mapping[Key, float] = MappingProxyType({})


class Atom(NamedTuple):
    """One error that all of some rows have in common.

    Attributes:
        source: Which kind of source, an index into the names of the labels; -1 for everything since a time.
        level: Which level of it; -1 likewise, and of a block effect.
        kind: What kind of error it is.
        since: The row at which it begins; None where it is always there.
        columns: The rows that each of its vectors acts on, in the order of their times.
        log_prior: Log of the prior probability that there is this error.
        weights: The numbers of its only vector at these rows; one by default.
    """

    source: int
    level: int
    kind: Kind
    since: int | None
    columns: tuple[tuple[int, ...], ...]
    log_prior: float
    weights: tuple[float, ...] | None = None

    @property
    def key(self) -> tuple[int, int, Kind]:
        """Source, level and kind: atoms that differ in their beginning alone have the same."""
        return self.source, self.level, self.kind

    @property
    def full_key(self) -> Key:
        """Source, level, kind and the row at which it begins."""
        return *self.key, self.since

    def shift_prior(self, shifts: Mapping[Key, float]) -> "Atom":
        """The atom with a shift of its log prior probability."""
        return self._replace(log_prior=self.log_prior + shifts.get(self.full_key, 0.0))

    @property
    def rows(self) -> tuple[int, ...]:
        """All rows that it acts on."""
        return tuple(row for column in self.columns for row in column)

    def matrix(self, n: int) -> Array:
        """The atom as ``n x k`` numbers; the levels of a block effect differ from one another, and have no mean."""
        A = np.zeros((n, len(self.columns)))
        for k, rows in enumerate(self.columns):
            A[list(rows), k] = 1.0 if self.weights is None else self.weights
        return contrasts(A) if self.kind == "block" else A


def contrasts(A: Array) -> Array:
    """Vectors without what they have in common, so that their sizes add up to nothing."""
    return A - A.mean(-1, keepdims=True)


class Timeline(NamedTuple):
    """The rows of one source, or all of them, in the order of their times.

    Attributes:
        source, level: As in `Atom`.
        rows: ``m`` rows in order.
        times: ``m`` times.
        log_prior: Log of the prior probability that anything is wrong with it.
        may_be_off: Whether an offset of it is another error than one of all others, which are of several sources.
        owned_steps, owned_drifts: Places from which on one of everything is the error of one source as well.
        shifts: Of the log prior probability of atoms, by what other outcomes say of them.
    """

    source: int
    level: int
    rows: Rows
    times: Array
    log_prior: float
    may_be_off: bool = False
    owned_steps: frozenset[int] = frozenset()
    owned_drifts: frozenset[int] = frozenset()
    shifts: Mapping[Key, float] = NO_SHIFTS

    @property
    def starts(self) -> range:
        """The places at which a step may begin: with `FEWEST` rows from there on, and as many before it."""
        return range(FEWEST, len(self.rows) - FEWEST + 1)

    def atom(self, kind: Kind, place: int | None, count: int = 1) -> Atom:
        """The atom of a kind that begins at a place of the rows, one of ``count``; a drift there is zero."""
        begin = 0 if place is None else place
        rows, weights = self.rows[begin:].tolist(), None
        if kind == "drift":
            lapse = self.times[begin:] - self.times[begin]
            weights = tuple((lapse / lapse[-1]).tolist())
        since = None if place is None else int(self.rows[place])
        columns = tuple((row,) for row in rows) if kind == "broken" else (tuple(rows),)
        log_share = math.log((SHARES if self.source >= 0 else SHARES_OF_ALL)[kind])
        log_prior = self.log_prior + log_share - math.log(max(count, 1))
        atom = Atom(self.source, self.level, kind, since, columns, log_prior, weights)
        return atom.shift_prior(self.shifts) if self.shifts else atom

    def atoms(self) -> list[Atom]:
        """All its atoms."""
        return [*self.steps().values(), *self.constant(), *self.drifts()]

    def steps(self) -> dict[int, Atom]:
        """The steps by the places at which they begin, but those that are the error of one source as well."""
        return {k: self.atom("step", k, len(self.starts)) for k in self.starts if k not in self.owned_steps}

    def constant(self) -> list[Atom]:
        """The errors that a source may always have: it is off, or broken."""
        kinds: tuple[Kind, ...] = ("offset", "broken") if self.may_be_off else ("broken",)
        return [self.atom(kind, None) for kind in kinds if self.source >= 0]

    def drifts(self) -> list[Atom]:
        """Drifts that begin evenly over the rows, with `FEWEST` after each."""
        places = sorted({k * len(self.rows) // RAMPS for k in range(RAMPS)})
        places = [k for k in places if len(self.rows) - k > FEWEST and self.times[-1] > self.times[k]]
        places = [k for k in places if k not in self.owned_drifts]
        return [self.atom("drift", k or None, len(places)) for k in places]


def timelines(labels: SourceLabels) -> Iterator[Timeline]:
    """Every source with `FEWEST` rows at least, and as many others, then everything in the order of time.

    Example:
        >>> labels = SourceLabels(("lab",), (("A", "B"),), np.array([[0, 1] * 6]).T, np.arange(12.0))
        >>> [(line.level, len(line.rows)) for line in timelines(labels)]
        [(0, 6), (1, 6), (-1, 12)]
    """
    n = len(labels.order)
    for kind, levels in enumerate(labels.levels):
        by_level = [labels.rows_of(kind, level) for level in range(len(levels))]
        usable = [level for level, rows in enumerate(by_level) if FEWEST <= len(rows) <= n - FEWEST]
        log_prior = math.log(PRIOR) - math.log(max(len(usable), 1))
        for level in usable:
            rows, num_others = by_level[level], len(np.unique(labels.codes[:, kind])) - 1
            yield Timeline(kind, level, rows, labels.order[rows], log_prior, num_others > 1)
    labelled = np.flatnonzero((labels.codes >= 0).any(-1))
    if len(labelled) >= 2 * FEWEST:
        rows = labelled[np.argsort(labels.order[labelled], kind="stable")]
        everything = Timeline(-1, -1, rows, labels.order[rows], math.log(PRIOR))
        steps, drifts = _places_of_sources(everything, labels)
        yield everything._replace(owned_steps=steps, owned_drifts=drifts)


def _places_of_sources(everything: Timeline, labels: SourceLabels) -> tuple[frozenset[int], frozenset[int]]:
    """The places from which on a step, and a drift, of everything is the error of one source of three or more."""
    m, codes = len(everything.rows), labels.codes[everything.rows]
    indicators = [
        (column == level).astype(float)
        for column, levels in ((column, np.unique(column)) for column in codes.T)
        for level in (levels if len(levels) > 2 else ())
        if level >= 0
    ]
    if not indicators:
        return frozenset(), frozenset()
    z = np.stack(indicators)
    z = z - z.mean(-1, keepdims=True)
    z /= np.linalg.norm(z, axis=-1, keepdims=True)
    since = np.arange(1, m)
    steps = z[:, ::-1].cumsum(-1)[:, ::-1][:, 1:] / np.sqrt(since * (m - since) / m)
    is_owned = (np.abs(steps) > OWNED).any(0)
    drifts = list[int]()
    for drift in everything.drifts():
        place = m - len(drift.rows)
        a = np.concatenate([np.zeros(place), np.asarray(drift.weights)])
        a -= a.mean()
        drifts += [place] if (np.abs(z @ a) > OWNED * np.linalg.norm(a)).any() else []
    return frozenset((1 + np.flatnonzero(is_owned)).tolist()), frozenset(drifts)


def block_effects(labels: SourceLabels, blocks: frozenset[str] = frozenset()) -> list[Atom]:
    """The block effect of each kind of source of which two levels have `FEWEST` rows at least.

    Args:
        labels: Of the observations.
        blocks: The kinds of which the user has said that their levels differ.
    """
    atoms = []
    for kind, (name, levels) in enumerate(zip(labels.names, labels.levels, strict=True)):
        columns = [tuple(labels.rows_of(kind, level).tolist()) for level in range(len(levels))]
        if sum(len(rows) >= FEWEST for rows in columns) >= 2:
            log_prior = math.log(EXPECTED_BLOCK if name in blocks else BLOCK)
            atoms.append(Atom(kind, -1, "block", None, tuple(filter(None, columns)), log_prior))
    return atoms


def matrix_among(atom: Atom, labels: SourceLabels, target: SourceLabels) -> Array:
    """An atom of some observations as ``m x k`` numbers at others of the same sources.

    Args:
        atom: The atom.
        labels: Of the observations that it is of.
        target: Of those that it is wanted at.
    """
    if atom.kind == "block":
        codes = [labels.codes[rows[0], atom.source] for rows in atom.columns]
        return contrasts(np.stack([target.codes[:, atom.source] == code for code in codes], axis=-1).astype(float))
    is_own = np.any(target.codes >= 0, axis=-1) if atom.source < 0 else target.codes[:, atom.source] == atom.level
    if atom.kind == "broken":
        return np.eye(len(target.order))[:, is_own]
    first, last = labels.order[atom.rows[0]], labels.order[atom.rows[-1]]
    if atom.kind == "offset":
        numbers = np.ones_like(target.order)
    elif atom.kind == "step":
        numbers = (target.order >= first).astype(float)
    else:
        numbers = np.maximum((target.order - first) / (last - first), 0.0)
    return np.where(is_own, numbers, 0.0)[:, None]
