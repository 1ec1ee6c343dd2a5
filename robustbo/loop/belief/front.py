"""The believed front: the points measured that no other beats, and the best of one objective under constraints."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import torch
from torch import Tensor

from robustbo import seeds
from robustbo.determinism.surroundings import pin_surroundings
from robustbo.errors import FitError
from robustbo.loop.belief.incumbent import NOTHING_TOLD, Incumbent, records
from robustbo.loop.belief.measured_points import Candidates, FrontPoint, candidates, turned
from robustbo.loop.belief.outcome_models import Several, climb_each, missing
from robustbo.loop.observations.table import Data, observations
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.numerics.improvement.front import hypervolume, membership, pareto_mask, reference_point
from robustbo.searchspace.region.region import Fixed
from robustbo.surrogates.common import contract
from robustbo.trials.history import History, Trial
from robustbo.trials.outcome import Outcome
from robustbo.trials.outcomes import Wanted
from robustbo.trials.settings import Settings

T = TypeVar("T")

NUM_SAMPLES = 256
MOST = 256  # points whose outcomes are sampled together: of more, those of the best means


@dataclass(frozen=True)
class Front:
    """The points measured that are believed to be beaten by no other, in all objectives at once.

    Attributes:
        points: They, the best in the first objective first.
        reference_point: By objective what counts as no good: the one given, or that of what is believed.
        hypervolume: What the front dominates beyond the reference point, in the product of the objectives' units.
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
    return _made(settings, observations(settings, history, fixed), fits, partial(_front, settings))


@pin_surroundings
def best(settings: Settings, history: History, fits: FitCache | None = None, fixed: Fixed = ()) -> Incumbent:
    """The best of one objective among the points measured, where other outcomes must keep bounds.

    Of the points that probably keep them it is the one whose lead over the worst, times that probability, is largest:
    as if a point that breaks a bound were worth as much as the worst. Where none probably does, it is the one most
    likely to. Where no surrogate can be fitted it is that of the best value measured, as `raw_best`.

    Raises:
        ValueError: If there are several objectives, or an outcome has no value that counts.
        FitError: If some values are fixed and no surrogate can be fitted.
    """
    return bests(settings, history, fits, fixed)[-1]


@pin_surroundings
def bests(settings: Settings, history: History, fits: FitCache | None = None, fixed: Fixed = ()) -> list[Incumbent]:
    """The best points so far, by what is believed now: each beats those before it; the last is the `best`."""
    _objective(settings)
    try:
        return _made(settings, observations(settings, history, fixed), fits, _bests)
    except FitError:
        if fixed:
            raise
        return [raw_best(settings, history)]


@pin_surroundings
def believed(settings: Settings, history: History, fits: FitCache | None = None) -> tuple[FrontPoint, ...]:
    """The points measured whose values are believed, in the order of their trials, whether others beat them or not.

    Their probability of being in the front is NaN: `front` has that.

    Raises:
        ValueError: If an outcome has no value that counts.
        FitError: If no surrogate can be fitted.
    """
    return _made(settings, observations(settings, history), fits, _believed)


@pin_surroundings
def hypervolumes(settings: Settings, history: History, fits: FitCache | None = None) -> list[float]:
    """By trial, what the points of it and of those before dominate, by what is believed now; see `Front.hypervolume`.

    So a value that is disbelieved now never counted, and the reference point is the same throughout. It never falls.

    Raises:
        ValueError: If an outcome has no value that counts.
        FitError: If no surrogate can be fitted.
    """
    return _made(settings, observations(settings, history), fits, partial(_hypervolumes, settings))


def _made(settings: Settings, data: Data, fits: FitCache | None, make: Callable[[Data, Candidates], T]) -> T:
    if not data.told:
        raise ValueError(NOTHING_TOLD)
    if names := missing(settings, data):
        raise ValueError(f"each outcome needs at least one told value that is not excluded, {names} have none")

    def use(several: Several) -> T:
        return make(data, candidates(data, several))

    found, why = climb_each(settings, data, use, FitCache() if fits is None else fits, is_judging=True)
    if found is None:
        raise FitError(f"no surrogates could say what is best {why}")
    return found


def raw_best(settings: Settings, history: History) -> Incumbent:
    """The trial of best measured value of one objective, whatever the surrogates think of it.

    Those that have broken a bound, or lack an outcome that has one, come last.

    Raises:
        ValueError: If there are several objectives, or the objective has no value.
    """
    wanted = _objective(settings)
    data = observations(settings, history)
    told = data.of(wanted).told
    if not told:
        raise ValueError(NOTHING_TOLD)

    def rank(trial: Trial) -> tuple[bool, bool, float]:
        values = data.trials[trial.number].values
        is_kept = all(each.keeps(values.get(each.name, math.nan)) for each in settings.outcomes if each.is_constrained)
        return data.region.contains(trial.params), is_kept, wanted.sign * trial.measured

    found = max(told, key=rank)
    sd = math.nan if found.sd is None else found.sd
    return Incumbent(data.trials[found.number], found.measured, sd, is_raw=True, quantity=wanted.outcome or Outcome())


