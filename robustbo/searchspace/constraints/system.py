"""The constraints of a space, checked against its parameters and against each other."""

from collections.abc import Iterable, Sequence
from typing import Any

from robustbo import limits
from robustbo.errors import SpaceError
from robustbo.searchspace.conditions import Named
from robustbo.searchspace.constraints.at_most import AtMost, is_at_most
from robustbo.searchspace.constraints.constraint import Constraint, parse
from robustbo.searchspace.constraints.emptiness import proof_of_emptiness
from robustbo.searchspace.parameters import Parameter


def constraints_of(texts: Any, parameters: Named) -> tuple[Constraint | AtMost, ...]:
    """The constraints that texts say.

    Args:
        texts: One each, or an `AtMost`.
        parameters: Those of the space.

    Raises:
        SpaceError: If one cannot be read, is not on numbers, is an equation of parameters that may be absent, or they
            can be proved never to hold.
    """
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise SpaceError(f"constraints must be a list such as ['x + y <= 1'], got {texts!r}")
    texts, named = list(texts), dict(parameters)
    if len(texts) > limits.CONSTRAINTS:
        raise SpaceError(f"a space has at most {limits.CONSTRAINTS} constraints, got {len(texts)}")
    if (length := sum(len(text) for text in texts if isinstance(text, str))) > limits.CONSTRAINTS_CHARACTERS:
        most = limits.CONSTRAINTS_CHARACTERS
        raise SpaceError(f"the constraints of a space must have at most {most} characters together, got {length}")
    constraints: list[Constraint | AtMost] = list(dict.fromkeys(c for text in texts for c in _read(text, list(named))))
    for constraint in constraints:
        if isinstance(constraint, AtMost):
            constraint.check(named)
        else:
            for name in constraint.names:
                _check(constraint, name, named[name])
    check_together(constraints, {name: p.interval for name, p in parameters if p.interval and not p.condition})
    return tuple(constraints)


def _read(text: Any, names: list[str]) -> Sequence[Constraint | AtMost]:
    if isinstance(text, AtMost):
        return [text]
    return [AtMost.read(text, names)] if isinstance(text, str) and is_at_most(text) else parse(text, names)


def _check(constraint: Constraint, name: str, parameter: Parameter) -> None:
    if parameter.interval is None:
        raise SpaceError(f"constraint {constraint.text!r}: it is on numbers, {name!r} is {parameter!r}")
    if constraint.is_equality and parameter.condition:
        raise SpaceError(
            f"constraint {constraint.text!r}: an equality takes parameters that always exist, not {name!r}"
        )


def check_together(
    constraints: Iterable[Constraint | AtMost], intervals: dict[str, tuple[float, float]], at: str = ""
) -> None:
    """Raise a `SpaceError` if constraints can be proved never to hold.

    Args:
        constraints: All of them.
        intervals: The lowest and highest value of each parameter that always exists.
        at: What more is known, for the message.
    """
    if proof := proof_of_emptiness(list(constraints), intervals):
        names = list(
            dict.fromkeys(n for constraint in constraints if constraint.text in proof for n in constraint.names)
        )
        ranges = ", ".join(f"{name} in [{low:g}, {high:g}]" for name in names for low, high in [intervals[name]])
        together = "can never hold" if len(proof) == 1 else "can never hold together"
        raise SpaceError(f"{' and '.join(map(repr, proof))} {together}{at}, with {ranges}: the space is empty")
