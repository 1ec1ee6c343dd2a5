"""Trials of other sources than the target: told apart from its own, and as the observations that a surrogate has."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from robustbo.censored import is_bound
from robustbo.loop.observations.digest import own_order
from robustbo.trials.aside import set_aside
from robustbo.trials.declared import Declared, Source, others_of
from robustbo.trials.sources import DEFAULT_KIND, Labels
from robustbo.trials.tree import Trials
from robustbo.trials.trial import Trial

MOST = 600  # values of other sources that a surrogate is fitted to; of more, a fair sample

Row = tuple[float, ...]  # unit-cube coordinates


class AuxiliaryObservations(NamedTuple):
    """Values of other sources, beside those that a surrogate is fitted to; hashable.

    Attributes:
        names: The sources that have values.
        trusted: Of each whether it is known to measure the same as the target.
        depths: Of each the distance of its level from the target's, |log(level / target's)|; 0 where it has none.
        numbers: The trials.
        source: Of each the place of its source among the names.
        X: One row of unit-cube coordinates each.
        values: The measured values, in the user's units.
        sds: Standard deviations of their noise; NaN where that is to be inferred.
        is_vouched: Whether the user vouches for each.
        counts: Of each the number of measurements whose mean it is.
    """

    names: tuple[str, ...]
    trusted: tuple[bool, ...]
    depths: tuple[float, ...]
    numbers: tuple[int, ...]
    source: tuple[int, ...]
    X: tuple[Row, ...]
    values: tuple[float, ...]
    sds: tuple[float | None, ...]
    is_vouched: tuple[bool, ...]
    counts: tuple[int, ...]

    @property
    def groups(self) -> tuple[int, ...]:
        """The number 1, 2, ... of each source in a model, to which the levels of one thing are one."""
        groups, first = list[int](), 0
        for depth in self.depths:
            groups.append(first if depth and first else max(groups, default=0) + 1)
            first = groups[-1] if depth else first
        return tuple(groups)

    def group_of(self, name: str) -> tuple[int, float] | None:
        """The number of a source in a model, and the distance of its level; None where it has no value yet."""
        if name not in self.names:
            return None
        at = self.names.index(name)
        return self.groups[at], self.depths[at]


class AuxiliaryTrials(NamedTuple):
    """The trials of other sources than the target.

    Attributes:
        sources: The sources by name.
        trials: Their trials, whatever became of them.
        target_level: The level of the target, where sources have levels.
    """

    sources: tuple[tuple[str, Source], ...] = ()
    trials: tuple[Trial, ...] = ()
    target_level: float | None = None

    @property
    def kinds(self) -> frozenset[str]:
        """The kind of source that declared ones are of, if there are any: no kind of which errors are looked for."""
        return frozenset((DEFAULT_KIND,)) if self.sources else frozenset()

    def of(self, name: str) -> "AuxiliaryTrials":
        """The trials as one of several outcomes alone sees them."""
        return self._replace(trials=tuple(trial.of(name) for trial in self.trials))

    def of_source(self, name: str) -> list[Trial]:
        """The trials of a source, whatever became of them."""
        return [t for t in self.trials if t.source == name]

    def depth(self, name: str) -> float:
        """The distance of a source's level from the target's; 0 where it has none."""
        level = dict(self.sources)[name].level
        return 0.0 if level is None or self.target_level is None else abs(math.log(level / self.target_level))

    def family(self, name: str) -> list[str]:
        """The sources that are one with a source, at other levels; itself where it has none."""
        return [other for other, _ in self.sources if self.depth(other) > 0] if self.depth(name) else [name]

    def told(self, name: str) -> list[Trial]:
        """The trials of a source whose values count."""
        return [t for t in self.of_source(name) if t.state == "told" and not is_bound(t.measured)]

    def spent(self, name: str) -> float:
        """The cost so far of the trials that a source was asked for, without those that nobody will measure."""
        trials = [t for t in self.of_source(name) if t.origin != "user" and t.state != "withdrawn"]
        return dict(self.sources)[name].cost * len(trials)

    def observations(
        self, row_of: Callable[[dict[str, Any]], Sequence[float]], sign: float
    ) -> AuxiliaryObservations | None:
        """The values as a surrogate has them; None where there are none.

        Args:
            row_of: The unit-cube row of a point.
            sign: 1 where larger values are better, else -1.
        """
        names = tuple(name for name, _ in self.sources if self.told(name))
        if not names:
            return None
        trusted = dict(self.sources)
        rows = [(t, tuple(row_of(t.params)), place) for place, name in enumerate(names) for t in self.told(name)]
        values = [
            (sign * t.measured, -1.0 if t.sd is None else t.sd, t.is_vouched, t.n, place, t.number)
            for t, _, place in rows
        ]
        order = own_order([row for _, row, _ in rows], values)
        told, X, source = zip(*(rows[i] for i in order[:MOST]), strict=True)
        return AuxiliaryObservations(
            names,
            tuple(trusted[name].trusted for name in names),
            tuple(self.depth(name) for name in names),
            tuple(t.number for t in told),
            source,
            X,
            tuple(t.measured for t in told),
            tuple(t.sd for t in told),
            tuple(t.is_vouched for t in told),
            tuple(t.n for t in told),
        )


def split_trials(declared: Declared, trials: Trials) -> tuple[Trials, AuxiliaryTrials]:
    """The trials in which those of other sources than the target are set aside, and these."""
    if not declared:
        return trials, AuxiliaryTrials()
    own, beside = set_aside(declared, trials)
    level = next(source.level for _, source in declared if source.target)
    return own, AuxiliaryTrials(tuple(others_of(declared).items()), beside, level)


def without_declared(declared: Declared, by: Labels) -> Labels:
    """The labels of who will measure, without the declared source."""
    return tuple((kind, label) for kind, label in by if not (declared and kind == DEFAULT_KIND))