def _objective(settings: Settings) -> Wanted:
    """The only one."""
    if len(settings.objectives) > 1:
        names = [name for name, _ in settings.objectives]
        raise ValueError(f"there is no single best of several objectives {names}; front() gives those that none beats")
    return settings.outcomes[0]


def _bests(data: Data, among: Candidates) -> list[Incumbent]:
    value, p = among.objectives.squeeze(-1), among.feasible
    lead = p * (value - value.min())
    score = (torch.where(among.is_likely, lead, -torch.inf) if among.is_likely.any() else p).tolist()
    rows = sorted((i for i, each in enumerate(score) if each > -math.inf), key=lambda i: among.trials[i].number)
    ((name, quantity),) = ((e.wanted.name, e.wanted.outcome) for e in among.several if e.wanted.is_objective)
    made = []
    for found in map(among.point, records(rows, score.__getitem__)):
        said = {other: (found.means[other], found.sds[other]) for other in found.means}
        best = Incumbent(found.trial, *said[name], found.moved, said, found.probability_feasible)
        made.append(best if quantity is None else best.of(quantity))
    return made


def _believed(data: Data, among: Candidates) -> tuple[FrontPoint, ...]:
    return tuple(sorted(map(among.point, range(len(among.trials))), key=lambda point: point.trial.number))


def _hypervolumes(settings: Settings, data: Data, among: Candidates) -> list[float]:
    reference, Y, found = reference_of(settings, among), among.objectives, list[float]()
    counts = among.is_likely & (reference < Y).all(-1)
    rows = {trial.number: i for i, trial in enumerate(among.trials) if counts[i]}
    best, volume = Y[:0], 0.0
    for trial in data.trials:
        i = rows.get(trial.number)
        if i is not None and not (best >= Y[i]).all(-1).any():
            best = torch.cat([best[~(Y[i] >= best).all(-1)], Y[i : i + 1]])
            volume = hypervolume(best, reference)
        found.append(volume)
    return found


def _front(settings: Settings, data: Data, among: Candidates) -> Front:
    reference = reference_of(settings, among)
    Y, chances = among.objectives, chances_of(settings.seed, among)
    is_in = torch.zeros(len(Y), dtype=torch.bool)
    is_in[among.is_likely] = pareto_mask(Y[among.is_likely])
    order = sorted(is_in.nonzero().squeeze(-1).tolist(), key=lambda i: -Y[i, 0].item())
    signs = [each.wanted.sign for each in among.several if each.wanted.is_objective]
    names = [name for name, _ in settings.objectives]
    shown = {name: sign * number for name, sign, number in zip(names, signs, reference.tolist(), strict=True)}
    points = tuple(among.point(i, chances[i].item()) for i in order)
    return Front(points, shown, hypervolume(Y[is_in], reference))


def reference_of(settings: Settings, among: Candidates) -> Tensor:
    """The reference point, turned so that larger is better: the one given, or that of the believed front."""
    if settings.reference_point:
        given = dict(settings.reference_point)
        values = torch.tensor([[given.get(each.wanted.name, 0.0) for each in among.several]], dtype=torch.float64)
        return turned(among.several, values).squeeze(0)
    return reference_point(among.objectives, among.is_likely)


def chances_of(seed: int, among: Candidates) -> Tensor:
    """The probability of each of ``m`` points that it is feasible and beaten by no other; 0 for those far from it."""
    Y, chances = among.objectives, torch.zeros(len(among.objectives), dtype=torch.float64)
    kept = torch.arange(len(Y))
    if len(Y) > MOST:
        span = (Y.amax(0) - Y.amin(0)).clamp_min(1e-300)
        beaten = ((Y.unsqueeze(0) - Y.unsqueeze(1)) / span).amin(-1).amax(-1)  # by how much the most
        kept = beaten.argsort(stable=True)[:MOST].sort().values
    drawn, feasible = [], torch.ones(NUM_SAMPLES, len(kept), dtype=torch.bool)
    for each in among.several:
        values = _samples(each.fitted, among.X[kept], seeds.derive(seed, len(Y), f"front {each.wanted.name}"))
        drawn.append(values)
        feasible &= (each.wanted.low <= values) & (values <= each.wanted.high)
    chances[kept] = membership(turned(among.several, torch.stack(drawn, -1)), feasible)
    return chances


def _samples(fitted: FittedSurrogate, X: Tensor, seed: int) -> Tensor:
    """``NUM_SAMPLES x m`` joint samples of an outcome, in the user's units."""
    with fitted.apart(seed), contract.quiet(), torch.no_grad():
        values = fitted.model.posterior(X).rsample(torch.Size([NUM_SAMPLES])).squeeze(-1)
    return fitted.sign * fitted.scale * values + fitted.center
