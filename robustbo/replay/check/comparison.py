"""Comparison of recorded and recomputed values: the same bits, the same to rounding, or different."""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from robustbo.errors import ReplayMismatch
from robustbo.replay.check.rounding import Apart, Path, Rounding, exactly

THE_SAME = "the same to the last bit"


class Match(StrEnum):
    """Result of comparing a recorded with a recomputed value."""

    BITS = "bits"  # the same, to the last bit
    ROUNDING = "rounding"  # the same, except for what rounding may do
    AS_GOOD = "as good"  # another decision, and nothing is lost by it
    DIFFERENT = "different"
    UNREADABLE = "unreadable"  # damaged, or it names what may not be read: it says nothing of what was computed


VERDICTS = {Match.ROUNDING: "the same to rounding", Match.AS_GOOD: "as good", Match.DIFFERENT: "different"}
ACCEPTED = (Match.BITS, Match.ROUNDING, Match.AS_GOOD)
Loss = Callable[[], Apart | None]  # its share of what counts as nothing; None: it is not known


def total_loss() -> None:
    """The loss by a difference that nothing excuses."""


@dataclass(frozen=True)
class Agreement:
    """Agreement of all that was compared.

    Attributes:
        bits: Asks, or fits, that are the same to the last bit, with all that was told and recommended after them.
        rounding: Those that are the same to rounding.
        as_good: Those that are others, and as good.
        different: Those that are not; none where a comparison ends at the first.
        verdict: Of all, also of what belongs to no ask.
        largest: The largest difference that rounding may make, and where it was; None where there was none.
        largest_loss: The most that is lost by one that is as good, and where it was; None where there was none.
        unit: Name of what was counted.
        share: How much that difference is of what rounding may do.
    """

    bits: int = 0
    rounding: int = 0
    different: int = 0
    verdict: Match = Match.BITS
    largest: str | None = None
    unit: str = "asks"
    share: float = 0.0
    as_good: int = 0
    largest_loss: str | None = None

    @property
    def count(self) -> int:
        """Number of comparisons."""
        return self.bits + self.rounding + self.as_good + self.different

    def __str__(self) -> str:
        """Text of the agreement.

        Example:
            >>> str(Agreement(58, 2, 0, Match.ROUNDING, "3e-09 of x1's range, trial 14"))
            "60 asks: 58 the same to the last bit, 2 to rounding (largest difference 3e-09 of x1's range, trial 14)"
        """
        largest = "" if self.largest is None else f" (largest difference {self.largest})"
        loss = "" if self.largest_loss is None else f" ({self.largest_loss})"
        prefix = f"{self.count} {self.unit}: " if self.count else ""
        if self.verdict is Match.BITS:
            return f"{prefix}{THE_SAME}"
        parts = {
            THE_SAME: self.bits,
            "to rounding": self.rounding,
            f"as good{loss}": self.as_good,
            "different": self.different,
        }
        counts = [f"{count} {part}" for part, count in parts.items() if count]
        if len(counts) > 1:
            return f"{prefix}{', '.join(counts)}{largest}"
        return f"{prefix}{VERDICTS[self.verdict]}{loss or largest}"


class Comparison:
    """Collects what was compared, and ends at the first difference that rounding does not explain.

    Args:
        where: What is compared, for messages.
        changed: Which libraries have changed since it was recorded; None where that is not recorded.
        to_the_end: Whether it counts such differences instead.
        unit: Name of what is counted.

    Raises:
        ReplayMismatch: At such a difference, with all that helps to understand it.
    """

    def __init__(self, where: str, changed: str | None, *, to_the_end: bool = False, unit: str = "asks") -> None:
        self._where, self._unit, self._to_the_end = where, unit, to_the_end
        hint = f"libraries have changed: {changed}" if changed else "same libraries; other code, perhaps"
        self._hint = "" if changed is None else f" ({hint})"
        self._counted: set[int] = set()
        self._found: dict[int | None, Match] = {}
        self._largest: tuple[float, str] | None = None
        self._largest_loss: tuple[float, str] | None = None

    def __call__(
        self,
        label: str,
        recorded: Any,
        recomputed: Any,
        rounding: Rounding = exactly,
        *,
        of: int | None = None,
        is_counted: bool = False,
        loss: Loss = total_loss,
    ) -> None:
        """Compare.

        Args:
            label: What it is, for messages.
            recorded: As it was.
            recomputed: As it is now.
            rounding: What rounding may do to its numbers; nothing by default.
            of: The number of the ask, or fit, that it belongs to; None if to none.
            is_counted: Whether it is that ask itself, so that it is counted.
            loss: What is lost by the recorded one, where rounding does not explain that it is another.
        """
        if is_counted and of is not None:
            self._counted.add(of)
        off = apart(recorded, recomputed, rounding)
        if off is None:
            return
        if off.share <= 1:
            self._add(of, Match.ROUNDING)
            self._largest = max(self._largest or (0.0, ""), (off.share, f"{off.text}, {label}"))
            return
        if (lost := loss()) is not None and lost.share <= 1:
            self._add(of, Match.AS_GOOD)
            self._largest_loss = max(self._largest_loss or (-math.inf, ""), (lost.share, f"{lost.text}, {label}"))
            return
        self._add(of, Match.DIFFERENT)
        if not self._to_the_end:
            far = f", {off.text} apart: {off.share:.2g} times what rounding may do" if off.text else ""
            less = "" if lost is None else f"; {lost.text}"
            detail = f"recorded {recorded!r}, recomputed {recomputed!r}{far}{less}"
            raise ReplayMismatch(f"{self._where}, {label}: {detail}{self._hint}")

    def _add(self, of: int | None, verdict: Match) -> None:
        self._found[of] = max(self._found.get(of, Match.BITS), verdict, key=[*Match].index)

    @property
    def agreement(self) -> Agreement:
        """Agreement of all compared so far."""
        counted = [self._found.get(number, Match.BITS) for number in self._counted]
        return Agreement(
            bits=counted.count(Match.BITS),
            rounding=counted.count(Match.ROUNDING),
            different=counted.count(Match.DIFFERENT),
            verdict=max(self._found.values(), key=[*Match].index, default=Match.BITS),
            largest=None if self._largest is None else self._largest[1],
            unit=self._unit,
            share=0.0 if self._largest is None else self._largest[0],
            as_good=counted.count(Match.AS_GOOD),
            largest_loss=None if self._largest_loss is None else self._largest_loss[1],
        )


def apart(recorded: Any, recomputed: Any, rounding: Rounding, path: Path = ()) -> Apart | None:
    """Largest distance of two values, or of lists or mappings of them; None where they are the same.

    Where they differ by more than finite numbers, the share of what rounding may do is infinite.
    """
    if recorded == recomputed or (_is_nan(recorded) and _is_nan(recomputed)):
        return None
    if isinstance(recorded, dict) and isinstance(recomputed, dict) and recorded.keys() == recomputed.keys():
        keys: list[Any] = list(recorded)
    elif isinstance(recorded, list) and isinstance(recomputed, list) and len(recorded) == len(recomputed):
        keys = list(range(len(recorded)))
    else:
        are_numbers = _is_finite(recorded) and _is_finite(recomputed)
        off = rounding(path, recorded, recomputed) if are_numbers else None
        return Apart(math.inf, "") if off is None or math.isnan(off.share) else off
    distances = (apart(recorded[key], recomputed[key], rounding, (*path, key)) for key in keys)
    return max((off for off in distances if off is not None), key=lambda off: off.share)


def _is_finite(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
