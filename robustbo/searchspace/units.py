"""Cells with a number and its unit, such as "0.1 mL" and "5%": columns of one unit are numbers, named with it.

A number is read only where its unit is that in the name of what it is a value of: the parameter "dose (mL)" has
"0.1 mL", and no other unit. Nothing is converted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from robustbo.errors import SpaceError
from robustbo.searchspace.labels import parts
from robustbo.validation import short_list

if TYPE_CHECKING:
    import pandas as pd

CELL = re.compile(
    r"\s*([-+]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][-+]?[0-9]+)?)(\s*)"  # a number
    r"((?:[^\W\d_]|[%‰°µμΩÅ€$])(?:[\w%°²³⁻¹/·*^.-]|\s(?!\s*\d)){0,20}|)\s*"  # and a unit, or none
)
COMMON = re.compile(  # units that are no codes
    "%|‰|°[CF]?|[µμumndc]?[Ll]|[µμunmk]g|min|hrs?|sec|[mµμn]s|[kMG]?Hz|[mk]V|mA|[kM]W|[kMhm]?Pa|m?bar|psi|atm|Torr|[mµμun]M"
    "|[mµμn]?mol|pp[mb]|[cmµμunk]m|rpm|eq(uiv)?[.]?|(wt|vol|mol) ?%|Å|kJ|m?eV|kcal|k?Ω|[€$]"
)
LONE = frozenset("LgshdmKCFVAWNJM")  # which codes have, too: units where a space is before them


def number_and_unit(cell: Any) -> tuple[float, str] | None:
    """The number and the unit in a text, which has one; None where it has not, or is no text.

    Example:
        >>> number_and_unit("0.1 mL"), number_and_unit("5%"), number_and_unit("2-propanol"), number_and_unit("3")
        ((0.1, 'mL'), (5, '%'), None, None)
    """
    match = CELL.fullmatch(cell) if isinstance(cell, str) else None
    if match is None or not match[3] or "," in match[1]:
        return None
    return _plain(match[1]), match[3].strip()


def plain_number(cell: Any) -> Any:
    """The number in a text, where it is one without a unit; else the cell itself. One odd cell makes texts of others.

    Example:
        >>> plain_number("51"), plain_number(" 0.5"), plain_number("0,5"), plain_number("5 %")
        (51, 0.5, '0,5', '5 %')
    """
    match = CELL.fullmatch(cell) if isinstance(cell, str) else None
    return _plain(match[1]) if match and not match[3] and "," not in match[1] else cell


def _plain(text: str) -> float:
    return int(text) if re.fullmatch("[-+]?[0-9]{1,15}", text) else float(text)


def with_unit(name: str, unit: str) -> str:
    """The name of a column whose numbers have a unit.

    Raises:
        SpaceError: If it says another one.
    """
    if (own := parts(name)[1]) and own != unit:
        raise SpaceError(f"{name}: cells must be in {own}, as the column's name says, got some in {unit}; convert them")
    return name if own else f"{name} ({unit})"


def without_unit(name: str, text: str) -> str:
    """A text without the unit that the name of its column says.

    Example:
        >>> without_unit("dose (mL)", "< 0.1 mL"), without_unit("dose (mL)", "0.1 L"), without_unit("dose", "0.1 mL")
        ('< 0.1', '0.1 L', '0.1 mL')
    """
    return without(parts(name)[1], text)


def without(unit: str, text: str) -> str:
    """A text without a unit behind its number, where it has that."""
    bare = text.strip()
    has_it = unit and bare.endswith(unit) and re.search(r"[\d.]\s*$", bare[: -len(unit)])
    return bare[: -len(unit)].rstrip() if has_it else text


def as_numbers(frame: pd.DataFrame, words: Collection[str]) -> pd.DataFrame:
    """A table in which columns of numbers with one unit are numbers, and have the unit in their names.

    Args:
        frame: It.
        words: The columns whose cells are words, whatever they look like.

    Raises:
        SpaceError: If a column's cells are neither numbers in one unit nor words; the message says what to do.
    """
    columns = {name: frame[name].tolist() for name in frame.columns if name not in words}
    in_units = {name: content for name, cells in columns.items() if (content := _numbers_in_a_unit(cells)) is not None}
    for name, cells in columns.items():
        if name not in in_units:
            _check_is_one_kind(name, cells)
    if not in_units:
        return frame
    named = {name: with_unit(name, unit) for name, (unit, _) in in_units.items()}
    if doubled := [label for name, label in named.items() if label != name and label in frame.columns]:
        raise SpaceError(f"{doubled[0]}: there must be one such column, got cells of it in two; drop one")
    return frame.assign(**{name: numbers for name, (_, numbers) in in_units.items()}).rename(columns=named)


def _numbers_in_a_unit(cells: Sequence[Any]) -> tuple[str, list[Any]] | None:
    """The unit that all cells have which are not empty, and their numbers."""
    pairs = [number_and_unit(cell) for cell in cells]
    units = {None if pair is None else pair[1] for pair, cell in zip(pairs, cells, strict=True) if not _is_empty(cell)}
    (unit,) = units if len(units) == 1 else (None,)
    return None if unit is None else (unit, [None if pair is None else pair[0] for pair in pairs])


def _is_empty(cell: Any) -> bool:
    return not isinstance(cell, str | int | float) or cell != cell or (isinstance(cell, str) and not cell.strip())


def _check_is_one_kind(name: str, cells: Sequence[Any]) -> None:
    """Raise a `SpaceError` where at least half of a column's different cells are numbers, and unlike are not."""
    different = [*dict.fromkeys(cell for cell in cells if not _is_empty(cell))]
    if any(isinstance(cell, bool) for cell in different) or not any(isinstance(cell, str) for cell in different):
        return
    kinds = [_kind(cell) for cell in different]
    numbers = [cell for cell, kind in zip(different, kinds, strict=True) if kind is not None]
    if len(numbers) < 2 or 2 * len(numbers) < len(different) or (len({*kinds}) == 1 and kinds[0] == ""):
        return
    unlike = [cell for cell, kind in zip(different, kinds, strict=True) if kind != kinds[different.index(numbers[0])]]
    got = f"got {unlike[0]!r} beside {short_list(numbers[:3])}" if unlike else f"got {numbers[0]!r}"
    listed = f"rb.Choice({', '.join(map(repr, different[:2]))}, ...)"
    advice = f'write them alike, or say that they are words: {listed} (in a file {{"kind": "choice", "values": [...]}})'
    raise SpaceError(f"{name}: cells must be numbers with a decimal point and one unit, or words, {got}; {advice}")


