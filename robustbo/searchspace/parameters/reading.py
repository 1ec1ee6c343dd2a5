"""Parameters from their plain form."""

from collections.abc import Mapping
from typing import Any

from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import Choice, Float, Int, Ordinal, Parameter

KINDS: dict[str, type[Float] | type[Int]] = {"float": Float, "int": Int}
LISTED: dict[str, type[Choice] | type[Ordinal]] = {"choice": Choice, "ordinal": Ordinal}
KIND_NAMES = {kind.kind: kind.__name__ for kind in (Float, Int, Ordinal, Choice)}


def read(name: str, given: Parameter | Mapping[str, Any]) -> Parameter:
    """A parameter from its `to_dict` form, or as it is.

    Raises:
        SpaceError: If it is none; the message begins with the name.
    """
    if not isinstance(given, Mapping):
        return given
    options = {key: value for key, value in given.items() if key != "kind"}
    try:
        if given["kind"] in LISTED:
            values = options.pop("values")
            if isinstance(values, str):
                raise TypeError(values)
            return LISTED[given["kind"]](*values, **options)
        return KINDS[given["kind"]](**options)
    except (KeyError, TypeError):
        example = {"kind": "float", "low": 0, "high": 1}
        raise SpaceError(f"{name}: must be like {example}, got {dict(given)!r}") from None
    except SpaceError as error:  # which names the class
        raise SpaceError(f"{name}{str(error).removeprefix(KIND_NAMES[given['kind']])}") from None
