"""Parameters without an order."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from robustbo.searchspace.parameters.condition import Value
from robustbo.searchspace.parameters.listed import Listed, key
from robustbo.searchspace.parameters.scale import cell_middle
from robustbo.validation import plain_scalar


@dataclass(frozen=True, init=False, repr=False)
class Choice(Listed):
    """One of any number of values without an order: strings, numbers, booleans or None.

    Example:
        >>> Choice("relu", "tanh").from_unit(0.9)
        'tanh'
    """

    kind: ClassVar[str] = "choice"
    former: tuple[Value, ...] = ()

    def with_former(self, earlier: Iterable[Value]) -> "Choice":
        """The choice beside values that it had once: what was measured there is modelled, and none is asked for.

        Example:
            >>> Choice("water").with_former(["water", "ethanol"]).former
            ('ethanol',)
        """
        new = {key(value): value for value in earlier if key(value) not in self._indices}
        choice = type(self)(*self.values, when=self.when)
        object.__setattr__(choice, "former", tuple(sorted(new.values(), key=repr)))
        return choice

    @property
    def num_modelled(self) -> int:
        """Number of values, those that it had once among them."""
        return len(self.values) + len(self.former)

    def has_former(self, value: Any) -> bool:
        """Return whether it had a value once, and has it no more."""
        try:
            return key(plain_scalar(value)) in {*map(key, self.former)}
        except TypeError:  # what cannot be hashed is no value
            return False

    def former_value(self, value: Any) -> Value:
        """A value that it had once, as it was listed."""
        return self.former[[*map(key, self.former)].index(key(plain_scalar(value)))]

    def to_unit(self, value: Any) -> float:
        """The middle of the value's cell of the unit interval; beyond the interval, of one that it had once."""
        if self.former and self.has_former(value):
            index = len(self.values) + [*map(key, self.former)].index(key(value))
            return float(cell_middle(index, len(self.values)))
        return super().to_unit(value)

    def _own(self) -> dict[str, Any]:
        return {"values": self.values}
