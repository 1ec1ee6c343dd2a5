"""Two values that must be the same to the last bit, and what is said where they are not."""

from typing import Any

from robustbo.errors import ReplayMismatch


class Comparison:
    """Raises at the first difference, with all that helps to understand it."""

    def __init__(self, where: str, changed: str) -> None:
        self._where = where
        self._hint = f"libraries have changed: {changed}" if changed else "same libraries; another processor, perhaps"

    def __call__(self, what: str, recorded_value: Any, recomputed: Any) -> None:
        if recorded_value != recomputed:
            found = f"recorded {recorded_value!r}, recomputed {recomputed!r}"
            raise ReplayMismatch(f"{self._where}, {what}: {found} ({self._hint})")
