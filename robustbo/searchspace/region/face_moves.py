"""Rows in the faces beside one: one parameter of a group more is on, or less, or one in place of another."""

from collections.abc import Sequence

import torch
from torch import Tensor

from robustbo.searchspace.columns import is_continuous
from robustbo.searchspace.parameters import Parameter
from robustbo.searchspace.region.faces import UnionOfFaces

SHARES = (0.1, 0.3, 0.6, 1.0)  # of the way from off to a bound, where a parameter is tried that is turned on
SHRINKS = (1.0, 0.6, 0.3)  # times as far from off are the others, where constraints may leave no room for another
MANY = 64  # pairs of one that is on and one that is off, of which fewer values are tried
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
    parts = [base[None] for base, column in turned if column is not None]
    shares = SHARES if len(offs) * len(ons) <= MANY else SHARES[1::2]
    levels = [(c, u) for c in ons for u in _levels(region.space.parameters[c][1], region.off_unit(c), shares)]
    for base, column in turned:
        as_far = [] if column is None else [(c, u) for c in ons for u in _as_far(region, row, column, c)]
        for shrink in (1.0,) if region.is_boxed else SHRINKS:
            parts.append(_turn_on(_nearer(region, base, offs, shrink), [*levels, *as_far]))
    U = region.complete(torch.cat([row.new_zeros(0, len(row)), *parts]))
    return region.canonical(U[region.holds(U)])


def _turn_on(base: Tensor, levels: Sequence[tuple[int, float]]) -> Tensor:
    """A row for each of some columns and coordinates, which it has there."""
    rows = base.repeat(len(levels), 1)
    if levels:
        columns, units = zip(*levels, strict=True)
        rows[torch.arange(len(levels)), torch.tensor(columns)] = torch.tensor(units, dtype=base.dtype)
    return rows


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


def _levels(parameter: Parameter, off: float, shares: Sequence[float]) -> list[float]:
    """Coordinates of some values that are not off."""
    if not is_continuous(parameter):
        levels = [u for u in parameter.levels or [] if abs(u - off) > 1e-9]
        return levels[:: -(-len(levels) // MOST_LEVELS)] if levels else []
    ends = [end for end in (0.0, 1.0) if end != off]
    return [off + share * (end - off) for end in ends for share in shares]


def _as_far(region: UnionOfFaces, row: Tensor, before: int, column: int) -> list[float]:
    """The coordinate whose value is as far from off as that of another parameter, so that sums stay."""
    (_, a), (_, b) = region.space.parameters[before], region.space.parameters[column]
    value = float(a.from_unit(float(row[before])) or 0) - region.off_value(before) + region.off_value(column)
    low, high = b.interval or (value, value)
    return [min(max(float(b.to_unit(value)), 0.0), 1.0)] if low <= value <= high and is_continuous(b) else []
