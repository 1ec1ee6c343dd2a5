"""The space of a source that has fewer parameters than the study, or other values of a choice."""

from collections.abc import Mapping
from typing import Any

from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import Choice, Value
from robustbo.searchspace.parameters.measured import measured_value
from robustbo.searchspace.space import Space
from robustbo.trials.declared import Declared, Source, source_in
from robustbo.validation import nearest


def space_with_former_values(space: Space, declared: Declared) -> Space:
    """The space whose choices know what sources alone have, so that it is modelled.

    Raises:
        SpaceError: If a source has values of what is no choice of the space.
    """
    former: dict[str, list[Value]] = {}
    for source, name, values in ((s, name, of) for s, own in declared for name, of in own.had):
        parameter = dict(space.parameters).get(name)
        if space.is_pool or not isinstance(parameter, Choice):
            choices = [n for n, p in space.parameters if isinstance(p, Choice) and not space.is_pool]
            rule = f"had of source {source!r} must be of a choice of the space, {choices or 'which has none'}"
            raise SpaceError(f"{rule}, got {name!r}{nearest(name, choices)}")
        former.setdefault(name, []).extend(values)
    parameters = dict(space.parameters)
    for name, values in former.items():
        choice = parameters[name]
        assert isinstance(choice, Choice)
        parameters[name] = choice.with_former([*choice.former, *values])
    return Space.from_dict(parameters, space.texts) if former else space


def check_values(space: Space, declared: Declared) -> None:
    """Raise unless the values that sources have of parameters are such.

    Raises:
        SpaceError: If a parameter is unknown, a value is none of it, or a source that may be asked has one that the
            space does not allow.
    """
    for name, source in declared:
        for parameter_name, value in source.was:
            if parameter_name not in space.names:
                hint = nearest(parameter_name, space.names)
                rule = f"was of source {name!r} must be of parameters of the space, {space.names}"
                raise SpaceError(f"{rule}, got {parameter_name!r}{hint}")
            _check_value(space, name, source, parameter_name, value)


def _check_value(space: Space, name: str, source: Source, parameter_name: str, value: Any) -> None:
    parameter = dict(space.parameters)[parameter_name]
    try:
        measured_value(parameter_name, parameter, value)
        if source.ask:
            parameter.validate(parameter_name, value)
    except SpaceError as error:
        advice = "; one that is not asked (ask=False) may have had others" if source.ask else ""
        raise SpaceError(f"was of source {name!r}: {error}{advice}") from None


def own_values(declared: Declared, labels: Mapping[str, str]) -> dict[str, Value]:
    """The values of the parameters that a source does not have, by its labels; none of the target."""
    name = source_in(declared, labels)
    return {} if name is None else dict(declared)[name].values


def with_own_values(
    space: Space, declared: Declared, labels: Mapping[str, str], params: Mapping[str, Any]
) -> Mapping[str, Any]:
    """A point of a source, with the values of the parameters that the source does not have.

    Args:
        space: The study's.
        declared: Its sources.
        labels: What measured the point.
        params: As it was told.
    """
    if not (values := own_values(declared, labels)):
        return params
    present = space.existing({**values, **params})
    return {**{parameter: value for parameter, value in values.items() if parameter in present}, **params}
