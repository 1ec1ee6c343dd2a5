"""What is recorded beside what is computed again: the same bits, the same to rounding, or different."""

import math
import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from robustbo.errors import ReplayMismatch
from robustbo.replay.check.rounding import Apart, Path, Rounding, exactly

THE_SAME = "the same to the last bit"


class Verdict(StrEnum):
    """How what is recorded and what is computed again compare."""

    BITS = "bits"  # the same, to the last bit
    ROUNDING = "rounding"  # the same, but for what rounding may do
    DIFFERENT = "different"
    UNREADABLE = "unreadable"  # damaged, or it names what may not be read: it says nothing of what was computed


@dataclass(frozen=True)
class Agreement:
    """How all that was compared agrees.

    Attributes:
        bits: Asks, or fits, that are the same to the last bit, with all that was told and recommended after them.
        rounding: Those that are the same to rounding.
        different: Those that are not; none where a comparison ends at the first.
        verdict: Of all, also of what belongs to no ask.
        largest: The largest difference that rounding may make, and where it was; None where there was none.
        what: What was counted.
        share: How much that difference is of what rounding may do.
    """

    bits: int = 0
    rounding: int = 0
    different: int = 0
    verdict: Verdict = Verdict.BITS
    largest: str | None = None
    what: str = "asks"
    share: float = 0.0

    @property
    def count(self) -> int:
        """How many were compared."""
        return self.bits + self.rounding + self.different

    def __str__(self) -> str:
        """In words.

        Example:
            >>> str(Agreement(58, 2, 0, Verdict.ROUNDING, "3e-09 of x1's range, trial 14"))
            "60 asks: 58 the same to the last bit, 2 to rounding (largest difference 3e-09 of x1's range, trial 14)"
        """
        parts = {THE_SAME: self.bits, "to rounding": self.rounding, "different": self.different}
        found = [f"{count} {part}" for part, count in parts.items() if count]
        largest = "" if self.largest is None else f" (largest difference {self.largest})"
        begun = f"{self.count} {self.what}: " if self.count else ""
        if self.verdict is Verdict.BITS:
            return f"{begun}{THE_SAME}"
        if len(found) > 1:
            return f"{begun}{', '.join(found)}{largest}"
        said = "different" if self.verdict is Verdict.DIFFERENT else "the same to rounding"
        return f"{begun}{said}{largest}"


class Comparison:
    """Collects what was compared, and ends at the first difference that rounding does not explain.

    Args:
        where: What is compared, for messages.
        changed: Which libraries have changed since it was recorded; None where that is not recorded.
        to_the_end: Whether it counts such differences instead.
        what: What is counted.

    Raises:
        ReplayMismatch: At such a difference, with all that helps to understand it.
    """

    def __init__(self, where: str, changed: str | None, *, to_the_end: bool = False, what: str = "asks") -> None:
        self._where, self._what, self._to_the_end = where, what, to_the_end
        hint = f"libraries have changed: {changed}" if changed else "same libraries; other code, perhaps"
        self._hint = "" if changed is None else f" ({hint})"
        self._counted: set[int] = set()
        self._found: dict[int | None, Verdict] = {}
        self._largest: tuple[float, str] | None = None

    def __call__(
        self,
        what: str,
        recorded: Any,
        recomputed: Any,
        rounding: Rounding = exactly,
        *,
        of: int | None = None,
        is_counted: bool = False,
    ) -> None:
        """Compare.

        Args:
            what: What it is, for messages.
            recorded: As it was.
            recomputed: As it is now.
            rounding: What rounding may do to its numbers; nothing unless said.
            of: The number of the ask, or fit, that it belongs to; None if to none.
            is_counted: Whether it is that ask itself, so that it is counted.
        """
        if is_counted and of is not None:
            self._counted.add(of)
        off = apart(recorded, recomputed, rounding)
        if off is None:
            return
        if off.share <= 1:
            self._add(of, Verdict.ROUNDING)
            self._largest = max(self._largest or (0.0, ""), (off.share, f"{off.text}, {what}"))
            return
        self._add(of, Verdict.DIFFERENT)
        if not self._to_the_end:
            far = f", {off.text} apart: {off.share:.2g} times what rounding may do" if off.text else ""
            found = f"recorded {recorded!r}, recomputed {recomputed!r}{far}"
            raise ReplayMismatch(f"{self._where}, {what}: {found}{self._hint}")

    def _add(self, of: int | None, verdict: Verdict) -> None:
        if self._found.get(of) is not Verdict.DIFFERENT:
            self._found[of] = verdict

    @property
    def agreement(self) -> Agreement:
        """How all so far agrees."""
        counted = [self._found.get(number, Verdict.BITS) for number in self._counted]
        found = self._found.values()
        return Agreement(
            bits=counted.count(Verdict.BITS),
            rounding=counted.count(Verdict.ROUNDING),
            different=counted.count(Verdict.DIFFERENT),
            verdict=next((v for v in (Verdict.DIFFERENT, Verdict.ROUNDING) if v in found), Verdict.BITS),
            largest=None if self._largest is None else self._largest[1],
            what=self._what,
            share=0.0 if self._largest is None else self._largest[0],
        )


def apart(recorded: Any, recomputed: Any, rounding: Rounding, path: Path = ()) -> Apart | None:
    """How far two values, or lists or mappings of them, are apart at most; None where they are the same.

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
    found = (apart(recorded[key], recomputed[key], rounding, (*path, key)) for key in keys)
    return max((off for off in found if off is not None), key=lambda off: off.share)


def _is_finite(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
