"""The frozen table of all trials that decisions see of a history: their rows, and the groups of replicates."""

import math
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

from robustbo.censored import is_bound
from robustbo.lazy import cached_property
from robustbo.loop.observations.auxiliary import AuxiliaryTrials, split_trials, without_declared
from robustbo.loop.observations.correction import SourceCorrection
from robustbo.loop.observations.groups import PointGroup
from robustbo.loop.observations.shared_sources import OutcomeEvidence
from robustbo.loop.observations.values import Observations, Row
from robustbo.searchspace.region.factory import region_of
from robustbo.searchspace.region.region import Fixed, Region
from robustbo.searchspace.space import Space
from robustbo.trials.extent import space_of
from robustbo.trials.history import Diagnosis, History, Trial
from robustbo.trials.identity import Point
from robustbo.trials.outcomes import OutcomeGoal
from robustbo.trials.settings import Settings
from robustbo.trials.sources import Labels
from robustbo.trials.tree import ASIDE, BARRED, LOST, OPENED, Trials

__all__ = ["Data", "Observations", "Row", "observations"]


@dataclass(frozen=True)
class Data:
    """All trials of an optimization; what follows from them is found when it is first asked for.

    Attributes:
        space: The search space.
        sign: 1 where larger values are better, else -1.
        trials: Trial number i at place i: its value, its noise, its state, and what was expected when it was asked.
        diagnoses: Those made on the way.
        fixed: Parameters that have a given value in what is asked for now, and it.
        objectives: The names of those that are told by their names.
        by: The source that will measure what is asked for now, where that is known.
        correction: By which the values are corrected; None where they are as they were told.
        least_noise: The least standard deviation that the noise of a value is taken to have.
        auxiliary: The trials of other sources than the target, which are aside in ``trials``.
        other_outcomes: What each of the other outcomes says of sources; nothing of a table that is not one of several.
    """

    space: Space
    sign: float
    trials: Trials
    diagnoses: tuple[Diagnosis, ...] = ()
    fixed: Fixed = ()
    objectives: tuple[str, ...] = ()
    by: Labels = ()
    correction: SourceCorrection | None = None
    least_noise: float = 0.0
    auxiliary: AuxiliaryTrials = field(default_factory=AuxiliaryTrials)
    other_outcomes: tuple[OutcomeEvidence, ...] = ()

    def of(self, outcome: OutcomeGoal) -> "Data":
        """The table of one outcome alone: for it, a trial where it is missing has failed."""
        trials = Trials(trial.of(outcome.name) for trial in self.trials)
        sign, least_noise = outcome.sign, outcome.quantity.least_noise
        own: dict[str, Any] = {"trials": trials, "sign": sign, "least_noise": least_noise}
        return replace(self, diagnoses=(), objectives=(), auxiliary=self.auxiliary.of(outcome.name), **own)

    def with_correction(self, correction: SourceCorrection | None) -> "Data":
        """The table whose values are without the errors of their sources; the same where there is no correction."""
        if correction is None or self.correction is not None:
            return self
        errors = dict(zip(correction.numbers, correction.errors, strict=True))
        trials = [self.trials[number] for number in errors]
        changes = {t.number: replace(t, value=t.measured - errors[t.number]) for t in trials if t.state == "told"}
        return replace(self, trials=self.trials.with_changes(changes), correction=correction)

    @cached_property
    def region(self) -> Region:
        """The region of the points that may be asked for now."""
        return region_of(self.space, self.fixed)

    @cached_property
    def told(self) -> tuple[Trial, ...]:
        """The trials whose values count."""
        return tuple(self.trials.having("told"))

    @cached_property
    def excluded(self) -> tuple[Trial, ...]:
        """The trials whose values do not count, by the user's word."""
        return tuple(self.trials.having("excluded"))

    @cached_property
    def vouched(self) -> frozenset[int]:
        """The told trials whose values are believed, by the user's word."""
        return frozenset(trial.number for trial in self.told if trial.is_vouched)

    @cached_property
    def pending(self) -> tuple[Trial, ...]:
        """The trials that may still be told, whether somebody measures them or they wait."""
        return tuple(self.trials.having(OPENED))

    @cached_property
    def failed(self) -> tuple[Trial, ...]:
        """The trials that gave no value."""
        return tuple(self.trials.having("failed"))

    @cached_property
    def without_objective(self) -> tuple[Trial, ...]:
        """The told trials of which an objective came to no finite number, while other outcomes did."""
        lost = {
            t.number: {name for name, measured in t.outcomes.items() if measured.is_lost}
            for t in self.trials.having(LOST)
        }
        return tuple(self.trials[number] for number, names in lost.items() if names.intersection(self.objectives))

    @cached_property
    def withdrawn(self) -> tuple[Trial, ...]:
        """The trials that nobody will measure, which says nothing of their points."""
        return tuple(self.trials.having("withdrawn"))

    @cached_property
    def barred(self) -> tuple[Trial, ...]:
        """The trials whose points are never asked for again, by the user's word: failed ones, and those withdrawn."""
        return (*self.trials.having(BARRED), *self.withdrawn)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The unit-cube row of each trial."""
        return tuple(tuple(self.space.to_unit(trial.params)) for trial in self.trials)

    @cached_property
    def own_trials(self) -> tuple[Trial, ...]:
        """The trials that are not aside, whatever became of them."""
        return tuple(trial for trial in self.trials if trial.state != ASIDE)

    @cached_property
    def groups(self) -> dict[Point, PointGroup]:
        """The groups of replicates: all trials at each point, in order."""
        by_point: dict[Point, list[Trial]] = {}
        for trial in self.own_trials:
            by_point.setdefault(trial.point, []).append(trial)
        return {point: PointGroup(tuple(trials)) for point, trials in by_point.items()}

    def rows_of(self, numbers: Collection[int]) -> list[Row]:
        """The rows of some trials."""
        return [self.rows[number] for number in numbers]

    def all_observations(self) -> Observations:
        """The observations of all told trials: not of failed, excluded or pending ones."""
        told = self.told
        sds = [max(t.sd, self.least_noise) for t in told if t.sd is not None]
        is_any_lacking = any(t.sd is None and not is_bound(t.measured) for t in told)
        is_of_single = not sds and all(t.n == 1 for t in told)
        mean_sd = math.fsum(sds) / max(len(sds), 1)  # of a bound, the noise is that of the values
        return Observations(
            tuple(t.number for t in told),
            tuple(self.rows[t.number] for t in told),
            tuple(t.measured for t in told),
            None
            if is_of_single
            else tuple(
                (-float(t.n) if is_any_lacking else mean_sd) if t.sd is None else max(t.sd, self.least_noise)
                for t in told
            ),
            self.vouched.intersection(t.number for t in told),
            self.correction,
            self.auxiliary.observations(self.space.to_unit, self.sign),
        )

    def at_source(self, name: str) -> "Data":
        """The table for asks of a source: the parameters that it does not have are fixed at their values."""
        if not (values := {**dict(self.auxiliary.sources)[name].values, **dict(self.fixed)}):
            return self
        present = self.space.existing(values)
        return replace(self, fixed=self.space.partial({n: value for n, value in values.items() if n in present}))

    def trials_of_source(self, name: str) -> "Data":
        """The table in which the trials of one source beside the target count, and all others are aside."""
        if name not in self._tables_of_sources:
            own = {trial.number: trial for trial in self.auxiliary.of_source(name)}
            trials = [own.get(t.number) or (t if t.state == ASIDE else replace(t, state=ASIDE)) for t in self.trials]
            self._tables_of_sources[name] = replace(self, trials=Trials(trials), auxiliary=AuxiliaryTrials())
        return self._tables_of_sources[name]

    @cached_property
    def _tables_of_sources(self) -> dict[str, "Data"]:
        """The tables of `trials_of_source` so far."""
        return {}

    def without_last_value(self) -> "Data":
        """The table where the last told value is not known yet."""
        last = self.told[-1]
        return replace(self, trials=self.trials.with_changes({last.number: replace(last, state="pending")}))


def observations(settings: Settings, history: History, fixed: Fixed = (), by: Labels = ()) -> Data:
    """The table of a history, for asks with some values fixed, or by a source."""
    trials, auxiliary = split_trials(settings.sources, history.trials)
    objectives, by = tuple(name for name, _ in settings.objectives), without_declared(settings.sources, by)
    space, noise = space_of(settings, history), settings.quantity.least_noise
    return Data(space, settings.sign, trials, history.diagnoses, fixed, objectives, by, None, noise, auxiliary)
