"""The beginning of an optimization: with a new journal or an old one, and with what was measured before."""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robustbo.errors import JournalError, JournalExists, JournalMissing
from robustbo.lazy import Module
from robustbo.searchspace.space import Space
from robustbo.searchspace.tabular import is_frame
from robustbo.study.columns import check_names
from robustbo.surrogates.names import SurrogateName, name_of
from robustbo.trials.codec import settings_of as header_settings
from robustbo.trials.differences import differences
from robustbo.trials.extent import spaces_now
from robustbo.trials.initial import default_num_initial
from robustbo.trials.settings import (
    DEFAULT_SURROGATE,
    Direction,
    Settings,
    options_text,
)
from robustbo.trials.source_space import check_values
from robustbo.trials.storage.places import contents, is_address
from robustbo.trials.store import Store

if TYPE_CHECKING:
    from botorch.models.gpytorch import GPyTorchModel

    from robustbo.surrogates import registry
else:
    registry = Module("robustbo.surrogates.registry")

log = logging.getLogger("robustbo")

NO_DIRECTION = (
    'direction must be "minimize" or "maximize", got none; say which (or of several outcomes, or of one with a name, '
    "objectives, each with its direction)"
)


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
    """Settings as people give them: "auto" and None are what they stand for, and a seed is drawn by default.

    A direction of None is that of the objectives, where there are some, else "minimize".

    Raises:
        ValueError, TypeError: If an argument breaks a rule; the message names the argument and the rule.
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
        raise ValueError(f"direction is for one value without a name, and objectives have their own; got {direction!r}")
    check_names(settings)
    check_values(settings.space, settings.sources)
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
        JournalError: If the journal exists and ``if_exists`` is "error", or it was begun with other settings.
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
            log.warning("the folder %s did not exist, and robustbo made it", folder)
        if "seed" in defaulted:
            log.warning("seed %d was drawn; another run with this seed has the same asks", settings.seed)
        return store
    store = Store.resume(journal, [settings.surrogate, settings.surrogate_options.get("cluster") or ""])
    requested = replace(settings, **{name: getattr(store.settings, name) for name in defaulted})
    if requested.space in spaces_now(store.settings, store.state.history):
        requested = replace(requested, space=store.settings.space)
    if conflicts := differences(requested, store.settings):
        raise JournalError(
            "the settings must be those that the journal was begun with; they differ: " + "; ".join(conflicts)
        )
    return store
