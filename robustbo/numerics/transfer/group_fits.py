"""Fits of the values of some groups: of one by itself, from nothing; of the target and sources, from what is known.

A joint fit is made in two steps. A rough one begins where it is best, of several beginnings, at held hyperparameters,
and climbs a little; whichever relations are plausible then are climbed to the end.

Notation: as in `covariance`.

References:
    docs/equations.md section 22.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.gp import parameters
from robustbo.numerics.gp.log_posterior import Model
from robustbo.numerics.gp.map_fit import Fit
from robustbo.numerics.pursuit import walk
from robustbo.numerics.pursuit.growth import MANY, alternate_climbs, evenly, settle_support
from robustbo.numerics.pursuit.held import score
from robustbo.numerics.pursuit.penalty import Penalty, corrected_rule
from robustbo.numerics.pursuit.search import PursuitPlan
from robustbo.numerics.pursuit.support_fit import Level, empty, suspicious_levels, transfer_fit
from robustbo.numerics.transfer.configuration import FEWEST, GroupFit, Problem, Values
from robustbo.numerics.transfer.covariance import JointCovariance
from robustbo.numerics.transfer.relations import TARGET, JoinedSource, SourceRows

SIZES = (0.3, 0.2, 0.1, 0.05, 0.0)  # shares of the values that a search from nothing takes for wrong, one after another
PATHS = 2  # of its stops that are climbed from to the end
ROUGH = 1e-3  # relative tolerance of climbs that show what is plausible
TURNS = 3  # of climbs and changes of the support
GROSS = 100.0  # variance that a value which another configuration takes for wrong begins with, at least


class Beginning(NamedTuple):
    """Where a joint fit may begin.

    Attributes:
        values: Coordinates of theta; those that are missing begin at the most plausible value.
        wrong: The rows of the problem that are wrong to begin with.
    """

    values: Values
    wrong: frozenset[int]


def rough_fit(problem: Problem, sources: tuple[JoinedSource, ...], beginnings: Sequence[Beginning]) -> GroupFit:
    """A rough fit of the target and some sources.

    Values are pursued at the hyperparameters of each beginning first, so that a new one does not bend the fit before it
    is judged; the best of these is climbed from.

    Args:
        problem: All values.
        sources: Those that are joined with the target.
        beginnings: Where it may begin.
    """
    numbers = problem.rows.numbers((TARGET, *(source.group for source in sources)))
    joint, model, penalty = _model(problem, problem.rows.of(numbers), sources)
    plan = PursuitPlan([0], penalty)
    begins = [_fit_at(joint, model, numbers, beginning) for beginning in beginnings]
    levels = [alternate_climbs(model, plan, begin, 1, ftol=ROUGH) for begin in begins]
    return GroupFit(numbers, joint, model, max(levels, key=partial(walk.score, penalty=penalty)), penalty)


def refine_fit(fit: GroupFit) -> GroupFit:
    """A fit climbed to the end."""
    return fit.with_level(alternate_climbs(fit.model, PursuitPlan([0], fit.penalty), fit.level.fit, TURNS))


def refit_with(fit: GroupFit, wrong: frozenset[int]) -> GroupFit:
    """A fit climbed to from another, where other rows of the problem are wrong to begin with."""
    begin = _fit_at(fit.joint, fit.model, fit.numbers, Beginning(fit.values, wrong))
    return fit.with_level(alternate_climbs(fit.model, PursuitPlan([0], fit.penalty), begin, TURNS))


def _held_score(model: Model, plan: PursuitPlan, begin: Fit) -> float:
    return score(settle_support(model, plan, begin)[1], plan.penalty)


def _fit_at(joint: JointCovariance, model: Model, numbers: Tensor, beginning: Beginning) -> Fit:
    default = {b.name: torch.full((b.size,), b.starts[0], dtype=torch.float64) for b in joint.blocks}
    theta = torch.cat([beginning.values.get(name, value) for name, value in default.items()])
    low, high = torch.tensor(model.bounds, dtype=torch.float64).T
    is_wrong = torch.isin(numbers, torch.tensor(sorted(beginning.wrong), dtype=torch.long))
    rho = torch.where(is_wrong, model.y.square().clamp_min(GROSS), torch.zeros_like(model.y))
    return Fit(theta.clamp(low, high), rho, -np.inf, -np.inf, 0, True)


def fit_alone(problem: Problem, group: int) -> GroupFit:
    """The fit of one group by itself, from nothing; of fewer than `FEWEST` values none is called wrong."""
    numbers = problem.rows.numbers((group,))
    rows = problem.rows.of(numbers)._replace(group=torch.zeros(len(numbers), dtype=torch.long))
    joint, model, penalty = _model(problem, rows, ())
    if len(numbers) < FEWEST:
        return GroupFit(numbers, joint, model, empty(model), penalty)
    indices = evenly(len(numbers), min(len(numbers), MANY))
    place = torch.full((len(numbers),), -1).index_copy(0, indices, torch.arange(len(indices)))
    stops = _stops(*_model(problem, rows.of(indices), ())[1:])
    plan = PursuitPlan([0], penalty)
    levels = [alternate_climbs(model, plan, transfer_fit(stop.fit, place), TURNS) for stop in stops]
    return GroupFit(numbers, joint, model, max(levels, key=partial(walk.score, penalty=penalty)), penalty)


def _stops(model: Model, penalty: Penalty) -> list[Level]:
    """The best stops on the way from where everybody is wrong to where nobody is, and that where nobody ever was."""
    n = len(model.y)
    sizes = sorted({int(share * n) for share in SIZES}, reverse=True)
    climb = PursuitPlan(sizes, penalty).refit(model, ROUGH)
    levels = walk.walk(suspicious_levels(model, model.starts[:1], ftol=ROUGH), sizes, climb)
    levels.append(empty(model, ftol=ROUGH))
    return sorted(levels, key=partial(walk.score, penalty=penalty), reverse=True)[:PATHS]


def _model(
    problem: Problem, rows: SourceRows, sources: tuple[JoinedSource, ...]
) -> tuple[JointCovariance, Model, Penalty]:
    joint = JointCovariance(rows, sources, problem.priors)
    starts, silent = tuple(parameters.starts(joint.blocks, [rows.X.new_empty(0)])), torch.zeros_like(rows.y)
    model = Model(rows.y, joint.function(starts), problem.priors.s2, silent, rows.cleared)  # its noise is in K
    rule = corrected_rule(len(rows.y), model.num_free)
    return joint, model, Penalty(lambda k: rule(k) + k * problem.log_price if k else 0.0)
