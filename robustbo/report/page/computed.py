"""What a page goes on without: its parts that could not be computed, and why."""

from collections.abc import Callable
from html import escape

from robustbo.loop.surrogate.attempt import attempt
from robustbo.trials.settings import Settings


def computed(settings: Settings, make: Callable[[], str]) -> str:
    """Return a part of a page, as HTML; where it cannot be made, why.

    Args:
        settings: What the optimization was told at its beginning: a mistake in a model of somebody's own is raised.
        make: The part.
    """
    made, why = attempt(make, settings.surrogate)
    return f"<p>This could not be computed: {escape(why or '')}.</p>" if made is None else made
