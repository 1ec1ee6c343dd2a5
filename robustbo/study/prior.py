"""Measurements from before an optimization began: of a table, a journal, or another study."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from robustbo.censored import to_json
from robustbo.errors import JournalWarning, SpaceError, SpaceWarning, warn
from robustbo.searchspace.measured_columns import COUNT, count_columns, is_numbering
from robustbo.searchspace.measurements import Measurement, measurements_of
from robustbo.searchspace.tabular import TABLES, convert_rows, is_frame
from robustbo.study.columns import readable_labels, readable_origins, with_names, with_plain_values
from robustbo.study.copied import measurement, warn_of_equal_rows
from robustbo.study.handing import end_events, value_content
from robustbo.study.origin import origin_of_cells, origin_to_record
from robustbo.study.possible import check_possible
from robustbo.study.source_columns import check_table, names_in, with_values_of_sources
from robustbo.study.study import Study
from robustbo.trials.codec import open_journal
from robustbo.trials.declared import check_source_name, source_in, target_of
from robustbo.trials.history import History
from robustbo.trials.identity import point_of
from robustbo.trials.labels import read_labels
from robustbo.trials.noise import noise_entry, single_noise
from robustbo.trials.settings import Settings
from robustbo.trials.source_space import with_own_values
from robustbo.trials.sources import DEFAULT_KIND
from robustbo.trials.storage.line import Event
from robustbo.trials.storage.passwords import hide_passwords
from robustbo.trials.store import State, Store
from robustbo.trials.trial import Trial
from robustbo.trials.values import values_to_record
from robustbo.view.frame import VALUE

if TYPE_CHECKING:
    import pandas as pd

Prior: TypeAlias = Union["pd.DataFrame", Study, str, PathLike[str]]  # a journal by its place
LATER = "leave the row out, and keep it, if need be, by tell_frame(..., out_of_range='exclude')"
Content = tuple[Mapping[str, Any], str, Mapping[str, Any]]  # point, kind of event, what else it holds


def prior_contents(settings: Settings, prior: Prior, source: str | None = None) -> list[Content]:
    """The measurements in a data frame, in another journal, or in a study.

    Of a frame, columns source, source.KIND and measured_at are what measured a row, and when; others are labels.
    Of a journal or a study these are the trials that were told or have failed; what is excluded or pending is not.

    Args:
        settings: Those of the study.
        prior: The measurements.
        source: The declared source that they are of: what it does not have, it has by its own word.

    Raises:
        SpaceError: If a point is not in the space; the message names each.
        ValueError: If the other optimization goes the other way, or a value of its is not possible.
    """
    if is_frame(prior):
        return _contents_of_table(settings, prior, source)
    if not isinstance(prior, Study | str | PathLike):
        rule = "prior_data must be a data frame, a study, or a journal's file or address"
        raise TypeError(f"{rule}, got {prior!r}; pd.DataFrame(...) makes a frame of rows or columns")
    if isinstance(prior, str | PathLike) and str(prior).lower().endswith(TABLES):
        raise TypeError(
            f"prior_data must be a journal or a data frame, got {hide_passwords(str(prior))!r}; read it by pandas first"
        )
    prior_settings, history = (prior.settings, prior.history) if isinstance(prior, Study) else open_journal(prior)
    if (names_here := _outcome_names(settings)) != (other := _outcome_names(prior_settings)):
        raise ValueError(
            f"prior_data must be of an optimization of the same outcomes, {names_here}, got one of {other}"
        )
    if not settings.outcomes and prior_settings.direction != settings.direction and source is None:
        ways = f"is to {prior_settings.direction}, this one is to {settings.direction}"
        raise ValueError(f"prior_data must have the direction of this study: its study {ways}")
    return _contents_of_history(settings, history, source)


def _contents_of_table(settings: Settings, frame: Any, source: str | None) -> list[Content]:
    """The measurements in a data frame."""
    names, check = [outcome.name for outcome in settings.outcomes], check_possible(settings, LATER)
    table, value = with_plain_values(settings, with_names(frame), VALUE)
    check_table(settings, table, source)
    warn_of_equal_rows(settings.space, table, names or [value])
    declared, own = settings.sources, {} if source is None else {DEFAULT_KIND: source}
    origins = readable_origins(settings, table, value, source)
    of_rows = [source] * len(table) if own else names_in(declared, table, origins.get(DEFAULT_KIND))
    table = with_values_of_sources(settings, table, of_rows)
    count = _count_column(settings, table, value)
    rows = measurements_of(
        settings.space,
        table,
        value=value,
        sd=None,
        n=count,
        ignore_extra=True,
        outcomes=names,
        check=check,
        origins=origins | readable_labels(settings, table, value, count, origins.values()),
        read_origin=origin_of_cells,
        is_checked=lambda origin: source_in(declared, {**origin.get("source", {}), **own}) is None,
    )
    for row in rows:
        check_source_name(declared, row.origin.get("source", {}))
    return [(row.params, *_content_of(settings.outcomes, row)) for row in rows]


def _count_column(settings: Settings, table: pd.DataFrame, value: str) -> str | None:
    """The column "n", if it can be how many measurements the values are means of, and does not number the rows."""
    if settings.outcomes:
        return None
    if count_columns(settings.space, table, {value: None}, None, is_free=False).get(value) != COUNT:
        return None
    counts = [n for n in table[COUNT].dropna().tolist() if isinstance(n, int | float) and not isinstance(n, bool)]
    if not counts or len(counts) < table[COUNT].count() or not all(n >= 1 and n % 1 == 0 for n in counts):
        return None
    if is_numbering(counts):
        return None
    if max(counts) > 1:
        meaning = "how many measurements each value is the mean of"
        warn(f"column {COUNT!r} is read as {meaning}; rename it if it is something else", SpaceWarning)
    return COUNT


def _contents_of_history(settings: Settings, history: History, source: str | None) -> list[Content]:
    """The trials of another optimization that were told or have failed."""
    trials = [t for t in history if t.state == "failed" or (t.state == "told" and _value_of(t)["value"] != {})]
    trials = trials if source is None else [_in_space(settings, source, trial) for trial in trials]
    try:
        points = convert_rows([(trial.number, trial.params) for trial in trials], settings.space.measured_point)
        for trial in trials:
            if trial.state == "told" and source in (None, target_of(settings.sources)):
                check_possible(settings, f"it is that of its trial {trial.number}; exclude it there")(
                    _value_of(trial)["value"]
                )
    except ValueError as error:
        raise SpaceError(f"prior_data: {error}") from error
    contents = [
        ("tell", _value_of(t) | origin_to_record(t.sources, t.measured_at, t.labels))
        if t.state == "told"
        else ("fail", {"reason": t.reason or "failed"} | ({} if t.retry is None else {"retry": t.retry}))
        for t in trials
    ]
    return [(params, *content) for params, content in zip(points, contents, strict=True)]


def _in_space(settings: Settings, source: str, trial: Trial) -> Trial:
    """A trial of a source's own study in this one: what only that has of parameters are labels here."""
    names = settings.space.names
    params = {name: value for name, value in trial.params.items() if name in names}
    further = {name: value for name, value in trial.params.items() if name not in names}
    own = with_own_values(settings.space, settings.sources, {DEFAULT_KIND: source}, params)
    return replace(trial, params=dict(own), labels=read_labels(further) | trial.labels)