def _kind(cell: Any) -> str | None:
    """The unit of a number, empty where it has none, "," where decimals follow a comma; None of a word."""
    match = CELL.fullmatch(cell) if isinstance(cell, str) else None
    if match is None:
        return None if isinstance(cell, str) else ""
    unit = match[3].strip()
    is_code = len(unit) == 1 and unit.isalpha() and not match[2]
    is_known = not unit or (not is_code and (unit in LONE or bool(COMMON.fullmatch(unit))))
    return ("," if "," in match[1] else unit) if is_known else None


def as_numbers_of(names: Collection[str], frame: pd.DataFrame) -> pd.DataFrame:
    """A table in which numbers with the unit in a parameter's name are numbers, in a column of that name."""
    columns = [name for name in frame.columns if isinstance(name, str)] if frame.columns.is_unique else []
    content = {name: _numbers_in_a_unit(frame[name].tolist()) for name in columns if frame[name].dtype.kind == "O"}
    read = {name: pair for name, pair in content.items() if pair is not None}
    labels = {name: _label(names, name.removeprefix("params."), unit) for name, (unit, _) in read.items()}
    named = {name: label for name, label in labels.items() if label and (label == name or label not in frame.columns)}
    return frame.assign(**{name: read[name][1] for name in named}).rename(columns=named) if named else frame


def in_the_names(names: Collection[str], params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Values of parameters whose names say their unit: the numbers of texts that have it too, by the parameter's name.

    Example:
        >>> in_the_names(["dose (mL)", "acid"], {"dose": "0.1 mL", "acid": "HCl"})
        {'dose (mL)': 0.1, 'acid': 'HCl'}
    """
    read = {name: pair for name, value in params.items() if (pair := number_and_unit(value)) is not None}
    target = {name: label for name, (_, unit) in read.items() if (label := _label(names, name, unit)) is not None}
    if not target:
        return params
    return {target.get(name, name): read[name][0] if name in target else value for name, value in params.items()}


def _label(names: Collection[str], name: str, unit: str) -> str | None:
    """The parameter that a number with a unit is of, by what its column is called."""
    labels = (name,) if parts(name)[1] == unit else (f"{name} ({unit})", f"{name} [{unit}]")
    return next((label for label in labels if label in names), None)
