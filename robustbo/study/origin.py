"""The origin of a value: what measured it, and when, as the event has it that records the value."""

from collections.abc import Mapping
from typing import Any

from robustbo.searchspace.tabular import is_missing
from robustbo.trials.labels import read_labels
from robustbo.trials.sources import Source, labels_to_record
from robustbo.trials.times import EXAMPLE, Time, time_to_record
from robustbo.validation import whole_number

OF_LABEL = " label "  # of a row: how the keys of its labels begin; no kind of source begins so
MEASURED_AT = "measured_at"  # of an event: when a value was measured
OF_TRIAL = " trial"  # of a row: the trial that was asked for, and measured there; no kind of source begins so


def origin_to_record(
    source: Source | None, measured_at: Time | None, labels: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The part of an event that says what measured, and when, and its labels; nothing where nobody says.

    Raises:
        TypeError, ValueError: If there are no such sources, or it is no time.

    Example:
        >>> origin_to_record("R3", "2026-11-24 14:10")
        {'source': {'source': 'R3'}, 'measured_at': '2026-11-24T14:10:00+00:00'}
    """
    kinds, time, own = labels_to_record(source), time_to_record(measured_at), read_labels(labels)
    parts: dict[str, Any] = {"source": kinds, MEASURED_AT: time, "labels": own}
    return {key: part for key, part in parts.items() if part}


def check_time(measured_at: Time | None) -> Time | None:
    """Return a time that somebody names, which is no empty text, as a cell of a table may be.

    Raises:
        ValueError: If it is one.
    """
    if isinstance(measured_at, str) and not measured_at.strip():
        raise ValueError(f"measured_at must be a time, {EXAMPLE}, got {measured_at!r}; leave it out if the time is now")
    return measured_at


def origin_of_cells(cells: Mapping[str, Any]) -> dict[str, Any]:
    """The origin that the cells of a table's row say, by the kind of source, with the time under `MEASURED_AT`.

    The number of the trial that it is of, where there is one, is under `OF_TRIAL`, and labels begin with `OF_LABEL`.
    """
    labels = {key.removeprefix(OF_LABEL): cell for key, cell in cells.items() if key.startswith(OF_LABEL)}
    kinds = {
        kind: cells[kind] for kind in cells if kind not in (MEASURED_AT, OF_TRIAL) and not kind.startswith(OF_LABEL)
    }
    trial = cells.get(OF_TRIAL)
    if isinstance(trial, float) and trial.is_integer():  # as of a column with empty cells
        trial = int(trial)
    of_trial = {} if is_missing(trial) else {OF_TRIAL: whole_number("trial", trial, 0)}
    return origin_to_record(kinds, cells.get(MEASURED_AT), labels) | of_trial
