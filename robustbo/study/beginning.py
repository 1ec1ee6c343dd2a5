"""The beginning of an optimization: with a new journal or an old one, and with what was measured before."""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from robustbo.censored import to_json
from robustbo.errors import JournalError, JournalExists, JournalMissing, JournalWarning, SpaceError, warn
from robustbo.lazy import Module
from robustbo.searchspace.measurements import measurements_of
from robustbo.searchspace.space import Space
from robustbo.searchspace.tabular import is_frame, points_of
from robustbo.study.columns import check_names, with_plain_names
from robustbo.study.handing import end_events, measurement, value_content
from robustbo.study.origin import origin_to_record
from robustbo.study.possible import check_possible
from robustbo.study.study import Study
from robustbo.surrogates.names import SurrogateName, name_of
from robustbo.trials.codec import open_journal
from robustbo.trials.codec import settings_of as header_settings
from robustbo.trials.differences import differences
from robustbo.trials.extent import space_of
from robustbo.trials.settings import DEFAULT_SURROGATE, Direction, Settings, default_num_initial, options_text
from robustbo.trials.storage.line import Event
from robustbo.trials.storage.passwords import hide_passwords
from robustbo.trials.storage.places import contents, is_address
from robustbo.trials.store import State, Store
from robustbo.trials.trial import Trial, point_of
from robustbo.trials.values import values_to_record
from robustbo.view.frame import VALUE

if TYPE_CHECKING:
    import pandas as pd
    from botorch.models.gpytorch import GPyTorchModel

    from robustbo.surrogates import registry
else:
    registry = Module("robustbo.surrogates.registry")

log = logging.getLogger("robustbo")

Prior: TypeAlias = Union["pd.DataFrame", Study, str, PathLike[str]]  # a journal by its place
LATER = "leave the row out, and keep it, if need be, by tell_frame(..., out_of_range='exclude')"
NO_DIRECTION = (
    'direction must be "minimize" or "maximize", got none; say which (or of several outcomes, or of one with a name, '
    "objectives, each with its direction)"
)
Content = tuple[Mapping[str, Any], str, Mapping[str, Any]]  # point, kind of event, what else it holds


def settings_of(
    space: Space,
    direction: Direction | None = None,
    *,
    surrogate: SurrogateName | type[GPyTorchModel] = "auto",
    surrogate_options: Mapping[str, Any] | None = None,
    num_initial: int | None = None,
    committee_from: int | None = None,
    seed: int | None = None,
    **rest: Any,
) -> Settings:
    """Settings as people give them: "auto" and None are what they stand for, and a seed is drawn unless said.

    A direction of None is that of the objectives, where there are some, else "minimize".

    Raises:
        ValueError, TypeError: If an argument breaks its rule; the message says which.
    """
    name = name_of(DEFAULT_SURROGATE if surrogate == "auto" else surrogate)
    if surrogate_options:
        registry.check_options(name, surrogate_options)
    settings = Settings(
        space=space,
        direction="minimize" if direction is None else direction,
        surrogate=name,
        options=options_text(surrogate_options),
        num_initial=default_num_initial(space) if num_initial is None else num_initial,
        committee_from=committee_from if surrogate == "auto" else None,
        seed=secrets.randbits(31) if seed is None else seed,
        **rest,
    )
    if direction not in (None, settings.direction):
        raise ValueError(f"direction is that of one value without a name, objectives say theirs, got {direction!r}")
    check_names(settings)
    return settings


def check_space(space: Any) -> None:
    """Raise a `TypeError` for what is no space; it says how to make one of it."""
    if isinstance(space, Space):
        return
    name = "Space" if isinstance(space, Mapping) else "Pool" if is_frame(space) else ""
    advice = f"; write robustbo.{name}(...) around it" if name else ""
    raise TypeError(f"space must be a robustbo.Space, or robustbo.Pool(table), got {type(space).__name__}{advice}")


def journal_direction(journal: str | PathLike[str] | None, if_exists: str) -> Direction:
    """The direction of a journal that is resumed, for those who give none.

    Raises:
        ValueError: If there is no such journal: nobody has said which way to go.
        JournalError: If it cannot be read.
    """
    if journal is not None and if_exists == "resume":
        with suppress(JournalMissing):
            return header_settings(journal, contents(journal).header).direction
    raise ValueError(NO_DIRECTION)


