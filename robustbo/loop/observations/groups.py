"""The trials at one point."""

from typing import NamedTuple

from robustbo.censored import is_bound
from robustbo.loop.observations.expectation import Expectation, expectation_of
from robustbo.trials.trial import Trial


class PointGroup(NamedTuple):
    """All trials at one point, in order."""

    trials: tuple[Trial, ...]

    @property
    def told(self) -> tuple[Trial, ...]:
        """The trials whose values count."""
        return tuple(t for t in self.trials if t.state == "told")

    @property
    def values(self) -> tuple[Trial, ...]:
        """The trials whose values count and are no bounds."""
        return tuple(t for t in self.told if not is_bound(t.measured))

    @property
    def is_closed(self) -> bool:
        """Return whether no trial may be asked for here: one may still be told, or the user has barred the point."""
        return any(t.is_open or t.retry is False or t.state == "withdrawn" for t in self.trials)

    @property
    def judged_together(self) -> tuple[Trial, ...]:
        """The trials that are judged together: one that was asked, and its replicates.

        Other values at the same point (a discrete space comes back to its points, users tell their own) were expected
        by models that knew the first, and are left to the surrogate; so is a point where the user has excluded a value.
        What was told as a bound is judged by what it says (`robustbo.loop.surrogate.censored_fit`).
        """
        told = self.values
        are_repeats = all(t.repeats is not None for t in told[1:])
        return told if are_repeats and not any(t.state == "excluded" for t in self.trials) else ()

    @property
    def expectation(self) -> Expectation | None:
        """The expectation of all other values here: that of the first replicate, or else of when it was first asked."""
        together = self.judged_together
        expectations = [expectation_of(t) for t in [*(t for t in together if t.repeats is not None), *together[:1]]]
        return next((expectation for expectation in expectations if expectation is not None), None)
