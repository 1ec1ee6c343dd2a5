"""A measured quantity: its name, its unit, the values that are possible, and what error of one matters to nobody."""

import math
import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, get_args

from robustbo.guidance import explain_misfits
from robustbo.rounding import format_number
from robustbo.searchspace.labels import parts
from robustbo.trials.bounds import check_name, read_bounds
from robustbo.validation import real

OutOfRange = Literal["raise", "exclude"]
OUT_OF_RANGE: tuple[str, ...] = get_args(OutOfRange)
WRITTEN = "rb.Outcome({!r}, unit='%', low=0, high=100)"
EXAMPLES = "such as 'yield (%)', '0 <= yield (%) <= 100' or 'viscosity (mPa s) >= 0'"
RANGE = re.compile(r"[0-9]\s*(?:\.\.+|…|to)\s*[-+]?[.0-9]")
WITH_UNIT = re.compile(r"(.*?)\s*\((.*)\)")


@explain_misfits("__init__")
@dataclass(frozen=True)
class Outcome:
    """A measured quantity: its name, its unit and its possible range.

    Axes, headings and sentences show name and unit. A value outside the possible range is a mistake, not a measurement:
    it is refused, or kept and excluded. If noise may carry a value beyond a physical limit, leave room for it. The
    surrogate does not use the range.

    Args:
        name: Such as "yield"; in a table its column has this name, or `label`.
        unit: Such as "%".
        low: The smallest possible value; no limit by default.
        high: The largest possible value; no limit by default.
        negligible_error: The largest error, in the value's unit, of a right value: twice the smallest standard
            deviation of noise that the surrogate assumes; 0 by default.

    Raises:
        ValueError, TypeError: If an argument breaks a rule; the message names the argument and the rule.

    Example:
        >>> outcome = Outcome("yield", unit="%", low=0, high=100)
        >>> outcome.label, outcome.range, outcome.amount(8.25, 0.1)
        ('yield (%)', '[0, 100] %', '8.25 % (sd 0.1)')
    """

    name: str = ""
    _: KW_ONLY
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    negligible_error: float = 0.0

    def __post_init__(self) -> None:
        name, unit = self.name if self.name == "" else check_name(self.name), self.unit
        if not isinstance(unit, str) or set(unit) & set("<>=\n"):
            raise ValueError(f"the unit must be text without <, > and =, such as '%', got {unit!r}")
        ends = {"low": -math.inf, "high": math.inf}
        for key, none in ends.items():
            bound = getattr(self, key)
            ends[key] = none if bound is None else real(f"{key} of the possible range", bound)
        if not ends["low"] < ends["high"]:
            raise ValueError(f"the possible range must have its low end below its high one, got {ends}")
        negligible = real("negligible_error", self.negligible_error)
        if not 0 <= negligible < math.inf:
            raise ValueError(f"negligible_error must be at least 0 and finite, got {negligible!r}")
        for key, value in {"name": name, "unit": unit.strip(), **ends, "negligible_error": negligible}.items():
            object.__setattr__(self, key, value)

    @classmethod
    def read(cls, text: Any) -> "Outcome":
        """The outcome of a text: NAME (UNIT), with the possible range around it.

        Raises:
            ValueError, TypeError: If it is none.

        Example:
            >>> Outcome.read("0 <= yield (%) <= 100")
            Outcome(name='yield', unit='%', low=0.0, high=100.0, negligible_error=0.0)
        """
        form = "NAME, NAME (UNIT), or one of these within its possible range"
        label, low, high = read_bounds("an outcome", form, EXAMPLES, text)
        name, unit = match.groups() if (match := WITH_UNIT.fullmatch(label)) else (label, "")
        return cls(name, unit=unit, low=low, high=high)

    def to_dict(self) -> dict[str, Any]:
        """The outcome as plain JSON values, without what is not set."""
        ends = {key: value for key, value in (("low", self.low), ("high", self.high)) if math.isfinite(value)}
        texts = {key: value for key, value in (("name", self.name), ("unit", self.unit)) if value}
        return texts | ends | ({"negligible_error": self.negligible_error} if self.negligible_error else {})

    @classmethod
    def from_dict(cls, content: Any) -> "Outcome":
        """The outcome of its `to_dict` form.

        Raises:
            ValueError, TypeError: If it is none.
        """
        keys = ("name", "unit", "low", "high", "negligible_error")
        if not isinstance(content, Mapping) or not {*content} <= {*keys}:
            raise ValueError(
                f"an outcome must have {', '.join(keys[:-1])} and {keys[-1]}, or some of these, got {content!r}"
            )
        return cls(**content)

    def check_content(self) -> None:
        """Raise a ValueError if the outcome says nothing, or its name holds a unit or a range."""
        if not self.to_dict():
            must = "an outcome must have a name, a unit, a range or a negligible_error"
            raise ValueError(f"{must}, got none; write {WRITTEN.format('yield')}")
        unit = parts(self.name)[1] if self.unit or re.search(r"\s[(\[]", self.name) else ""
        if unit or "%" in self.name or RANGE.search(self.name):
            name = re.split(r"[%(\[0-9]", self.name)[0].strip() or "yield"
            hint = f"write such as {WRITTEN.format(name)}, or in a text {f'0 <= {name} (%) <= 100'!r}"
            raise ValueError(f"the name of an outcome must hold no unit and no range, got {self.name!r}; {hint}")

    @property
    def least_noise(self) -> float:
        """Standard deviation of noise of which the negligible error is two."""
        return self.negligible_error / 2

    @property
    def label(self) -> str:
        """The name and unit, such as "yield (%)", for axes and headings; "value" where it has no name."""
        return self.heading("value")

    def heading(self, plain: str) -> str:
        """The `label`; ``plain`` in place of a name where there is none."""
        name = self.name or plain
        return f"{name} ({self.unit})" if self.unit else name

    def label_with_goal(self, direction: str | None) -> str:
        """The label, with the goal of the outcome.

        Example:
            >>> Outcome("yield", unit="%").label_with_goal("maximize"), Outcome("yield").label_with_goal("maximize")
            ('yield (%, maximize)', 'yield (maximize)')
        """
        return f"{self.name or 'value'} ({', '.join(part for part in (self.unit, direction) if part)})"

    def amount(self, value: float, sd: float | None = None, *, digits: int = 6) -> str:
        """A value with its unit, and its standard deviation where there is one, for sentences and cells."""
        return self.number(value, digits, sd) + ("" if sd is None else f" (sd {sd:.2g})")

    def number(self, value: float, digits: int = 6, sd: float | None = None) -> str:
        """A value with its unit, with so many digits and all that a standard deviation shows."""
        return self.with_unit(format_number(value, digits, sd))

    def around(self, value: float, sd: float) -> str:
        """A value that was computed and its standard deviation, with the unit."""
        return self.with_unit(f"{format_number(value, 4, sd)} ± {sd:.2g}")

    def with_unit(self, text: str) -> str:
        """A number that has been written, with the unit."""
        return f"{text} {self.unit}" if self.unit else text

    @property
    def range(self) -> str:
        """The possible range, with the unit."""
        low = "(-inf" if self.low == -math.inf else f"[{_plain(self.low)}"
        high = "inf)" if self.high == math.inf else f"{_plain(self.high)}]"
        return self.with_unit(f"{low}, {high}")

    @property
    def is_bounded(self) -> bool:
        """Return whether some values are not possible."""
        return math.isfinite(self.low) or math.isfinite(self.high)

    def holds(self, value: float) -> bool:
        """Return whether a value is possible."""
        return self.low <= value <= self.high

    def nearest(self, value: float) -> float:
        """The possible value that is nearest to one that was computed."""
        return min(max(value, self.low), self.high)

    @property
    def reason(self) -> str:
        """The reason for which a value that is not possible is excluded."""
        return f"outside the possible range {self.range}"

    def check(self, value: float, advice: str) -> None:
        """Raise a ValueError, which advises what to do, unless a value is possible."""
        if not self.holds(value):
            must = f"{self.name or 'value'} must be in the possible range {self.range}"
            raise ValueError(f"{must}, got {self.with_unit(_plain(value))}; {advice}")


def _plain(value: float) -> str:
    """All digits of a number.

    Example:
        >>> _plain(100.0), _plain(0.05), _plain(820.25)
        ('100', '0.05', '820.25')
    """
    return repr(value).removesuffix(".0")
