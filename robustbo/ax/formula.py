"""The closed form of what Ax asks to be maximized, of one point, where our models have one."""

import math
from typing import Any

import torch
from ax.generators.torch.botorch_modular.acquisition import Acquisition
from botorch.acquisition import AcquisitionFunction
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
from botorch.models import ModelListGP
from torch import Tensor

from robustbo.loop.acquisition.build import has_closed_form
from robustbo.loop.acquisition.log_nehvi import LogNEHVI
from robustbo.loop.acquisition.log_nei import ClosedForm, LogNEI, multiply_by_sign
from robustbo.numerics.improvement.goals import Goal

NOISY = (qLogNoisyExpectedImprovement, qLogNoisyExpectedHypervolumeImprovement)


def closed_form(of: Acquisition, asked_for: type[AcquisitionFunction], seed: int) -> ClosedForm | None:
    """The noisy improvement of our models' outcomes, if it is what is asked for.

    Args:
        of: Ax's acquisition.
        asked_for: The class of function that it is to make.
        seed: Of the samples.
    """
    if of.X_observed is None or asked_for not in NOISY or of._learned_objective_preference_model is not None:
        return None
    baseline = of.X_observed if of.X_pending is None else torch.cat([of.X_observed, of.X_pending])
    if isinstance(model := of._model, ModelListGP):
        return _of_several(of, model, baseline, seed)
    weights = of._objective_weights.tolist()
    if not has_closed_form(model) or of._outcome_constraints is not None or weights not in ([[1.0]], [[-1.0]]):
        return None
    return LogNEI(model, baseline, seed, latents=multiply_by_sign(model.latents(), weights[0][0]))


def _of_several(of: Acquisition, model: ModelListGP, baseline: Tensor, seed: int) -> LogNEHVI | None:
    models = [outcome_model for outcome_model in model.models if has_closed_form(outcome_model)]
    if len(models) < len(model.models):
        return None
    if not all(
        torch.equal(outcome_model.transform_inputs(baseline), models[0].transform_inputs(baseline))
        for outcome_model in models
    ):
        return None
    if (goals := goals_of(of._objective_weights, of._objective_thresholds, of._outcome_constraints)) is None:
        return None
    outcome_goals, signs = zip(*goals, strict=True)
    return LogNEHVI(models, outcome_goals, baseline, seed, signs=signs)


def goals_of(
    weights: Tensor, thresholds: Tensor | None, constraints: tuple[Tensor, Tensor] | None
) -> list[tuple[Goal, float]] | None:
    """Goal of each of ``M`` outcomes, and -1 where it is to be minimized; None where outcomes are summed.

    Args:
        weights: ``K x M``, of the outcomes in each objective, which is to be maximized.
        thresholds: ``K`` of them, what counts as no good.
        constraints: ``C x M`` weights of the outcomes in each constraint, and ``C x 1``: what is at most allowed.
    """
    A, b = (weights.new_zeros(0, weights.shape[-1]), weights.new_zeros(0, 1)) if constraints is None else constraints
    if ((weights != 0).sum(-1) != 1).any() or ((A != 0).sum(-1) != 1).any() or ((weights != 0).sum(0) > 1).any():
        return None
    entries: list[dict[str, Any]] = [{"is_objective": False} for _ in range(weights.shape[-1])]
    signs = [1.0] * len(entries)
    for k, i in (weights != 0).nonzero().tolist():
        weight, is_one = weights[k, i].item(), len(weights) == 1
        reference = None if is_one or thresholds is None else thresholds[k].item() / weight
        entries[i] |= {"is_objective": True, "reference": reference}
        signs[i] = math.copysign(1.0, weight)
    for c, i in (A != 0).nonzero().tolist():
        bound, last = (b[c, 0] / A[c, i]).item(), entries[i]
        side = {"high": min(bound, last.get("high", math.inf))} if A[c, i] > 0 else {}
        entries[i] |= side or {"low": max(bound, last.get("low", -math.inf))}
    return [(Goal(**entry), sign) for entry, sign in zip(entries, signs, strict=True)]
