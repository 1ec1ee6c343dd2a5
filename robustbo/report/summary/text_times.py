"""Times in words."""

from datetime import UTC, datetime

UNITS = (("d", 86400), ("h", 3600), ("min", 60))


def in_utc(when: datetime) -> str:
    """A time to the minute.

    Example:
        >>> in_utc(datetime(2026, 1, 5, 14, 3, tzinfo=UTC))
        '2026-01-05 14:03 UTC'
    """
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def since(at: str | None, now: datetime | None) -> str:
    """A time of a journal, and how long ago it was, where it is said what time it is now."""
    if at is None:
        return "unknown"
    when = datetime.fromisoformat(at)
    if now is None:
        return in_utc(when)
    seconds = max((now - when).total_seconds(), 0.0)  # clocks differ
    count = next((f"{seconds / size:.0f} {unit}" for unit, size in UNITS if seconds >= size), f"{seconds:.0f} s")
    return f"{in_utc(when)}, {count} ago"
