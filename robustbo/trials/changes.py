"""Changes of the search space while a study goes on: what was measured stays, and asks follow.

A change is an event like others. The space after it is the one that people gave, beside what a choice had once: values
of that are modelled, and asked for no more. A parameter that is new had one value in all trials before, and one whose
condition is wider in those in which it did not exist.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import Choice, Parameter, Value
from robustbo.searchspace.parameters.listed import key
from robustbo.searchspace.parameters.measured import measured_value
from robustbo.searchspace.space import Space
from robustbo.trials.storage.line import Event
from robustbo.trials.trial import Trial

KIND = "change"


@dataclass(frozen=True)
class SpaceChange:
    """A change of the space.

    Attributes:
        trial: How many trials there were before it.
        space: The space from then on, as people gave it.
        was: The values that parameters which begin to exist had in those trials.
    """

    trial: int
    space: Space
    was: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def of(cls, event: Event) -> "SpaceChange":
        """The change that an event records.

        Raises:
            SpaceError: If its space is none.
        """
        space = Space.from_dict(event["space"], event.get("constraints", ()))
        return cls(event["trial"], space, tuple(event.get("was", {}).items()))

    def event(self) -> dict[str, Any]:
        """The event that records it; `of` gives it back."""
        content: dict[str, Any] = {"event": KIND, "trial": self.trial, "space": self.space.to_dict()}
        content |= {"constraints": self.space.texts} if self.space.texts else {}
        return content | ({"was": dict(self.was)} if self.was else {})

    def apply(self, trial: Trial) -> Trial:
        """A trial of before, at its point in the space from then on."""
        if not self.was:
            return trial
        params = self._with_old_values(trial.params)
        target = None if trial.target is None else self._with_old_values(trial.target)
        return replace(trial, params=params, target=target)

    def _with_old_values(self, params: Mapping[str, Value]) -> dict[str, Value]:
        values = {**dict(self.was), **params}
        names = self.space.existing(values) & values.keys()
        return {name: values[name] for name in self.space.names if name in names}


def change_of(trial: int, space: Space, was: Mapping[str, Any]) -> SpaceChange:
    """A change as people give it; a `SpaceError` where an old value is none of its parameter."""
    named = dict(space.parameters)
    values = [
        (name, measured_value(name, named[name], value) if name in named else value) for name, value in was.items()
    ]
    return SpaceChange(trial, space, tuple(values))


@lru_cache(maxsize=64)
def changed_space(space: Space, changes: tuple[SpaceChange, ...]) -> Space:
    """The space after some changes, whose choices know what they had once."""
    for change in changes:
        space = _follow(space, change.space)
    return space


def _follow(before: Space, after: Space) -> Space:
    old = dict(before.parameters)
    named = {name: _with_former(old.get(name), parameter) for name, parameter in after.parameters}
    return Space.from_dict(named, after.texts)


def _with_former(before: Parameter | None, after: Parameter) -> Parameter:
    if isinstance(after, Choice) and isinstance(before, Choice):
        return after.with_former([*before.values, *before.former])
    return after


def check_change(before: Space, change: SpaceChange, trials: Iterable[Trial]) -> None:
    """Raise unless a space may follow another, with these trials.

    Raises:
        SpaceError: If a parameter is left out, or a new one has no old value, or a trial has none in it.
    """
    check_parameters(before, change)
    trials = [*trials]
    if trials and (lacking := [n for n in change.space.names if n not in {*before.names, *dict(change.was)}]):
        raise SpaceError(
            f"{lacking[0]}: is new; give the value that it had in the {len(trials)} trials so far, "
            f"by was={{{lacking[0]!r}: ...}}"
        )
    after = _follow(before, change.space)
    for trial in trials:
        _check_trial(after, change.apply(trial))


def check_parameters(before: Space, change: SpaceChange) -> None:
    """Raise unless the parameters of a space may follow those of another.

    Raises:
        SpaceError: If one is left out, or an old value is none of a new one.
    """
    after, was = change.space, dict(change.was)
    if missing := [name for name in before.names if name not in after.names]:
        raise SpaceError(
            f"{missing[0]}: a changed space must have every parameter, since its values depend on it; fix it in asks, "
            f"by fixed={{{missing[0]!r}: ...}}"
        )
    new = [name for name in after.names if name not in before.names or name in before.conditions]
    if odd := [name for name in was if name not in new]:
        raise SpaceError(f"{odd[0]}: was must have values of new parameters, or of conditional ones, which are {new}")
    change_of(change.trial, after, was)  # raises where a value is none


def _check_trial(space: Space, trial: Trial) -> None:
    """Raise a `SpaceError` if a trial cannot be modelled in a space."""
    if lacking := [name for name in space.names if name in space.existing(trial.params) - trial.params.keys()]:
        raise SpaceError(
            f"{lacking[0]}: exists at trial {trial.number} from now on; give the value that it had there, by "
            f"was={{{lacking[0]!r}: ...}}"
        )
    try:
        point = space.measured_point(trial.params)
    except SpaceError as error:
        raise SpaceError(f"trial {trial.number} must have a place in the changed space: {error}") from None
    for name, parameter in space.parameters:
        if parameter.count == 1 and name in point and key(point[name]) != key(parameter.nth(0)):
            raise SpaceError(
                f"{name}: must keep a range, since trial {trial.number} has {point[name]!r}; fix it in asks, by "
                f"fixed={{{name!r}: {parameter.nth(0)!r}}}"
            )