def create_or_resume(
    settings: Settings, journal: str | PathLike[str] | None, *, if_exists: str, defaulted: Iterable[str]
) -> Store:
    """Create the store of an optimization, or resume it where that is wanted and it has the same settings.

    Args:
        settings: As they are given.
        journal: Where its journal is, or is to be.
        if_exists: "error" or "resume".
        defaulted: The settings that nobody gave, which are those of an old journal.

    Raises:
        JournalError: If the journal exists and is not to be resumed, or was begun with other settings.
        ValueError: If one is to be resumed, and none is named.
    """
    if journal is None and if_exists == "resume":
        raise ValueError(
            "if_exists must come with a journal that may exist; give journal='study.jsonl', or leave it out"
        )
    folder = None if journal is None or is_address(journal) else Path(journal).expanduser().parent
    is_new = folder is not None and not os.path.isdir(folder)  # which raises nothing
    try:
        store = Store.create(settings, journal)
    except JournalExists:
        if if_exists == "error" or journal is None:
            raise
    else:
        if is_new:
            log.warning("the folder %s was not there; it has been made", folder)
        if "seed" in defaulted:
            log.warning("seed %d was drawn; another run with this seed has the same asks", settings.seed)
        return store
    store = Store.resume(journal, [settings.surrogate, settings.surrogate_options.get("cluster") or ""])
    requested = replace(settings, **{name: getattr(store.settings, name) for name in defaulted})
    if requested.space == space_of(store.settings, store.state.history):  # a pool, to which rows have been added
        requested = replace(requested, space=store.settings.space)
    if conflicts := differences(requested, store.settings):
        raise JournalError(
            "the settings must be those that the journal was begun with; they differ: " + "; ".join(conflicts)
        )
    return store


def prior_contents(settings: Settings, prior: Prior) -> list[Content]:
    """The measurements in a data frame (whose other columns are passed over), in another journal, or in a study.

    Of a journal or a study these are the trials that were told or have failed; what is excluded or pending is not.

    Raises:
        SpaceError: If any is no point of the space; the message tells of each.
        ValueError: If the other optimization goes the other way, or a value of its is not possible.
    """
    space, outcomes = settings.space, settings.outcomes
    if is_frame(prior):
        names, check = [outcome.name for outcome in outcomes], check_possible(settings, LATER)
        table, value = with_plain_names(settings, prior, VALUE)
        rows = measurements_of(space, table, value=value, sd=None, ignore_extra=True, outcomes=names, check=check)
        return [(row.params, *value_content(*values_to_record(outcomes, row.value, row.sd))) for row in rows]
    if not isinstance(prior, Study | str | PathLike):
        rule = "prior_data must be a data frame, a study, or a journal's file or address"
        raise TypeError(f"{rule}, got {prior!r}; pd.DataFrame(...) makes a frame of rows or columns")
    if isinstance(prior, str | PathLike) and str(prior).endswith((".csv", ".xlsx")):
        raise TypeError(
            f"prior_data must be a journal or a data frame, got {hide_passwords(str(prior))!r}; read it by pandas first"
        )
    prior_settings, history = (prior.settings, prior.history) if isinstance(prior, Study) else open_journal(prior)
    if (names_here := _outcome_names(settings)) != (other := _outcome_names(prior_settings)):
        raise ValueError(
            f"prior_data must be of an optimization of the same outcomes, {names_here}, got one of {other}"
        )
    if not outcomes and prior_settings.direction != settings.direction:
        ways = f"that is to {prior_settings.direction}, this one is to {settings.direction}"
        raise ValueError(f"prior_data is of an optimization {ways}")
    trials = [t for t in history if t.state == "failed" or (t.state == "told" and _value_of(t)["value"] != {})]
    try:
        points = points_of(space, [trial.params for trial in trials])
        for trial in trials:
            if trial.state == "told":
                check_possible(settings, f"it is that of its trial {trial.number}; exclude it there")(
                    _value_of(trial)["value"]
                )
    except ValueError as error:
        raise SpaceError(f"prior_data: {error}") from error
    contents = [
        ("tell", _value_of(t) | origin_to_record(t.sources, t.measured_at))
        if t.state == "told"
        else ("fail", {"reason": t.reason or "failed"} | ({} if t.retry is None else {"retry": t.retry}))
        for t in trials
    ]
    return [(params, *content) for params, content in zip(points, contents, strict=True)]


def _outcome_names(settings: Settings) -> str:
    """The outcomes that are told by name, in words."""
    return (
        f"{sorted(outcome.name for outcome in settings.outcomes)}" if settings.outcomes else "one value without a name"
    )


def _value_of(trial: Trial) -> dict[str, Any]:
    """Value and noise that a trial was told, without the outcomes that are excluded."""
    if not trial.outcomes:
        return {"value": None if trial.value is None else to_json(trial.value), "sd": trial.sd}
    outcomes = {
        name: outcome
        for name, outcome in trial.outcomes.items()
        if outcome.value is not None and not outcome.is_excluded
    }
    values = {name: to_json(outcome.value) for name, outcome in outcomes.items() if outcome.value is not None}
    return {"value": values, "sd": {name: outcome.sd for name, outcome in outcomes.items()}}


def tell_before_all(store: Store, contents: Sequence[Content]) -> None:
    """Record measurements where nothing is recorded yet: all of them, or none; say so where others are missing."""

    def first(state: State) -> Sequence[Event]:
        return [] if len(state.history) else end_events(state.history, contents)

    if store.commit(first):
        return
    recorded = {measurement(trial.point, trial.values or trial.value) for trial in store.state.history}
    keys = (measurement(point_of(params), content.get("value")) for params, _, content in contents)
    missing = sum(key not in recorded for key in keys)
    if missing:
        text = f"{missing} of {len(contents)} rows of prior_data are not in the journal, which was begun before"
        warn(f"{text}; tell them with tell_frame", JournalWarning)
