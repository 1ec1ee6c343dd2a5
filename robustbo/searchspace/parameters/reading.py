"""Parameters from their plain form."""

from collections.abc import Iterable, Mapping
from inspect import signature
from typing import Any

from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import Choice, Float, Int, Ordinal, Parameter
from robustbo.searchspace.parameters.meant import meant
from robustbo.validation import nearest

KINDS: dict[str, type[Float] | type[Int]] = {"float": Float, "int": Int}
LISTED: dict[str, type[Choice] | type[Ordinal]] = {"choice": Choice, "ordinal": Ordinal}
EXAMPLES: dict[str, dict[str, Any]] = {
    "float": {"kind": "float", "low": 0, "high": 1},
    "int": {"kind": "int", "low": 1, "high": 8},
    "ordinal": {"kind": "ordinal", "values": [1, 2, 5]},
    "choice": {"kind": "choice", "values": ["a", "b"]},
}
NAMED = 'such as Space(x=Float(0, 1)) or Space({"x": Float(0, 1)})'
KIND_NAMES = {kind.kind: kind.__name__ for kind in (Float, Int, Ordinal, Choice)}


def read(name: str, given: Parameter | Mapping[str, Any]) -> Parameter:
    """A parameter from its `to_dict` form, or as it is.

    Raises:
        SpaceError: If it is none; the message begins with the name.
    """
    if isinstance(given, Parameter):
        return given
    if not isinstance(given, Mapping):
        raise SpaceError(f"{name}: must be like {EXAMPLES['float']}, got {given!r}")
    options = {key: value for key, value in given.items() if key != "kind"}
    _check_keys(name, given)
    try:
        if given["kind"] in LISTED:
            values = options.pop("values")
            if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
                raise TypeError(values)
            return LISTED[given["kind"]](*values, **options)
        return KINDS[given["kind"]](**options)
    except TypeError:
        raise SpaceError(f"{name}: must be like {EXAMPLES[given['kind']]}, got {dict(given)!r}") from None
    except SpaceError as error:  # which names the class
        raise SpaceError(f"{name}{str(error).removeprefix(KIND_NAMES[given['kind']])}") from None


def check(parameters: Mapping[Any, Any]) -> None:
    """Raise a `SpaceError` for what is no parameter, or has no name; it says how to write what was meant."""
    for name, parameter in parameters.items():
        if not isinstance(name, str):
            raise SpaceError(f"a parameter must have a name, {NAMED}, got {name!r}")
        if not isinstance(parameter, Parameter):
            raise SpaceError(f"{name}: must be a Float, Int, Ordinal or Choice, got {parameter!r}{meant(parameter)}")


def taken_out(parameters: dict[str, Any]) -> Any:
    """The constraints among keyword arguments, which lose them; a parameter may have that name, and stays."""
    is_list = not isinstance(parameters.get("constraints", Choice(0)), Parameter)
    return parameters.pop("constraints") if is_list else ()


def _check_keys(name: str, given: Mapping[str, Any]) -> None:
    """Raise a `SpaceError` that names the kind or the key that is wrong or missing."""
    kind = given.get("kind")
    if kind is None:
        is_around = given and all(isinstance(each, Mapping) for each in given.values())
        advice = f"; parameters stand for themselves: take {[*given]} out of {name!r}" if is_around else ""
        wanted = f"one of {[*EXAMPLES]}, such as {EXAMPLES['float']}"
        raise SpaceError(f"{name}: must have a kind, {wanted}, got {dict(given)!r}{advice}")
    if not isinstance(kind, str) or kind not in EXAMPLES:
        raise SpaceError(f"{name}: kind must be one of {[*EXAMPLES]}, got {kind!r}{nearest(kind, EXAMPLES)}")
    needed = [key for key in EXAMPLES[kind] if key != "kind"]
    known = [*needed, *(each for each in signature(KINDS.get(kind) or LISTED[kind]).parameters if each != "values")]
    keys = [key for key in given if key != "kind"]
    if unknown := [key for key in keys if key not in known]:
        said = [*dict.fromkeys(known)]
        an = "an" if kind[0] in "io" else "a"
        raise SpaceError(f"{name}: {an} {kind} has {said}, got {unknown[0]!r}{nearest(unknown[0], said)}")
    if missing := [key for key in needed if key not in keys]:
        raise SpaceError(f"{name}: {missing[0]} must be given, such as {EXAMPLES[kind]}, got {dict(given)!r}")
