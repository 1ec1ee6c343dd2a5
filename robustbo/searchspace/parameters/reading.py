"""Parameters from their plain form."""

from collections.abc import Iterable, Mapping
from inspect import signature
from typing import Any

from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import Choice, Float, Int, Ordinal, Parameter
from robustbo.searchspace.parameters.advice import advice_for
from robustbo.validation import nearest

KINDS: dict[str, type[Float] | type[Int]] = {"float": Float, "int": Int}
LISTED: dict[str, type[Choice] | type[Ordinal]] = {"choice": Choice, "ordinal": Ordinal}
EXAMPLES: dict[str, dict[str, Any]] = {
    "float": {"kind": "float", "low": 0, "high": 1},
    "int": {"kind": "int", "low": 1, "high": 8},
    "ordinal": {"kind": "ordinal", "values": [1, 2, 5]},
    "choice": {"kind": "choice", "values": ["a", "b"]},
}
EXAMPLE_SPACES = 'such as Space(x=Float(0, 1)) or Space({"x": Float(0, 1)})'
KIND_NAMES = {kind.kind: kind.__name__ for kind in (Float, Int, Ordinal, Choice)}


def read_parameter(name: str, form: Parameter | Mapping[str, Any]) -> Parameter:
    """A parameter from its `to_dict` form, or as it is.

    Raises:
        SpaceError: If it is none; the message begins with the name.
    """
    if isinstance(form, Parameter):
        return form
    if not isinstance(form, Mapping):
        advice = advice_for(form, is_in_file=True)
        raise SpaceError(f"{name}: must be like {EXAMPLES['float']}, got {form!r}{advice}")
    options = {key: value for key, value in form.items() if key != "kind"}
    _check_keys(name, form)
    try:
        if form["kind"] in LISTED:
            values = options.pop("values")
            if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
                raise TypeError(values)
            return LISTED[form["kind"]](*values, **options)
        return KINDS[form["kind"]](**options)
    except TypeError:
        raise SpaceError(f"{name}: must be like {EXAMPLES[form['kind']]}, got {dict(form)!r}") from None
    except SpaceError as error:  # which names the class
        raise SpaceError(f"{name}{str(error).removeprefix(KIND_NAMES[form['kind']])}") from None


def check_parameters(parameters: Mapping[Any, Any]) -> None:
    """Raise a `SpaceError` for what is no parameter, or has no name; it says how to write what was meant."""
    for name, parameter in parameters.items():
        if not isinstance(name, str):
            raise SpaceError(f"a parameter must have a name, {EXAMPLE_SPACES}, got {name!r}")
        if not isinstance(parameter, Parameter):
            raise SpaceError(
                f"{name}: must be a Float, Int, Ordinal or Choice, got {parameter!r}{advice_for(parameter)}"
            )


def pop_constraints(parameters: dict[str, Any]) -> Any:
    """Remove the constraints from keyword arguments and return them; a parameter that has that name stays."""
    is_list = not isinstance(parameters.get("constraints", Choice(0)), Parameter)
    return parameters.pop("constraints") if is_list else ()


def _check_keys(name: str, form: Mapping[str, Any]) -> None:
    """Raise a `SpaceError` that names the kind or the key that is wrong or missing."""
    kind = form.get("kind")
    if kind is None:
        is_around = form and all(isinstance(option, Mapping) for option in form.values())
        advice = f"; parameters stand for themselves: take {[*form]} out of {name!r}" if is_around else ""
        advice = advice or advice_for(form, is_in_file=True)
        kinds = f"one of {[*EXAMPLES]}, such as {EXAMPLES['float']}"
        raise SpaceError(f"{name}: must have a kind, {kinds}, got {dict(form)!r}{advice}")
    if not isinstance(kind, str) or kind not in EXAMPLES:
        raise SpaceError(f"{name}: kind must be one of {[*EXAMPLES]}, got {kind!r}{nearest(kind, EXAMPLES)}")
    needed = [key for key in EXAMPLES[kind] if key != "kind"]
    options = [
        *needed,
        *(option for option in signature(KINDS.get(kind) or LISTED[kind]).parameters if option != "values"),
    ]
    keys = [key for key in form if key != "kind"]
    if unknown := [key for key in keys if key not in options]:
        names = [*dict.fromkeys(options)]
        an = "an" if kind[0] in "io" else "a"
        raise SpaceError(f"{name}: {an} {kind} has {names}, got {unknown[0]!r}{nearest(unknown[0], names)}")
    if missing := [key for key in needed if key not in keys]:
        raise SpaceError(f"{name}: {missing[0]} must be given, such as {EXAMPLES[kind]}, got {dict(form)!r}")
