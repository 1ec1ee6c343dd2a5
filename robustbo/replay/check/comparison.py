"""Comparison of recorded and recomputed values: the same bits, the same to rounding, or different."""

import math
import sys
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
    DIFFERENT = "different"
    UNREADABLE = "unreadable"  # damaged, or it names what may not be read: it says nothing of what was computed


@dataclass(frozen=True)
class Agreement:
    """Agreement of all that was compared.

    Attributes:
        bits: Asks, or fits, that are the same to the last bit, with all that was told and recommended after them.
        rounding: Those that are the same to rounding.
        different: Those that are not; none where a comparison ends at the first.
        verdict: Of all, also of what belongs to no ask.
        largest: The largest difference that rounding may make, and where it was; None where there was none.
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

    @property
    def count(self) -> int:
        """Number of comparisons."""
        return self.bits + self.rounding + self.different

    def __str__(self) -> str:
        """Text of the agreement.

        Example:
            >>> str(Agreement(58, 2, 0, Match.ROUNDING, "3e-09 of x1's range, trial 14"))
            "60 asks: 58 the same to the last bit, 2 to rounding (largest difference 3e-09 of x1's range, trial 14)"
        """
        parts = {THE_SAME: self.bits, "to rounding": self.rounding, "different": self.different}
        counts = [f"{count} {part}" for part, count in parts.items() if count]
        largest = "" if self.largest is None else f" (largest difference {self.largest})"
        prefix = f"{self.count} {self.unit}: " if self.count else ""
        if self.verdict is Match.BITS:
            return f"{prefix}{THE_SAME}"
        if len(counts) > 1:
            return f"{prefix}{', '.join(counts)}{largest}"
        verdict = "different" if self.verdict is Match.DIFFERENT else "the same to rounding"
        return f"{prefix}{verdict}{largest}"


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

    def __call__(
        self,
        label: str,
        recorded: Any,
        recomputed: Any,
        rounding: Rounding = exactly,
        *,
        of: int | None = None,
        is_counted: bool = False,
    ) -> None:
        """Compare.

        Args:
            label: What it is, for messages.
            recorded: As it was.
            recomputed: As it is now.
            rounding: What rounding may do to its numbers; nothing by default.
            of: The number of the ask, or fit, that it belongs to; None if to none.
            is_counted: Whether it is that ask itself, so that it is counted.
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
        self._add(of, Match.DIFFERENT)
        if not self._to_the_end:
            far = f", {off.text} apart: {off.share:.2g} times what rounding may do" if off.text else ""
            detail = f"recorded {recorded!r}, recomputed {recomputed!r}{far}"
            raise ReplayMismatch(f"{self._where}, {label}: {detail}{self._hint}")

    def _add(self, of: int | None, verdict: Match) -> None:
        if self._found.get(of) is not Match.DIFFERENT:
            self._found[of] = verdict

    @property
    def agreement(self) -> Agreement:
        """Agreement of all compared so far."""
        counted = [self._found.get(number, Match.BITS) for number in self._counted]
        verdicts = self._found.values()
        return Agreement(
            bits=counted.count(Match.BITS),
            rounding=counted.count(Match.ROUNDING),
            different=counted.count(Match.DIFFERENT),
            verdict=next((v for v in (Match.DIFFERENT, Match.ROUNDING) if v in verdicts), Match.BITS),
            largest=None if self._largest is None else self._largest[1],
            unit=self._unit,
            share=0.0 if self._largest is None else self._largest[0],
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
