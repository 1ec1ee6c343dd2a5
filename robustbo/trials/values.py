"""A measurement as people tell it, checked: numbers or bounds, of one outcome or of several, and their noise."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, SupportsFloat

from robustbo.censored import Bound, censored_value, check_noise
from robustbo.trials.noise import Count, count_of, noise_entry
from robustbo.trials.outcomes import OutcomeGoal
from robustbo.validation import as_number, noise_sd, one_of, real

Measurement = SupportsFloat | Bound | str  # a number, or a bound, such as Below(0.05) or "<0.05"
Value = Measurement | Mapping[str, Measurement | None]  # of one outcome, or of several by name
Noise = float | None | Mapping[str, float | None]


def _only(value: Any) -> float:
    """The value of the only outcome.

    Raises:
        TypeError: If it is none; the message says what to do.
    """
    if value is None:
        raise TypeError("value must be a real number, got None; call `fail` if a trial gave no value")
    if (bound := censored_value(value)) is not None:
        return bound
    if isinstance(value, str) and not as_number(value):
        advice = "the number alone" if value.strip()[:1].isdigit() else "`fail` where there is no value"
        raise TypeError(f"value must be a real number, got {value!r}; write {advice}")
    if isinstance(value, tuple) and len(value) == 2:
        raise TypeError(
            f"value must be a real number, got {value!r}; write {value[0]!r}, sd={value[1]!r} where one is the noise"
        )
    return real("value", value)


def _number(name: str, value: Any) -> float:
    """The value of one of several outcomes."""
    bound = censored_value(value)
    return real(f"value of {name!r}", value) if bound is None else bound


def values_to_record(
    outcomes: Sequence[OutcomeGoal], value: Value, sd: Noise, n: Count | None = None
) -> tuple[float | dict[str, float], Any, list[str]]:
    """A measurement as it is recorded: a number, or the finite numbers of several outcomes by name; its noise (that
    of a mean of ``n``: `trials.noise`); and the outcomes that came to no finite number. What was told as a bound is a
    `robustbo.censored.CensoredValue`.

    Raises:
        ValueError: If an outcome is not known, or a standard deviation is none.
        TypeError: If there is no number where one must be, or a number where several must be.
    """
    if not outcomes:
        if isinstance(value, Mapping):
            raise TypeError(f"value must be a real number, got {value!r}; several outcomes need objectives=")
        number, spread, count = _only(value), noise_sd(sd), count_of(n)
        check_noise(number, spread, count)
        return number, noise_entry(spread, count), []
    names = [outcome.name for outcome in outcomes]
    for argument, mapping in ("value", value), ("sd", sd):
        if not isinstance(mapping, Mapping) and not (argument == "sd" and mapping is None):
            raise TypeError(f"{argument} must be a mapping of outcomes {names} to numbers, got {mapping!r}")
        for name in mapping or ():
            one_of(f"an outcome in {argument}", name, names)
    assert isinstance(value, Mapping)
    assert sd is None or isinstance(sd, Mapping)
    told = {name: value[name] for name in names if value.get(name) is not None}
    numbers = {name: _number(name, number) for name, number in told.items()}
    finite = {name: number for name, number in numbers.items() if math.isfinite(number)}
    noise = {name: noise_sd(number) for name, number in (sd or {}).items()}
    counts = {name: count_of(n, name) for name in finite}
    for name, number in finite.items():
        check_noise(number, noise.get(name), counts[name], f" of {name!r}")
    return (
        finite,
        {name: noise_entry(noise.get(name), counts[name]) for name in finite},
        [name for name in numbers if name not in finite],
    )