def _content_of(outcomes: Any, row: Measurement) -> tuple[str, dict[str, Any]]:
    """The kind and the content of the event that a row is."""
    kind, content = value_content(*values_to_record(outcomes, row.value, row.sd, row.n))
    return kind, content | row.origin


def _outcome_names(settings: Settings) -> str:
    """The outcomes that are told by name, in words."""
    return (
        f"{sorted(outcome.name for outcome in settings.outcomes)}" if settings.outcomes else "one value without a name"
    )


def _value_of(trial: Trial) -> dict[str, Any]:
    """Value and noise that a trial was told, without the outcomes that are excluded."""
    if not trial.outcomes:
        return {"value": None if trial.value is None else to_json(trial.value), "sd": noise_entry(*single_noise(trial))}
    outcomes = {
        name: outcome
        for name, outcome in trial.outcomes.items()
        if outcome.value is not None and not outcome.is_excluded
    }
    values = {name: to_json(outcome.value) for name, outcome in outcomes.items() if outcome.value is not None}
    return {"value": values, "sd": {name: noise_entry(*single_noise(outcome)) for name, outcome in outcomes.items()}}


def tell_before_all(store: Store, contents: Sequence[Content]) -> None:
    """Record measurements where nothing is recorded yet: all of them, or none; say so where others are missing."""

    def first(state: State) -> Sequence[Event]:
        return [] if len(state.history) else end_events(state.history, contents)

    if store.commit(first):
        return
    trials = store.state.history
    recorded = {measurement(trial.point, value) for trial in trials for value in trial.raw_values}
    rows = [(point_of(params), content.get("value")) for params, _, content in contents]
    trials_at, rows_at = Counter(trial.point for trial in trials), Counter(point for point, _ in rows)
    points = [point for point, value in rows if measurement(point, value) not in recorded]
    is_there = [rows_at[point] <= trials_at[point] for point in points]
    if changed := sum(is_there):
        text = (
            f"{changed} of {len(contents)} rows of prior_data have another value than the journal, which keeps its own"
        )
        warn(f"{text}; amend corrects a value that is wrong there", JournalWarning)
    if missing := len(is_there) - changed:
        text = f"{missing} of {len(contents)} rows of prior_data are not in the journal, which was begun before"
        warn(f"{text}; tell them with tell_frame", JournalWarning)
