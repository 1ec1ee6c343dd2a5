"""The fit of a surrogate to observations, which speaks the user's units, with what is quarantined left out.

A fit is a function of the settings and the observations alone, so keeping it changes nothing but the time. To which of
very many it is, `surrogate.subset` says; where its search begins, `surrogate.warm_start`; in which units,
`observations.units`.
"""

import gc
import time
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from robustbo import seeds
from robustbo.determinism.isolation import isolation, seed_everything
from robustbo.determinism.surroundings import pin_surroundings
from robustbo.loop.observations.expectation import Appraisal
from robustbo.loop.observations.no_value import no_value
from robustbo.loop.observations.probability_wrong import (
    CorruptionModel,
    groups_left_out,
    probably_wrong,
    quarantine_suspects,
    unseen_probabilities_wrong,
)
from robustbo.loop.observations.table import Data, Observations, observations
from robustbo.loop.observations.units import Units, in_model_units, noise_parts, typical_distance
from robustbo.loop.surrogate.attempt import attempt
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.censored_fit import appraise_others, fit_to_bounds, noise_variances
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.loop.surrogate.heaps import limits_among, warn_of_heap, with_bounds
from robustbo.loop.surrogate.model import (
    capabilities_of,
    has_row_noise,
    is_robust,
    new_model,
    prior_rate,
    rate_of_wrong_bounds,
    takes_bounds,
    takes_noise_parts,
)
from robustbo.loop.surrogate.sources import judge_sources
from robustbo.loop.surrogate.subset import RoughPrediction, Subset, select_subset
from robustbo.loop.surrogate.warm_start import WarmStart, predecessor, sample_size
from robustbo.surrogates.common import contract
from robustbo.surrogates.registry import SURROGATES
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

LARGE = 1500  # observations of which a fit's matrix takes 18 MB


def fit(settings: Settings, history: History, fits: FitCache | None = None) -> FittedSurrogate:
    """The surrogate fitted to a history; see `fit_to`."""
    return fit_to(settings, observations(settings, history), FitCache() if fits is None else fits)


@pin_surroundings  # threads that look at the same history wait for the one that fits to it
def fit_to(settings: Settings, data: Data, fits: FitCache, failed: Collection[int] = ()) -> FittedSurrogate:
    """The surrogate fitted to all that counts; a pure function of settings and data.

    A robust one leaves out what is quarantined, but for values that it then finds credible after all.

    Args:
        settings: What the run was told at its beginning.
        data: All trials.
        fits: The last fits.
        failed: Trials whose values are left out for what is known of them elsewhere.

    Raises:
        FitError: If the fit does not succeed.
        ValueError: If no value has been told.
    """
    if not data.told:
        raise ValueError(no_value(data.trials, "a surrogate"))
    settings = replace(settings.of_size(len(data.told)), space=data.space)
    guess, told = partial(_rough_prediction, settings, fits), _with_limits(settings, data.all_observations(), fits)
    part = select_subset(told, guess, fits, settings) if capabilities_of(settings).is_cubic else None
    among = told if part is None else part.told
    sources = None
    if data.correction is None:
        fit_told, name, own = partial(_fit, settings, fits=fits), settings.surrogate, among._replace(beside=None)
        sources = judge_sources(data, own, fit_told, fits, surrogate=name, blocks=settings.blocks, key=settings)
    if sources is not None and (correction := sources.correction) is not None:
        data, among = data.with_correction(correction), among.with_correction(correction)
        part = None if part is None else part.with_correction(correction)
    fitted = _fit_without_quarantine(settings, data, among, fits, frozenset(failed))
    fitted = fitted if sources is None else replace(fitted, sources=sources)
    if part is None:
        return fitted
    return replace(fitted, appraisals={**_appraise_left_out(settings, part, fits), **fitted.appraisals})


def _with_limits(settings: Settings, told: Observations, fits: FitCache) -> Observations:
    """The observations in which values that a limit explains, written as the limit itself, are bounds; it is said."""
    if not has_row_noise(settings):
        return told
    heaps = limits_among(told, partial(_fit, settings, fits=fits))
    for heap in heaps:
        fits.get_small(("heap", settings, heap.sign, heap.limit), partial(warn_of_heap, heap, len(told.values)))
    return with_bounds(told, heaps) if heaps else told


def _fit_without_quarantine(
    settings: Settings, data: Data, among: Observations, fits: FitCache, failed: frozenset[int]
) -> FittedSurrogate:
    """The surrogate fitted without what is quarantined, if that is to be left out; a bound never is."""
    is_to_be = settings.quarantine and is_robust(settings) and not capabilities_of(settings).judges_alone
    in_doubt = quarantine_suspects(data, prior_rate(settings, len(data.told))) if is_to_be else frozenset[int]()
    left_out = (in_doubt | failed - data.vouched) - among.bound_numbers
    if not left_out or len(left_out) >= len(data.told):
        return _fit(settings, among, fits)
    fitted = _fit(settings, among.without(left_out), fits)
    if credible := _credible_after_all(data, fitted, left_out) - failed:
        left_out -= credible
        fitted = _fit(settings, among.without(left_out), fits)
    return replace(fitted, quarantined=tuple(sorted(left_out)))


