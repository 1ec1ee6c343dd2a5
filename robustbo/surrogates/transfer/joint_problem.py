"""The values of the target and of all sources in one model's units, and what is known of them before a fit."""

import math
from typing import Any

import torch

from robustbo.numerics.gp.wrong_density import RATE
from robustbo.numerics.transfer.configuration import FEWEST, Problem
from robustbo.numerics.transfer.relations import JOINED, RELATIONS, Relation, SourceRows
from robustbo.numerics.transfer.spread import inner_spread, robust_spread
from robustbo.surrogates.common.contract import outcome_transform
from robustbo.surrogates.transfer.auxiliary import AuxiliaryValues

APART = 10.0  # ratio of spreads beyond which values of a source are in other units than the target's
FAR = 10.0  # of the target's standard deviations: a source that lies farther off has another zero

Maps = tuple[tuple[float, float], ...]  # of each source: center and scale in its rows' units


def joint_problem(gp: Any, auxiliary: AuxiliaryValues) -> tuple[Problem, Maps]:
    """All values in this model's units; those of a source in other units in units of their own."""
    X, y, n = gp.train_inputs[0], gp.train_targets, len(gp.train_targets)
    transform, (s2, share) = outcome_transform(gp), gp.noise_of_rows()
    scale, shared = transform.stdvs.item(), gp.shared_errors
    z, sds = (auxiliary.Y - transform.means.item()) / scale, auxiliary.sds / scale
    z, allowed, maps = z.clone(), list[tuple[Relation, ...]](), list[tuple[float, float]]()
    depth = torch.zeros_like(auxiliary.Y) if auxiliary.depth is None else auxiliary.depth
    for s, is_trusted in enumerate(auxiliary.trusted):
        rows = auxiliary.source == s
        has_levels = bool(depth[rows].any())
        inner, spread, center = inner_spread(z[rows]), robust_spread(z[rows]), z[rows].median().item()
        may_differ = not (is_trusted or has_levels) and n >= FEWEST
        is_far = may_differ and abs(center) > FAR
        is_wide = inner >= APART or (is_far and spread >= APART)  # more than a tenth may be gross, and most alike
        is_apart = may_differ and (is_wide or 0 < spread <= 1 / APART)
        maps.append((center if is_apart or is_far else 0.0, spread if is_apart else 1.0))
        z[rows], sds[rows] = (z[rows] - maps[-1][0]) / maps[-1][1], sds[rows] / maps[-1][1]
        allowed.append(_possible_relations(is_trusted, has_levels, is_apart, is_far))
    is_right = gp.is_cleared() if gp.options.num_outliers != 0 else torch.ones(n, dtype=torch.bool)
    rows_of_all = SourceRows(
        torch.cat([X, gp.transform_inputs(auxiliary.X)]),
        torch.cat([y, z]),
        torch.cat([torch.zeros(n, dtype=torch.long), auxiliary.source + 1]),
        torch.cat([s2, sds.square()]),
        torch.cat([is_right, auxiliary.vouched]),
        torch.cat([share, auxiliary.share]),
        None if auxiliary.depth is None else torch.cat([torch.zeros_like(y), depth]),
        None if shared is None else torch.cat([shared / scale, shared.new_zeros(len(z), shared.shape[-1])]),
    )
    rate = gp.options.rate(n)
    price = math.log((1 - rate) / rate) - math.log((1 - RATE) / RATE)
    return Problem(rows_of_all, len(auxiliary.trusted), gp.kernel_priors, tuple(allowed), price), tuple(maps)


def _possible_relations(is_trusted: bool, has_levels: bool, is_apart: bool, is_far: bool) -> tuple[Relation, ...]:
    """The relations that a source may have."""
    if is_trusted:
        return JOINED[:1]
    if has_levels:
        return tuple(relation for relation in RELATIONS if relation != "scaled")
    least: Relation = "scaled" if is_apart else "offset" if is_far else "same"
    return RELATIONS[RELATIONS.index(least) :]
