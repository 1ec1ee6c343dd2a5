"""A study's trials as a history of ours.

    COMPLETE                      told, or excluded by the user; failed where every value is infinite
    FAIL                          failed, or told where the user has amended it
    PRUNED, nothing reported      failed
    PRUNED, with what it reported told, or excluded where pruned trials are not considered
    RUNNING, WAITING              pending, as far as their parameters are known

A trial that breaks a constraint of Optuna's gives no value, and lies in its point. One that has not all parameters of
the space is left out; one of another range is where it was measured. Of parameters that come and go a parameter of
ours says whether they are there.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.trial import FrozenTrial

from robustbo.optuna import notes
from robustbo.optuna.conditions import conditions, presence_indicators
from robustbo.optuna.content import Content, content, sources
from robustbo.optuna.distributions import measured_value, ours, parameter
from robustbo.optuna.old_studies import OldTrial, StudySources
from robustbo.optuna.pruned import stand_ins
from robustbo.searchspace.parameters import Choice, Value
from robustbo.searchspace.space import Space
from robustbo.trials.history import History, Trial
from robustbo.trials.tree import Trials

UserNotes = Mapping[int, Mapping[str, Any]]  # what the user says of trials, by number

SUGGESTED = "sobol"  # the origin of what was not by a model
DECISION_KEYS = ("origin", "reason", "fallback")  # of what was decided on a trial


@dataclass(frozen=True)
class GatheredTrials:
    """A study as we see it.

    Attributes:
        space: Its parameters that we have.
        distributions: Of these parameters.
        history: Its trials that are points of the space.
        numbers: Optuna's number of each, in its own study.
        stand_ins: The numbers of ours whose values stand in for those of pruned trials.
        own: The places of the study's own trials; those of old studies come before, and what they reported after.
    """

    space: Space
    distributions: Mapping[str, BaseDistribution]
    history: History
    numbers: tuple[int, ...]
    stand_ins: frozenset[int] = frozenset()
    own: range = range(0)

    @property
    def by_number(self) -> dict[int, Trial]:
        """The trials of the study itself, by Optuna's number."""
        return {self.numbers[place]: self.history[place] for place in self.own}

    @property
    def history_without_pending(self) -> History:
        """The trials that have ended."""
        return History(Trials(trial for trial in self.history if not trial.is_open))

    def point(self, params: Mapping[str, Any]) -> dict[str, Value]:
        """Our values for some of Optuna's, of the parameters that we have.

        Raises:
            ValueError: If one is beyond its range.
        """
        return {name: ours(of, params[name]) for name, of in self.distributions.items() if name in params}

    def measured_point(self, trial: FrozenTrial, decided: Mapping[str, Value]) -> dict[str, Value]:
        """The point of a trial, outside the space too: its values, before them what was decided, and what is there.

        Raises:
            ValueError: If a value is none of a choice, or one is missing.
        """
        fixed = trial.system_attrs.get("fixed_params", {})
        params = {**fixed, **trial.params}
        values = {
            **decided,
            **{n: measured_value(of, params[n]) for n, of in self.distributions.items() if n in params},
        }
        for name, of in self.space.parameters:
            for other, _ in of.condition:
                if other not in self.distributions and (trial.state.is_finished() or name in trial.params):
                    values[other] = name in trial.params
        return self.space.measured_point(self.space.select_present(values))


def objective_names(count: int, space: Space) -> tuple[str, ...]:
    """The names of several objectives, as of the columns in ``study.trials_dataframe``; none where there is one."""
    names = () if count == 1 else tuple(f"values_{place}" for place in range(count))
    while {*names} & {*space.names}:
        names = tuple(f"{name}_" for name in names)
    return names


