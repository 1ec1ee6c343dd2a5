"""Worth of one more value of the target or of another source, by fitted surrogates.

It is how much the target's best posterior mean is expected to rise by it, averaged over what a source may say of the
target, times the probability that the source gives a value there at all. Of several outcomes the objectives' are added,
each in its model's units, in which all have about the same spread.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from random import Random

import torch
from torch import Tensor

from robustbo import seeds
from robustbo.errors import SpaceExhausted
from robustbo.loop.belief.outcome_models import OutcomeModel, OutcomeModels
from robustbo.loop.candidates.pending import free_points, is_taken, unavailable_points
from robustbo.loop.feasibility.model import FeasibilityModel, feasibility_model
from robustbo.loop.observations.table import Data
from robustbo.loop.surrogate.attempt import attempt
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.numerics.linalg.lapack import Array, as_tensor
from robustbo.numerics.transfer.relations import TARGET
from robustbo.searchspace.parameters import Value
from robustbo.searchspace.region.sampling import sobol_points
from robustbo.surrogates.transfer.model import TransferGP
from robustbo.surrogates.transfer.value import gain_of_recommendation, values_of_rows
from robustbo.trials.settings import Settings

SPREAD = 128  # points that are looked at
BEST = 48  # points among which the target's best is chosen

Params = dict[str, Value]


def transfer_models(models: OutcomeModels) -> list[OutcomeModel]:
    """The models of objectives that learn from other sources."""
    own = [model for model in models if not model.name or model.outcome.is_objective]
    learning = [(m, m.fitted.with_sources) for m in own]
    return [m for m, of in learning if isinstance(of.model, TransferGP) and of.observations.beside is not None]


def worths(
    settings: Settings, data: Data, models: Sequence[OutcomeModel], name: str, points: list[Params], fits: FitCache
) -> Array | None:
    """Worths of a value of a source at each of ``q`` points; None where no model has a value of its.

    Args:
        settings: What the run was told at its beginning.
        data: All trials.
        models: Those that learn from other sources.
        name: The source.
        points: The points.
        fits: The last fits.
    """
    parts = [
        of for model in models if (of := _worths_of_source(data, model.fitted.with_sources, name, points)) is not None
    ]
    if not parts:
        return None
    chances, feasibility = as_tensor(1.0), source_feasibility(settings, data.trials_of_source(name), fits)
    if feasibility is not None:
        chances = feasibility.log_p([tuple(data.space.to_unit(point)) for point in points]).exp()
    total: Array = sum(parts[1:], parts[0]) * chances.numpy()
    return total


def target_worth(data: Data, models: Sequence[OutcomeModel], point: Params, around: list[Params]) -> float:
    """Worth of a value of the target at a point.

    It is the larger of two rises: of the best posterior mean anywhere, as of another source, and of that among the
    points of the target, one of which is recommended in the end. Another source moves the first alone: without the
    second a cheap one that is right would be asked for ever, and where it says the best is, nobody would measure.
    """
    total = 0.0
    for model in models:
        fitted = model.fitted.with_sources
        with fitted.apart(0), torch.no_grad():
            x = _encoded(data, fitted, [point])
            best = _best_points(fitted, torch.cat([_encoded(data, fitted, around), x]))
            anywhere = float(values_of_rows(_transfer(fitted), TARGET, x, best)[0])
            total += max(anywhere, gain_of_recommendation(_transfer(fitted), x, fitted.X))
    return total


def source_feasibility(settings: Settings, own: Data, fits: FitCache) -> FeasibilityModel | None:
    """The model of where a source gives a value, by its own trials; None where none failed, or it cannot be fitted."""
    if settings.failures == "ignore":
        return None
    return attempt(partial(feasibility_model, own, settings.seed, fits))[0]


def points_to_compare(own: Data, seed: int) -> list[Params]:
    """Points at which a source may be asked for a value: in a pool, where it has not been, as long as there are any.

    Args:
        own: The table of its own trials.
        seed: The seed of the points.

    Raises:
        SpaceExhausted: If there is none.
    """
    unavailable = unavailable_points(own)
    if own.space.is_pool:
        with suppress(SpaceExhausted):
            left = free_points(own.region, unavailable | {t.point for t in own.own_trials}, seed)
            return Random(seed).sample(left, min(SPREAD, len(left)))
    free = [point for point in sobol_points(own.region, seed, 0, SPREAD) if not is_taken(own, point)]
    return free or free_points(own.region, unavailable, seed)[:SPREAD]


def fixed_points(data: Data, settings: Settings) -> list[Params]:
    """Points at which sources are compared: the same at every ask."""
    return sobol_points(data.region, seeds.derive(settings.seed, 0, "sources"), 0, SPREAD)


def _worths_of_source(data: Data, fitted: FittedSurrogate, name: str, points: list[Params]) -> Array | None:
    beside = fitted.observations.beside
    place = None if beside is None else beside.group_of(name)
    if beside is None or (place is None and not data.auxiliary.depth(name)):
        return None
    if place is None:  # a level without a value: its family's others say what it is worth
        values = [of for other in data.auxiliary.family(name) if (of := beside.group_of(other)) is not None]
        if not values:
            return None
        place = values[0][0], data.auxiliary.depth(name)
    group, depth = place
    with fitted.apart(0), torch.no_grad():
        X = _encoded(data, fitted, points)
        return values_of_rows(_transfer(fitted), group, X, _best_points(fitted, X), depth)


def _transfer(fitted: FittedSurrogate) -> TransferGP:
    assert isinstance(fitted.model, TransferGP)
    return fitted.model


def _encoded(data: Data, fitted: FittedSurrogate, points: Sequence[Params]) -> Tensor:
    return fitted.encoded([tuple(data.space.to_unit(point)) for point in points])


def _best_points(fitted: FittedSurrogate, X: Tensor) -> Tensor:
    """The points of the best means, of some and of those measured."""
    among = torch.cat([X, fitted.X]).unique(dim=0)
    mean = fitted.model.posterior(among).mean.squeeze(-1)
    return among[mean.argsort(descending=True, stable=True)[:BEST]]
