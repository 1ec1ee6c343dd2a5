"""Names of parameters as people write them: with their unit or without it, in constraints and in conditions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from robustbo.searchspace.labels import parts
from robustbo.searchspace.parameters import Parameter, Value
from robustbo.sheets.filled import value_in

EXAMPLE = "write such as 'solvent = DMF; THF', or leave it empty where the parameter always exists"


def names_by_text(names: Sequence[str]) -> dict[str, str]:
    """The parameter that a text means: by its whole name, or by that without the unit where this is of one alone."""
    bare = Counter(parts(name)[0] for name in names)
    return {parts(name)[0]: name for name in names if bare[parts(name)[0]] == 1} | {name: name for name in names}


def _alternatives(names: Mapping[str, str]) -> str:
    """The names as alternatives of a pattern, the longest first."""
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


def read_constraint(text: str, names: Sequence[str]) -> str:
    """A constraint as the search space has it, of what people write.

    Names with units or spaces are put in backquotes; units behind numbers go, and decimal commas become points.

    Example:
        >>> read_constraint("dose + 2,5 * acid <= 3 mL - dose (mL)", ["dose (mL)", "acid"])
        '`dose (mL)` + 2.5 * acid <= 3 - `dose (mL)`'
    """
    by_text = names_by_text(names)
    units = sorted({re.escape(unit) for name in names if (unit := parts(name)[1])}, key=len, reverse=True)
    if units:
        text = re.sub(rf"(?<=\d)\s*(?:{'|'.join(units)})(?![\w(])", "", text)
    if " of " not in text:  # which lists names behind commas
        text = re.sub(r"(?<=\d),(?=\d)", ".", text)

    def quote(match: re.Match[str]) -> str:
        name = by_text.get(match[0])
        return match[0] if name is None or name.isidentifier() else f"`{name}`"

    return re.sub(rf"`[^`]*`|(?<!\w)(?:{_alternatives(by_text)})(?!\w)", quote, text)


def read_condition(name: str, text: str, parameters: Mapping[str, Parameter]) -> dict[str, list[Value]]:
    """The condition under which a parameter exists: other parameters, and the values that each must have.

    Args:
        name: Of the parameter.
        text: NAME = VALUE; VALUE, several behind "and".
        parameters: The parameters that it may depend on.

    Raises:
        ValueError: If it is none; the message says what to write.

    Example:
        >>> from robustbo import Choice, Int
        >>> parameters = {"acid": Choice("HCl", "HNO3"), "stages": Int(1, 3)}
        >>> read_condition("dose", "acid = HCl; HNO3 and stages = 2", parameters)
        {'acid': ['HCl', 'HNO3'], 'stages': [2]}
    """
    by_text = names_by_text([*parameters])
    pattern = rf"(?:^|\s+and\s+)(?P<name>{_alternatives(by_text)})\s*(?:=|:|\bis\b)\s*" if parameters else r"(?!)"
    marks = [*re.finditer(pattern, text)]
    if not marks or marks[0].start() > 0:
        names = f"one of {', '.join(parameters)}" if parameters else "another parameter, of which there is none yet"
        raise ValueError(f"{name}: 'only where' must begin with the name of {names}, got {text!r}; {EXAMPLE}")
    needed = dict[str, list[Value]]()
    for mark, end in zip(marks, [*(mark.start() for mark in marks[1:]), len(text)], strict=True):
        other = by_text[mark["name"]]
        needed[other] = _values(name, other, parameters[other], text[mark.end() : end])
    return needed


def _values(name: str, other: str, parameter: Parameter, text: str) -> list[Value]:
    if parameter.levels is None:
        must = "must be a choice, a level, a whole number or a number with steps"
        raise ValueError(f"{name}: {other} {must} to decide whether {name} exists")
    values = [value_in(other, parameter, part.strip(), ".") for part in text.split(";") if part.strip()]
    if not values:
        raise ValueError(f"{name}: {other} must have a value for which {name} exists; {EXAMPLE}")
    return values
