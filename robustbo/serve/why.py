"""Reasons for a point: the prediction there, what it may win, how likely it gives a value, what was measured near."""

from __future__ import annotations

import math
from typing import NamedTuple

from robustbo.loop.surrogate.attempt import attempt
from robustbo.report.summary.text_evidence import QUANTILE, digits_for
from robustbo.rounding import format_number
from robustbo.serve.rows import place_text, result_text
from robustbo.trials.history import Trial
from robustbo.trials.outcome import Outcome
from robustbo.view.nearest import nearest_measured
from robustbo.view.prediction import Prediction
from robustbo.view.view import View

NEAREST = 3  # measured points that are shown
SMALL = 1e-3  # of the standard deviation of a value there: a gain that nobody would see
ORIGINS = {
    "sobol": "It fills the space: the first points are spread evenly, whatever was measured.",
    "model": "The model chose it, as what is most worth to measure next.",
    "user": "Somebody has put it into the queue.",
    "late": "It is a further value of a trial that was handed out more than once.",
}


class Why(NamedTuple):
    """Sentences on a point, the measured points near it (trial, place, result), and why not all could be computed."""

    sentences: list[str]
    near: list[tuple[int, str, str]]
    reason: str | None


def why(view: View, number: int) -> Why:
    """The reasons for the point of a trial, as is believed now."""
    trial = view.history[number]
    origin = ORIGINS.get(trial.origin, "")
    if trial.repeats is not None:
        origin = f"It measures trial {trial.repeats} again: {trial.reason or 'its value is in doubt'}."
    if not view.is_measured:
        return Why([origin], [], "nothing is predicted before values are recorded")
    result, reason = attempt(lambda: _beliefs(view, trial), view.settings.surrogate)
    return Why([origin, *(result or [])], _near(view, trial), reason)


def _beliefs(view: View, trial: Trial) -> list[str]:
    params, quantities = trial.target_params, view.settings.quantities
    predicted = view.predict(params, is_noisy=True)
    by_name = predicted if isinstance(predicted, dict) else {None: predicted}
    sentences = [_prediction_text(quantities[name], of) for name, of in by_name.items()]
    gain = view.promise(trial).gain if trial.is_open else math.inf
    if gain < SMALL * min(prediction.sd for prediction in by_name.values()):
        sentences.append("It is expected to win next to nothing on the best so far.")
    elif math.isfinite(gain):
        sentences.append(f"On the average it is expected to win {gain_text(view, gain)} on the best so far.")
    chance = view.viability(params)
    if chance < 1:
        sentences.append(f"It gives a value with a probability of {100 * chance:.0f} %.")
    return sentences


def gain_text(view: View, gain: float) -> str:
    """A gain with its unit; of several objectives it is one of hypervolume."""
    amount, settings = format_number(gain, 2), view.settings
    if len(settings.objectives) > 1:
        return f"{amount} of hypervolume"
    return settings.quantities[next((name for name, _ in settings.objectives), None)].with_unit(amount)


def _prediction_text(of: Outcome, prediction: Prediction) -> str:
    way = QUANTILE * prediction.sd
    low, high = (of.nearest(prediction.mean + sign * way) for sign in (-1, 1))
    digits = digits_for(low, high)
    ends = of.with_unit(f"{format_number(low, digits)} to {format_number(high, digits)}")
    mean = format_number(prediction.mean, digits)
    return f"A new value of {of.name or 'it'} is predicted to be {ends}, most probably near {mean}."


def _near(view: View, trial: Trial) -> list[tuple[int, str, str]]:
    """The measured points that are nearest, for people."""
    quantities, trials = view.settings.quantities, nearest_measured(view, trial, NEAREST)
    return [(other.number, place_text(other.params), result_text(other, quantities)) for other in trials]
