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
from robustbo.study.copied import warn_of_copies, warn_of_equal_rows
from robustbo.study.handing import TrialLike, end_events
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
        """Record a measured value; with a journal, it is on disk when this returns.

        Args:
            trial: A trial, its number, or a point (a mapping or a pandas Series). The point of an open trial means that
                trial; any other point becomes a trial of its own.
            value: The measured value. A value that is not finite is recorded as a failed trial. With several outcomes,
                a mapping; a missing outcome (or NaN) fails alone.
            sd: Standard deviation of the noise of a measurement, if known; with several outcomes a mapping. If you give
                it for some values only, the surrogate learns the noise of the others.
            source: What measured the value: labels by kind, ``{"reactor": "R3", "operator": "B"}``, or one label such
                as "R3", which belongs to the only kind, or else to the kind "source"; by default the source of the ask
                (`ask(by=)`). The surrogate learns which source is in error.
            measured_at: Time of the measurement, if that is not now: a datetime, or text such as "2026-11-24 14:10", in
                UTC unless it names another zone.
            labels: Further facts to keep with the trial, such as ``{"name": "Knock Hill", "lot": 7}``.
            out_of_range: What to do with an impossible value (see `Outcome`): "raise", or "exclude" it.
            n: Number of measurements whose mean is the value, 1 by default: its noise variance is sd^2 / n, or the
                learned variance divided by n.
            params: The measured point if it differs from the trial's, for example a readback: the parameters that
                differ, or all. The trial ends there, inside the space or not; `Trial.target` keeps the point that was
                asked for.

        Returns:
            The trial after the call. A further value of a trial that was given out more than once is a trial of its
            own, which repeats the first.

        Raises:
            ValueError: If the trial has ended or does not exist, sd is negative, or the value is not possible.
            SpaceError: If the surrogate cannot model the point. Outside bounds and steps it can, with a `SpaceWarning`.
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
            trial: A trial or its number, or the parameters of a measurement, as for `tell`. A trial that has failed
                already keeps its reason, and takes the new ``retry``.
            reason: What happened, for people.
            retry: Your own verdict, if you know the cause: True for a flake (the next ask returns the point again),
                False if the point is to blame (no ask returns it again). By default, the model of failures judges.
            params: The point where it failed, if that differs from the point asked for, as for `tell`.
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
        """Record that a trial will not be measured, without a judgment of its point.

        The trial is neither pending nor failed, and the surrogate learns nothing from it; no ask returns its exact
        point. You can still tell a value, and `requeue` takes the call back.

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
        """Record measurements made before or elsewhere, one in each row: all, or none if a row breaks a rule.

        A row at the point of an open trial is that trial's value, as for `tell`. A row that was told before is told
        again, as a repeat, with a warning: copies of a value confirm each other.

        Args:
            frame: One column for each parameter, one for the values, and perhaps one for the standard deviations of
                their noise (NaN if unknown). A value that is not finite is recorded as a failed trial.
            value: The column of values; by default "value", or the outcome's name. Several outcomes have one column
                each, by their names. A name may have its unit behind it: "yield (%)".
            sd: The column of the noise's standard deviation; by default "sd", if it exists and is no parameter. With
                several outcomes the columns are OUTCOME.sd.
            n: The column with the number of measurements whose mean is the value; by default "n", if it exists, is no
                parameter, and ``ignore_extra`` is False. With several outcomes the columns are OUTCOME.n.
            source: Columns that name what measured a row, one for each kind: ``["reactor", "plate"]``; an empty cell
                names nothing. "reactor" also means a column source.reactor, as `frame` writes it.
            time: The column of the time of measurement (as ``measured_at`` of `tell`): a source may be in error since a
                time.
            trial: The column with the number of the row's trial, if it was asked for; the row's point is then the
                measured one, as ``params`` of `tell`. An empty cell names no trial.
            labels: Columns that are kept with the trials for people: their names, or columns by label; True for all
                that are none of these, and the index where it has texts, as the label "name" by which reports call a
                trial.
                Columns label.NAME, as `frame` has them, are kept anyway.
            ignore_extra: Whether to ignore all other columns.
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
        warn_of_equal_rows(space, table, outcomes or [value])
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
