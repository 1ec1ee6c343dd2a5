"""Stopping rules, which `Optimizer.optimize` calls after each trial, and which any loop of yours may ask."""

import math
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from robustbo.determinism.surroundings import pin_surroundings
from robustbo.loop.belief.front import reference_of
from robustbo.loop.belief.incumbent import incumbents_by_model
from robustbo.loop.belief.measured_points import measured_points
from robustbo.loop.belief.outcome_models import OutcomeModels, use_models
from robustbo.loop.candidates.replicate_by_hypervolume import expected_hypervolume
from robustbo.loop.observations.table import observations
from robustbo.loop.surrogate.attempt import attempt
from robustbo.loop.surrogate.fit import fit
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.numerics.improvement.value_of_information import expected_improvement
from robustbo.study.study import Study
from robustbo.trials.history import History, Trial
from robustbo.trials.settings import Settings, default_num_initial
from robustbo.trials.tree import Trials
from robustbo.validation import real, whole_number
from robustbo.view.view import View

FRESH = 2  # times the default's initial points: until then a model takes for noise what it does not know


class Promise(NamedTuple):
    """The promise of a new point before it was measured, in your units.

    Attributes:
        gain: Expected improvement of the objective there on that at the incumbent, times the probability that the
            outcome constraints are kept; of several objectives the hypervolume that it was expected to add.
        noise: Standard deviation of the noise of a value there; of several objectives 0.
    """

    gain: float
    noise: float


class LittleToGain:
    """Stop when several new points in a row promised little: a share of the noise, or an amount of your own.

    What counts is what the model that asked for a point expected of the objective there, against the incumbent that it
    believed in; no single value, right or wrong, is trusted. Points that no model has asked for and replicates are
    passed over, and so is what is asked while the problem is fresh: the first 4 (d + 1) trials, or 10. Where values
    have hardly any noise, give an amount.

    Of several objectives what counts is hypervolume, of which the noise says nothing: give an amount of it.

    Where several are evaluated at once, a model may have to be fitted for it.

    Args:
        tolerance: Which share of the noise's standard deviation is little.
        patience: How many points in a row.
        absolute: An amount, in your units, that is little anyway.

    Raises:
        ValueError, TypeError: If an argument breaks its rule.

    Example:
        >>> import robustbo as rb
        >>> opt = rb.Optimizer(rb.Space(x=rb.Float(-1.0, 1.0)), direction="minimize", seed=0)
        >>> enough = LittleToGain(absolute=0.01)
        >>> while not enough(opt, opt.tell(trial := opt.ask(), trial.params["x"] ** 2)):
        ...     assert len(opt.history) < 20
    """

    def __init__(self, tolerance: float = 0.1, patience: int = 3, absolute: float = 0.0) -> None:
        self.tolerance, self.absolute = _amount("tolerance", tolerance), _amount("absolute", absolute)
        self.patience = whole_number("patience", patience, 1)
        self._known: dict[tuple[Settings, int], Promise] = {}

    def __repr__(self) -> str:
        return f"LittleToGain(tolerance={self.tolerance}, patience={self.patience}, absolute={self.absolute})"

    def __call__(self, study: Study, trial: Trial) -> bool:
        """Return whether it is time to stop, after a trial has ended.

        Raises:
            ValueError: If there are several objectives, and no amount was given.
        """
        if len(study.settings.objectives) > 1 and not self.absolute:
            raise ValueError("of several objectives LittleToGain must be given an amount of hypervolume: absolute=...")
        history, first = study.history, FRESH * default_num_initial(study.settings.space)
        by_model = [t for t in history.trials[first : trial.number + 1] if t.origin == "model" and t.repeats is None]
        last = by_model[-self.patience :]
        return len(last) == self.patience and all(self._is_little(study, history, t) for t in reversed(last))

    def _is_little(self, study: Study, history: History, trial: Trial) -> bool:
        key = study.settings, trial.number
        if key not in self._known:
            before = History(Trials(history.trials[: trial.number]))
            self._known[key] = promise(View(study.settings, before, study.fits), trial)
        point_promise = self._known[key]
        return point_promise.gain < max(self.tolerance * point_promise.noise, self.absolute)


def promise(view: View, trial: Trial) -> Promise:
    """The promise of a trial's point; infinite where nothing is known, or where the surrogate cannot be fitted.

    Args:
        view: Of the trials before this one.
        trial: It.
    """
    if not view.is_measured:
        return Promise(math.inf, 0.0)
    if view.settings.outcomes:
        return _of_several(view, trial)
    result, _ = attempt(partial(_of_one, view, trial), view.settings.surrogate)
    return Promise(math.inf, 0.0) if result is None else result


def _of_one(view: View, trial: Trial) -> Promise:
    settings = view.settings
    fitted, best = fit(settings, view.history, view.fits), incumbents_by_model(settings, view.history, view.fits)[-1]
    x = fitted.encoded([settings.space.to_unit(trial.params)])
    (mean,), (sd,) = fitted.predict(x)
    mu, s, B = torch.tensor([settings.sign * mean, sd, settings.sign * best.mean], dtype=torch.float64)
    gain = expected_improvement(mu, s, B).item() if sd > 0 else max((mu - B).item(), 0.0)
    return Promise(gain if math.isfinite(gain) else math.inf, _noise(fitted, x))


def _noise(fitted: FittedSurrogate, x: Tensor) -> float:
    _, (sd,) = fitted.predict(x)
    _, (noisy_sd,) = fitted.predict(x, is_noisy=True)
    return math.sqrt(max(noisy_sd**2 - sd**2, 0.0))


@pin_surroundings
def _of_several(view: View, trial: Trial) -> Promise:
    settings = view.settings
    data, row = observations(settings, view.history), tuple(settings.space.to_unit(trial.params))

    def use(models: OutcomeModels) -> Promise:
        points = measured_points(data, models)
        gain = expected_hypervolume(points, reference_of(settings, points), row)
        of_objectives = [model.fitted for model in models if model.outcome.is_objective]
        noise = [_noise(fitted, fitted.encoded([row])) for fitted in of_objectives]
        return Promise(gain if math.isfinite(gain) else math.inf, noise[0] if len(noise) == 1 else 0.0)

    result, _ = use_models(settings, data, use, view.fits, is_judging=True)
    return Promise(math.inf, 0.0) if result is None else result


def _amount(name: str, value: float) -> float:
    number = real(name, value)
    if not 0 <= number < math.inf:
        raise ValueError(f"{name} must be at least 0 and finite, got {value!r}")
    return number
