"""Fits of the values of the target and of sources together, from what is known of each.

A joint fit is made in two steps. A rough one climbs a little from several beginnings; whichever relations are plausible
then are climbed to the end.

Notation: as in `covariance`.

References:
    docs/equations.md section 22.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.gp import parameters
from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.gp.model import Model
from robustbo.numerics.pursuit import walk
from robustbo.numerics.pursuit.growth import alternate_climbs
from robustbo.numerics.pursuit.penalty import Penalty, corrected_rule
from robustbo.numerics.pursuit.search import PursuitPlan
from robustbo.numerics.pursuit.support_fit import Level
from robustbo.numerics.transfer.configuration import GroupFit, Problem, Values
from robustbo.numerics.transfer.covariance import JointCovariance
from robustbo.numerics.transfer.relations import TARGET, JoinedSource, SourceRows

ROUGH = 1e-3  # relative tolerance of climbs that show what is plausible
TURNS = 3  # of climbs and changes of the support
GROSS = 100.0  # variance that a value which another configuration takes for wrong begins with, at least


class Beginning(NamedTuple):
    """A place where a joint fit may begin.

    Attributes:
        values: Coordinates of theta; those that are missing begin at the most plausible value.
        wrong: The rows of the problem that are wrong to begin with.
    """

    values: Values
    wrong: frozenset[int]


def rough_fit(
    problem: Problem, sources: tuple[JoinedSource, ...], beginnings: Sequence[Beginning], hopeless: float = -math.inf
) -> GroupFit:
    """A rough fit of the target and some sources.

    Values are pursued at the hyperparameters of each beginning first, so that a new one does not bend the fit before it
    is judged.

    Args:
        problem: All values.
        sources: Those that are joined with the target.
        beginnings: Where it may begin, the most promising first.
        hopeless: The score below which no other beginning is tried.
    """
    numbers = problem.rows.numbers((TARGET, *(source.group for source in sources)))
    joint, model, penalty = model_of(problem, problem.rows.of(numbers), sources)
    best: Level | None = None
    for beginning in beginnings:
        begin = _fit_at(joint, model, numbers, beginning)
        level = alternate_climbs(model, PursuitPlan([0], penalty), begin, 1, ftol=ROUGH)
        best = level if best is None else max(best, level, key=partial(walk.score, penalty=penalty))
        if walk.score(best, penalty) < hopeless:
            break
    assert best is not None
    return GroupFit(numbers, joint, model, best, penalty)


def refine_fit(fit: GroupFit) -> GroupFit:
    """A fit climbed to the end."""
    return fit.with_level(alternate_climbs(fit.model, PursuitPlan([0], fit.penalty), fit.level.fit, TURNS))


def refit_from(fit: GroupFit, beginning: Beginning) -> GroupFit:
    """A fit climbed to from elsewhere than where it is; coordinates that the beginning lacks begin where they are."""
    begin = _fit_at(fit.joint, fit.model, fit.numbers, Beginning({**fit.values, **beginning.values}, beginning.wrong))
    return fit.with_level(alternate_climbs(fit.model, PursuitPlan([0], fit.penalty), begin, TURNS))


def _fit_at(joint: JointCovariance, model: Model, numbers: Tensor, beginning: Beginning) -> Fit:
    default = {b.name: torch.full((b.size,), b.starts[0], dtype=torch.float64) for b in joint.blocks}
    theta = torch.cat([beginning.values.get(name, value) for name, value in default.items()])
    low, high = torch.tensor(model.bounds, dtype=torch.float64).T
    is_wrong = torch.isin(numbers, torch.tensor(sorted(beginning.wrong), dtype=torch.long))
    rho = torch.where(is_wrong, model.y.square().clamp_min(GROSS), torch.zeros_like(model.y))
    return Fit(theta.clamp(low, high), rho, -np.inf, -np.inf, 0, True)


def model_of(
    problem: Problem, rows: SourceRows, sources: tuple[JoinedSource, ...]
) -> tuple[JointCovariance, Model, Penalty]:
    """The covariance of some rows, their model, and the penalty of wrong values among them."""
    joint = JointCovariance(rows, sources, problem.priors)
    starts, silent = tuple(parameters.starts(joint.blocks, [rows.X.new_empty(0)])), torch.zeros_like(rows.y)
    model = Model(rows.y, joint.function(starts), problem.priors.s2, silent, rows.cleared)  # its noise is in K
    rule = corrected_rule(len(rows.y), model.num_free)
    return joint, model, Penalty(lambda k: rule(k) + k * problem.log_price if k else 0.0)
