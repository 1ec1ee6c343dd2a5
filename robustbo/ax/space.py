"""An Ax search space as ours; nothing of Ax is imported here, only looked at."""

from collections.abc import Iterator
from typing import Any

from robustbo.searchspace.parameters import Choice, Float, Int, Ordinal, Parameter, Value
from robustbo.searchspace.space import Space

TOLERANCE = 1e-8  # by which an arm may break an inequality: Ax's PARAMETER_CONSTRAINT_TOLERANCE


def space_of(experiment: Any) -> Space:
    """The search space, with its constraints and with what depends on a choice.

    A choice in order is an `Ordinal` (one of two values has none to speak of, and Ax calls each of these ordered), a
    fixed parameter a `Choice` of one value; a derived one is none, since the others say what it is.

    Raises:
        ValueError: If a parameter is of another kind, or the space is empty.
    """
    search_space = experiment.search_space
    needed = _conditions(search_space)
    parameters = {
        name: _parameter(name, ax_parameter, needed.get(name)) for name, ax_parameter in _free_parameters(search_space)
    }
    return Space.from_dict(parameters, [*_constraints(search_space)])


def _free_parameters(search_space: Any) -> Iterator[tuple[str, Any]]:
    return (
        (name, ax_parameter)
        for name, ax_parameter in search_space.parameters.items()
        if not hasattr(ax_parameter, "expression_str")
    )


def _conditions(search_space: Any) -> dict[str, dict[str, list[Value]]]:
    """Conditions by parameter that depends on another: that one, and the values for which it exists."""
    conditions = dict[str, dict[str, list[Value]]]()
    for name, parameter in search_space.parameters.items():
        for value, dependents in (parameter.dependents if parameter.is_hierarchical else {}).items():
            for dependent in dependents:
                conditions.setdefault(dependent, {}).setdefault(name, []).append(value)
    return conditions


def _parameter(name: str, parameter: Any, when: dict[str, list[Value]] | None) -> Parameter:
    if hasattr(parameter, "lower"):
        low, high, is_log = parameter.lower, parameter.upper, bool(parameter.log_scale)
        if parameter.parameter_type.name == "INT":
            return Int(int(low), int(high), is_log, when=when)
        return Float(float(low), float(high), is_log, when=when)
    if hasattr(parameter, "values"):
        if parameter.is_ordered and len(parameter.values) > 2:
            return Ordinal(*parameter.values, log=bool(parameter.log_scale), when=when)
        return Choice(*parameter.values, when=when)
    if hasattr(parameter, "value"):
        return Choice(parameter.value, when=when)
    raise ValueError(f"{name} must be a range, a choice or fixed, got {parameter!r}")


def _constraints(search_space: Any) -> Iterator[str]:
    """The constraints in our words, an inequality as wide as Ax takes it."""
    for constraint in search_space.parameter_constraints:
        weights = {name: float(weight) for name, weight in constraint.constraint_dict.items() if weight != 0}
        if weights:
            left = " + ".join(f"{weight!r} * `{name}`" for name, weight in weights.items())
            bound = float(constraint.bound)
            yield f"{left} == {bound!r}" if constraint.is_equality else f"{left} <= {bound + TOLERANCE!r}"
