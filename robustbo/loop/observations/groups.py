"""The trials at one point."""

from typing import NamedTuple

from robustbo.loop.observations.expectation import Expectation
from robustbo.trials.trial import Trial


class Place(NamedTuple):
    """All trials at one point, in order."""

    trials: tuple[Trial, ...]

    @property
    def told(self) -> tuple[Trial, ...]:
        """Those whose values count."""
        return tuple(t for t in self.trials if t.state == "told")

    @property
    def is_closed(self) -> bool:
        """Whether none may be asked for here now: one may still be told, or the user has barred the point."""
        return any(t.is_open or t.retry is False for t in self.trials)

    @property
    def judged(self) -> tuple[Trial, ...]:
        """Those that are judged together: one that was asked, and its repeats.

        Other values at the same point (a discrete space comes back to its points, users tell their own) were expected
        by models that knew the first, and are left to the surrogate; so is a point where the user has excluded a value.
        """
        told = self.told
        are_repeats = all(t.repeats is not None for t in told[1:])
        return told if are_repeats and not any(t.state == "excluded" for t in self.trials) else ()

    @property
    def expectation(self) -> Expectation | None:
        """What the others let expect here: said with the first repeat, or else when it was first asked."""
        judged = self.judged
        said = [t.expectation for t in [*(t for t in judged if t.repeats is not None), *judged[:1]]]
        return next((found for found in said if found is not None), None)
