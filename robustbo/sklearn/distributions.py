"""Parameters from the ways that people write hyperparameters: lists, named objects, distributions of SciPy."""

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import Choice, Float, Int, Ordinal, Parameter
from robustbo.searchspace.parameters.listed import key
from robustbo.validation import plain_scalar

KINDS = ("uniform", "loguniform", "reciprocal", "randint")  # the third is what SciPy calls the second as well


class Values(NamedTuple):
    """A parameter, and what its values stand for.

    Attributes:
        parameter: The parameter.
        objects: By a value of the parameter: the object that the estimator is given; None where it is the value.
    """

    parameter: Parameter
    objects: Mapping[Any, Any] | None = None


def values_of(name: str, spec: Any) -> Values:
    """The parameter that is meant.

    Args:
        name: Its name, for messages.
        spec: A parameter; a list or a tuple (of numbers: in order, on the scale on which they lie more evenly; of
            anything else: without an order); a range; a mapping of names to objects; a frozen distribution of SciPy's:
            uniform, loguniform or randint.

    Raises:
        SpaceError: If it is none of these, or a pair of numbers, which elsewhere is the range between them.
    """
    if isinstance(spec, Parameter):
        return Values(spec)
    if isinstance(spec, Mapping) and spec and all(isinstance(word, str) for word in spec):
        return Values(Choice(*spec), dict(spec))
    if isinstance(spec, range) and spec.step > 0 and spec:
        return Values(Int(spec[0], spec[-1], step=spec.step))
    if isinstance(spec, tuple):
        _check_no_range(name, spec)
    if isinstance(spec, Sequence | np.ndarray) and not isinstance(spec, str | bytes) and len(spec):
        return _from_values(name, [plain_scalar(value) for value in spec])
    if hasattr(spec, "dist") and hasattr(spec, "support"):
        return Values(_from_distribution(name, spec))
    raise SpaceError(
        f"{name}: must be a robustbo Float, Int, Ordinal or Choice, a list of values, a mapping of names to objects, "
        f"or scipy.stats' uniform, loguniform or randint, got {spec!r}"
    )


def _check_no_range(name: str, pair: tuple[Any, ...]) -> None:
    """Raise a SpaceError where a tuple may be meant as a range, as scikit-optimize has it, and not as its values."""
    ends, scale = [plain_scalar(value) for value in pair[:2]], pair[2:]
    if len(ends) == 2 and all(map(_is_number, ends)) and scale in ((), ("uniform",), ("log-uniform",)):
        low, high = sorted(ends)
        kind = "Int" if all(isinstance(end, numbers.Integral) for end in ends) else "Float"
        log = "" if scale == ("uniform",) or low <= 0 else ", log=True"
        between = f"rb.{kind}({low!r}, {high!r}{log}) for all between them"
        must = f"{name}: must be a list of values, or a parameter, got the tuple {pair!r}"
        raise SpaceError(f"{must}; write {ends!r} for these values, or {between}")


def _from_values(name: str, values: list[Any]) -> Values:
    if all(_is_number(value) for value in values):
        rising = sorted({float(value): value for value in reversed(values)}.values())
        return Values(Ordinal(*rising, log=_is_even_in_logs(rising)))
    if all(_is_number(value) or value is None or isinstance(value, str | bool) for value in values):
        return Values(Choice(*{key(value): value for value in values}.values()))
    return Values(Choice(*range(len(values))), dict(enumerate(values)))


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


def _is_even_in_logs(rising: Sequence[float]) -> bool:
    """Return whether the logarithms of numbers lie more evenly than they do themselves."""
    if rising[0] <= 0 or len(rising) < 3:
        return False
    return _unevenness(map(math.log, rising)) < _unevenness(rising)


def _unevenness(rising: Iterable[float]) -> float:
    """The largest gap, in smallest ones."""
    gaps = [after - before for before, after in pairwise(rising)]
    return max(gaps) / min(gaps) if min(gaps) > 0 else math.inf


def _from_distribution(name: str, frozen: Any) -> Parameter:
    """The range of a distribution, whose density is uniform on one scale or the other."""
    kind, (low, high) = frozen.dist.name, frozen.support()
    if kind not in KINDS:
        raise SpaceError(
            f"{name}: of scipy.stats' distributions uniform, loguniform and randint have a range to search, got "
            f"{kind}; give a robustbo Float or Int with its bounds"
        )
    if kind == "randint":
        return Int(int(low), int(high))
    return Float(float(low), float(high), log=kind != "uniform")
