"""Fits of the values of one group (the target, or a source) by themselves, from nothing.

A walk goes from where everybody is wrong to where nobody is, on one path; its best stops are climbed from. That of a
source is worth keeping: its values seldom change.

Notation: as in `covariance`.

References:
    docs/equations.md sections 6 and 22.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.gp.model import Model
from robustbo.numerics.pursuit import walk
from robustbo.numerics.pursuit.growth import MANY, alternate_climbs, evenly
from robustbo.numerics.pursuit.penalty import Penalty
from robustbo.numerics.pursuit.search import PursuitPlan
from robustbo.numerics.pursuit.support_fit import Level, empty, prefix_rows, suspicious_levels, transfer_fit
from robustbo.numerics.transfer.configuration import FEWEST, GroupFit, Problem
from robustbo.numerics.transfer.covariance import JointCovariance
from robustbo.numerics.transfer.group_fits import ROUGH, TURNS, model_of
from robustbo.numerics.transfer.relations import JoinedSource, SourceRows
from robustbo.numerics.transfer.spread import robust_spread

SIZES = (0.3, 0.2, 0.1, 0.05, 0.0)  # shares of the values that a search from nothing takes for wrong, one after another
STEP = 8  # rows of a source after which its walk is made anew
DIGITS = 9  # of values in units of their own, lest rounding in other units makes them others
PATHS = 2  # of its stops that are climbed from to the end

Remember = Callable[[Hashable, Callable[[], list[Fit]]], list[Fit]]  # what is kept under a key, or else made


def forget(key: Hashable, make: Callable[[], list[Fit]]) -> list[Fit]:
    """Make it, and keep nothing."""
    return make()


def fit_alone(problem: Problem, group: int) -> GroupFit:
    """The fit of one group by itself, from nothing; of fewer than `FEWEST` values none is called wrong."""
    alone = _Alone.of(problem, group)
    return alone.climb_from(alone.walk()) if len(alone.numbers) >= FEWEST else alone.with_level(empty(alone.model))


def fit_source(problem: Problem, group: int, remember: Remember = forget) -> GroupFit:
    """The fit of a source by itself, from nothing.

    The walk is that of its first rows, in units of their own: it changes with every `STEP` rows alone, and what is told
    of the target does not change it.

    Args:
        problem: All values.
        group: The source.
        remember: Keeps the walk.
    """
    alone, m = _Alone.of(problem, group), int((problem.rows.group == group).sum())
    first = alone.rows.of(torch.arange(m if m < 2 * STEP else m - m % STEP))
    center, unit = first.y.quantile(0.5).item(), robust_spread(first.y)
    if m < FEWEST or not unit > 0:
        return fit_alone(problem, group)
    own = first._replace(
        y=((first.y - center) / unit).round(decimals=DIGITS), s2_known=(first.s2_known / unit**2).round(decimals=DIGITS)
    )
    key = (
        "source",
        alone.sources,
        *(None if part is None else part.numpy().tobytes() for part in own),
        problem.priors,
        problem.log_price,
    )
    stops = remember(key, lambda: _Alone.of_rows(problem, own, alone.sources).walk())
    fits = [_in_units(alone.joint, fit, unit**2) for fit in stops]
    return alone.climb_from([transfer_fit(fit, prefix_rows(m, len(first.y))) for fit in fits])


def _in_units(joint: JointCovariance, fit: Fit, square: float) -> Fit:
    """A fit of one group in other units, in which variances are so much larger."""
    theta = fit.theta.clone()
    for name, at in joint.at_name.items():
        if name.startswith(("s2f", "noise", "offset", "bias")):  # logarithms of variances
            theta[at] += math.log(square)
    low, high = torch.tensor(joint.function().bounds, dtype=torch.float64).T
    return fit._replace(theta=theta.clamp(low, high), rho=square * fit.rho)


class _Alone(NamedTuple):
    """The values of one group by themselves: where they are of levels, with errors that shrink from level to level."""

    problem: Problem
    numbers: Tensor
    rows: SourceRows
    sources: tuple[JoinedSource, ...]
    joint: JointCovariance
    model: Model
    penalty: Penalty

    @classmethod
    def of(cls, problem: Problem, group: int) -> "_Alone":
        numbers = problem.rows.numbers((group,))
        rows, source = problem.rows.of(numbers), problem.source(group, "biased")
        rows = rows if source.is_ordered else rows._replace(group=torch.zeros(len(numbers), dtype=torch.long))
        if len(numbers) < FEWEST:
            rows = rows._replace(cleared=torch.ones_like(rows.cleared))
        return cls.of_rows(problem, rows, (source,) if source.is_ordered else (), numbers)

    @classmethod
    def of_rows(
        cls, problem: Problem, rows: SourceRows, sources: tuple[JoinedSource, ...], numbers: Tensor | None = None
    ) -> "_Alone":
        numbers = torch.arange(len(rows.y)) if numbers is None else numbers
        return cls(problem, numbers, rows, sources, *model_of(problem, rows, sources))

    def walk(self) -> list[Fit]:
        """The best stops of a walk from nothing."""
        n = len(self.numbers)
        indices = evenly(n, min(n, MANY))
        place = torch.full((n,), -1).index_copy(0, indices, torch.arange(len(indices)))
        stops = _stops(*model_of(self.problem, self.rows.of(indices), self.sources)[1:])
        return [transfer_fit(stop.fit, place) for stop in stops]

    def climb_from(self, begins: Sequence[Fit]) -> GroupFit:
        """The best of the fits that some places lead to."""
        plan = PursuitPlan([0], self.penalty)
        levels = [alternate_climbs(self.model, plan, begin, TURNS) for begin in begins]
        return self.with_level(max(levels, key=partial(walk.score, penalty=self.penalty)))

    def with_level(self, level: Level) -> GroupFit:
        return GroupFit(self.numbers, self.joint, self.model, level, self.penalty)


def _stops(model: Model, penalty: Penalty) -> list[Level]:
    """The best stops on the way from where everybody is wrong to where nobody is, and that where nobody ever was."""
    n = len(model.y)
    sizes = sorted({int(share * n) for share in SIZES}, reverse=True)
    climb = PursuitPlan(sizes, penalty).refit(model, ROUGH)
    levels = walk.walk(suspicious_levels(model, model.starts[:1], ftol=ROUGH), sizes, climb)
    levels.append(empty(model, ftol=ROUGH))
    return sorted(levels, key=partial(walk.score, penalty=penalty), reverse=True)[:PATHS]
