"""Rows of somebody's own that were told before: known by their point, their sources, and what was measured."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from robustbo.censored import from_json
from robustbo.searchspace.parameters import Value
from robustbo.trials.declared import Declared, target_of
from robustbo.trials.history import Trial
from robustbo.trials.identity import point_of
from robustbo.trials.noise import ValueNoise
from robustbo.trials.sources import COMPUTER, DEFAULT_KIND


class Recognition:
    """The trials that rows without a number may be, each of them one row.

    Args:
        trials: They.
        declared: The sources that the study was begun with.
    """

    def __init__(self, trials: Iterable[Trial], declared: Declared) -> None:
        self._declared, self._taken = declared, set[int]()
        self._numbers: dict[Hashable, list[int]] = {}
        for trial in trials:
            place = trial.point, self._source_key(trial.sources)
            reason = trial.reason if trial.state == "failed" else None
            keys = [(_value_key(trial.raw_value), reason, _noise_of(trial))]
            keys += [(_value_key(value), None, None) for value in trial.former_values]  # whose noise is not kept
            for key in keys:
                self._numbers.setdefault((place, key), []).append(trial.number)

    def take(self, point: Mapping[str, Value], sources: Mapping[str, str], content: Mapping[str, Any]) -> int | None:
        """The first trial that was told a row, and that no other row is; None where there is none.

        Args:
            point: Of the row.
            sources: What measured it.
            content: Of the event that tells it.
        """
        place, value = (point_of(point), self._source_key(sources)), _value_key(content.get("value"))
        keys = [(value, content.get("reason"), _noise_in(content)), (value, None, None)]
        numbers = [number for key in keys for number in self._numbers.get((place, key), ())]
        number = next((number for number in numbers if number not in self._taken), None)
        self._taken |= set() if number is None else {number}
        return number

    def _source_key(self, sources: Mapping[str, str]) -> Hashable:
        """The labels that people say, by which the target is what has none."""
        target = {DEFAULT_KIND: target_of(self._declared)}.items()
        return frozenset((kind, label) for kind, label in sources.items() - target if kind != COMPUTER)


def _value_key(value: Any) -> Hashable:
    if isinstance(value, Mapping):
        return tuple(sorted((name, from_json(number)) for name, number in value.items()))
    return from_json(value)


def _noise_of(trial: Trial) -> Hashable:
    outcomes = {name: ValueNoise(o.sd, o.n) for name, o in trial.outcomes.items() if o.value is not None}
    return tuple(sorted(outcomes.items())) if outcomes else ValueNoise(trial.sd, trial.n)


def _noise_in(content: Mapping[str, Any]) -> Hashable:
    value, sd = content.get("value"), content.get("sd")
    if not isinstance(value, Mapping):
        return ValueNoise.of(sd)
    return tuple(sorted((name, ValueNoise.of((sd or {}).get(name))) for name in value))
