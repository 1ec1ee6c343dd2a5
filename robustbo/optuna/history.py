"""A study's trials as a history of ours.

    COMPLETE                      told, or excluded by the user; failed where the value is infinite
    FAIL                          failed, or told where the user has amended it
    PRUNED, nothing reported      failed
    PRUNED, with what it reported excluded, or told where pruned trials are considered
    RUNNING, WAITING              pending, as far as their parameters are known

A trial that breaks a constraint of Optuna's gives no value, and lies in its point. One that has not all parameters of
the space, or a value beyond its range, is left out.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.trial import FrozenTrial, TrialState

from robustbo.errors import NumericsWarning, warn
from robustbo.optuna import notes
from robustbo.optuna.conditions import conditions
from robustbo.optuna.distributions import ours, parameter
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.space import Space
from robustbo.trials.history import History, Trial
from robustbo.validation import noise_sd

Said = Mapping[int, Mapping[str, Any]]  # what the user says of trials, by number
Content = dict[str, Any]  # of a trial of ours

SUGGESTED = "sobol"  # the origin of what was not by a model
KEPT = ("origin", "reason", "fallback")  # of what was decided on a trial
EXPECTED = ("expected", "expected_sd")


@dataclass(frozen=True)
class Gathered:
    """A study as we see it.

    Attributes:
        space: Its parameters that we have.
        distributions: Of these parameters.
        history: Its trials that are points of the space.
        numbers: Optuna's number of each.
    """

    space: Space
    distributions: Mapping[str, BaseDistribution]
    history: History
    numbers: tuple[int, ...]

    def point(self, params: Mapping[str, Any]) -> dict[str, Value]:
        """What some of Optuna's values are to us, of the parameters that we have.

        Raises:
            ValueError: If one is beyond its range.
        """
        return {name: ours(self.distributions[name], params[name]) for name in self.space.names if name in params}


def space_of(search_space: Mapping[str, BaseDistribution], trials: Sequence[FrozenTrial]) -> Space | None:
    """The space of some parameters, each existing where completed trials say; None of none that we have."""
    depends = conditions(search_space, trials)
    known: dict[str, Any] = {}
    for name in sorted(search_space, key=lambda name: (name in depends, name)):
        when = {o: [ours(search_space[o], v) for v in values] for o, values in depends.get(name, {}).items()}
        known[name] = parameter(search_space[name], when or None)
    there = {name: p for name, p in known.items() if p is not None and all(known[o] for o in depends.get(name, {}))}
    return Space.from_dict(there) if there else None


def gathered(
    space: Space,
    search_space: Mapping[str, BaseDistribution],
    trials: Sequence[FrozenTrial],
    said: Said,
    *,
    besides: int | None = None,
    considers_pruned: bool = False,
    is_exact: bool = False,
) -> Gathered:
    """The trials of a study that are points of a space.

    Args:
        space: Of `space_of`.
        search_space: The distributions of its parameters.
        trials: All of them, by number.
        said: What the user says of some.
        besides: The number of a trial that is left out, since it is being decided on.
        considers_pruned: Whether what a pruned trial reported last is its value.
        is_exact: Whether values have no noise, unless the user has said how much a trial's has.
    """
    named = {name: search_space[name] for name in space.names}
    made = Gathered(space, named, History(), ())
    found, numbers = list[Trial](), dict[int, int]()
    for trial in trials:
        note = notes.read(trial)
        content = None if trial.number == besides else _content(trial, said.get(trial.number, {}), considers_pruned)
        params = None if content is None else _params(made, trial, note)
        if content is None or params is None:
            continue
        if is_exact and content.get("value") is not None and content["sd"] is None:
            content["sd"] = 0.0
        repeats = numbers.get(note.get("repeats", trial.user_attrs.get(notes.REPEATS)))
        if repeats is not None and found[repeats].params == params:
            content["repeats"] = repeats
        expected: Content = {} if content.pop("is_judged", False) else {key: note.get(key) for key in EXPECTED}
        numbers[trial.number] = len(found)
        kept: Content = {"origin": _origin(trial), **{key: note[key] for key in KEPT if key in note}}
        found.append(Trial(len(found), params, **{**kept, **expected, **content}))
    return Gathered(space, named, History(tuple(found)), tuple(numbers))


def _origin(trial: FrozenTrial) -> str:
    return "user" if "fixed_params" in trial.system_attrs else SUGGESTED


def _params(made: Gathered, trial: FrozenTrial, note: notes.Note) -> dict[str, Value] | None:
    """The point of a trial, as far as it is known what it will be; None where it is none of the space."""
    try:
        decided: dict[str, Value] = dict(note.get("params", {}))
        decided |= made.point(trial.system_attrs.get("fixed_params", {})) | made.point(trial.params)
        there = made.space.existing(decided)
        return made.space.validate({name: decided[name] for name in made.space.names if name in there})
    except (KeyError, ValueError):
        return None


def _noise(trial: FrozenTrial) -> float | None:
    """What the user says of a value's noise; unknown, with a warning, where that cannot be: it ends no study."""
    try:
        return noise_sd(trial.user_attrs.get(notes.SD))
    except (TypeError, ValueError) as error:
        warn(f"trial {trial.number}: its attribute {notes.SD!r} is passed over: {error}", NumericsWarning)
        return None


def _content(trial: FrozenTrial, said: Mapping[str, Any], considers_pruned: bool) -> Content | None:
    """State, value and reason of a trial."""
    state = trial.state
    if not state.is_finished():
        return {"state": "pending"}
    if broken := sorted(name for name, value in trial.constraints.items() if not value <= 0):
        return {"state": "failed", "reason": f"breaks the constraint {broken[0]}", "retry": False}
    amended = said.get("value")
    value = amended if amended is not None else trial.value if state != TrialState.FAIL else None
    if value is None or not math.isfinite(value):
        return {"state": "failed", "reason": "pruned" if state == TrialState.PRUNED else "failed"}
    is_left_out = state == TrialState.PRUNED and not considers_pruned and amended is None
    sd = said.get("sd") if amended is not None else _noise(trial)
    told = "excluded" if said.get("is_excluded", is_left_out) else "told"
    word = {"is_judged": "is_excluded" in said or amended is not None, "is_vouched": said.get("is_vouched", False)}
    return {"state": told, "value": float(value), "sd": sd, **word}
