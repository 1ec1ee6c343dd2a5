"""Parameters without an order."""

from dataclasses import dataclass
from typing import ClassVar

from robustbo.searchspace.parameters.listed import Listed


@dataclass(frozen=True, init=False, repr=False)
class Choice(Listed):
    """One of several values without an order, however many: strings, numbers, booleans or None.

    Example:
        >>> Choice("relu", "tanh").from_unit(0.9)
        'tanh'
    """

    kind: ClassVar[str] = "choice"
