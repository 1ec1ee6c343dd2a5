"""The options of a surrogate beside BoTorch's arguments: a frozen dataclass a method; each default stands once."""

from dataclasses import dataclass, fields

from robustbo.numerics.gp.wrong_density import RATE
from robustbo.surrogates.common.capabilities import Capabilities
from robustbo.surrogates.common.priors import KERNELS
from robustbo.validation import flag, one_of

LARGEST = 2**53  # whole numbers beyond are no exact floats, and their quotients may be none at all


@dataclass(frozen=True, kw_only=True)
class Options:
    """An empty set of options; a method's own are a subclass, whose `check` refuses invalid ones."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(field.default, bool):
                flag(field.name, value)
            numbers = value if isinstance(value, tuple | list) else (value,)
            if any(isinstance(number, int) and abs(number) > LARGEST for number in numbers):
                raise ValueError(f"{field.name} must be at most 2^53 as a whole number, got one of more")
        self.check()

    def check(self) -> None:
        """Raise a ValueError or a TypeError for an invalid option."""

    def rate(self, n: int) -> float:
        """The prior rate of wrong values among n, which every probability of being wrong begins with."""
        return RATE

    @property
    def capabilities(self) -> Capabilities:
        """Capabilities of a surrogate with these options."""
        return Capabilities()


@dataclass(frozen=True, kw_only=True)
class GPOptions(Options):
    """The options of every surrogate on the base GP.

    Attributes:
        kernel: "matern52" or "rbf".
        is_signal_free: Whether the signal variance is free, or 1 as in BoTorch's default.
    """

    kernel: str = "matern52"
    is_signal_free: bool = True

    def check(self) -> None:
        """Raise a ValueError if there is no such kernel."""
        super().check()
        one_of("kernel", self.kernel, sorted(KERNELS))

    @property
    def capabilities(self) -> Capabilities:
        """Capabilities of an exact process."""
        return Capabilities(is_cubic=True)
