"""The record that people make of trials: values, failures and verdicts, one at a time or a table at once."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from robustbo.guidance import explain_misfits
from robustbo.searchspace.measurements import Measurement, columns_of_kinds, measurements_of
from robustbo.searchspace.tabular import (
    Point,
    warn_of_violations,
)
from robustbo.study.columns import with_plain_names
from robustbo.study.handing import TrialLike, end_events, warn_of_copies
from robustbo.study.judging import Judging
from robustbo.study.origin import MEASURED_AT, origin_of_cells, origin_to_record
from robustbo.study.possible import value_check, with_exclusions
from robustbo.trials.declared import check_source_name
from robustbo.trials.history import Trial
from robustbo.trials.outcome import OutOfRange
from robustbo.trials.sources import Source
from robustbo.trials.times import Time
from robustbo.trials.values import Noise, Value
from robustbo.validation import flag

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger("robustbo")


@explain_misfits()
class Recording(Judging):
    """A study that is told of measurements; `robustbo.Optimizer` also asks for them.

    Each event is in the journal before the call that caused it returns, and what a trial does not allow is not
    recorded.
    """

    def tell(
        self,
        trial: TrialLike | Point,
        value: Value,
        *,
        sd: Noise = None,
        source: Source | None = None,
        measured_at: Time | None = None,
        out_of_range: OutOfRange = "raise",
    ) -> Trial:
        """Record a measured value; it is kept when this returns.

        Args:
            trial: A trial or its number, or the parameters (a mapping or a pandas Series) of a measurement. Those of
                an open trial mean that trial; others were measured elsewhere.
            value: What was measured. One that is not finite is recorded as a failed trial and never modelled. Of
                several outcomes a mapping, in which some may be missing (or NaN): for them alone.
            sd: Standard deviation of the value's noise, where known; of several outcomes a mapping likewise.
            source: What measured it: a label such as "R3", or labels by kind, ``{"reactor": "R3", "operator": "B"}``;
                that which it was asked for by (`ask`) unless given. It is learned which source is in error.
            measured_at: When it was measured, where that is another time than now, or in another order than that of
                telling: a datetime, or a text such as "2026-11-24 14:10"; UTC unless it says otherwise.
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
        origin = origin_to_record(source, measured_at)
        check_source_name(self.settings.sources, origin.get("source", {}))
        return self._end(kind, content | origin, trial)

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

    def tell_frame(
        self,
        frame: pd.DataFrame,
        *,
        value: str = "value",
        sd: str | None = None,
        source: str | Sequence[str] = (),
        time: str | None = None,
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
            source: Columns that say what measured a row, each a kind of source: ``["reactor", "plate"]``; an empty cell
                says nothing. A column of `frame`, source.reactor, is meant by reactor too.
            time: The column that says when a row was measured (as ``measured_at`` of `tell`), if there is one: a source
                may be in error since a time.
            ignore_extra: Whether columns that are none of these are passed over.
            out_of_range: As for `tell`.

        Raises:
            SpaceError: If a column is missing or not known, or rows break a rule; the message tells of each.
        """
        space, outcomes = self.settings.space, [outcome.name for outcome in self.settings.outcomes]
        is_free, check = flag("ignore_extra", ignore_extra), value_check(self.settings, out_of_range)
        table, value = with_plain_names(self.settings, frame, value)
        rows = measurements_of(
            space,
            table,
            value=value,
            sd=sd,
            ignore_extra=is_free,
            outcomes=outcomes,
            check=check,
            origins=columns_of_kinds(space, table, source) | self._time_column(table, time),
            read_origin=origin_of_cells,
        )
        warn_of_violations(space, [row.params for row in rows])
        warn_of_copies(self.history, rows)
        contents = [self._content(row) for row in rows]
        for _, _, content in contents:
            check_source_name(self.settings.sources, content.get("source", {}))
        settings = self._store.settings
        return self._commit(
            lambda state: with_exclusions(settings, end_events(state.history, contents, settings.sources))
        )

    def _content(self, row: Measurement) -> tuple[Mapping[str, Any], str, dict[str, Any]]:
        """The point, kind and content of the event that a row is."""
        kind, content = self._value_content(row.value, row.sd)
        return row.params, kind, content | row.origin

    def _time_column(self, table: Any, time: str | None) -> dict[str, str]:
        """The column of times, if there is one."""
        columns = {} if time is None else columns_of_kinds(self.settings.space, table, time, "time")
        return {MEASURED_AT: next(iter(columns.values()))} if columns else {}
