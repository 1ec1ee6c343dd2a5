"""Times of measurements, as people tell them and as a journal keeps them."""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any, TypeAlias

from robustbo.trials.trial import Trial
from robustbo.validation import in_a_line, plain_scalar

Time: TypeAlias = str | date  # a datetime is a date, too
EXAMPLE = 'such as "2026-11-24 14:10" or a datetime'
TIE_HOURS = 1e-6  # by which values of the same time are apart, in the order of telling


def time_to_record(time: Any) -> str | None:
    """A time as a journal keeps it, in UTC; None where it is missing (None, NaT, an empty text).

    Args:
        time: A datetime, a date (its beginning), a pandas or NumPy time, or a text in the form of ISO 8601; without a
            time zone it is taken for UTC.

    Raises:
        TypeError, ValueError: If it is none.

    Example:
        >>> time_to_record("2026-11-24 14:10"), time_to_record("2026-11-24T14:10+02:00"), time_to_record("")
        ('2026-11-24T14:10:00+00:00', '2026-11-24T12:10:00+00:00', None)
    """
    plain = time.isoformat() if isinstance(time, date) else plain_scalar(time)
    if plain is None or plain != plain or str(plain) in ("", "NaT", "<NA>"):  # NaN differs from itself
        return None
    if hasattr(time, "dtype") and str(time.dtype).startswith("datetime64"):  # NumPy's, whose item may be a number
        plain = str(time.astype("datetime64[us]"))
    if not isinstance(plain, str):
        raise TypeError(f"measured_at must be a time, {EXAMPLE}, got {in_a_line(time)}")
    try:
        moment = datetime.fromisoformat(plain.strip())
        aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):  # beyond the years that there are, in another time zone
        raise ValueError(f"measured_at must be a time, {EXAMPLE}, got {in_a_line(time)}") from None
    return aware.isoformat()


def hours_of(trials: Iterable[Trial]) -> list[float] | None:
    """Hours from the first measurement to each, no two the same; None where their order of telling is all there is.

    That is so unless somebody told when a value was measured, and it is known of all: by the time of telling, if by no
    other.
    """
    measured = [*trials]
    times = [trial.time for trial in measured if trial.time is not None]
    if len(times) < len(measured) or all(trial.measured_at is None for trial in measured):
        return None
    first, hours, last = min(times), [0.0] * len(measured), -TIE_HOURS
    for place in sorted(range(len(measured)), key=lambda i: (times[i], measured[i].order or 0, measured[i].number)):
        last = max((times[place] - first).total_seconds() / 3600, last + TIE_HOURS)
        hours[place] = last
    return hours
