"""Noisy expected improvement of several outcomes: the logarithm, for one point at a time, with its gradient.

As with one outcome (`noisy`), latent values are sampled at points measured or asked, of each outcome by a mixture of
processes of its own: a sample takes them from one component. In each sample the feasible points leave some hypervolume
to be gained, the region above the reference point that they do not dominate: disjoint boxes. Given the data and the
sample, a new point's outcomes are independent and normal. So what it is expected to gain has a closed form, a sum over
the boxes of products over the objectives, times the probability that the other outcomes keep their bounds.

With one objective the box is what lies above the best feasible value: constrained noisy expected improvement. Where
nothing is feasible, it lies above the lowest of all values sampled.

Notation, beside those of `conditioned` and `cells` (S samples, b points; E edges and N boxes of all samples):
    M, sd      S x b   mean and standard deviation of an outcome, given the data and each sample
    low, high          bounds of an outcome
    psi(t)     E x b   E max(y - t, 0) 1[y >= low]: of an edge
    D          N x b   psi where a box begins, less psi where it ends
    gain       S x b   sum over a sample's boxes of the product of D over the objectives
    p          S x b   probability that all other outcomes keep their bounds

References:
    docs/equations.md section 5; Daulton, Balandat and Bakshy (2021), Parallel Bayesian optimization of multiple noisy
    objectives with expected hypervolume improvement, for the expectation over fronts; Yang, Emmerich, Deutz and Bäck
    (2019), Efficient computation of expected hypervolume improvement using box decomposition algorithms.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robustbo.numerics.gp.posterior import LatentProcess
from robustbo.numerics.improvement.boxes import Boxes, boxes, log_gain
from robustbo.numerics.improvement.cells import Flags, Places, cells, not_beaten
from robustbo.numerics.improvement.conditioned import (
    CandidateSamples,
    ConditionalMoments,
    ConditionedProcesses,
    condition_on_samples,
    conditional_moments,
    gradient,
    sample_candidates,
)
from robustbo.numerics.improvement.goals import Goal
from robustbo.numerics.improvement.normal import interval_probability
from robustbo.numerics.linalg.lapack import Array

Mixture = tuple[Tensor, Sequence[LatentProcess]]  # p weights, and p processes with the same kernel and inputs


class SampledOutcome(NamedTuple):
    """One outcome: its components that have samples, given data and baseline.

    Attributes:
        goal: What is wanted of it.
        processes: The components that have samples, given data and baseline.
        m: ``p`` constant means.
        component: ``S`` numbers of the component that each sample is of.
        a: ``p`` arrays ``z x s`` of R (f - mean): of the samples f of a component.
    """

    goal: Goal
    processes: ConditionedProcesses
    m: Array
    component: Places
    a: Sequence[Array]


class Improvements(NamedTuple):
    """All that the improvement of a new point depends on.

    Attributes:
        outcomes: They.
        Y: ``S x m x K`` samples of the objectives at the candidates.
        is_in: ``S x m``: which are on a sample's feasible front.
        reference: ``K`` coordinates of the reference point.
        boxes: What the fronts leave to be gained.
    """

    outcomes: Sequence[SampledOutcome]
    Y: Array
    is_in: Flags
    reference: Array
    boxes: Boxes


class _OutcomeMoments(NamedTuple):
    """Moments of an outcome at new points: see the notation; sd is ``p x b`` of the components."""

    at: ConditionalMoments
    M: Array
    sd: Array


def over(
    mixtures: Sequence[Mixture],
    goals: Sequence[Goal],
    Z: Tensor,
    normal: Tensor,
    seed: int,
    counts: Tensor | None = None,
    required: Tensor | None = None,
) -> Improvements:
    """The improvement over the feasible front of some candidates.

    Args:
        mixtures: Of each outcome the processes.
        goals: What is wanted of each; at least one is an objective.
        Z: ``m x d`` candidates.
        normal: ``S x M x m`` standard normal numbers.
        seed: Of which samples are of which component.
        counts: ``m`` booleans: which may be on the front; all by default.
        required: ``m`` booleans: which are conditioned on in any case, as nothing is known there; none by default.
    """
    rng, S = np.random.default_rng(seed), len(normal)
    drawing = []
    for i, (weights, latents) in enumerate(mixtures):
        used, component = np.unique(assign_components(weights.numpy(), S, rng), return_inverse=True)
        components = [latents[c] for c in used]
        numbers = [normal[component == c, i].numpy() for c in range(len(components))]
        drawing.append((components, component, _sample_components(components, Z.numpy(), numbers)))
    values = [_absolute(*of) for of in drawing]
    feasible = np.ones((S, len(Z)), dtype=bool) & (True if counts is None else counts.numpy())
    for f, goal in zip(values, goals, strict=True):
        feasible &= (goal.low <= f) & (f <= goal.high)
    Y = np.stack([f for f, goal in zip(values, goals, strict=True) if goal.is_objective], -1)
    reference = _reference(goals, Y)
    is_in = not_beaten(Y, feasible, reference)
    conditions = np.array(is_in.any(0)) if required is None else is_in.any(0) | required.numpy()
    conditions[0] |= not conditions.any()  # some point must be
    outcomes = [_condition_outcome(goal, *of, Z.numpy(), conditions) for goal, of in zip(goals, drawing, strict=True)]
    return _over(outcomes, Y, is_in, reference)


def _over(outcomes: Sequence[SampledOutcome], Y: Array, is_in: Flags, reference: Array) -> Improvements:
    lows = [outcome.goal.low for outcome in outcomes if outcome.goal.is_objective]
    return Improvements(outcomes, Y, is_in, reference, boxes(cells(Y, is_in, reference), lows))


def assign_components(weights: Array, S: int, rng: np.random.Generator) -> Places:
    """Assign one of ``p`` components to each of ``S`` samples: as many of each as its weight says, in random order."""
    bounds = np.cumsum(weights) / weights.sum()
    components = np.searchsorted(bounds[:-1], (np.arange(S) + 0.5) / S)
    return rng.permutation(components) if len(weights) > 1 else components


def _sample_components(latents: Sequence[LatentProcess], Z: Array, normal: Sequence[Array]) -> list[CandidateSamples]:
    return [sample_candidates(latent, Z, numbers) for latent, numbers in zip(latents, normal, strict=True)]


def _absolute(latents: Sequence[LatentProcess], component: Places, samples: Sequence[CandidateSamples]) -> Array:
    """``S x m`` samples of an outcome."""
    f = np.empty((len(component), len(samples[0].mean)))
    for c, (latent, sample) in enumerate(zip(latents, samples, strict=True)):
        f[component == c] = latent.m.item() + sample.f
    return f


def _condition_outcome(
    goal: Goal,
    latents: Sequence[LatentProcess],
    component: Places,
    samples: Sequence[CandidateSamples],
    Z: Array,
    is_in: Flags,
) -> SampledOutcome:
    processes = condition_on_samples(latents, samples, Z, is_in)
    a = [R @ (sample.f - sample.mean)[:, is_in].T for R, sample in zip(processes.R, samples, strict=True)]
    return SampledOutcome(goal, processes, np.array([latent.m.item() for latent in latents]), component, a)


def _reference(goals: Sequence[Goal], Y: Array) -> Array:
    references = [goal.reference for goal in goals if goal.is_objective]
    return np.array([Y.min()] if len(references) == 1 else references, dtype=float)


def thin_samples(to: Improvements, every: int) -> Improvements:
    """Keep one in so many samples."""
    outcomes = []
    for of in to.outcomes:
        places = np.arange(0, len(of.component), every)
        used, component = np.unique(of.component[places], return_inverse=True)
        a = [of.a[c][:, np.isin(np.flatnonzero(of.component == c), places)] for c in used]
        outcomes.append(
            of._replace(processes=_select_components(of.processes, used), m=of.m[used], component=component, a=a)
        )
    return _over(outcomes, to.Y[::every], to.is_in[::every], to.reference)


def _select_components(of: ConditionedProcesses, used: Places) -> ConditionedProcesses:
    prior = of.prior._replace(precision=of.prior.precision[used], s2f=of.prior.s2f[used])
    latents, U = ([items[c] for c in used] for items in (of.latents, of.U))
    return ConditionedProcesses(prior, of.XZ, latents, of.al[used], U, of.R[used])


def log_improvement(to: Improvements, x: Tensor, *, is_sloped: bool = True) -> tuple[Tensor, Tensor | None]:
    """The logarithm of the expected gain at ``b x d`` points, ``b``; its gradient, ``b x d``, if wanted."""
    moments = [_outcome_moments(outcome, x.detach().numpy()) for outcome in to.outcomes]
    S = len(moments[0].M)
    log_p, slopes = np.zeros_like(moments[0].M), []
    for outcome, of in zip(to.outcomes, moments, strict=True):
        goal = outcome.goal
        low = -math.inf if goal.is_objective else goal.low  # which the gain knows
        is_bound = low > -math.inf or goal.high < math.inf
        interval = interval_probability(low, goal.high, of.M, of.sd[outcome.component]) if is_bound else None
        slopes.append(interval)
        if interval is not None:
            log_p += interval.log_p
    objectives = [i for i, outcome in enumerate(to.outcomes) if outcome.goal.is_objective]
    M, sd = [moments[i].M for i in objectives], [moments[i].sd[to.outcomes[i].component] for i in objectives]
    gain = log_gain(to.boxes, M, sd, log_p, is_sloped=is_sloped)
    value = torch.from_numpy(gain.value - math.log(S))
    if not is_sloped:
        return value, None
    total = np.zeros(x.shape)
    for i, (outcome, of, bound) in enumerate(zip(to.outcomes, moments, slopes, strict=True)):
        by_M, by_sd = np.zeros_like(of.M), np.zeros_like(of.M)
        if bound is not None:
            by_M, by_sd = gain.share * bound.by_mean, gain.share * bound.by_sd
        if i in objectives:
            j = objectives.index(i)
            by_M, by_sd = by_M + gain.by_M[j], by_sd + gain.by_sd[j]
        total += _gradient(outcome, of, by_M, by_sd)
    return value, torch.from_numpy(total)


def _outcome_moments(of: SampledOutcome, x: Array) -> _OutcomeMoments:
    processes_at = conditional_moments(of.processes, x)
    M = np.empty((len(of.component), len(x)))
    for c, a in enumerate(of.a):
        M[of.component == c] = (processes_at.c[c] @ a + (processes_at.k[c] @ of.processes.al[c] + of.m[c])[:, None]).T
    return _OutcomeMoments(processes_at, M, np.sqrt(processes_at.V))


def _gradient(of: SampledOutcome, moments: _OutcomeMoments, by_M: Array, by_sd: Array) -> Array:
    """``b x d``, from derivatives with respect to the samples' means and standard deviations."""
    masks = [of.component == c for c in range(len(of.a))]
    by_mean = np.stack([by_M[mask].sum(0) for mask in masks])[..., None]
    by_c = np.stack([by_M[mask].T @ a.T for mask, a in zip(masks, of.a, strict=True)])
    by_V = np.stack([by_sd[mask].sum(0) for mask in masks]) / moments.sd * moments.at.is_free
    return gradient(of.processes, moments.at, by_mean, by_c, by_V[..., None]).sum(0)
