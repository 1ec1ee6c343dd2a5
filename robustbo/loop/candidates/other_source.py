"""The next row of another source than the target, and which source is worth its cost.

The first rows of a source spread over the space, as many as the target's initial design has. Later ones are where
they raise the target's best posterior mean most, by the knowledge gradient averaged over what the source may say of the
target. Which source is asked is that of the largest value by its cost; until a source has proven itself, what it may
cost is capped.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from robustbo import seeds
from robustbo.loop.belief.outcome_models import OutcomeModels, use_models
from robustbo.loop.candidates.initial_design import sobol_point
from robustbo.loop.candidates.pending import NEAR
from robustbo.loop.candidates.suggestion import Suggestion
from robustbo.loop.observations.table import Data
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.numerics.transfer.relations import TARGET
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.region.sampling import sobol_points
from robustbo.surrogates.transfer.model import TransferGP
from robustbo.surrogates.transfer.value import values_of_rows
from robustbo.trials.declared import others_of, target_of
from robustbo.trials.settings import Settings
from robustbo.trials.sources import DEFAULT_KIND

SPREAD = 128  # points that are looked at
BEST = 48  # points among which the target's best is chosen
UNPROVEN = 0.15  # share of all costs that a source may have before it has proven itself
PROOF = 3.0  # nats that speak for its saying something of the target, from which on it has

Params = dict[str, Value]


def suggest_row(settings: Settings, data: Data, name: str, trial: int, fits: FitCache) -> Suggestion:
    """The next row of a source; a pure function of its arguments but for ``fits``.

    Args:
        settings: What the run was told at its beginning.
        data: All trials.
        name: The source.
        trial: The number of the trial.
        fits: The last fits.
    """
    spread = Suggestion(sobol_point(data, settings.seed, trial), "sobol", source=_label(name))
    if not _is_learning(settings, data, name):
        return spread
    suggestion, fallback = use_models(settings, data, partial(_best_row, settings, data, name, trial), fits)
    return replace(spread if suggestion is None else suggestion, fallback=fallback)


def choose_source(settings: Settings, data: Data, target: Suggestion, trial: int, fits: FitCache) -> Suggestion:
    """The suggestion of the source that is worth its cost: the target's own, unless another source is worth more.

    Args:
        settings, data, trial, fits: As in `suggest_row`.
        target: The suggestion for the target.
    """
    named = name_target(settings, target)
    if target.origin != "model" or target.repeats is not None or data.fixed or settings.outcomes:
        return named
    askable = [name for name, source in others_of(settings.sources).items() if source.ask and _is_free(data, name)]
    begin = next(
        (name for name in askable if not _is_learning(settings, data, name) and _is_due(settings, data, name)), None
    )
    if begin is not None:
        return suggest_row(settings, data, begin, trial, fits)
    usable = [name for name in askable if _is_learning(settings, data, name)]
    if not usable:
        return named
    name, _ = use_models(settings, data, partial(_worth_most, settings, data, usable, target), fits)
    return named if not name else suggest_row(settings, data, name, trial, fits)


def name_target(settings: Settings, suggestion: Suggestion) -> Suggestion:
    """The suggestion with the name of the target."""
    return replace(suggestion, source=_label(str(target_of(settings.sources))))


def _label(name: str) -> tuple[tuple[str, str], ...]:
    return ((DEFAULT_KIND, name),)


def _is_learning(settings: Settings, data: Data, name: str) -> bool:
    """Return whether enough is known of a source to ask for its rows by what they are worth."""
    is_begun = len(data.auxiliary.of_source(name)) >= settings.num_initial and bool(data.auxiliary.told(name))
    return is_begun and bool(data.told) and not settings.outcomes and settings.acquisition != "sobol"


def _is_free(data: Data, name: str) -> bool:
    """Return whether a source has no row that is not told yet: its next one follows from that."""
    return not any(t.is_open for t in data.auxiliary.of_source(name))


def _is_due(settings: Settings, data: Data, name: str) -> bool:
    """Return whether one more row of a source that has proven nothing is within what it may cost."""
    own = dict(settings.sources)[name].cost
    spent = {of: data.auxiliary.spent(of) for of in others_of(settings.sources)}
    at_target = dict(settings.sources)[str(target_of(settings.sources))].cost
    total = sum(spent.values()) + at_target * sum(t.origin != "user" for t in (*data.told, *data.failed, *data.pending))
    return spent[name] + own <= UNPROVEN * (total + own)


def _best_row(settings: Settings, data: Data, name: str, trial: int, models: OutcomeModels) -> Suggestion | None:
    """The row of a source that is worth most; None where its values are not learned from."""
    fitted = models[0].fitted
    beside = fitted.observations.beside
    if not isinstance(fitted.model, TransferGP) or beside is None:
        return None
    points = _free_points(data, name, seeds.derive(settings.seed, trial, "row"))
    with fitted.apart(0), torch.no_grad():
        X, group = _encoded(data, fitted, points), beside.names.index(name) + 1
        worth = values_of_rows(fitted.model, group, X, _best_points(data, fitted, X))
    return Suggestion(points[int(worth.argmax())], "model", source=_label(name))


def _worth_most(settings: Settings, data: Data, names: Sequence[str], target: Suggestion, models: OutcomeModels) -> str:
    """The source whose best row is worth most by its cost; "" of the target, at the point that it would be asked at."""
    fitted = models[0].fitted
    beside = fitted.observations.beside
    if not isinstance(fitted.model, TransferGP) or beside is None:
        return ""
    cost, relations = {name: source.cost for name, source in settings.sources}, fitted.relations
    points = sobol_points(data.region, seeds.derive(settings.seed, 0, "sources"), 0, SPREAD)
    with fitted.apart(0), torch.no_grad():
        X, x = _encoded(data, fitted, points), _encoded(data, fitted, [target.params])
        best = _best_points(data, fitted, torch.cat([X, x]))
        own = values_of_rows(fitted.model, TARGET, x, best)[0] / cost[str(target_of(settings.sources))]
        worth = {"": float(own)}
        for name in names:
            if name in relations and (relations[name].evidence > PROOF or _is_due(settings, data, name)):
                group = beside.names.index(name) + 1
                worth[name] = float(values_of_rows(fitted.model, group, X, best).max()) / cost[name]
    return max(worth, key=lambda name: worth[name])


def _free_points(data: Data, name: str, seed: int) -> list[Params]:
    """Points at which nobody measures by this source now."""
    rows = [data.space.to_unit(t.params) for t in data.auxiliary.of_source(name) if t.is_open]
    points = sobol_points(data.region, seed, 0, SPREAD)

    def is_free(point: Params) -> bool:
        at = data.space.to_unit(point)
        return all(max(abs(a - b) for a, b in zip(at, row, strict=True)) > NEAR for row in rows)

    return [point for point in points if is_free(point)] or points


def _encoded(data: Data, fitted: FittedSurrogate, points: Sequence[Params]) -> Tensor:
    return fitted.encoded([tuple(data.space.to_unit(point)) for point in points])


def _best_points(data: Data, fitted: FittedSurrogate, X: Tensor) -> Tensor:
    """The points of the best means, of some and of those measured."""
    among = torch.cat([X, fitted.X]).unique(dim=0)
    mean = fitted.model.posterior(among).mean.squeeze(-1)
    return among[mean.argsort(descending=True, stable=True)[:BEST]]
