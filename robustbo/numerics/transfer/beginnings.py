"""The beginnings of a fit of a configuration: hyperparameters and wrong values from fits that are there already.

References:
    docs/equations.md section 22.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.gp import kernels
from robustbo.numerics.transfer.configuration import FEWEST, GroupFit, Problem, Relations, Values, with_relation
from robustbo.numerics.transfer.full_rank import spectrum
from robustbo.numerics.transfer.group_fits import Beginning
from robustbo.numerics.transfer.relations import TARGET, Relation
from robustbo.numerics.transfer.spread import robust_spread

SIMPLER: dict[Relation, tuple[Relation, ...]] = {
    "same": (),
    "offset": ("same",),
    "scaled": ("offset",),
    "biased": ("offset", "scaled"),
    "unrelated": (),
}


def beginnings(
    problem: Problem, alone: Sequence[GroupFit], fits: Mapping[Relations, GroupFit], relations: Relations, s: int
) -> Iterator[Beginning]:
    """Hyperparameters and wrong values at which the fit of a configuration begins.

    Args:
        problem: The values.
        alone: The fit of each group by itself, the target's first.
        fits: Those of other configurations.
        relations: The configuration.
        s: The source in which it differs from what was fitted before.
    """
    group, relation = s + 1, relations[s]
    base = fits.get(with_relation(relations, s, "unrelated"), alone[TARGET])
    noise = {
        f"noise{g}": v for g, fit in enumerate(alone) for v in [fit.values.get(f"noise{fit.group[0]}")] if v is not None
    }
    wrong = base.wrong | alone[group].wrong
    simpler = [fits.get(with_relation(relations, s, r)) for r in SIMPLER[relation]]
    for fit in sorted(filter(None, simpler), key=lambda fit: -fit.score):
        if relation == "scaled":
            yield Beginning({**fit.values, f"scale{group}": _number(_signed_ratio(problem, alone, group))}, fit.wrong)
        if relation == "biased" and problem.source(group, relation).is_ordered:
            yield Beginning({**alone[group].values, **fit.values}, fit.wrong)
            yield Beginning(fit.values, fit.wrong)
        elif relation == "biased":
            yield Beginning({**fit.values, **_screen_bias(problem, fit, group)}, fit.wrong)
    for fit in (alone[group], base):
        if fit is alone[TARGET] and len(fit.numbers) < FEWEST:
            continue
        shared = {name: v for name, v in fit.values.items() if name in ("l", "s2f")}
        if relation != "biased" or not any(simpler):
            yield Beginning({**noise, **base.values, **noise, **shared}, wrong)


def _signed_ratio(problem: Problem, alone: Sequence[GroupFit], group: int) -> float:
    """The scale of a source by the spread of its values, with the sign of what it says of the target's."""
    target, own = alone[TARGET], alone[group]
    spread = [robust_spread(fit.model.y) for fit in (own, target)]
    K = kernels.KERNELS[problem.priors.kernel]
    rows = problem.rows
    X, Z = rows.X[target.numbers], rows.X[own.numbers]
    k = K(kernels.squared_differences(X, Z), *own.joint.signal(own.level.fit.theta)).K
    agreement = float((k @ own.value.evidence.al) @ (target.model.y - target.model.y.median()))
    ratio = min(max(spread[0] / max(spread[1], 1e-3), 0.2), 5.0)
    return math.copysign(ratio, agreement)


def _screen_bias(problem: Problem, fit: GroupFit, group: int) -> Values:
    """Hyperparameters at which a bias gains most, others held: a start alone, since a climb gains more."""
    rows, theta = (fit.group == group).numpy(), fit.level.fit.theta
    X = problem.rows.X[fit.numbers][rows]
    Sg = fit.value.covariance.K.numpy() + np.diag(fit.level.fit.rho.numpy())
    r = (fit.value.y - fit.value.evidence.m).numpy()
    l, _ = fit.joint.signal(theta)
    K_d, unit = np.zeros_like(Sg), torch.tensor(1.0, dtype=torch.float64)
    K = kernels.KERNELS[problem.priors.kernel](kernels.squared_differences(X, X), l, unit).K
    K_d[np.ix_(rows, rows)] = K.numpy()
    omega2, _ = spectrum(Sg, K_d, r).best()
    return {f"bias{group}": _number(math.log(omega2)), f"ratio{group}": _number(0.0)}


def _number(x: float) -> Tensor:
    return torch.tensor([x], dtype=torch.float64)
