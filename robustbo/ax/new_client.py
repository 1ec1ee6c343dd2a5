"""An Ax client for a space of ours."""

from collections.abc import Iterator, Mapping
from typing import Any

from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig
from ax.core.parameter_constraint import ParameterConstraint

from robustbo.ax.wanted import find_goals
from robustbo.searchspace.constraints.at_most import AtMost
from robustbo.searchspace.constraints.constraint import Constraint
from robustbo.searchspace.parameters import MAX_LEVELS, Choice, Float, Int, Ordinal, Parameter, Value
from robustbo.searchspace.space import Space
from robustbo.trials.outcomes import DIRECTIONS
from robustbo.validation import one_of

TYPES = {str: "str", bool: "bool", int: "int", float: "float"}


def client_for(space: Space, direction: str, metric: str, seed: int | None = None) -> Client:
    """An Ax client for a robustbo space and one objective.

    What goes by steps becomes a choice in order (at most `MAX_LEVELS` values), and a single value a fixed parameter.
    Equations are handed over too, though `Client.configure_experiment` takes none.

    Args:
        space: Its parameters become Ax's; the values of a Choice must be of one type, its constraints linear and on
            ranges that always exist, and a condition on one value of one Choice or Ordinal.
        direction: "minimize" or "maximize".
        metric: The objective's name.
        seed: Ax's random seed.

    Raises:
        ValueError: If the direction is none, or Ax cannot express the space or the metric; the message says which part.
    """
    one_of("direction", direction, DIRECTIONS)
    if space.is_pool:
        raise ValueError(f"the space must not be a pool for Ax, which has no way to list its points: {space!r}")
    constraints = [converted for constraint in space.constraints for converted in _constraint(space, constraint)]
    dependents = _dependents(space)
    client = Client(random_seed=seed)
    client.configure_experiment([_config(name, p, dependents.get(name)) for name, p in space.parameters])
    search_space = client._experiment.search_space
    for name, parameter in space.parameters:
        if not isinstance(parameter, Choice) and _is_ordered(parameter) and parameter.count != 1:
            search_space.parameters[name]._log_scale = parameter.log  # Ax guesses it from the values
    search_space.add_parameter_constraints(constraints)
    client.configure_optimization(objective=metric if direction == "maximize" else f"-{metric}")
    if find_goals(client._experiment).objectives != ((metric, direction),):
        read = client._experiment.optimization_config.objective.expression
        raise ValueError(f"metric must be a name, got {metric!r}, which Ax takes for the formula {read!r}")
    return client


def _is_ordered(parameter: Parameter) -> bool:
    """Return whether it is one of listed values to Ax, in order."""
    if isinstance(parameter, Choice | Ordinal):
        return isinstance(parameter, Ordinal)
    return parameter.step is not None and (isinstance(parameter, Float) or parameter.step != 1)


def _config(
    name: str, parameter: Parameter, dependents: Mapping[Any, list[str]] | None
) -> RangeParameterConfig | ChoiceParameterConfig:
    if isinstance(parameter, Float | Int) and parameter.count != 1 and not _is_ordered(parameter):
        return RangeParameterConfig(
            name=name,
            parameter_type="float" if isinstance(parameter, Float) else "int",
            bounds=(parameter.low, parameter.high),
            scaling="log" if parameter.log else None,
        )
    values = _values(name, parameter)
    kind: Any = TYPES[type(values[0])]
    is_ordered = _is_ordered(parameter)
    return ChoiceParameterConfig(
        name=name, parameter_type=kind, values=values, is_ordered=is_ordered, dependent_parameters=dependents
    )


def _values(name: str, parameter: Parameter) -> list[Any]:
    """All values of a parameter, of one type."""
    count = parameter.count or 0
    if not isinstance(parameter, Choice) and count > MAX_LEVELS:
        raise ValueError(f"{name} must have at most {MAX_LEVELS} values for Ax, got {count} steps; leave the step out")
    values = [parameter.nth(index) for index in range(count)]
    kinds = {type(value) for value in values}
    if isinstance(parameter, Ordinal) and kinds == {int, float}:
        return [float(value) for value in values if isinstance(value, int | float)]
    if len(kinds) > 1:
        raise ValueError(f"{name} must have values of one type for Ax, got {sorted(kind.__name__ for kind in kinds)}")
    if not kinds <= {*TYPES}:
        raise ValueError(f"{name} must have values of {[*TYPES.values()]} for Ax, got {values!r}")
    return values


def _dependents(space: Space) -> dict[str, dict[Value, list[str]]]:
    """Dependents of every parameter that others depend on: which exist for which of its values."""
    dependents, named = dict[str, dict[Value, list[str]]](), dict(space.parameters)
    for name, parameter in space.parameters:
        if not parameter.condition:
            continue
        (other, values), *more = parameter.condition
        if more or len(values) > 1:
            when = {other_name: [*allowed] for other_name, allowed in parameter.condition}
            raise ValueError(f"{name}.when must name one value of one parameter for Ax, got {when!r}")
        if not (isinstance(named[other], Choice | Ordinal) or named[other].count == 1):
            raise ValueError(f"{name}.when must name a Choice or an Ordinal for Ax, got {other!r}: {named[other]!r}")
        dependents.setdefault(other, {}).setdefault(values[0], []).append(name)
    return dependents


def _constraint(space: Space, constraint: Constraint | AtMost) -> Iterator[ParameterConstraint]:
    """A constraint in Ax's words; none where it is on single values alone.

    Raises:
        ValueError: If Ax cannot have it.
    """
    rule, named = f"constraint {constraint.text!r} must", dict(space.parameters)
    if (linear := constraint.excess.linear) is None:
        raise ValueError(f"{rule} be linear for Ax, which knows no other; allow the points, and report failures")
    weights, bound = dict(linear.coefficients), -linear.constant
    for name in [*weights]:
        if why := _why_not(named[name], constraint.is_equality):
            raise ValueError(f"{rule} not be on {name!r} for Ax: {why}, got {named[name]!r}")
        if named[name].count == 1:
            bound -= weights.pop(name) * float(named[name].nth(0))  # type: ignore[arg-type]
    if not weights:
        return
    left = " + ".join(f"{weight!r}*{name}" for name, weight in weights.items())
    try:
        text = f"{left} {'==' if constraint.is_equality else '<='} {bound!r}"
        converted = (
            ParameterConstraint(equality=text) if constraint.is_equality else ParameterConstraint(inequality=text)
        )
        is_same = converted.constraint_dict.keys() == weights.keys()
    except Exception:  # of SymPy, which reads it: as many kinds as there are names that it takes for something else
        is_same = False
    if not is_same:
        raise ValueError(f"{rule} have names that Ax can read in a constraint, got {[*weights]}; use identifiers")
    yield converted


def _why_not(parameter: Parameter, is_equality: bool) -> str | None:
    """Reason why a parameter may not be in a constraint of Ax."""
    if parameter.condition:
        return "it must always exist"
    if parameter.count == 1:
        return None
    if not isinstance(parameter, Choice) and parameter.log:
        return "a constraint is not linear on a log scale"
    if isinstance(parameter, Choice) or _is_ordered(parameter):
        return "its Sobol points would keep one on the places of values in their list"
    return "no point of an equation with an Int is found" if is_equality and isinstance(parameter, Int) else None
