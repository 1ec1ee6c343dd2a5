"""The meaning of a journal's lines: settings in the header, events that fold into a history."""

import importlib.metadata
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from robustbo.errors import JournalError, JournalWarning, warn
from robustbo.lazy import Module
from robustbo.surrogates.names import NAMES
from robustbo.trials import schema, trust
from robustbo.trials.extent import check_extent
from robustbo.trials.history import History
from robustbo.trials.newer import NewerError
from robustbo.trials.settings import Settings
from robustbo.trials.storage import places
from robustbo.trials.storage.line import Event
from robustbo.trials.storage.places import Place
from robustbo.trials.storage.reading import Contents, warn_loss

if TYPE_CHECKING:
    from robustbo.surrogates import registry
else:
    registry = Module("robustbo.surrogates.registry")

# What unchecked settings may raise where they are made, and where their surrogate is made of a few values.
UNUSABLE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError, MemoryError)
LIBRARIES = ("robustbo", "torch", "gpytorch", "botorch", "linear_operator", "numpy", "scipy")


def header(settings: Settings) -> dict[str, Any]:
    """The first line of a journal: the settings, and what the numbers after it depend on."""
    return {"settings": settings.to_dict(), "versions": versions()}


def versions() -> dict[str, str]:
    """The versions of the libraries that a run's numbers depend on."""
    return {name: _version(name) for name in LIBRARIES}


_version = cache(importlib.metadata.version)  # which reads a file


def changed_versions(contents: Contents) -> str:
    """The libraries that differ from those that a journal was begun with; empty if none does."""
    before, now = contents.header["versions"], versions()
    return ", ".join(f"{name} {before.get(name)} -> {now[name]}" for name in now if before.get(name) != now[name])


def open_journal(place: Place) -> tuple[Settings, History]:
    """The settings and history in a journal that is only read; says so where its last line is torn.

    Nothing that it names is imported or connected to: what would be is left out of the settings, with a warning.

    Raises:
        JournalError: If it cannot be read, or an event does not fit its trial.
    """
    contents = places.contents(place)
    warn_loss(places.display_name(place), contents.torn)
    settings, history = fold(places.display_name(place), contents)
    if names := trust.foreign_names(settings):
        warn(
            f"{places.display_name(place)}: names {' and '.join(names)}, which robustbo ignores here, so that figures "
            "may differ",
            JournalWarning,
        )
    return trust.without(settings), history


def fold(place: Place, contents: Contents) -> tuple[Settings, History]:
    """The settings and history of a journal.

    Raises:
        JournalError: If an event does not fit its trial; the message has the line.
    """
    settings = settings_of(place, contents.header)
    line = 1

    def events() -> Iterator[Event]:
        nonlocal line
        for line, event in enumerate(contents.events, start=2):  # noqa: B007 - the message has it
            yield event

    try:
        history = History().apply_all(schema.check_all(events(), settings))
        check_extent(settings, history)
    except NewerError as error:
        raise JournalError(f"{place}, line {line}: {schema.in_a_line(error)}") from error
    except (KeyError, ValueError, TypeError) as error:
        raise JournalError(
            f"{place}, line {line}: the event contradicts the events before it: {schema.in_a_line(error)}"
        ) from error
    return settings, history


def settings_of(place: Place, header: Mapping[str, Any]) -> Settings:
    """The settings in a journal's header.

    Raises:
        JournalError: If there are none that this program knows.
    """
    try:
        schema.check_header(header)
        settings = Settings.from_dict(header["settings"])
        if settings.surrogate in NAMES and settings.surrogate_options:
            registry.check_options(settings.surrogate, settings.surrogate_options)
    except UNUSABLE as error:
        why = schema.in_a_line(error)
        raise JournalError(
            f"{place}, line 1: not the header of an optimization that this program knows: {why}"
        ) from error
    return settings
