"""The constraint that at most so many parameters of a group are on, while others have the value that is off, as 0."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any

import numpy as np

from robustbo import limits
from robustbo.errors import SpaceError
from robustbo.searchspace.constraints.grammar import shorten
from robustbo.searchspace.parameters import Parameter
from robustbo.searchspace.point_check import admits
from robustbo.validation import nearest

EXAMPLE = "such as AtMost(2, 'a', 'b', 'c'), in text 'at most 2 of a, b, c'"
BEGINNING = re.compile(r"\s*at\s+most\b", re.IGNORECASE)
FORM = re.compile(r"at\s+most\s+(?P<most>\S+)\s+of\s+(?P<names>.*)", re.IGNORECASE | re.DOTALL)
OFF = re.compile(r"(?P<names>.*)\s+differs?\s+from\s+(?P<off>\S+)", re.IGNORECASE | re.DOTALL)
NAME = re.compile(r"\s*(?:`(?P<quoted>[^`]+)`|(?P<plain>[^`,\s][^`,]*?))\s*(?:,|$)")


@dataclass(frozen=True)
class CountAbove:
    """The number of parameters that are on beyond those that may be, like the excess of an arithmetic constraint."""

    names: tuple[str, ...]
    most: int
    off: float
    linear = None  # it is no linear form

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """The count at values, elementwise."""
        return sum((np.asarray(values[name], dtype=float) != self.off) * 1.0 for name in self.names) - self.most

    def bounds(self, within: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
        """Bounds of the count where the parameters are within theirs."""
        always = sum(not low <= self.off <= high for low, high in (within[name] for name in self.names))
        return float(always - self.most), float(len(self.names) - self.most)


@dataclass(frozen=True, init=False)
class AtMost:
    """A constraint on a group of numbers: at most ``most`` of them differ from the value "off".

    In text ``"at most 2 of a, b, c"``, or ``"at most 2 of a, b, c differ from 20"``.

    Args:
        most: How many may be on.
        names: The parameters. Each must have the value ``off`` in its range, and always exist.
        off: The value of a parameter that is not on.

    Raises:
        SpaceError: If ``most`` is not a whole number, or allows all parameters, or a name occurs twice.

    Example:
        >>> from robustbo import Float, Space
        >>> group = AtMost(1, "salt", "sugar")
        >>> group.text
        'at most 1 of salt, sugar'
        >>> space = Space(salt=Float(0, 5), sugar=Float(0, 9), constraints=[group])
        >>> space.broken({"salt": 1.0, "sugar": 0.0}), space.broken({"salt": 1.0, "sugar": 2.0})
        ([], ['at most 1 of salt, sugar'])
    """

    most: int
    names: tuple[str, ...]
    off: float
    is_equality = False

    def __init__(self, most: int, *names: str, off: float = 0) -> None:
        if isinstance(most, bool) or not isinstance(most, int) or most < 0:
            raise SpaceError(f"AtMost: the first argument must be a whole number, {EXAMPLE}, got {most!r}")
        if not all(isinstance(name, str) for name in names):
            raise SpaceError(f"AtMost: parameters must be given by their names, {EXAMPLE}, got {names!r}")
        if isinstance(off, bool) or not isinstance(off, int | float) or not np.isfinite(off):
            raise SpaceError(f"AtMost.off must be a finite number, got {off!r}")
        if len(set(names)) < len(names):
            raise SpaceError(f"AtMost: every parameter must be named once, got {names!r}")
        if most >= len(names):
            raise SpaceError(f"AtMost: at most {most} of {len(names)} parameters forbids nothing; leave it out")
        object.__setattr__(self, "most", most)
        object.__setattr__(self, "names", tuple(names))
        object.__setattr__(self, "off", float(off))

    @property
    def text(self) -> str:
        """The constraint in words, as journals keep it; `read` gives it back."""
        names = ", ".join(name if name.isidentifier() and not iskeyword(name) else f"`{name}`" for name in self.names)
        return f"at most {self.most} of {names}" + (f" differ from {self.off:.17g}" if self.off else "")

    @property
    def excess(self) -> CountAbove:
        """The number of parameters that are on beyond those that may be."""
        return CountAbove(self.names, self.most, self.off)

    @classmethod
    def read(cls, text: str, names: Collection[str]) -> "AtMost":
        """The constraint that a text says.

        Raises:
            SpaceError: If it says none, or has a name that is not among those known.

        Example:
            >>> AtMost.read("at most 2 of a, `b c`, d", ["a", "b c", "d"]).names
            ('a', 'b c', 'd')
        """
        error = f"constraint {shorten(text)!r}:"
        if len(text) > (longest := limits.CONSTRAINT_CHARACTERS):
            raise SpaceError(f"{error} must have at most {longest} characters, got {len(text)}")
        if (match := FORM.fullmatch(text.strip())) is None or not re.fullmatch("[0-9]{1,6}", match["most"]):
            raise SpaceError(f"{error} must be like 'at most 2 of a, b, c', with a number in digits")
        listed, off = match["names"].strip(), 0.0
        if (differs := OFF.fullmatch(listed)) is not None:
            listed = differs["names"]
            try:
                off = float(differs["off"])
            except ValueError:
                raise SpaceError(f"{error} must end in a number, got {differs['off']!r}") from None
        members = _names_in(listed, error)
        for name in members:
            if name not in names:
                raise _unknown(error, name, names)
        try:
            return cls(int(match["most"]), *members, off=off)
        except SpaceError as failure:
            raise SpaceError(f"{error} {str(failure).removeprefix('AtMost: ')}") from None

    def check(self, parameters: Mapping[str, Parameter]) -> None:
        """Raise a `SpaceError` where a parameter cannot be in the group."""
        for name in self.names:
            error = f"constraint {shorten(self.text)!r}:"
            if (parameter := parameters.get(name)) is None:
                raise SpaceError(
                    f"{error} {name!r} is no parameter; there are {[*parameters]}{nearest(name, parameters)}"
                )
            if parameter.interval is None:
                raise SpaceError(f"{error} it is on numbers, {name!r} is {parameter!r}")
            if parameter.condition:
                raise SpaceError(f"{error} it takes parameters that always exist, not {name!r}; absent is not off")
            if getattr(parameter, "log", False):
                raise SpaceError(
                    f"{error} {name!r} must have {self.off:g}, and a log scale begins above 0, got {parameter!r}; "
                    f"take a range from {self.off:g} without log"
                )
            if not admits(parameter, int(self.off) if self.off.is_integer() else self.off):
                raise SpaceError(f"{error} {name!r} must have the value {self.off:g}, which is off, got {parameter!r}")


def is_at_most(text: str) -> bool:
    """Return whether a text begins as one of these."""
    return BEGINNING.match(text) is not None


def _unknown(error: str, name: str, names: Collection[str]) -> SpaceError:
    return SpaceError(f"{error} {name!r} is no parameter; there are {shorten(str([*names]))}{nearest(name, names)}")


def _names_in(listed: str, error: str) -> list[str]:
    """The names in a list with commas, whose last may be no more than a comma."""
    names, at = [], 0
    while at < len(listed):
        if (match := NAME.match(listed, at)) is None:
            raise SpaceError(f"{error} must have names with commas between them, got {shorten(listed[at:])!r}")
        names.append(match["quoted"] or match["plain"])
        at = match.end()
    return names
