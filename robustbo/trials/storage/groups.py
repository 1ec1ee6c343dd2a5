"""Events that one call writes, all of them or none: in a file each line says which of how many it is.

A crash may leave the first lines of a call that wrote many. They are no more than a torn line is: nobody had been told
that they were kept. In a database a transaction sees to it, and in memory nothing can be left.
"""

from collections.abc import Sequence
from typing import Any

from robustbo.trials.storage.line import Event

GROUP = "group"

Place = tuple[int, int] | None  # which of how many, from 1; None: it is alone


def group_events(events: Sequence[Event]) -> list[Event]:
    """Events as a file has them; one that is alone is as it is.

    Example:
        >>> group_events([{"event": "requeue", "trial": 0}, {"event": "requeue", "trial": 1}])[0]
        {'event': 'requeue', 'trial': 0, 'group': [1, 2]}
    """
    if len(events) < 2:
        return [*events]
    return [{**event, GROUP: [number, len(events)]} for number, event in enumerate(events, start=1)]


def place_in(content: Event) -> Place:
    """The number of a line's event in its group, and the group's size; a line without (or with nonsense) is alone."""
    match content.get(GROUP):
        case [int(number), int(count)] if 0 < number <= count:
            return number, count
    return None


def strip_group(content: dict[str, Any]) -> dict[str, Any]:
    """An event as it was before it was written."""
    if place_in(content) is not None:
        del content[GROUP]
    return content


def num_unfinished(places: Sequence[Place]) -> int:
    """Number of lines at the end that begin a group whose end is missing.

    Lines that others have appended behind such a beginning, as older versions may, make it a part of the history.

    Example:
        >>> num_unfinished([None, (1, 3), (2, 3)]), num_unfinished([(1, 2), (2, 2)]), num_unfinished([(1, 2), None])
        (2, 0, 0)
    """
    if not places or places[-1] is None:
        return 0
    number, count = places[-1]
    is_begun = list(places[-number:]) == [(k, count) for k in range(1, number + 1)]
    return number if is_begun and number < count else 0