def _credible_after_all(data: Data, fitted: FittedSurrogate, left_out: frozenset[int]) -> set[int]:
    """Trials, of those that are left out, believed by the model without them."""
    groups = groups_left_out(data, left_out)
    expected = fitted.expect(data.rows_of([group.told[0].number for group in groups]))
    appraisals = fitted.appraise(data.all_observations().of(left_out))
    model = CorruptionModel.of(data, fitted.prior_rate(len(data.told)))
    unseen = {t.number: expectation for group, expectation in zip(groups, expected, strict=True) for t in group.told}
    wrong = unseen_probabilities_wrong(data, model, appraisals, unseen)
    return wrong.keys() - probably_wrong(wrong)


def _rough_prediction(settings: Settings, fits: FitCache, sample: Observations, told: Observations) -> RoughPrediction:
    """The prediction of a fit to some of the observations at the points of all."""
    fitted = _fit(settings, sample, fits)
    X = fitted.encoded(told.X)
    with fitted.apart(0), contract.quiet(), torch.no_grad():
        mean, sd = contract.marginals(fitted.model, X)
        return RoughPrediction(mean + sd, fitted.model.transform_inputs(X) / fitted.model.latent().l)


def _appraise_left_out(settings: Settings, part: Subset, fits: FitCache) -> dict[int, Appraisal]:
    """Appraisals of the observations outside the subset, by the fit to the subset."""
    modelled = part.told.first(part.num_chosen)

    def make() -> dict[int, Appraisal]:
        fitted = _fit(settings, modelled, fits)
        appraisals = fitted.appraise(part.left_out)
        return appraise_others(part.left_out, fitted, appraisals, rate_of_wrong_bounds(settings, len(part.told.values)))

    return fits.get_dear(("others", settings, modelled, part.left_out), make)


def _fit(settings: Settings, told: Observations, fits: FitCache) -> FittedSurrogate:
    if told.is_mixed and not takes_noise_parts(settings, told):
        told = told.with_inferred_noise()
    misses, told = fits.misses, told if capabilities_of(settings).is_sequential else told.in_own_order()
    fitted = fits.get((settings, told), partial(_fit_new, settings, told, fits))
    if len(told.values) > LARGE and fits.misses > misses:
        gc.collect()  # modules refer to themselves: what makes way would stay, with a matrix each
    return fitted


def _end(settings: Settings, told: Observations, fits: FitCache) -> WarmStart:
    """The warm start that a fit leaves for a fit to more; the fit itself is not kept."""

    def make() -> WarmStart:
        fitted = _fit_new(settings, told, fits)
        spread = typical_distance(told.values)
        return WarmStart(told.numbers, fitted.units, spread, contract.warm_start(fitted.model))

    return fits.get_small((settings, told), make)


def _warm_start(settings: Settings, told: Observations, fits: FitCache) -> WarmStart | None:
    """The warm start of a search; None where a part could not be fitted, or has a scale that does not fit."""
    can, n = capabilities_of(settings), len(told.values)
    size = (predecessor if can.is_sequential else sample_size)(n) if can.continues else None
    if size is None:
        return None
    warm_start, _ = attempt(partial(_end, settings, told.first(size), fits), settings.surrogate)
    return warm_start if warm_start is not None and warm_start.serves(typical_distance(told.values)) else None


def _fit_new(settings: Settings, told: Observations, fits: FitCache) -> FittedSurrogate:
    if told.bounds and takes_bounds(settings, told):
        return _fit_to_bounds(settings, told, fits)
    before = None if told.beside is not None else _warm_start(settings, told, fits)
    if told.beside is None and told.correction is not None:
        before = told.correction.warm_start
    started = time.perf_counter()
    units = Units.of(told.values, settings.sign) if before is None else before.units
    X, Y, sds = in_model_units(settings.space, told, units)
    seed = seeds.derive(settings.seed, len(told.values), "fit")
    with (isolation if settings.surrogate in SURROGATES else seed_everything)(seed), contract.quiet():
        model = new_model(settings, told, X, Y, None if sds is None else sds.square(), units, fits)
        if before is None:
            contract.fit(model)
        else:
            contract.fit(model, before.state, before.rows_of(told.numbers))
    return FittedSurrogate(model, X, told, settings.space, units, time.perf_counter() - started)


def _fit_to_bounds(settings: Settings, told: Observations, fits: FitCache) -> FittedSurrogate:
    """The surrogate fitted to values and bounds, from a fit to the values alone."""
    base = _fit(settings, told.take([i for i in range(len(told.values)) if i not in {*told.bounds}]), fits)
    X, _, sds = in_model_units(settings.space, told, base.units)
    if (parts := noise_parts(told, base.units)) is not None:
        sds = (parts[0] + parts[1] * noise_variances(base.model, X)).sqrt()
    values = torch.tensor([i for i in range(len(told.values)) if i not in {*told.bounds}])
    started, rate = time.perf_counter(), rate_of_wrong_bounds(settings, len(told.values))

    def build(Y: Tensor, Yvar: Tensor, before: Any) -> Any:
        model = new_model(settings, told, X, Y, Yvar, base.units)
        model.likelihood.usual = values
        state = None if before is None else contract.warm_start(before)
        return contract.fit(model) if state is None else contract.fit(model, state, torch.arange(len(Y)))

    seed = seeds.derive(settings.seed, len(told.values), "fit")
    with (isolation if settings.surrogate in SURROGATES else seed_everything)(seed), contract.quiet():
        model, appraisals = fit_to_bounds(told, X, base, sds, rate, build)
    seconds = time.perf_counter() - started
    return FittedSurrogate(model, X, told, settings.space, base.units, seconds, appraisals=appraisals)
