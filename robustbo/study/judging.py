"""The words of people on values: excluded, included or amended, one at a time, or all those of a source."""

import logging
import math
from collections.abc import Mapping
from typing import Any, overload

from robustbo.guidance import explain_misfits
from robustbo.searchspace.tabular import Point, is_point, measured_point_of, point_where_measured, warn_of_violations
from robustbo.searchspace.units import in_the_names
from robustbo.study.handing import TrialLike, end_event, value_content
from robustbo.study.possible import check_possible, is_of_target, with_exclusions
from robustbo.study.queueing import Queueing, own
from robustbo.study.sources import trials_of, verdict_event
from robustbo.trials.history import Trial
from robustbo.trials.noise import Count
from robustbo.trials.source_space import with_own_values
from robustbo.trials.sources import Source
from robustbo.trials.storage.line import Event
from robustbo.trials.store import State
from robustbo.trials.values import Noise, Value, values_to_record
from robustbo.trials.verdicts import Verdict
from robustbo.validation import flag, index, one_of, real

log = logging.getLogger("robustbo")


@explain_misfits()
class Judging(Queueing):
    """A study of whose values people say what is right."""

    @overload
    def exclude(self, trial: TrialLike, *, outcome: str | None = None, reason: str | None = None) -> Trial: ...

    @overload
    def exclude(
        self,
        trial: None = None,
        *,
        source: Source | None = None,
        since: TrialLike | None = None,
        outcome: str | None = None,
        reason: str | None = None,
    ) -> list[Trial]: ...

    def exclude(
        self,
        trial: TrialLike | None = None,
        *,
        source: Source | None = None,
        since: TrialLike | None = None,
        outcome: str | None = None,
        reason: str | None = None,
    ) -> Trial | list[Trial]:
        """Record your own verdict that a told value is wrong: the journal keeps it, and the surrogate ignores it.

        With ``source`` or ``since``, the verdict is on all values of a source, past and future, until an `include` or
        `correct` of the source.

        Args:
            trial: The trial or its number.
            source: The source, as for `tell`, instead of a trial.
            since: The first trial, in the order of telling; by default the beginning. Without a source it concerns all
                values.
            outcome: One of several outcomes; all by default.
            reason: Why, for people; kept in the journal, and as the ``note`` of the trial, or of the outcome.

        Returns:
            The trial; or the trials of the source.
        """
        if trial is None or source is not None or since is not None:
            return self._judge("exclude", trial, source, since, self._of(outcome, reason))
        return self._end("exclude", self._of(outcome, reason), trial)

    @overload
    def include(
        self, trial: TrialLike, *, outcome: str | None = None, reason: str | None = None, vouch: bool = True
    ) -> Trial: ...

    @overload
    def include(
        self,
        trial: None = None,
        *,
        source: Source | None = None,
        since: TrialLike | None = None,
        outcome: str | None = None,
        reason: str | None = None,
    ) -> list[Trial]: ...

    def include(
        self,
        trial: TrialLike | None = None,
        *,
        source: Source | None = None,
        since: TrialLike | None = None,
        outcome: str | None = None,
        reason: str | None = None,
        vouch: bool = True,
    ) -> Trial | list[Trial]:
        """Vouch for a value, flagged or excluded: the surrogate believes it from now on.

        An `exclude` or `amend` takes the verdict back.

        For a source, it takes an `exclude` or `correct` of that source back: its values are again as told, and judged
        like all others.

        The optimizer may still replicate the point. In the fit, the value has the weight that the surrogate's method
        gives it; under relevance pursuit, the default, that of any other value.

        Args:
            trial: The trial or its number.
            source: The source, as for `tell`, instead of a trial.
            since: The first trial, in the order of telling; by default the beginning. Without a source it concerns all
                values.
            outcome: One of several outcomes; all by default.
            reason: Why, for people.
            vouch: Whether the surrogate believes the value from now on; False only takes your own `exclude` or
                `include` back, and the value is judged like all others.
        """
        has_word = flag("vouch", vouch)
        if trial is None or source is not None or since is not None:
            return self._judge("include", trial, source, since, self._of(outcome, reason))
        return self._end("include", ({"vouch": True} if has_word else {}) | self._of(outcome, reason), trial)

    def amend(
        self, trial: TrialLike, value: Value, *, sd: Noise = None, n: Count | None = None, reason: str | None = None
    ) -> Trial:
        """Record a corrected value of a told, excluded or failed trial; the old one stays in the journal.

        The value is the one that was measured: if its source is corrected (`correct`), the error is subtracted from it.
        ``sd`` and ``n`` are as for `tell`, and ``reason`` becomes the trial's ``note``. With several outcomes, only the
        given ones change; an outcome that was missing may be added.

        Raises:
            ValueError: If the value is not finite or not possible (exclude the trial instead), or the trial is pending.
        """
        kind, content = self._value_content(value, sd, n)
        if kind != "tell" or (isinstance(value, Mapping) and len(content["value"]) < len(value)):
            raise ValueError(f"value must be finite to amend a trial, got {value}; use exclude to leave it out")
        if is_of_target(self.settings, self.history, trial.number if isinstance(trial, Trial) else trial, {}):
            check_possible(self.settings, "amend takes the right value; use exclude to leave it out")(content["value"])
        return self._end("amend", content | self._of(None, reason), trial)

    def correct(
        self,
        *,
        error: float,
        source: Source | None = None,
        since: TrialLike | None = None,
        outcome: str | None = None,
        reason: str | None = None,
    ) -> list[Trial]:
        """Correct all values of a source that reads too high: ``error`` is subtracted from past and future values.

        Each trial keeps the value that was told as `Trial.as_told`; an `include` of the source takes the correction
        back, another `correct` takes its place. A single value is corrected by `amend`.

        Args:
            error: By how much its values read too high, in their unit; negative if they read too low.
            source: The source, as for `tell`.
            since: The first trial, in the order of telling; by default the beginning. Without a source it concerns all
                values.
            outcome: The outcome, if there are several.
            reason: Why, for people.

        Returns:
            The trials of the source.

        Raises:
            ValueError: If no trial has such a source, or the error is not finite.
        """
        number = real("error", error)
        if not math.isfinite(number):
            raise ValueError(f"error must be finite, got {number}; use exclude to leave the values out")
        if self.settings.outcomes and outcome is None:
            names = [outcome_of.name for outcome_of in self.settings.outcomes]
            raise ValueError(f"correct needs an outcome, one of {names}: each has a unit of its own")
        return self._judge("correct", None, source, since, self._of(outcome, reason) | {"error": number})

    def _judge(
        self,
        verdict: Verdict,
        trial: TrialLike | None,
        source: Source | None,
        since: TrialLike | None,
        content: dict[str, Any],
    ) -> list[Trial]:
        if trial is not None:
            raise ValueError(f"{verdict} takes a trial, or a source (and since), got both; leave one of them out")
        if source is None and since is None:
            raise ValueError(f"{verdict} needs a trial, a source or since, got none of them")

        def decide(state: State) -> list[Event]:
            return [verdict_event(state.history, verdict, source, since, content)]

        self._store.commit(decide)
        history = self._store.state.history
        word = history.verdicts[-1]
        trials = trials_of(history, word)
        log.info("%s: %d trials", word.text, len(trials))
        return [own(trial) for trial in trials]

    def _value_content(self, value: Value, sd: Noise, n: Count | None = None) -> tuple[str, dict[str, Any]]:
        return value_content(*values_to_record(self.settings.outcomes, value, sd, n))

    def _measured_place(self, trial: TrialLike | Point, params: Point) -> dict[str, Any]:
        """The point at which a trial was measured: of what is not given, as it was asked for."""
        if is_point(trial):
            raise TypeError("params say where a trial was measured, got a point instead of the trial")
        if not is_point(params):
            raise TypeError(f"params must be a mapping of parameters to measured values, got {params!r}")
        number = trial.number if isinstance(trial, Trial) else index(trial)
        place = point_where_measured(self.settings.space, self.history[number].target_params, params)
        warn_of_violations(self.settings.space, [place])
        return place

    def _place_of(self, point: Any, labels: Mapping[str, str]) -> dict[str, Any]:
        """The point at which what has these labels measured."""
        space = self.settings.space
        params = with_own_values(space, self.settings.sources, labels, in_the_names(space.names, dict(point)))
        place = measured_point_of(space, params)
        warn_of_violations(space, [place])
        return place

    def _of(self, outcome: str | None, reason: str | None) -> dict[str, Any]:
        names = [outcome.name for outcome in self.settings.outcomes]
        content = {} if reason is None else {"reason": str(reason)}
        if outcome is None:
            return content
        if not names:
            raise ValueError(f"outcome must not be given where there is only one, got {outcome!r}; leave it out")
        return {"outcome": one_of("outcome", outcome, names), **content}

    def _end(self, kind: str, content: dict[str, Any], trial: TrialLike | Point, params: Point | None = None) -> Trial:
        place = trial
        if params is not None:
            content = content | {"params": self._measured_place(trial, params)}
        if is_point(trial):
            place = self._place_of(trial, content.get("source", {}))
        settings = self._store.settings

        def end(state: State) -> list[Event]:
            event = end_event(state.history, kind, place, content, settings.sources)
            return with_exclusions(settings, state.history, [event])

        return self._commit(end)[-1]
