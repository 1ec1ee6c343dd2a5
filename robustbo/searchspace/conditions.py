"""Conditional parameters: one exists at a point where its conditions hold on parameters that exist themselves."""

import graphlib
from collections.abc import Mapping, Sequence
from typing import Any

from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import MAX_LEVELS, Parameter, Value
from robustbo.searchspace.parameters.listed import key
from robustbo.validation import nearest

Named = Sequence[tuple[str, Parameter]]
Keys = frozenset[tuple[bool, Value]]
Conditions = dict[str, dict[str, Keys]]  # parameter -> other parameter -> the values that it must have


def find_conditions(parameters: Named) -> Conditions:
    """The conditions of all parameters that have some, each after those that it depends on.

    Raises:
        SpaceError: If a condition is on a parameter that is not there, or is not counted, on a value that it never
            has, or in the end on itself.
    """
    by_name = dict(parameters)
    conditions = {
        name: {other: _keys(name, other, values, by_name) for other, values in p.condition} for name, p in parameters
    }
    try:
        order = list(graphlib.TopologicalSorter(conditions).static_order())
    except graphlib.CycleError as error:
        raise SpaceError(f"{error.args[1][0]}.when: conditions form a circle: {error.args[1]}") from None
    return {name: conditions[name] for name in order if conditions[name]}


def _keys(name: str, other: str, values: Sequence[Value], named: Mapping[str, Parameter]) -> Keys:
    if other not in named or other == name:
        hint = nearest(other, [candidate for candidate in named if candidate != name])
        raise SpaceError(f"{name}.when: must name another parameter of {list(named)}, got {other!r}{hint}")
    parameter = named[other]
    if parameter.levels is None:
        raise SpaceError(f"{name}.when: {other!r} must have at most {MAX_LEVELS} values, it is {parameter!r}")
    return frozenset(key(parameter.validate(f"{name}.when: {other}", value)) for value in values)


def present_names(parameters: Named, conditions: Conditions, values: Mapping[str, Any]) -> set[str]:
    """The names of the parameters that exist.

    Args:
        parameters: All of them.
        conditions: Their conditions, as `find_conditions` has them.
        values: The values of all that others depend on, if they exist themselves.
    """
    names = {name for name, _ in parameters if name not in conditions}
    for name, needed in conditions.items():
        if all(other in names and other in values and key(values[other]) in keys for other, keys in needed.items()):
            names.add(name)
    return names


def absent_names(conditions: Conditions, values: Mapping[str, Any]) -> set[str]:
    """The names of the parameters that cannot exist where some have known values."""
    names = set[str]()
    for name, needed in conditions.items():
        if any(
            other in names or (other in values and key(values[other]) not in keys) for other, keys in needed.items()
        ):
            names.add(name)
    return names


def condition_text(parameter: Parameter) -> str:
    """The condition of a parameter, in words."""
    return " and ".join(
        f"{other} is {repr(values[0]) if len(values) == 1 else f'one of {list(values)!r}'}"
        for other, values in parameter.condition
    )
