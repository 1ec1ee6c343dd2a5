"""The record that people make of trials: values, failures and verdicts, one at a time or a table at once."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from robustbo.guidance import explain_misfits
from robustbo.searchspace.measurements import Measurement, columns_of_kinds, measurements_of
from robustbo.searchspace.tabular import (
    Point,
    warn_of_violations,
)
from robustbo.study.columns import label_columns_of, with_names, with_plain_values
from robustbo.study.handing import TrialLike, end_events, warn_of_copies
from robustbo.study.judging import Judging
from robustbo.study.origin import MEASURED_AT, OF_TRIAL, check_time, origin_of_cells, origin_to_record
from robustbo.study.possible import is_of_target, value_check, with_exclusions
from robustbo.study.source_columns import names_in, with_values_of_sources
from robustbo.study.sources import labels_by_declaration
from robustbo.trials.declared import check_source_name, source_in
from robustbo.trials.history import Trial
from robustbo.trials.noise import Count
from robustbo.trials.outcome import OutOfRange
from robustbo.trials.sources import DEFAULT_KIND, Source
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
        labels: Mapping[str, Any] | None = None,
        out_of_range: OutOfRange = "raise",
        n: Count | None = None,
        params: Point | None = None,
    ) -> Trial:
        """Record a measured value; it is kept when this returns.

        Args:
            trial: A trial or its number, or the parameters (a mapping or a pandas Series) of a measurement. Those of
                an open trial mean that trial; others were measured elsewhere.
            value: What was measured. One that is not finite is recorded as a failed trial and never modelled. Of
                several outcomes a mapping, in which some may be missing (or NaN): for them alone.
            sd: Standard deviation of the noise of a measurement, where known; of several outcomes a mapping likewise.
                It may be known for some values alone: that of the others is learned beside it.
            source: What measured it: labels by kind, ``{"reactor": "R3", "operator": "B"}``, or a mere label such as
                "R3", which is of the only kind that there is, or else of the kind "source"; that which it was asked for
                by (`ask`) unless given. It is learned which source is in error.
            measured_at: When it was measured, where that is another time than now, or in another order than that of
                telling: a datetime, or a text such as "2026-11-24 14:10"; UTC unless it says otherwise.
            labels: What else is to be kept with the trial for people, such as ``{"name": "Knock Hill", "lot": 7}``.
            out_of_range: What to do with a value that is not possible (see `Outcome`): "raise", or "exclude" it.
            n: Of how many measurements the value is the mean, 1 unless given: its noise variance is sd^2 / n, or where
                no sd is known, the learned one by n.
            params: Where a trial was measured, if not just where it was asked for, as by a readback: the parameters
                that differ, or all. It is closed, and modelled there, outside the space too (`Trial.target` keeps the
                other).

        Returns:
            The trial as it is now. A late value of a trial that was given out more than once, and has been told, is
            a trial of its own that repeats it.

        Raises:
            ValueError: If the trial has ended, there is none, sd is negative, or the value is not possible.
            SpaceError: If the parameters cannot be modelled. Outside bounds and steps they can, and a `SpaceWarning`
                says so.
        """
        kind, content = self._value_content(value, sd, n)
        kinds = labels_by_declaration(self.settings.sources, self.history, source)
        if kind == "tell" and is_of_target(self.settings, self.history, trial, kinds):
            value_check(self.settings, out_of_range)(content["value"])
        origin = origin_to_record(kinds, check_time(measured_at), labels)
        return self._end(kind, content | origin, trial, params)

    def fail(
        self,
        trial: TrialLike | Point,
        reason: str = "failed",
        *,
        retry: bool | None = None,
        params: Point | None = None,
        labels: Mapping[str, Any] | None = None,
        source: Source | None = None,
    ) -> Trial:
        """Record that a trial gave no value: asks stay away from where trials fail (`failures` says why they did).

        Args:
            trial: A trial or its number, or the parameters of a measurement, as for `tell`. One that has failed already
                keeps its reason, and takes your word (``retry``).
            reason: What happened, for people.
            retry: Your own word, where you know: True for a flake that had nothing to do with the point (it says
                nothing of it then, and is asked for again), False where it lies in the point (it is never asked for
                again). Unless given, the model of failures judges.
            params: Where it failed, if not just where it was asked for, as for `tell`.
            labels, source: As for `tell`.

        Raises:
            ValueError: If the trial has ended otherwise, or there is none.
            SpaceError: If the parameters cannot be modelled, as for `tell`.
        """
        word: dict[str, Any] = {} if retry is None else {"retry": flag("retry", retry)}
        kinds = labels_by_declaration(self.settings.sources, self.history, source)
        origin = origin_to_record(kinds, None, labels)
        return self._end("fail", {"reason": str(reason), **word} | origin, trial, params)

    def withdraw(self, trial: TrialLike, reason: str | None = None) -> Trial:
        """Record that nobody will measure a trial, and that this says nothing of its point.

        It is neither pending nor failed, and nothing is learned from it; asks do not come back to its very point. A
        value that comes after all is told as ever, and `requeue` takes the word back.

        Args:
            trial: A trial or its number: one that waits, is being measured, or was taken for a failure.
            reason: Why, for people.

        Raises:
            ValueError: If the trial has been told, or there is none.

        Example:
            >>> import robustbo as rb
            >>> opt = rb.Optimizer(rb.Space(x=rb.Float(0.0, 1.0)), direction="minimize", seed=0)
            >>> opt.withdraw(opt.ask(), "the reagent is used up").state, opt.pending()
            ('withdrawn', [])
        """
        return self._end("withdraw", {} if reason is None else {"reason": str(reason)}, trial)

    def tell_frame(
        self,
        frame: pd.DataFrame,
        *,
        value: str = "value",
        sd: str | None = None,
        n: str | None = None,
        source: str | Sequence[str] = (),
        time: str | None = None,
        trial: str | None = None,
        labels: bool | str | Sequence[str] | Mapping[str, str] = False,
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
            n: That of how many measurements a value is the mean of; unless given "n", if there is one, it is no
                parameter, and no extra columns are passed over. Of several outcomes the columns are OUTCOME.n.
            source: Columns that say what measured a row, each a kind of source: ``["reactor", "plate"]``; an empty cell
                says nothing. A column of `frame`, source.reactor, is meant by reactor too.
            time: The column that says when a row was measured (as ``measured_at`` of `tell`), if there is one: a source
                may be in error since a time.
            trial: The column with the number of the trial that a row is of, where it was asked for: the row's point is
                where it was measured, as ``params`` of `tell`. An empty cell names none.
            labels: Columns that are kept with the trials for people: their names, or columns by label; True for all
                that are none of these, and the index where it has texts, as the label "name" by which reports call a
                trial.
                Columns label.NAME, as `frame` has them, are kept anyway.
            ignore_extra: Whether columns that are none of these are passed over.
            out_of_range: As for `tell`.

        Raises:
            SpaceError: If a column is missing or not known, or rows break a rule; the message tells of each.
        """
        space, outcomes = self.settings.space, [outcome.name for outcome in self.settings.outcomes]
        is_free, check = flag("ignore_extra", ignore_extra), value_check(self.settings, out_of_range)
        table, value = with_plain_values(self.settings, with_names(frame) if labels is True else frame, value)
        occupied = [*outcomes, *(f"{name}.sd" for name in outcomes)] if outcomes else [value, sd or "sd"]
        origins = self._origin_columns(table, source, time, trial, occupied)
        names = names_in(self.settings.sources, table, origins.get(DEFAULT_KIND))
        table = with_values_of_sources(self.settings, table, names)
        claimed = [*origins.values(), value, f"{value}.sign", sd, n]
        rows = measurements_of(
            space,
            table,
            value=value,
            sd=sd,
            n=n,
            ignore_extra=is_free,
            outcomes=outcomes,
            check=check,
            origins=origins | label_columns_of(self.settings, table, labels, claimed),
            read_origin=origin_of_cells,
            is_checked=lambda origin: source_in(self.settings.sources, origin.get("source", {})) is None,
        )
        warn_of_violations(space, [row.params for row in rows])
        warn_of_copies(self.history, rows)
        contents = [self._content(row) for row in rows]
        for _, _, content in contents:
            check_source_name(self.settings.sources, content.get("source", {}))
        settings = self._store.settings
        return self._commit(
            lambda state: with_exclusions(
                settings, state.history, end_events(state.history, contents, settings.sources)
            )
        )

    def _content(self, row: Measurement) -> tuple[Mapping[str, Any], str, dict[str, Any]]:
        """The point, kind and content of the event that a row is."""
        kind, content = self._value_content(row.value, row.sd, row.n)
        return row.params, kind, content | row.origin

    def _origin_columns(
        self, table: Any, source: str | Sequence[str], time: str | None, trial: str | None, occupied: Collection[str]
    ) -> dict[str, str]:
        """The columns that say what measured a row, when, and for which trial."""
        return (
            columns_of_kinds(self.settings.space, table, source, occupied=occupied)
            | self._own_column(table, "time", time, MEASURED_AT, occupied)
            | self._own_column(table, "trial", trial, OF_TRIAL, occupied)
        )

    def _own_column(
        self, table: Any, argument: str, column: str | None, key: str, occupied: Collection[str]
    ) -> dict[str, str]:
        """The column that an argument names, under a key of an event, if there is one."""
        columns = {} if column is None else columns_of_kinds(self.settings.space, table, column, argument, occupied)
        return {key: next(iter(columns.values()))} if columns else {}
