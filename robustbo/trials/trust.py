"""Limits on what a journal may make this program do: nothing but compute, unless the caller allows more.

A journal is a file that somebody may have sent. Two things in it would reach beyond computing: the name of a model
class of somebody's own, which would be imported, and the address of a Dask scheduler, which would be connected to.
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from robustbo.errors import TrustError
from robustbo.surrogates.names import is_known, name_of
from robustbo.trials.settings import Settings

PLAIN = "standard"
Trust = bool | str | type | Iterable[str | type]


def foreign_names(settings: Settings, trusted: Iterable[str] = ()) -> list[str]:
    """The names in a journal's settings beyond what is known and trusted, in words."""
    names = []
    if not is_known(settings.surrogate):
        names.append(f"the class {settings.surrogate!r}")
    cluster = settings.surrogate_options.get("cluster")
    if cluster is not None and cluster not in trusted:
        names.append(f"the cluster {cluster!r}")
    return names


def without(settings: Settings) -> Settings:
    """Settings that name nothing but what is known: the plain surrogate and this machine take its place."""
    if not is_known(settings.surrogate):
        return replace(settings, surrogate=PLAIN, options="{}")
    options = settings.surrogate_options
    return replace(settings, options=json.dumps({k: v for k, v in options.items() if k != "cluster"}, sort_keys=True))


def check(place: object, settings: Settings, trust: Trust) -> None:
    """Raise unless all that a journal names may be imported and connected to.

    Args:
        place: The journal, for the message.
        settings: What it holds.
        trust: True for all; or what may be: model classes, "module:Class" names, addresses of schedulers.

    Raises:
        TrustError: If it names more.
        TypeError: If ``trust`` is none of these.
        ValueError: If a class that may be imported cannot be.
    """
    if trust is True:
        trust = [settings.surrogate, settings.surrogate_options.get("cluster") or ""]
    if not isinstance(trust, bool | str | type | Iterable | None):
        raise TypeError(f"trust must be True, a class, its name, an address of a scheduler, or several, got {trust!r}")
    allowed: list[Any] = [trust] if isinstance(trust, str | type) else list(trust or ())  # type: ignore[arg-type] # not True
    for entry in allowed:
        if isinstance(entry, type) or entry == settings.surrogate:
            name_of(entry)
    if names := foreign_names(settings, [entry for entry in allowed if isinstance(entry, str)]):
        raise TrustError(
            f"{place}: names {' and '.join(names)}, which robustbo neither imports nor connects to on its own; "
            "if you trust the journal, resume it in Python with trust=True, or name what may be used"
        )
