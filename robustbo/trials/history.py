"""The history of an optimization: trials, and the events that change them.

A history is never changed: `History.apply` folds one event (a plain JSON object) into a new history, which shares with
the old one all that is the same (`trials.tree`). Telling, resuming and replaying all go through it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from robustbo.censored import CensoredValue
from robustbo.lazy import Module
from robustbo.searchspace.measurements import sign_column
from robustbo.searchspace.parameters import Value
from robustbo.trials.changes import KIND as CHANGE
from robustbo.trials.changes import SpaceChange
from robustbo.trials.diagnosis import Diagnosis, diagnosis_of
from robustbo.trials.events import find_trial, fold
from robustbo.trials.identity import Point, in_a_line
from robustbo.trials.labels import label_columns
from robustbo.trials.noise import single_noise
from robustbo.trials.sources import DEFAULT_KIND
from robustbo.trials.storage.line import Event
from robustbo.trials.tree import Draft, Trials
from robustbo.trials.trial import REMEASURE, RETRY, STATES, Measured, Trial
from robustbo.trials.verdicts import KIND, SourceVerdict, judge, judge_event, verdict_of
from robustbo.validation import index

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = Module("pandas")

MEASURED_AT = "measured_at"  # the column of times of measurement

__all__ = ["REMEASURE", "RETRY", "STATES", "Diagnosis", "Event", "History", "Trial"]


@dataclass(frozen=True)
class History:
    """All trials so far, in order, the diagnoses made on the way, rows added to a pool, words on sources and changes of
    the space; frozen.

    Example:
        >>> history = History().apply({"event": "ask", "trial": 0, "params": {"x": 0.5}, "origin": "sobol"})
        >>> history.apply({"event": "tell", "trial": 0, "value": 1.5, "sd": None})[0].value
        1.5
    """

    trials: Trials = field(default_factory=Trials)
    diagnoses: tuple[Diagnosis, ...] = ()
    rows: tuple[tuple[Value, ...], ...] = ()
    verdicts: tuple[SourceVerdict, ...] = ()
    changes: tuple[SpaceChange, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "trials", Trials.of(self.trials))

    def __len__(self) -> int:
        return len(self.trials)

    def __iter__(self) -> Iterator[Trial]:
        return iter(self.trials)

    def __getitem__(self, number: int) -> Trial:
        """The trial of that number.

        Raises:
            ValueError: If there is none.
        """
        return find_trial(self.trials, index(number))

    def counts(self) -> dict[str, int]:
        """Number of trials in each state; withdrawn ones only where there are some."""
        counts = {state: self.trials.num(state) for state in STATES}
        return {state: count for state, count in counts.items() if count or state != "withdrawn"}

    def having(self, state: str) -> tuple[Trial, ...]:
        """The trials in a state."""
        return tuple(self.trials.having(state))

    def at_points(self) -> dict[Point, list[Trial]]:
        """The trials at each point, in order, whatever their state."""
        by_point: dict[Point, list[Trial]] = {}
        for trial in self:
            by_point.setdefault(trial.point, []).append(trial)
        return by_point

    def apply(self, event: Event) -> History:
        """The history after one more event.

        Args:
            event: ``{"event": kind, "trial": number, ...}`` with kind "ask" (params, origin; expected, expected_sd,
                expected_noise and expected_error where a model asks; repeats and reason where it replicates another;
                fixed where some values were given), "enqueue" (params), "assign" (a queued trial is given out),
                "requeue" (a pending one waits again), "withdraw" (reason), "tell" (value, sd), "fail" (reason),
                "exclude", "include" (vouch: whether it is a word for the value) or "amend" (value, sd; raw: whether the
                source's correction is to be taken off; unchanged: whether only sources and labels are others). A "tell"
                or "fail" that carries params begins a trial that nobody asked for, or says where another was measured.
                A "diagnose" (all of `Diagnosis`) and an "extend" (rows of a pool) change no trial. A "change"
                (`SpaceChange`) gives all of them the old values of new parameters, a "verdict" (`SourceVerdict`)
                changes all trials of a source. "at" and "by" say when and who, "reason" of a verdict why, "source" what
                measured a value, or is to.

        Raises:
            ValueError: If the trial's state does not allow the event, or it repeats a trial that is not there.
        """
        return self.apply_all([event])

    def apply_all(self, events: Iterable[Event]) -> History:
        """The history after more events, in time linear in these, however many came before; see `apply`."""
        trials, diagnoses, rows = Draft(self.trials), list[Diagnosis](), list[tuple[Value, ...]]()
        verdicts, changes = [*self.verdicts], self.changes
        for event in events:
            if event["event"] == "diagnose":
                diagnoses.append(diagnosis_of(event))
            elif event["event"] == "extend":
                rows += map(tuple, event["rows"])
            elif event["event"] == CHANGE:
                changes = (*changes, SpaceChange.of(event))
                if changes[-1].was:
                    trials = Draft(Trials(map(changes[-1].apply, trials.to_trials())))
            elif event["event"] == KIND:
                since = None if event.get("since") is None else find_trial(trials, event["since"])
                verdicts.append(verdict_of(event, since))
                for number in range(len(trials)):
                    trials.put(judge(trials[number], verdicts[-1:]))
            else:
                fold(trials, event)
                if verdicts and event["event"] in ("tell", "amend"):
                    trials.put(judge_event(trials[event["trial"]], event, verdicts))
        all_diagnoses = self.diagnoses + tuple(diagnoses) if diagnoses else self.diagnoses
        all_rows = (*self.rows, *rows) if rows else self.rows
        return History(trials.to_trials(), all_diagnoses, all_rows, tuple(verdicts) if verdicts else (), changes)

    extended = apply_all  # its public name in 0.1

    def to_frame(
        self,
        *,
        names: Iterable[str] = (),
        reserved: Sequence[str] = (),
        numbers: Collection[str] = (),
        outcomes: Sequence[str] = (),
    ) -> pd.DataFrame:
        """One row a trial, indexed by its number: the parameters, then value, sd, state, origin, reason, repeats,
        asked_by and asked_at; of several ``outcomes``, OUTCOME and OUTCOME.sd in place of value and sd, and at the end
        OUTCOME.excluded: whether it is by itself. Where values were told as bounds their limits stand there, and after
        the columns of values value.sign, or OUTCOME.sign, says "<" or ">", and "" of any other value. Where sources
        were told a column source.KIND each is the last; the kind "source" has the column source. Where times of
        measurement were told the column measured_at has them. Where trials were measured elsewhere than asked for,
        columns asked.NAME have what was asked for. Where trials have labels, columns label.NAME have these.

        A parameter that has one of these names, "trial" or one of those that are ``reserved`` is under ``params.NAME``.
        The columns are those of the ``names``, or of all that the trials have; where a parameter does not exist at a
        trial's point the cell is missing: NaN in a column of numbers (all that has only numbers, and the ``numbers``).
        """
        measured, signs = _value_columns(self.trials, outcomes), _sign_columns(self.trials, outcomes)
        own = [*measured, *signs, "state", "origin", "reason", "repeats"]
        parameters = list(names) or list(dict.fromkeys(name for trial in self.trials for name in trial.params))
        excluded = {
            f"{name}.excluded": [t.outcomes.get(name, Measured()).is_excluded for t in self] for name in outcomes
        }
        labels = source_columns(self.trials) | target_columns(self.trials) | label_columns(self.trials)
        names = column_names(parameters, [*own, "asked_by", "asked_at", *excluded, *labels, *reserved])
        reasons = [in_a_line("; ".join(t.reasons)) for t in self.trials]
        rows = [
            [*(t.params.get(name) for name in parameters), *values, t.state, t.origin, reason, t.repeats]
            for t, reason, *values in zip(self.trials, reasons, *measured.values(), *signs.values(), strict=True)
        ]
        index = pd.Index([t.number for t in self.trials], name="trial", dtype="int64")
        frame = pd.DataFrame(rows, index=index, columns=[*names, *own])
        frame["asked_by"] = [t.asked_by or "" for t in self.trials]
        frame["asked_at"] = pd.Series([t.asked_at for t in self.trials], index=index)
        frame = frame.assign(**excluded).astype(dict.fromkeys(excluded, "bool"))
        floats = {column: "float64" for name, column in zip(parameters, names, strict=True) if name in numbers}
        floats |= dict.fromkeys(measured, "float64")
        frame = frame.assign(
            **{column: pd.Series(cells, index=index, dtype=object) for column, cells in labels.items()}
        )
        times = ["asked_at", *({MEASURED_AT} & {*labels})]
        return frame.astype(floats | {"repeats": "Int64"} | dict.fromkeys(times, "datetime64[us, UTC]"))


def _value_columns(trials: Sequence[Trial], outcomes: Sequence[str]) -> dict[str, list[float]]:
    """The columns of values and of their noise."""
    if not outcomes:
        columns = {"value": [_or_nan(t.value) for t in trials], "sd": [_or_nan(single_noise(t).sd) for t in trials]}
        return columns | ({"n": [float(t.n) for t in trials]} if any(t.n > 1 for t in trials) else {})
    columns = {}
    for name in outcomes:
        measurements = [t.outcomes.get(name, Measured()) for t in trials]
        columns[name] = [_or_nan(m.value) for m in measurements]
        columns[f"{name}.sd"] = [_or_nan(single_noise(m).sd) for m in measurements]
        columns |= {f"{name}.n": [float(m.n) for m in measurements]} if any(m.n > 1 for m in measurements) else {}
    return columns


def _sign_columns(trials: Sequence[Trial], outcomes: Sequence[str]) -> dict[str, list[str]]:
    """The columns that say which values are bounds, of outcomes that have some."""
    by_outcome = {name: [t.outcomes.get(name, Measured()).value for t in trials] for name in outcomes}
    values = by_outcome or {"value": [t.value for t in trials]}
    signs = {name: [v.sign if isinstance(v, CensoredValue) else "" for v in column] for name, column in values.items()}
    return {sign_column(name): column for name, column in signs.items() if any(column)}


def source_column(kind: str) -> str:
    """The column of the labels of a kind of source."""
    return kind if kind == DEFAULT_KIND else f"{DEFAULT_KIND}.{kind}"


def source_columns(trials: Sequence[Trial]) -> dict[str, list[Any]]:
    """The columns of sources, of kinds that some trial has, and of times of measurement, where one was told."""
    labels, times = [trial.sources for trial in trials], [trial.measured_at for trial in trials]
    kinds = dict.fromkeys(kind for by_kind in labels for kind in by_kind)
    columns: dict[str, list[Any]] = {source_column(kind): [of.get(kind) for of in labels] for kind in kinds}
    return columns | ({MEASURED_AT: times} if any(time is not None for time in times) else {})


def target_columns(trials: Sequence[Trial]) -> dict[str, list[Any]]:
    """The columns of what was asked for, of parameters that some trial was measured elsewhere in."""
    moved = [trial for trial in trials if trial.target is not None]
    names = dict.fromkeys(n for t in moved for n, value in t.params.items() if t.target_params.get(n) != value)
    return {f"asked.{name}": [trial.target_params.get(name) for trial in trials] for name in names}


def column_names(names: Iterable[str], reserved: Iterable[str]) -> list[str]:
    """Parameters' names as columns beside others of a frame indexed by trial."""
    occupied = {*reserved, "trial"}
    return [f"params.{name}" if name in occupied else name for name in names]


def _or_nan(number: float | None) -> float:
    return math.nan if number is None else number
