"""Former names of arguments, functions and words of settings: still read in journals, run files and calls."""

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from robustbo.errors import warn

NAMES = {"remeasure": "replicate", "max_repeats": "max_replicates", "set_aside": "quarantine"}  # before: now
WORDS = {"promising": "flagged", "suspicious": "any"}  # of `replicate`

Callee = TypeVar("Callee", bound=Callable[..., Any])


def in_new_names(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Settings or arguments as they are called now.

    Args:
        entries: They, by name; what was never called otherwise stays as it is.

    Raises:
        TypeError: If one is there by both its names.

    Example:
        >>> in_new_names({"remeasure": "suspicious", "seed": 1})
        {'replicate': 'any', 'seed': 1}
    """
    for name, now in NAMES.items():
        if name in entries and now in entries:
            raise TypeError(f"{name} is called {now} now, got both; leave out {name}")
    renamed = {NAMES.get(name, name): value for name, value in entries.items()}
    word = renamed.get("replicate")
    return renamed | ({"replicate": WORDS[word]} if isinstance(word, str) and word in WORDS else {})


def in_old_names(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as journals and records write them, so that older versions read them, and records stay the same."""
    before = {now: name for name, now in NAMES.items()}
    words = {now: word for word, now in WORDS.items()}
    word = entries.get("replicate")
    return {before.get(name, name): value for name, value in entries.items()} | (
        {"remeasure": words.get(word, word)} if isinstance(word, str) else {}
    )


def old_names(entries: Mapping[str, Any]) -> list[str]:
    """Sentences on each name, and each word, among some entries that is called otherwise now."""
    pairs = [(name, now) for name, now in NAMES.items() if name in entries]
    word = entries.get("replicate", entries.get("remeasure"))
    if isinstance(word, str) and word in WORDS:
        pairs.append((repr(word), repr(WORDS[word])))
    return [f"{name} is called {now} now, and a later version will refuse the old name" for name, now in pairs]


def warn_of_old_names(entries: Mapping[str, Any]) -> None:
    """Warn of `old_names` that somebody has written."""
    for sentence in old_names(entries):
        warn(sentence, DeprecationWarning)


def reads_old_names(callee: Callee) -> Callee:
    """A function, or a class whose constructor, takes its arguments by their former names too, with a warning."""
    if isinstance(callee, type):
        cls: Any = callee
        cls.__init__ = reads_old_names(cls.__init__)
        return callee

    @functools.wraps(callee)
    def call(*args: Any, **kwargs: Any) -> Any:
        warn_of_old_names(kwargs)
        return callee(*args, **in_new_names(kwargs))

    return cast("Callee", call)


def former_name(name: str, function: Callee) -> Callee:
    """A function under the name that it had before, which warns whoever calls it so."""

    def call(*args: Any, **kwargs: Any) -> Any:
        now = function.__name__
        warn(f"{name} is called {now} now, and a later version will refuse the old name", DeprecationWarning)
        return function(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"The former name of `{function.__name__}`."
    call.__module__ = function.__module__
    return cast("Callee", call)
