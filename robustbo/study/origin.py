"""The origin of a value: what measured it, and when, as the event has it that records the value."""

from collections.abc import Mapping
from typing import Any

from robustbo.trials.sources import Source, labels_to_record
from robustbo.trials.times import EXAMPLE, Time, time_to_record

MEASURED_AT = "measured_at"  # of an event: when a value was measured


def origin_to_record(source: Source | None, measured_at: Time | None) -> dict[str, Any]:
    """The part of an event that says what measured, and when; nothing where nobody says.

    Raises:
        TypeError, ValueError: If there are no such sources, or it is no time.

    Example:
        >>> origin_to_record("R3", "2026-11-24 14:10")
        {'source': {'source': 'R3'}, 'measured_at': '2026-11-24T14:10:00+00:00'}
    """
    labels, time = labels_to_record(source), time_to_record(measured_at)
    return ({"source": labels} if labels else {}) | ({} if time is None else {MEASURED_AT: time})


def check_time(measured_at: Time | None) -> Time | None:
    """Return a time that somebody names, which is no empty text, as a cell of a table may be.

    Raises:
        ValueError: If it is one.
    """
    if isinstance(measured_at, str) and not measured_at.strip():
        raise ValueError(f"measured_at must be a time, {EXAMPLE}, got {measured_at!r}; leave it out where it is now")
    return measured_at


def origin_of_cells(cells: Mapping[str, Any]) -> dict[str, Any]:
    """The origin that the cells of a table's row say, by the kind of source, with the time under `MEASURED_AT`."""
    return origin_to_record({kind: cells[kind] for kind in cells if kind != MEASURED_AT}, cells.get(MEASURED_AT))