def space_of(search_space: Mapping[str, BaseDistribution], trials: Sequence[FrozenTrial]) -> Space | None:
    """The space of some parameters, each existing where completed trials say; None of none that we have."""
    depends = conditions(search_space, trials)
    indicators = presence_indicators(search_space, trials)
    presence = {name: indicator for indicator, names in indicators.items() for name in names}
    parameters: dict[str, Any] = {indicator: Choice(False, True) for indicator in indicators}
    for name in sorted(search_space, key=lambda name: (name in depends, name)):
        when = {o: _possible(search_space[o], values) for o, values in depends.get(name, {}).items()}
        can_be = all(when.values())  # else it exists at values that are beyond their range by now
        when |= {presence[name]: [True]} if name in presence else {}
        parameters[name] = parameter(search_space[name], when or None) if can_be else None
    present = {
        name: p for name, p in parameters.items() if p is not None and all(parameters[o] for o in depends.get(name, {}))
    }
    return Space.from_dict(present) if present else None


def _possible(distribution: BaseDistribution, values: Sequence[Any]) -> list[Value]:
    """Our values for those of Optuna's that are in a range, which may have been another when trials ran."""
    possible = list[Value]()
    for value in values:
        with suppress(ValueError):
            possible.append(ours(distribution, value))
    return possible


def gather_trials(
    space: Space,
    search_space: Mapping[str, BaseDistribution],
    trials: Sequence[FrozenTrial],
    user_notes: UserNotes,
    *,
    names: Sequence[str] = (),
    besides: int | None = None,
    considers_pruned: bool = False,
    is_exact: bool = False,
    old: StudySources | None = None,
) -> GatheredTrials:
    """The trials of a study that are points of a space.

    Args:
        space: Of `space_of`.
        search_space: The distributions of its parameters.
        trials: All of them, by number.
        user_notes: What the user says of some.
        names: Of several objectives; none where there is one.
        besides: The number of a trial that is left out, since it is being decided on.
        considers_pruned: Whether what a pruned trial reported last counts; see `robustbo.optuna.pruned`.
        is_exact: Whether values have no noise, unless the user has said how much a trial's has. None is exact where
            others stand in for those of pruned trials.
        old: The sources of the study; trials of old studies come first.
    """
    named = {name: search_space[name] for name in space.names if name in search_space}
    empty = GatheredTrials(space, named, History(), ())
    before = [] if old is None else old.trials(empty, names)
    gathered = [Trial(place, of.params, **of.content) for place, of in enumerate(before)]
    numbers, standing = dict[int, int](), set[int]()
    has_levels = old is not None and old.has_levels and not names
    instead = stand_ins(trials, user_notes) if considers_pruned and not names and not has_levels else {}
    reported = list[OldTrial]()
    for trial in trials:
        note = notes.read(trial)
        if trial.number == besides or (params := _params(empty, trial, note)) is None:
            continue
        became: Content = {key: note[key] for key in DECISION_KEYS if key in note} | {"sources": sources(trial)}
        word, stand_in = user_notes.get(trial.number, {}), instead.get(trial.number)
        became |= content(trial, note, word, names, stand_in=stand_in, is_exact=is_exact and not instead)
        repeats = numbers.get(note.get("repeats", trial.user_attrs.get(notes.REPEATS)))
        if repeats is not None and gathered[repeats].params == params:
            became["repeats"] = repeats
        if trial.number in instead:
            standing.add(len(gathered))
        numbers[trial.number] = len(gathered)
        gathered.append(Trial(len(gathered), params, **{"origin": _origin(trial), **became}))
        reported += [] if old is None or names else old.report_trials(trial, params)
    gathered += [Trial(place, of.params, **of.content) for place, of in enumerate(reported, len(gathered))]
    all_numbers = (*(of.number for of in before), *numbers, *(of.number for of in reported))
    own = range(len(before), len(before) + len(numbers))
    return GatheredTrials(space, named, History(Trials(gathered)), all_numbers, frozenset(standing), own)


def _origin(trial: FrozenTrial) -> str:
    return "user" if "fixed_params" in trial.system_attrs else SUGGESTED


def _params(empty: GatheredTrials, trial: FrozenTrial, note: notes.Note) -> dict[str, Value] | None:
    """The point of a trial, as far as it is known what it will be; None where it is none of the space."""
    try:
        return empty.measured_point(trial, note.get("params", {}))
    except (KeyError, ValueError):
        return None
