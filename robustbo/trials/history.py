"""What has happened so far: trials, and the events that change them.

A history is never changed: `History.apply` folds one event (a plain JSON object) into a new history and is the only
place that knows which events a trial allows. Telling, resuming and replaying all go through it.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from robustbo.parameters import Value

Event = Mapping[str, Any]

REMEASURE = "re-measure"  # the reason of a trial that repeats another
STATES = ("told", "pending", "failed", "excluded")
ALLOWED_STATES = {
    "tell": ("pending",),
    "fail": ("pending",),
    "exclude": ("told",),
    "include": ("excluded",),
    "amend": ("told", "excluded", "failed"),
}
ADVICE = {
    "told": "use amend to correct its value",
    "excluded": "use include to take the exclusion back",
    "failed": "use amend to give it a value",
    "pending": "use tell or fail to end it",
}


@dataclass(frozen=True)
class Trial:
    """One ask, or one measurement made elsewhere.

    Attributes:
        number: 0, 1, 2, ... in the order of asking.
        params: The point.
        state: "pending", "told", "failed" or "excluded".
        value: The measured value, if there is one.
        sd: The standard deviation of its noise, where known.
        origin: "sobol", "model" or "user" (told without having been asked).
        reason: Why it failed, or why it was asked: "re-measure".
        repeats: The number of the trial that it measures again, if it was asked for that.
        expected: What the model that asked for it expected to be told; None again once the user has vouched for a value
            (`include`, `amend`).
        expected_sd: Standard deviation of that expectation, noise included.
    """

    number: int
    params: dict[str, Value]
    state: str = "pending"
    value: float | None = None
    sd: float | None = None
    origin: str = "user"
    reason: str | None = None
    repeats: int | None = None
    expected: float | None = None
    expected_sd: float | None = None

    @property
    def point(self) -> tuple[Value, ...]:
        """The parameters' values, hashable."""
        return tuple(self.params.values())

    @property
    def expectation(self) -> tuple[float, float] | None:
        """What was expected and its standard deviation; None where nothing was."""
        return None if self.expected is None or self.expected_sd is None else (self.expected, self.expected_sd)

    @property
    def measured(self) -> float:
        """The value, of a trial that has one.

        Raises:
            ValueError: If it has none.
        """
        if self.value is None:
            raise ValueError(f"trial {self.number} must have a value, it is {self.state}")
        return self.value


@dataclass(frozen=True)
class Diagnosis:
    """What a surrogate that judges on a schedule has found; see `surrogates.filtered`.

    Attributes:
        trial: The trial that was asked with it.
        observations: How many told values it judged.
        outliers: The trials that it called outliers.
        percentiles: Where each of these lies in the distribution predicted for it.
        void: Whether it called too many, so that all are used.
    """

    trial: int
    observations: int
    outliers: tuple[int, ...]
    percentiles: tuple[float, ...]
    void: bool


