"""Acquisition functions of several outcomes, by name."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from botorch.acquisition import AcquisitionFunction, qLogExpectedImprovement
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.acquisition.multi_objective.objective import IdentityMCMultiOutputObjective
from botorch.acquisition.objective import GenericMCObjective
from botorch.models.gpytorch import GPyTorchModel
from botorch.models.model import ModelList
from botorch.sampling import ListSampler, SobolQMCNormalSampler
from botorch.utils.multi_objective.box_decompositions import FastNondominatedPartitioning
from botorch.utils.sampling import draw_sobol_normal_samples
from torch import Tensor

from robustbo.loop.acquisition.botorch_ehvi import LogEHVI, SampledLogNEHVI
from robustbo.loop.acquisition.build import has_closed_form
from robustbo.loop.acquisition.log_nei import (
    NUM_SAMPLES,
    THIN,
    ClosedForm,
    is_among,
    multiply_by_sign,
    unique_rows,
)
from robustbo.numerics.improvement import several
from robustbo.numerics.improvement.contenders import contenders
from robustbo.numerics.improvement.goals import Goal
from robustbo.numerics.improvement.several import Improvements, log_improvement, over
from robustbo.surrogates.common.contract import marginals, outcome_transform
from robustbo.surrogates.common.map_gp import MapGP
from robustbo.surrogates.common.units import in_model_units
from robustbo.trials.settings import ACQUISITIONS

MANY = 3  # objectives: of more, fronts leave hundreds of boxes,
FEWER_SAMPLES = 64  # and the time goes with the samples


class LogNEHVI(ClosedForm):
    """The logarithm of noisy expected improvement of one point in several outcomes: in closed form.

    With several objectives it is that of the hypervolume of the feasible front, with one that of the best feasible
    value. Models that predict by several fits count as mixtures of them.

    Args:
        models: Fitted surrogates with named kernels, one an outcome; their inputs go through the same transform.
        goals: What is wanted of each, in the units of the values it was given; at least one is an objective.
        X_baseline: ``n x d`` points measured, and points pending.
        seed: Of the quasi-random samples.
        X_best: ``m x d`` points whose front is to be improved upon; the baseline by default.
        X_pending: ``p x d`` points that count as pending though models may know some outcome there.
        signs: -1 for each objective that is to be minimized, else 1; 1 for all by default, as in the loop.

    References:
        `robustbo.numerics.improvement.several`.
    """

    def __init__(
        self,
        models: Sequence[MapGP],
        goals: Sequence[Goal],
        X_baseline: Tensor,
        seed: int,
        X_best: Tensor | None = None,
        X_pending: Tensor | None = None,
        signs: Sequence[float] | None = None,
    ) -> None:
        super().__init__(ModelList(*models), models[0].transform_inputs)
        with torch.no_grad():
            signs = [1.0] * len(models) if signs is None else signs
            mixture_list = [
                model.latents() if sign > 0 else multiply_by_sign(model.latents(), sign)
                for model, sign in zip(models, signs, strict=True)
            ]
            pairs = [tuple(zip(*mixture, strict=True)) for mixture in mixture_list]
            mixtures = [(X_baseline.new_tensor(weights), processes) for weights, processes in pairs]
            goals = [_in_model_units(*of) for of in zip(models, goals, signs, strict=True)]
            Z = self._inputs(X_baseline)
            best = Z if X_best is None else self._inputs(X_best)
            pending = Z[~is_among(Z, torch.cat([processes[0].X for _, processes in mixtures]))]
            if X_pending is not None:
                pending = torch.cat([pending, self._inputs(X_pending)])
            pending = unique_rows(pending)
            measured = contenders(mixtures, goals, unique_rows(best[~is_among(best, pending)]))
            Z = torch.cat([measured, pending])
            S = NUM_SAMPLES if sum(goal.is_objective for goal in goals) <= MANY else FEWER_SAMPLES
            normal = draw_sobol_normal_samples(len(goals) * len(Z), S, dtype=Z.dtype, seed=seed)
            is_pending = torch.arange(len(Z)) >= len(measured)
            self._to = over(mixtures, goals, Z, normal.view(S, len(goals), len(Z)), seed, required=is_pending)

    def _evaluate(self, Z: Tensor, is_sloped: bool) -> tuple[Tensor, Tensor | None]:
        return log_improvement(self._to, Z, is_sloped=is_sloped)

    def _thin(self, to: Improvements) -> Improvements:
        return several.thin_samples(to, THIN)


def _in_model_units(model: MapGP, goal: Goal, sign: float) -> Goal:
    """A goal in the model's own (transformed) units, turned by a sign: the transforms are monotone.

    A bound that is infinite stays so: a warp may bring the largest number within a few standard deviations.
    """

    def inside(*values: float) -> list[float]:
        y = torch.tensor(values, dtype=torch.float64)
        values_inside, _ = in_model_units(outcome_transform(model), y, torch.ones_like(y))
        return (sign * torch.where(y.isinf(), y, values_inside)).tolist()

    low, high = sorted(inside(goal.low, goal.high))
    return replace(goal, low=low, high=high, reference=None if goal.reference is None else inside(goal.reference)[0])


def build_multi_outcome(
    name: str,
    models: Sequence[GPyTorchModel],
    goals: Sequence[Goal],
    X: Tensor,
    X_pending: Tensor | None,
    seed: int,
    X_best: Tensor | None = None,
) -> AcquisitionFunction:
    """An acquisition function of fitted models, one an outcome, that is to be maximized.

    Args:
        name: One of `ACQUISITIONS` but "sobol"; "auto" is `LogNEHVI` where all models are ours with named kernels. Else
            it is, as "qLogNEI" always is, qLogNoisyExpectedHypervolumeImprovement of several objectives and qLogNEI of
            one, with constraints. "LogEI" and "qLogEI" are those over the posterior means, without noise.
        models: They.
        goals: What is wanted of each, in the units of the values it was given.
        X: ``n x d`` points at which some outcome was measured.
        X_pending: ``p x d`` points of which an outcome is asked for and not known, or None.
        seed: Of the Monte Carlo samples.
        X_best: ``m x d`` points whose front is to be improved upon; those measured by default.

    Raises:
        ValueError: If there is no acquisition function of that name.
    """
    ours = [model for model in models if has_closed_form(model)]
    if name == "auto" and len(ours) == len(models):
        return LogNEHVI(ours, goals, X, seed, X_best, X_pending)
    if name not in ACQUISITIONS or name == "sobol":
        raise ValueError(f"acquisition must be one of {list(ACQUISITIONS)}, got {name!r}")
    best, is_noisy = X if X_best is None else X_best, name in ("auto", "qLogNEI")
    options = {"sampler": _sampler(len(models), seed), "constraints": _constraints(goals), "X_pending": X_pending}
    make = _single_objective if sum(goal.is_objective for goal in goals) == 1 else _multi_objective
    return make(
        ModelList(*models), goals, best, None if is_noisy else _means_and_feasibility(models, goals, best), options
    )


MeansAndFeasibility = tuple[Tensor, Tensor]  # n x M posterior means, and n booleans: which keep the bounds


def _single_objective(
    model: ModelList, goals: Sequence[Goal], best: Tensor, believed: MeansAndFeasibility | None, options: dict[str, Any]
) -> AcquisitionFunction:
    """BoTorch's of one objective: noisy, or over what is believed."""
    (i,) = (i for i, goal in enumerate(goals) if goal.is_objective)
    options |= {"objective": GenericMCObjective(lambda Y, X=None: Y[..., i])}
    if believed is None:
        return qLogNoisyExpectedImprovement(model, best, cache_root=False, **options)
    means, feasible = believed
    values = means[feasible, i] if feasible.any() else means[:, i].min(0, keepdim=True).values
    return qLogExpectedImprovement(model, values.max(), **options)


