"""Journals of a newer robustbo: events and settings that this one does not know. They are no damage."""

from collections.abc import Collection


class NewerError(ValueError):
    """A line of a journal was written by a newer robustbo."""

    def __init__(self, subject: str) -> None:
        super().__init__(
            f"{subject} of a newer robustbo, which has written this line; update robustbo (pip install -U)"
        )


def check_settings(names: Collection[str], fields: Collection[str]) -> None:
    """Raise a `NewerError` where a setting is none of those that this robustbo knows."""
    if unknown := [name for name in names if name not in fields]:
        raise NewerError(f"{unknown[0]!r} is a setting")
