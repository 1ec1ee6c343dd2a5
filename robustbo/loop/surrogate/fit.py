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
from robustbo.loop.observations.probability_wrong import quarantine_suspects
from robustbo.loop.observations.shared_sources import OutcomeEvidence
from robustbo.loop.observations.source_labels import source_labels
from robustbo.loop.observations.table import Data, Observations, observations
from robustbo.loop.observations.units import Units, in_model_units, typical_distance
from robustbo.loop.surrogate.attempt import attempt
from robustbo.loop.surrogate.bounds import appraise_others
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.censored_fit import (
    begin_at_vague_bounds,
    begin_at_values,
    fit_to_bounds,
    vague_values,
)
from robustbo.loop.surrogate.credible import credible_after_all
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.loop.surrogate.heaps import bound_heaps
from robustbo.loop.surrogate.model import (
    capabilities_of,
    has_row_noise,
    is_robust,
    new_model,
    new_plain_model,
    prior_rate,
    rate_of_wrong_bounds,
    takes_bounds,
    takes_noise_parts,
)
from robustbo.loop.surrogate.sources import SourceQuestion, evidence_for_others, judge_sources
from robustbo.loop.surrogate.subset import RoughPrediction, Subset, select_subset
from robustbo.loop.surrogate.warm_start import WarmStart, predecessor, sample_size
from robustbo.surrogates.common import contract
from robustbo.surrogates.registry import SURROGATES
from robustbo.surrogates.transfer.model import TransferGP
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

LARGE = 1500  # observations of which a fit's matrix takes 18 MB


def fit(settings: Settings, history: History, fits: FitCache | None = None) -> FittedSurrogate:
    """The surrogate fitted to a history; see `fit_to`."""
    return fit_to(settings, observations(settings, history), FitCache() if fits is None else fits)


@pin_surroundings  # threads that look at the same history wait for the one that fits to it
def fit_to(settings: Settings, data: Data, fits: FitCache, failed: Collection[int] = ()) -> FittedSurrogate:
    """The surrogate fitted to all that counts; a pure function of settings and data.

    A robust one leaves out what is quarantined, except for values that it then finds credible after all.

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
    settings, among, part = _select_observations(settings, data, fits)
    question = _source_question(settings, data, among, fits)
    sources = None if question is None else judge_sources(question)
    if sources is not None and (correction := sources.correction) is not None:
        data, among = data.with_correction(correction), among.with_correction(correction)
        part = None if part is None else part.with_correction(correction)
    fitted = _fit_without_quarantine(settings, data, among, fits, frozenset(failed))
    fitted = fitted if sources is None else replace(fitted, sources=sources)
    if part is None:
        return fitted
    return replace(fitted, appraisals={**_appraise_left_out(settings, part, fits), **fitted.appraisals})


def evidence_on_sources(settings: Settings, data: Data, fits: FitCache) -> OutcomeEvidence:
    """The evidence on sources in one outcome by its own values, for the others; see `fit_to`."""
    if source_labels(data.trials, [trial.number for trial in data.told], data.auxiliary.kinds) is None:
        return ()
    settings, among, _ = _select_observations(settings, data, fits)
    question = _source_question(settings, data, among, fits)
    return () if question is None else evidence_for_others(question)


def _source_question(settings: Settings, data: Data, among: Observations, fits: FitCache) -> SourceQuestion | None:
    """The question which source errs; None where that is known, or is a part of the fit."""
    if data.correction is not None:
        return None
    fit_to_all, blocks = partial(_fit, settings, fits=fits), frozenset(settings.blocks)
    own = among._replace(beside=None)
    return SourceQuestion(data, own, fit_to_all, fits, settings.surrogate, blocks, settings)


def _select_observations(
    settings: Settings, data: Data, fits: FitCache
) -> tuple[Settings, Observations, Subset | None]:
    """The settings of so many observations, those that the surrogate is fitted to, and the subset that they are."""
    settings = replace(settings.of_size(len(data.told)), space=data.space)
    guess, told = partial(_rough_prediction, settings, fits), data.all_observations()
    if has_row_noise(settings):
        told = bound_heaps(told, partial(_fit, settings, fits=fits), fits, settings)
    part = select_subset(told, guess, fits, settings) if capabilities_of(settings).is_cubic else None
    return settings, told if part is None else part.told, part


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
    if credible := credible_after_all(data, fitted, left_out) - failed:
        left_out -= credible
        fitted = _fit(settings, among.without(left_out), fits)
    return replace(fitted, quarantined=tuple(sorted(left_out)))


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
    misses, told = fits.misses, told if capabilities_of(settings).is_sequential else told.in_own_order(settings.sign)
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
    before = None
    if told.beside is None:
        before = _warm_start(settings, told, fits) if told.correction is None else told.correction.warm_start
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
    fitted = FittedSurrogate(model, X, told, settings.space, units, time.perf_counter() - started)
    if not (isinstance(model, TransferGP) and model.is_of_unrelated):
        return fitted
    return replace(_fit(settings, told._replace(beside=None), fits), learning=fitted)  # eq. 22.15


def _fit_to_bounds(settings: Settings, told: Observations, fits: FitCache) -> FittedSurrogate:
    """The surrogate fitted to values and bounds, from a fit to the values alone.

    Where that leads to doubt in a bound, it is also begun at a fit to vague values beyond the limits, and the better
    fit stays: a few values alone may know neither the scale of the outcomes nor their noise.
    """
    started, rate = time.perf_counter(), rate_of_wrong_bounds(settings, len(told.values))
    values = [i for i in range(len(told.values)) if i not in {*told.bounds}]
    base = _fit(settings, told.take(values), fits)
    X = base.encoded(told.X)

    def build(units: Units, Y: Tensor, Yvar: Tensor, before: Any) -> Any:
        model = new_model(settings, told, X, Y, Yvar, units)
        model.likelihood.usual = torch.tensor(values)
        state = None if before is None else contract.warm_start(before)
        return contract.fit(model) if state is None else contract.fit(model, state, torch.arange(len(Y)))

    seed = seeds.derive(settings.seed, len(told.values), "fit")
    with (isolation if settings.surrogate in SURROGATES else seed_everything)(seed), contract.quiet():
        best = fit_to_bounds(told, X, begin_at_values(told, X, base), rate, build)
        if best.doubts_a_bound:
            units = Units.of(told.values, settings.sign)
            plain = contract.fit(new_plain_model(settings, told, X, *vague_values(told, units), units))
            vague = FittedSurrogate(plain, X, told, settings.space, units, 0.0)
            other = fit_to_bounds(told, X, begin_at_vague_bounds(told, vague), rate, build)
            best = max(best, other, key=lambda fit: fit.score)
    seconds = time.perf_counter() - started
    appraisals = best.appraisals(told, rate)
    return FittedSurrogate(best.model, X, told, settings.space, best.base.units, seconds, appraisals=appraisals)