def _multi_objective(
    model: ModelList, goals: Sequence[Goal], best: Tensor, believed: MeansAndFeasibility | None, options: dict[str, Any]
) -> AcquisitionFunction:
    """BoTorch's of several objectives: noisy, or over what is believed."""
    objectives = [i for i, goal in enumerate(goals) if goal.is_objective]
    reference = best.new_tensor([goals[i].reference for i in objectives])
    options |= {"objective": IdentityMCMultiOutputObjective(outcomes=objectives)}
    if believed is None:
        return SampledLogNEHVI(model, reference, best, prune_baseline=True, cache_root=False, **options)
    means, feasible = believed
    boxes = FastNondominatedPartitioning(reference, means[feasible][:, objectives])
    return LogEHVI(model, reference, boxes, **options)


def _sampler(M: int, seed: int) -> ListSampler:
    return ListSampler(*(SobolQMCNormalSampler(torch.Size([NUM_SAMPLES]), seed=seed + i) for i in range(M)))


def _constraints(goals: Sequence[Goal]) -> list[Callable[[Tensor], Tensor]] | None:
    """Functions that are negative where a bound is kept; None if there is no bound."""
    signs = [(i, sign, bound) for i, g in enumerate(goals) for sign, bound in ((-1.0, g.low), (1.0, g.high))]
    return [partial(_slack, *of) for of in signs if abs(of[2]) < torch.inf] or None


def _slack(i: int, sign: float, bound: float, Y: Tensor) -> Tensor:
    return sign * (Y[..., i] - bound)


def _means_and_feasibility(models: Sequence[GPyTorchModel], goals: Sequence[Goal], X: Tensor) -> tuple[Tensor, Tensor]:
    """Posterior means at ``m x d`` points, ``m x M``, and where these keep the bounds."""
    with torch.no_grad():
        means = torch.stack([marginals(model, X)[0] for model in models], -1)
    broken = [goal.violation(mean) for goal, mean in zip(goals, means.unbind(-1), strict=True)]
    return means, torch.stack(broken).sum(0) == 0
