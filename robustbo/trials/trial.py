"""One trial: a point, what became of it, and what was expected of it."""

import math
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, get_args

from robustbo.searchspace.parameters import Value
from robustbo.trials.brief import Expecting
from robustbo.trials.identity import Point, point_of, title_of
from robustbo.trials.labels import NAME, Label

REMEASURE = "re-measure"  # the reason of a trial that repeats another, whose value is in doubt
RETRY = "retry"  # likewise, which failed and looks like a flake
FAILURE_VERDICTS = {True: "said to be a flake", False: "said to lie in its point"}  # a failure, by the user
State = Literal["told", "pending", "queued", "failed", "excluded", "withdrawn"]
STATES: tuple[State, ...] = get_args(State)
Origin = Literal["sobol", "model", "user", "late"]
EXPECTATION = ("expected", "expected_sd", "expected_noise")  # of a trial or outcome: what belongs to an expectation
EXPECTED_ERROR = ("expected_error", "expected_error_sd")  # likewise: what its source adds
OPEN = ("pending", "queued")  # states of a trial that may still be told


@dataclass(frozen=True, repr=False)
class Measured(Expecting):
    """One of several outcomes of a trial.

    Attributes:
        value: What was measured; None where it is missing.
        sd: The standard deviation of its noise, where known.
        expected: What the model that asked for it expected, unless the user has vouched for a value since.
        expected_sd: Standard deviation of that expectation, noise included; also `expected_measurement_sd`.
        expected_noise: Standard deviation of the noise in it; None where that is not known, as in old journals.
        expected_error, expected_error_sd: As of a `Trial`.
        is_excluded: Whether it is excluded by itself.
        is_lost: Whether its value was not a finite number: the measurement failed.
        is_vouched: Whether the user vouches for it: it is believed, whatever a model says.
        note: Why the user excluded it, or included it, by itself, where that was said.
        as_told: The value as it was told, where a correction of its source has changed it.
        is_source_excluded: Whether it is excluded with all values of its source.
        n: Of how many measurements the value is the mean; sd is that of the mean.
        reason: Why its measurement failed, where that was said.
    """

    value: float | None = None
    sd: float | None = None
    expected: float | None = None
    expected_sd: float | None = None
    expected_noise: float | None = None
    expected_error: float | None = None
    expected_error_sd: float | None = None
    is_excluded: bool = False
    is_lost: bool = False
    is_vouched: bool = False
    note: str | None = None
    as_told: float | None = None
    is_source_excluded: bool = False
    n: int = 1
    reason: str | None = None

    @property
    def raw_value(self) -> float | None:
        """The value as it was told, before any correction of its source; None where it is missing."""
        return self.value if self.as_told is None else self.as_told


