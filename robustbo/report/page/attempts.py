"""Parts of a page that it goes on without where they cannot be computed."""

from collections.abc import Callable
from typing import Any, NamedTuple

from robustbo.loop.surrogate.attempt import attempt
from robustbo.view.view import View


class Attempt(NamedTuple):
    """The data of a part, or the reason why they could not be computed."""

    result: Any
    reason: str | None = None

    @classmethod
    def of(cls, view: View, compute: Callable[[], Any]) -> "Attempt":
        """Compute a part; a mistake in a model of somebody's own is raised."""
        return cls(*attempt(compute, view.settings.surrogate))
