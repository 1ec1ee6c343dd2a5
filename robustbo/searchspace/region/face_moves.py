"""Rows in the faces beside one: one parameter of a group more is on, or less, or one in the place of another."""

import torch
from torch import Tensor

from robustbo.searchspace.columns import is_continuous
from robustbo.searchspace.parameters import Parameter
from robustbo.searchspace.region.faces import UnionOfFaces

SHARES = (0.1, 0.3, 0.6, 1.0)  # of the way from off to a bound, where a parameter is tried that is turned on
SHRINKS = (1.0, 0.6, 0.3)  # times as far from off are the others, where constraints may leave no room for another
MOST_LEVELS = 8  # of one that has steps


def rows_in_other_faces(region: UnionOfFaces, row: Tensor) -> Tensor:
    """``n x d`` rows of a region in the faces beside that of a row, some in each.

    Args:
        region: The union of the faces.
        row: One of its rows.
    """
    is_on = dict(zip(region.member_columns, region.on(row[None])[0].tolist(), strict=True))
    may_change = [column for column in is_on if column in region.free]
    offs, ons = ([c for c in may_change if is_on[c] == state] for state in (True, False))
    turned = [(row, None), *((_with(region, row, {column: None}), column) for column in offs)]
    rows = [base for base, column in turned if column is not None]
    shrinks = (1.0,) if region.is_boxed else SHRINKS
    bases = [(_nearer(region, base, offs, shrink), column) for base, column in turned for shrink in shrinks]
    for base, turned_off in bases:
        for column in ons:
            levels = _levels(region.space.parameters[column][1], region.off_unit(column))
            if turned_off is not None:
                levels = [*levels, *_as_far(region, row, turned_off, column)]
            rows += [_with(region, base, {column: level}) for level in levels]
    if not rows:
        return row.new_zeros(0, len(row))
    U = region.complete(torch.stack(rows))
    return region.canonical(U[region.holds(U)])


def _with(region: UnionOfFaces, row: Tensor, changes: dict[int, float | None]) -> Tensor:
    row = row.clone()
    for column, u in changes.items():
        row[column] = region.off_unit(column) if u is None else u
    return row


def _nearer(region: UnionOfFaces, row: Tensor, columns: list[int], share: float) -> Tensor:
    """A row whose continuous parameters are nearer to off."""
    row = row.clone()
    for column in (column for column in columns if is_continuous(region.space.parameters[column][1])):
        off = region.off_unit(column)
        row[column] = off + share * (row[column] - off)
    return row


def _levels(parameter: Parameter, off: float) -> list[float]:
    """Coordinates of some values that are not off."""
    if not is_continuous(parameter):
        levels = [u for u in parameter.levels or [] if abs(u - off) > 1e-9]
        return levels[:: -(-len(levels) // MOST_LEVELS)] if levels else []
    ends = [end for end in (0.0, 1.0) if end != off]
    return [off + share * (end - off) for end in ends for share in SHARES]


def _as_far(region: UnionOfFaces, row: Tensor, before: int, column: int) -> list[float]:
    """The coordinate whose value is as far from off as that of another parameter, so that sums stay."""
    (_, a), (_, b) = region.space.parameters[before], region.space.parameters[column]
    value = float(a.from_unit(float(row[before])) or 0) - region.off_value(before) + region.off_value(column)
    low, high = b.interval or (value, value)
    return [min(max(float(b.to_unit(value)), 0.0), 1.0)] if low <= value <= high and is_continuous(b) else []
