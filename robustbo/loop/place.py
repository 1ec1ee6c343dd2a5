"""The trials at one point, and what their values say of each other."""

from collections.abc import Collection
from typing import NamedTuple

from robustbo.loop.evidence import BEYOND_BELIEF, CREDIBLE, Expectation, agree, half_way, refuted, surprise
from robustbo.trials.trial import Trial


class Place(NamedTuple):
    """All trials at one point, in order.

    Repeats settle what was expected there: a credible value refutes what is beyond belief, two that agree clear each
    other, but where both disappoint beyond belief a third is wanted. What is then not settled is left to the surrogate.
    """

    trials: tuple[Trial, ...]

    def without(self, values: Collection[float]) -> "Place":
        """The same but for the told trials that have one of these values."""
        return Place(tuple(t for t in self.trials if t.state != "told" or t.value not in values))

    @property
    def told(self) -> tuple[Trial, ...]:
        """Those whose values count."""
        return tuple(t for t in self.trials if t.state == "told")

    @property
    def num_ended(self) -> int:
        """How many have been told or have failed."""
        return sum(t.state in ("told", "failed") for t in self.trials)

    @property
    def is_pending(self) -> bool:
        """Whether one may still be told."""
        return any(t.is_open for t in self.trials)

    @property
    def is_closed(self) -> bool:
        """Whether none may be asked for here now: one may still be told, or the user has barred the point."""
        return self.is_pending or any(t.retry is False for t in self.trials)

    @property
    def judged(self) -> tuple[Trial, ...]:
        """Those that are judged by what was expected: one that was asked, and its repeats.

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

    @property
    def refuted(self) -> tuple[Trial, ...]:
        """Those whose values are beyond belief beside a credible one."""
        if len(judged := self.judged) < 2:
            return ()
        verdicts = refuted([t.measured for t in judged], self.expectation)
        return tuple(t for t, is_refuted in zip(judged, verdicts, strict=True) if is_refuted)

    def is_disappointing(self, sign: float) -> bool:
        """Whether all values are worse than what was expected, beyond belief."""
        said = self.expectation
        return said is not None and all(
            sign * t.measured < sign * said[0] and surprise(t.measured, *said) >= BEYOND_BELIEF for t in self.judged
        )

    def is_open(self, sign: float) -> bool:
        """Whether two values want a third: they disagree and nothing tells which is wrong, or both disappoint.

        Failures look alike: two values that both disappoint beyond belief may agree by chance.
        """
        judged, said = self.judged, self.expectation
        if len(judged) != 2 or said is None:
            return False
        a, b = (t.measured for t in judged)
        if max(surprise(a, *said), surprise(b, *said)) <= CREDIBLE or self.refuted:
            return False
        return self.is_disappointing(sign) or not agree(a, b, half_way(said[0], a, b))
