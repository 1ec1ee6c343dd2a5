"""Points of a region that no drawn row belongs to: those that break it least, mended."""

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from robustbo.errors import SpaceError
from robustbo.searchspace.columns import is_continuous
from robustbo.searchspace.constraints.batch import Array
from robustbo.searchspace.region.region import Region

NEAREST = 16  # rows from which a region is searched for where none belongs to it
MARGINS = (1e-2, 1e-4, 1e-6, 0.0)  # of a constraint's size, inside


def search(region: Region, U: Tensor) -> Tensor:
    """Rows of a region that none of these belongs to: those that break it least, mended.

    Raises:
        SpaceError: If that fails.
    """
    nearest = U.numpy()[_violation(region, U.numpy(), 0.0).argsort(stable=True)[:NEAREST]]
    for margin in MARGINS:
        mended = np.stack([_mend(region, row, margin) for row in nearest])
        inside = mended[region.shape.holds(mended)]
        if len(inside):
            return torch.from_numpy(inside)
    raise no_point_error(region, len(U), hardest(region, U))


def hardest(region: Region, U: Tensor) -> str:
    """The constraint that the fewest of some rows keep."""
    share = [(float(region.keeps_constraint(U, text).double().mean()), text) for text in region.space.texts]
    return min(share)[1]


def no_point_error(region: Region, tried: int, rarest: str = "") -> SpaceError:
    """The error for a region of which no point is known."""
    fixed = f" with {dict(region.fixed)!r}" if region.fixed else ""
    advice = f"; {rarest!r} is kept least often" if rarest else ""
    return SpaceError(
        f"no point{fixed} was found that keeps {' and '.join(map(repr, region.space.texts))}, of {tried} tried and "
        f"searched from{advice}"
    )


def _violation(region: Region, U: Array, margin: float) -> Array:
    """The sum of squares by which ``n`` rows break a region."""
    return np.asarray(np.square(np.maximum(margin - region.shape.slack(U), 0.0)).sum(-1))


def _mend(region: Region, row: Array, margin: float) -> Array:
    """A row changed until it breaks a region less, or not at all: one column after another, and all continuous ones."""
    for _ in range(4):
        row = _descend(region, row, margin)
        if _violation(region, row[None], margin)[0] == 0:
            break
        for column in region.free:
            if not is_continuous(region.space.parameters[column][1]):
                levels = region.space.parameters[column][1].levels or []
                rows = np.repeat(row[None], len(levels), axis=0)
                rows[:, column] = levels
                rows = region.shape.complete(rows)
                row = rows[_violation(region, rows, margin).argmin()]
    return row


def _descend(region: Region, row: Array, margin: float) -> Array:
    """A row that breaks a region least, of those to which descents along continuous columns lead."""
    columns, shape = region.continuous, region.shape
    if not columns:
        return row

    def at(x: Array) -> tuple[float, Array]:
        u = shape.place(row, x)
        short = np.maximum(margin - shape.slack(u[None])[0], 0.0)
        return float(short @ short), -2.0 * short @ shape.slopes(u)

    optimum = minimize(at, row[columns], jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * len(columns))
    return shape.place(row, optimum.x)
