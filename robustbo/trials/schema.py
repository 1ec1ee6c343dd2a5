"""Schema of the lines of an optimization's journal; anything else is refused, whatever its checksum says.

A checksum is no signature: whoever changes a line can compute it. So each line is checked when it is read.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from robustbo.printable import printable
from robustbo.searchspace.pool import Pool
from robustbo.trials.changes import KIND as CHANGE
from robustbo.trials.changes import SpaceChange, changed_space, check_parameters
from robustbo.trials.newer import NewerError
from robustbo.trials.settings import Settings
from robustbo.trials.shapes import EVENT, HEADER
from robustbo.trials.storage.line import Event
from robustbo.trials.trial import EXPECTATION, EXPECTED_ERROR
from robustbo.trials.verdicts import KIND


def check(event: Event, settings: Settings) -> None:
    """Raise unless an event is one that this program writes.

    Args:
        event: It.
        settings: Of whose space the trials are points, and whose outcomes are measured.

    Raises:
        ValueError: If it is none; the message has the first entry that is wrong. A `NewerError`: of a newer program.
    """
    space = settings.space
    validate(EVENT, event, "event", event.get("event"))
    _check_outcomes(event, settings)
    if event["event"] == "diagnose" and len(event["outliers"]) != len(event["percentiles"]):
        raise ValueError(f"percentiles: there must be one for each of {len(event['outliers'])} outliers")
    if event["event"] == CHANGE and space.is_pool:
        raise ValueError(f"event: the space must be none of listed points to be changed, got {space!r}")
    if event["event"] == "extend" and not (isinstance(space, Pool) and all(map(space.may_have, event["rows"]))):
        raise ValueError(f"rows must be such as {space!r} may have, got {event['rows'][:3]}")
    params, is_measured = event.get("params"), event["event"] in ("tell", "fail")
    if params is not None and not (space.is_as_measured if is_measured else space.is_as_written)(params):
        raise ValueError(f"params must be a point as this program writes it, got {params}")
    if event["event"] == "ask" and not event.get("fixed", {}).items() <= event["params"].items():
        raise ValueError(f"fixed: the point must have these values, got {event['fixed']} and {params}")


def check_all(events: Iterable[Event], settings: Settings) -> Iterator[Event]:
    """Each event, once it is checked by the space that is as it happens.

    Raises:
        ValueError: As `check`; or if a changed space is none.
    """
    for event in events:
        check(event, settings)
        if event["event"] == CHANGE:
            change = SpaceChange.of(event)
            check_parameters(settings.space, change)
            settings = replace(settings, space=changed_space(settings.space, (change,)))
        yield event


def _check_outcomes(event: Event, settings: Settings) -> None:
    """Raise unless values and what belongs to them are by outcome where there are several, else mere numbers."""
    names = {outcome.name for outcome in settings.outcomes}
    for key in ("value", "sd", *EXPECTATION, *EXPECTED_ERROR):
        if (entry := event.get(key)) is None:
            continue
        if isinstance(entry, dict) != bool(names) or not names.issuperset(entry if names else ()):
            raise ValueError(f"{key} must be {f'by outcome ({sorted(names)})' if names else 'a number'}, got {entry!r}")
    if names and {*(event.get("expected") or ())} != {*(event.get("expected_sd") or ())}:
        raise ValueError("expected_sd: there must be one for each outcome with an expected value")
    if event["event"] in ("tell", "amend") and event["value"] == {}:
        raise ValueError("value must have at least one outcome, got {}")
    if not names.difference(event.get("value") or () if names else ()).issuperset(event.get("lost", ())):
        raise ValueError(f"lost must be other outcomes than those of the value, got {event['lost']}")
    if event["event"] == KIND and (event["verdict"] == "correct") != ("error" in event):
        raise ValueError("error: a correction must have one, and no other verdict")
    if event["event"] == KIND and event["verdict"] == "correct" and names and "outcome" not in event:
        raise ValueError("outcome: a correction must have one where there are several outcomes")
    if "outcome" in event and event["outcome"] not in names:
        raise ValueError(f"outcome must be one of {sorted(names)}, got {event['outcome']!r}")


def check_header(header: Mapping[str, Any]) -> None:
    """Raise unless the first line is such as this program writes; its settings are checked where they are made.

    Args:
        header: It.

    Raises:
        ValueError: If it is none; the message has the first entry that is wrong.
    """
    validate(HEADER, header, "header")


def validate(kind: TypeAdapter[Any], line: Mapping[str, Any], name: str, of: object = None) -> None:
    """Raise a ValueError with the first entry of a line that is wrong, if it is not of a kind; ``of`` is no entry."""
    try:
        kind.validate_python(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        if first["type"] == "union_tag_invalid":
            raise NewerError(f"{first['ctx']['tag']!r} is an event") from None
        where = ".".join(str(part) for part in first["loc"] if part not in (of, "float"))  # a number, or by outcome
        raise ValueError(f"{where or name}: {first['msg']}") from None


def in_a_line(error: Exception) -> str:
    """Text of an error; line ends and other characters that cannot be seen, as they stand in names, are written out."""
    return printable(str(error))
