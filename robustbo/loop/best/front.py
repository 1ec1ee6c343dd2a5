"""The believed front: the points measured that no other beats."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from robustbo import seeds
from robustbo.determinism.surroundings import pin_surroundings
from robustbo.errors import FitError
from robustbo.loop.belief.outcome_models import OutcomeModels, unmeasured_outcomes, use_models
from robustbo.loop.best.bounds import LIKELY
from robustbo.loop.best.incumbent import BEST
from robustbo.loop.best.measured_points import FrontPoint, MeasuredPoints, larger_is_better, measured_points
from robustbo.loop.observations.no_value import no_value
from robustbo.loop.observations.table import Data, observations
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.numerics.improvement.contenders import least_beaten
from robustbo.numerics.improvement.front import hypervolume, membership, pareto_mask, reference_point
from robustbo.searchspace.region.region import Fixed
from robustbo.surrogates.common import contract
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

T = TypeVar("T")
Reference = Mapping[str, float]  # a value of each objective, in the user's units

NUM_SAMPLES = 256
MOST = 256  # points whose outcomes are sampled together: of more, those of the best means


@dataclass(frozen=True)
class Front:
    """The Pareto front: the measured points that, by the surrogates, no other measured point beats in all objectives.

    Attributes:
        points: The points, the best in the first objective first.
        reference_point: The worst acceptable value of each objective: yours, or one that follows from the posterior.
        hypervolume: The volume that the front dominates beyond the reference point, in the product of the objectives'
            units.
    """

    points: tuple[FrontPoint, ...]
    reference_point: Mapping[str, float]
    hypervolume: float

    def __iter__(self) -> Iterator[FrontPoint]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def __str__(self) -> str:
        return "\n".join(map(str, self.points)) or "no point probably keeps the outcome constraints"


@pin_surroundings
def front(settings: Settings, history: History, fits: FitCache | None = None, fixed: Fixed = ()) -> Front:
    """The points measured that are believed to keep the outcome constraints, and to be beaten by no other.

    A point of which some outcome's every value is disbelieved has not been measured: it is left out. Where no point
    probably keeps the constraints, the front is empty.

    Raises:
        ValueError: If an outcome has no value that counts.
        FitError: If no surrogate can be fitted.
    """
    return use_points(settings, observations(settings, history, fixed), fits, partial(_front, settings))


@pin_surroundings
def credible_points(settings: Settings, history: History, fits: FitCache | None = None) -> tuple[FrontPoint, ...]:
    """The points measured whose values are believed, in the order of their trials, whether others beat them or not.

    Their probability of being in the front is NaN: `front` has that.

    Raises:
        ValueError: If an outcome has no value that counts.
        FitError: If no surrogate can be fitted.
    """
    return use_points(settings, observations(settings, history), fits, _by_trial)


@pin_surroundings
def hypervolumes(
    settings: Settings, history: History, fits: FitCache | None = None, reference: Reference | None = None
) -> list[float]:
    """Hypervolumes, by trial, of all points up to it, by what is believed now; see `Front.hypervolume`.

    So a value that is disbelieved now never counted, and the reference point is the same throughout. It never falls.

    Args:
        settings: What the study was told at its beginning.
        history: Its trials.
        fits: The last fits.
        reference: A value of each objective, beyond which volume counts; that of the `Front` by default.

    Raises:
        ValueError: If an outcome has no value that counts.
        FitError: If no surrogate can be fitted.
    """
    return use_points(settings, observations(settings, history), fits, partial(_hypervolumes, settings, reference))


def common_reference(studies: Sequence[tuple[Settings, Sequence[FrontPoint]]]) -> dict[str, float]:
    """A reference point by which the hypervolumes of several studies can be compared.

    It is the one that all were given, if they were given the same; else the one that follows from all their points.

    Args:
        studies: Each study's settings, all with the same objectives, and its `credible_points`.
    """
    (settings, _), *rest = studies
    if settings.reference_point and all(other.reference_point == settings.reference_point for other, _ in rest):
        return dict(settings.reference_point)
    signs = {outcome.name: outcome.sign for outcome in settings.outcomes if outcome.is_objective}
    points = [point for _, of_study in studies for point in of_study]
    rows = [[sign * point.means[name] for name, sign in signs.items()] for point in points]
    is_likely = torch.tensor([point.probability_feasible >= LIKELY for point in points])
    corner = reference_point(torch.tensor(rows, dtype=torch.float64), is_likely).tolist()
    return {name: sign * end for (name, sign), end in zip(signs.items(), corner, strict=True)}


def use_points(settings: Settings, data: Data, fits: FitCache | None, make: Callable[[Data, MeasuredPoints], T]) -> T:
    """Return what is made of the points measured and of the models that can be fitted and used for it.

    Raises:
        ValueError: If an outcome has no value that counts.
        FitError: If no surrogate can be fitted.
    """
    if not data.told:
        raise ValueError(no_value(data.trials, BEST))
    if names := unmeasured_outcomes(settings, data.trials):
        raise ValueError(f"each outcome needs at least one told value that is not excluded, {names} have none")

    def use(models: OutcomeModels) -> T:
        return make(data, measured_points(data, models))

    result, reason = use_models(settings, data, use, FitCache() if fits is None else fits, is_judging=True)
    if result is None:
        raise FitError(f"no surrogates could find the best points {reason}")
    return result


def _by_trial(data: Data, points: MeasuredPoints) -> tuple[FrontPoint, ...]:
    return tuple(sorted(map(points.point, range(len(points.trials))), key=lambda point: point.trial.number))


def _hypervolumes(settings: Settings, common: Reference | None, data: Data, points: MeasuredPoints) -> list[float]:
    reference = reference_of(settings, points) if common is None else _corner_of(common, points)
    Y, volumes = points.objectives, list[float]()
    counts = points.is_likely & (reference < Y).all(-1)
    rows = {trial.number: i for i, trial in enumerate(points.trials) if counts[i]}
    best, volume = Y[:0], 0.0
    for trial in data.trials:
        i = rows.get(trial.number)
        if i is not None and not (best >= Y[i]).all(-1).any():
            best = torch.cat([best[~(Y[i] >= best).all(-1)], Y[i : i + 1]])
            volume = hypervolume(best, reference)
        volumes.append(volume)
    return volumes


def _front(settings: Settings, data: Data, points: MeasuredPoints) -> Front:
    reference = reference_of(settings, points)
    Y, chances = points.objectives, chances_of(settings.seed, points)
    is_in = torch.zeros(len(Y), dtype=torch.bool)
    is_in[points.is_likely] = pareto_mask(Y[points.is_likely])
    order = sorted(is_in.nonzero().squeeze(-1).tolist(), key=lambda i: -Y[i, 0].item())
    signs = [model.outcome.sign for model in points.models if model.outcome.is_objective]
    names = [name for name, _ in settings.objectives]
    numbers = zip(names, signs, reference.tolist(), strict=True)
    in_units = {name: sign * number for name, sign, number in numbers}
    front_points = tuple(points.point(i, chances[i].item()) for i in order)
    return Front(front_points, in_units, hypervolume(Y[is_in], reference))


def reference_of(settings: Settings, points: MeasuredPoints) -> Tensor:
    """The reference point, turned so that larger is better: the one given, or that of the believed front."""
    if settings.reference_point:
        return _corner_of(dict(settings.reference_point), points)
    return reference_point(points.objectives, points.is_likely)


def _corner_of(reference: Reference, points: MeasuredPoints) -> Tensor:
    """A reference point by objectives, turned so that larger is better."""
    values = torch.tensor([[reference.get(model.outcome.name, 0.0) for model in points.models]], dtype=torch.float64)
    return larger_is_better(points.models, values).squeeze(0)


def chances_of(seed: int, points: MeasuredPoints) -> Tensor:
    """The probability of each of ``m`` points that it is feasible and beaten by no other; 0 for those far from it."""
    Y, chances = points.objectives, torch.zeros(len(points.objectives), dtype=torch.float64)
    indices = _own_order(points.X)
    if len(Y) > MOST:
        broken = (-points.log_feasible).masked_fill(points.is_likely, 0.0)
        indices = indices[least_beaten(Y[indices], broken[indices])[:MOST]]
    samples, feasible = [], torch.ones(NUM_SAMPLES, len(indices), dtype=torch.bool)
    for model in points.models:
        values = _samples(model.fitted, points.X[indices], seeds.derive(seed, len(Y), f"front {model.outcome.name}"))
        samples.append(values)
        feasible &= (model.outcome.low <= values) & (values <= model.outcome.high)
    chances[indices] = membership(larger_is_better(points.models, torch.stack(samples, -1)), feasible)
    return chances


def _own_order(X: Tensor) -> Tensor:
    """``m`` indices of points in an order that follows from where they are, whatever that of the trials is."""
    return torch.from_numpy(np.lexsort(X.numpy().T))


def _samples(fitted: FittedSurrogate, X: Tensor, seed: int) -> Tensor:
    """``NUM_SAMPLES x m`` joint samples of an outcome, in the user's units."""
    with fitted.apart(seed), contract.quiet(), torch.no_grad():
        values = fitted.model.posterior(X).rsample(torch.Size([NUM_SAMPLES])).squeeze(-1)
    return fitted.units.to_user(values)