@dataclass(frozen=True, repr=False)
class Trial(Expecting):
    """One ask, or one measurement that was not asked for.

    Attributes:
        number: 0, 1, 2, ... in the order of asking.
        params: The point where the value was measured, or is to be measured.
        state: "pending" (somebody measures it), "queued" (waits to be given out by an ask), "told", "failed",
            "excluded" or "withdrawn" (it will not be measured; this is no judgment of its point).
        value: The measured value, if there is one.
        sd: Standard deviation of the value's noise, if known.
        origin: "sobol", "model", "user" (enqueued, or told without an ask) or "late" (a further value of a trial that
            was given out more than once).
        reason: Why it failed, or why it was asked: "re-measure" (a value in doubt), "retry" (a failure that looks like
            a flake), "asked before" (the model wants another value at a point), "away from failures" (a Sobol point
            would probably fail), "no signal yet" (all values are equal within noise), "nothing new left" (a finite
            space has been asked for as a whole).
        repeats: The number of the trial that it replicates; None for a new point.
        expected: The value that the asking model predicted, without any source's error; None again after the user
            vouches for a value (`include`, `amend`). `expectation` adds the error.
        expected_sd: Standard deviation of that prediction, noise included; also `expected_measurement_sd`.
        expected_noise: Standard deviation of the noise in it; None if unknown, as in old journals.
        expected_error: By how much the measuring source read too high, as believed at the time of the ask; None if no
            source was named (``ask(by=)``), or nothing was wrong with it.
        expected_error_sd: Standard deviation of ``expected_error``.
        fallback: The surrogate that asked instead of that of the settings, and why; None for the latter.
        asked_by: Who was given it last, as ``host:process:token``.
        asked_at: When.
        handouts: How many times it was given out.
        retry: The user's verdict on a failure: True for a flake, which has nothing to do with the point, False for a
            failure that lies in the point; None without a verdict.
        outcomes: With several outcomes, what is known of each, by its name; such a trial has no value, sd or
            expectation of its own.
        is_vouched: Whether the user vouches for its value; the surrogate then believes it.
        note: The user's reason for excluding or including it, if there is one.
        sources: Which source of each kind measured it, or is to: ``{"reactor": "R3"}``; see `tell`.
        elsewhere: For a replicate, the sources whose value is in doubt; another source should measure it.
        as_told: The value as it was told, if a correction of its source has changed it (`correct`).
        is_source_excluded: Whether it is excluded with all values of its source.
        measured_at: When it was measured, if that was told.
        told_by: Who told its value, or that it failed, as ``host:process:token``.
        told_at: When.
        order: Its place in the order of telling: how many had ended before it.
        n: Number of measurements whose mean is the value; sd is that of the mean.
        target: The point that was asked for, if the value was measured at another.
        labels: Further facts, such as ``{"name": "Knock Hill", "lot": 7}``; no model sees them.
        former_values: The values that ``amend`` has replaced, the first one first; of several outcomes by name.
    """

    number: int
    params: dict[str, Value]
    state: State = "pending"
    value: float | None = None
    sd: float | None = None
    origin: Origin = "user"
    reason: str | None = None
    repeats: int | None = None
    expected: float | None = None
    expected_sd: float | None = None
    expected_noise: float | None = None
    fallback: str | None = None
    asked_by: str | None = field(default=None, compare=False)
    asked_at: datetime | None = field(default=None, compare=False)
    handouts: int = 0
    retry: bool | None = None
    outcomes: dict[str, Measured] = field(default_factory=dict)
    is_vouched: bool = False
    note: str | None = None
    sources: dict[str, str] = field(default_factory=dict)
    elsewhere: dict[str, str] = field(default_factory=dict)
    as_told: float | None = None
    is_source_excluded: bool = False
    expected_error: float | None = None
    expected_error_sd: float | None = None
    measured_at: datetime | None = None
    told_by: str | None = field(default=None, compare=False, repr=False)
    told_at: datetime | None = field(default=None, compare=False, repr=False)
    order: int | None = field(default=None, compare=False, repr=False)
    target: dict[str, Value] | None = None
    n: int = 1
    labels: dict[str, Label] = field(default_factory=dict)
    former_values: tuple[Any, ...] = field(default=(), compare=False, repr=False)

    @property
    def raw_value(self) -> Any:
        """The value as it was told, or those of several outcomes by name; None where there is none."""
        of_outcomes = {name: outcome.raw_value for name, outcome in self.outcomes.items()}
        own = self.value if self.as_told is None else self.as_told
        return {name: value for name, value in of_outcomes.items() if value is not None} or own

    @property
    def raw_values(self) -> tuple[Any, ...]:
        """All values that it was told, as `raw_value` has the last: those that were amended come first."""
        return (*self.former_values, self.raw_value)

    @property
    def reasons(self) -> list[str]:
        """The reason, and those of the outcomes whose measurement failed, as far as they were said."""
        of_outcomes = [f"{name}: {outcome.reason}" for name, outcome in self.outcomes.items() if outcome.reason]
        return [*([self.reason] if self.reason else []), *of_outcomes]

    @property
    def values(self) -> dict[str, float]:
        """The measured values of several outcomes."""
        return {name: outcome.value for name, outcome in self.outcomes.items() if outcome.value is not None}

    def of(self, name: str) -> "Trial":
        """The trial with one of several outcomes alone; it has failed if that outcome is missing."""
        outcome, state = self.outcomes.get(name, Measured()), self.state
        if state in ("told", "excluded"):
            state = "failed" if outcome.value is None else "excluded" if outcome.is_excluded else state
        told: dict[str, Any] = {"value": outcome.value, "sd": outcome.sd, "n": outcome.n}
        told |= {key: getattr(outcome, key) for key in (*EXPECTATION, *EXPECTED_ERROR, "is_vouched", "as_told")}
        told |= {"note": outcome.note or self.note, "reason": outcome.reason or self.reason}
        return replace(self, state=state, outcomes={}, **told)

    def noise_sd(self, of_one: float) -> float:
        """The standard deviation of its value's noise, given that of a single measurement."""
        return of_one / math.sqrt(self.n) if self.sd is None else self.sd

    @property
    def source(self) -> str | None:
        """The declared source that measured it, or is to measure it; None if no source is named."""
        return self.sources.get("source")

    @property
    def time(self) -> datetime | None:
        """The time at which it was measured, or else told; None if neither is known."""
        return self.told_at if self.measured_at is None else self.measured_at

    @property
    def is_open(self) -> bool:
        """Return whether it may still be told."""
        return self.state in OPEN

    @property
    def title(self) -> str:
        """The trial for people: its number, behind the label "name" where it has one.

        Example:
            >>> Trial(17, {"x": 0.5}, labels={"name": "Knock Hill"}).title, Trial(3, {"x": 0.5}).title
            ('Knock Hill (trial 17)', 'trial 3')
        """
        return title_of(self.number, self.labels.get(NAME))

    @property
    def point(self) -> Point:
        """The parameters, hashable."""
        return point_of(self.params)

    @property
    def target_params(self) -> dict[str, Value]:
        """The point that was asked for, wherever it was measured."""
        return self.params if self.target is None else self.target

    @property
    def expectation(self) -> tuple[float, float] | None:
        """The expected value, its source's error included, and its standard deviation.

        None where nothing was expected.
        """
        if self.expected is None or self.expected_sd is None:
            return None
        if self.expected_error is None:
            return self.expected, self.expected_sd
        return self.expected + self.expected_error, math.hypot(self.expected_sd, self.expected_error_sd or 0.0)

    @property
    def expectations(self) -> dict[str, tuple[float, float]]:
        """The expectation of each outcome, as far as anything was expected."""
        expectations = {name: self.of(name).expectation for name in self.outcomes}
        return {name: expectation for name, expectation in expectations.items() if expectation is not None}

    @property
    def measured(self) -> float:
        """The value, of a trial that has one.

        Raises:
            ValueError: If it has none.
        """
        if self.value is None:
            raise ValueError(f"trial {self.number} must have a value, it is {self.state}")
        return self.value
