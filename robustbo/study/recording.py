"""The record that people make of trials: values, failures and verdicts, one at a time or a table at once."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from robustbo.guidance import explain_misfits
from robustbo.searchspace.measurements import measurements_of
from robustbo.searchspace.tabular import (
    Point,
    is_point,
    point_of,
    warn_of_violations,
)
from robustbo.study.columns import with_plain_names
from robustbo.study.handing import TrialLike, end_event, end_events, value_content, warn_of_copies
from robustbo.study.possible import check_possible, value_check, with_exclusions
from robustbo.study.queueing import Queueing
from robustbo.trials.history import Trial
from robustbo.trials.outcome import OutOfRange
from robustbo.trials.values import Noise, Value, values_to_record
from robustbo.validation import flag, one_of

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger("robustbo")


@explain_misfits()
class Recording(Queueing):
    """A study that is told of measurements; `robustbo.Optimizer` also asks for them.

    Each event is in the journal before the call that caused it returns, and what a trial does not allow is not
    recorded.
    """

    def tell(
        self, trial: TrialLike | Point, value: Value, *, sd: Noise = None, out_of_range: OutOfRange = "raise"
    ) -> Trial:
        """Record a measured value; it is kept when this returns.

        Args:
            trial: A trial or its number, or the parameters (a mapping or a pandas Series) of a measurement. Those of
                an open trial mean that trial; others were measured elsewhere.
            value: What was measured. One that is not finite is recorded as a failed trial and never modelled. Of
                several outcomes a mapping, in which some may be missing (or NaN): for them alone.
            sd: Standard deviation of the value's noise, where known; of several outcomes a mapping likewise.
            out_of_range: What to do with a value that is not possible (see `Outcome`): "raise", or "exclude" it.

        Returns:
            The trial as it is now. A late value of a trial that was given out more than once, and has been told, is
            a trial of its own that repeats it.

        Raises:
            ValueError: If the trial has ended, there is none, sd is negative, or the value is not possible.
            SpaceError: If the parameters are no point of the space.
        """
        kind, content = self._value_content(value, sd)
        if kind == "tell":
            value_check(self.settings, out_of_range)(content["value"])
        return self._end(kind, content, trial)

    def fail(self, trial: TrialLike | Point, reason: str = "failed", *, retry: bool | None = None) -> Trial:
        """Record that a trial gave no value: asks stay away from where trials fail (`failures` says why they did).

        Args:
            trial: A trial or its number, or the parameters of a measurement, as for `tell`. One that has failed already
                keeps its reason, and takes your word (``retry``).
            reason: What happened, for people.
            retry: Your own word, where you know: True for a flake that had nothing to do with the point (it says
                nothing of it then, and is asked for again), False where it lies in the point (it is never asked for
                again). Unless given, the model of failures judges.

        Raises:
            ValueError: If the trial has ended otherwise, or there is none.
            SpaceError: If the parameters are no point of the space.
        """
        word: dict[str, Any] = {} if retry is None else {"retry": flag("retry", retry)}
        return self._end("fail", {"reason": str(reason), **word}, trial)

    def exclude(self, trial: TrialLike, *, outcome: str | None = None, reason: str | None = None) -> Trial:
        """Record your own verdict that a told value is wrong: it is kept, but no longer modelled.

        Args:
            trial: Which one.
            outcome: Which of several outcomes; all unless given.
            reason: Why, for people; kept in the journal, and as the ``note`` of the trial, or of the outcome.
        """
        return self._end("exclude", self._of(outcome, reason), trial)

    def include(self, trial: TrialLike, *, outcome: str | None = None, reason: str | None = None) -> Trial:
        """Vouch for a value, flagged or excluded: it is believed, whatever the model says.

        An `exclude` or `amend` takes the word back.

        Its point may be measured again all the same. The fit gives it the weight of the surrogate's method: under
        relevance pursuit, the default, the weight of any other value.

        Args:
            trial: Which one.
            outcome: Which of several outcomes; all unless given.
            reason: Why, for people.
        """
        return self._end("include", {"vouch": True, **self._of(outcome, reason)}, trial)

    def amend(self, trial: TrialLike, value: Value, *, sd: Noise = None) -> Trial:
        """Record a corrected value of a told, excluded or failed trial; the old one stays in the journal.

        Of several outcomes only those that are given change; one that was missing is there then.

        Raises:
            ValueError: If the value is not finite or not possible (exclude the trial instead), or the trial is pending.
        """
        kind, content = self._value_content(value, sd)
        if kind != "tell" or (isinstance(value, Mapping) and len(content["value"]) < len(value)):
            raise ValueError(f"value must be finite to amend a trial, got {value}; use exclude to leave it out")
        check_possible(self.settings, "amend takes the right value; use exclude to leave it out")(content["value"])
        return self._end("amend", content, trial)

    def _value_content(self, value: Value, sd: Noise) -> tuple[str, dict[str, Any]]:
        return value_content(*values_to_record(self.settings.outcomes, value, sd))

    def _of(self, outcome: str | None, reason: str | None) -> dict[str, Any]:
        names = [outcome.name for outcome in self.settings.outcomes]
        content = {} if reason is None else {"reason": str(reason)}
        if outcome is None:
            return content
        if not names:
            raise ValueError(f"outcome must not be given where there is only one, got {outcome!r}; leave it out")
        return {"outcome": one_of("outcome", outcome, names), **content}

    def tell_frame(
        self,
        frame: pd.DataFrame,
        *,
        value: str = "value",
        sd: str | None = None,
        ignore_extra: bool = False,
        out_of_range: OutOfRange = "raise",
    ) -> list[Trial]:
        """Record measurements made before or elsewhere, a row each: all of them, or none where a row breaks a rule.

        A row at the point of an open trial is that trial's value, as for `tell`. A row that has been told already is
        told again, as a repeat, with a warning: copies of a value confirm each other.

        Args:
            frame: A column a parameter, one of values, and one of their noise's standard deviations where known (NaN
                where not). A value that is not finite is recorded as a failed trial.
            value: The name of the column of values: unless given "value", or what the outcome is called. Several
                outcomes have a column each, by their names. A name may be followed by the unit: "yield (%)".
            sd: That of the noise; unless given "sd", if there is one and it is no parameter. Of several outcomes the
                columns are OUTCOME.sd.
            ignore_extra: Whether columns that are none of these are passed over.
            out_of_range: As for `tell`.

        Raises:
            SpaceError: If a column is missing or not known, or rows break a rule; the message tells of each.
        """
        space, outcomes = self.settings.space, [outcome.name for outcome in self.settings.outcomes]
        is_free, check = flag("ignore_extra", ignore_extra), value_check(self.settings, out_of_range)
        table, value = with_plain_names(self.settings, frame, value)
        rows = measurements_of(space, table, value=value, sd=sd, ignore_extra=is_free, outcomes=outcomes, check=check)
        warn_of_violations(space, [params for params, _, _ in rows])
        warn_of_copies(self.history, rows)
        contents = [(params, *self._value_content(*measurement_row)) for params, *measurement_row in rows]
        return self._commit(lambda state: with_exclusions(self._store.settings, end_events(state.history, contents)))

    def _end(self, kind: str, content: dict[str, Any], trial: TrialLike | Point) -> Trial:
        place = trial
        if is_point(trial):
            space = self.settings.space
            place = point_of(space, trial)
            warn_of_violations(space, [place])
        settings = self._store.settings
        trials = self._commit(lambda state: with_exclusions(settings, [end_event(state.history, kind, place, content)]))
        return trials[-1]