@dataclass(frozen=True)
class History:
    """All trials so far, in order, and the diagnoses made on the way; frozen.

    Example:
        >>> history = History().apply({"event": "ask", "trial": 0, "params": {"x": 0.5}, "origin": "sobol"})
        >>> history.apply({"event": "tell", "trial": 0, "value": 1.5, "sd": None})[0].value
        1.5
    """

    trials: tuple[Trial, ...] = ()
    diagnoses: tuple[Diagnosis, ...] = ()

    def __len__(self) -> int:
        return len(self.trials)

    def __iter__(self) -> Iterator[Trial]:
        return iter(self.trials)

    def __getitem__(self, number: int) -> Trial:
        """The trial of that number.

        Raises:
            ValueError: If there is none.
        """
        if not 0 <= number < len(self):
            raise ValueError(f"trial must be one of the {len(self)} trials so far (0, 1, ...), got {number}")
        return self.trials[number]

    def counts(self) -> dict[str, int]:
        """How many trials are in each state."""
        return {state: len(self.having(state)) for state in STATES}

    def having(self, state: str) -> tuple[Trial, ...]:
        """The trials in a state."""
        return tuple(trial for trial in self.trials if trial.state == state)

    def at_points(self) -> dict[tuple[Value, ...], list[Trial]]:
        """The trials at each point, in order, whatever their state."""
        found: dict[tuple[Value, ...], list[Trial]] = {}
        for trial in self:
            found.setdefault(trial.point, []).append(trial)
        return found

    def apply(self, event: Event) -> "History":
        """The history after one more event.

        Args:
            event: ``{"event": kind, "trial": number, ...}`` with kind "ask" (params, origin; expected and expected_sd
                where a model asks; repeats and reason where it measures again), "tell" (value, sd), "fail" (reason),
                "exclude", "include" or "amend" (value, sd). A "tell" or "fail" that carries params begins a trial that
                nobody had asked for. A "diagnose" (all of `Diagnosis`) changes no trial.

        Raises:
            ValueError: If the trial's state does not allow the event, or it repeats a trial that is not there.
        """
        kind, number = event["event"], event["trial"]
        if kind == "diagnose":
            return replace(self, diagnoses=(*self.diagnoses, _diagnosis(event)))
        if kind == "ask" or (kind in ("tell", "fail") and "params" in event):
            begun = self._begin(event)
            return begun if kind == "ask" else begun._change(begun[number], event)
        if kind not in ALLOWED_STATES:
            raise ValueError(f"event must be 'ask' or one of {list(ALLOWED_STATES)}, got {kind!r}")
        trial = self[number]
        if trial.state not in ALLOWED_STATES[kind]:
            allowed = " or ".join(ALLOWED_STATES[kind])
            raise ValueError(
                f"trial {number} must be {allowed} to {kind} it, it is {trial.state}; {ADVICE[trial.state]}"
            )
        return self._change(trial, event)

    def _begin(self, event: Event) -> "History":
        number, repeats = event["trial"], event.get("repeats")
        if number != len(self):
            raise ValueError(f"the next trial must be number {len(self)}, got {number}")
        if repeats is not None and self[repeats].params != event["params"]:
            raise ValueError(f"trial {number} must be at the point of trial {repeats} to repeat it")
        trial = Trial(
            number,
            dict(event["params"]),
            origin=event.get("origin", "user"),
            reason=None if repeats is None else REMEASURE,
            repeats=repeats,
            expected=event.get("expected"),
            expected_sd=event.get("expected_sd"),
        )
        return replace(self, trials=(*self.trials, trial))

    def _change(self, trial: Trial, event: Event) -> "History":
        match event["event"]:
            case "tell":
                new = replace(trial, state="told", value=event["value"], sd=event["sd"])
            case "fail":
                new = replace(trial, state="failed", reason=event["reason"])
            case "exclude":
                new = replace(trial, state="excluded")
            case "include":
                new = replace(trial, state="told", expected=None, expected_sd=None)
            case "amend":
                state = "excluded" if trial.state == "excluded" else "told"
                reason = None if trial.repeats is None else REMEASURE
                new = replace(trial, state=state, value=event["value"], sd=event["sd"], reason=reason)
                new = replace(new, expected=None, expected_sd=None)
        return replace(self, trials=(*self.trials[: trial.number], new, *self.trials[trial.number + 1 :]))

    def to_frame(self) -> pd.DataFrame:
        """One row a trial, indexed by its number: the parameters, then value, sd, state, origin, reason and
        repeats.

        A parameter that has one of these names is found under ``params.NAME``.
        """
        own = ["value", "sd", "state", "origin", "reason", "repeats"]
        names = [f"params.{n}" if n in own else n for n in (self.trials[0].params if self.trials else ())]
        rows = [
            [*t.params.values(), _or_nan(t.value), _or_nan(t.sd), t.state, t.origin, t.reason or "", t.repeats]
            for t in self.trials
        ]
        index = pd.Index([t.number for t in self.trials], name="trial", dtype="int64")
        frame = pd.DataFrame(rows, index=index, columns=[*names, *own])
        return frame.astype({"value": "float64", "sd": "float64", "repeats": "Int64"})


def _diagnosis(event: Event) -> Diagnosis:
    outliers, percentiles = (tuple(event[key]) for key in ("outliers", "percentiles"))
    return Diagnosis(event["trial"], event["observations"], outliers, percentiles, event["void"])


def _or_nan(number: float | None) -> float:
    return math.nan if number is None else number
