"""Stopping rules, which `Optimizer.optimize` calls after each trial, and which any loop of yours may ask."""

import math
from weakref import WeakKeyDictionary

from robustbo.loop.candidates.rules import Promise
from robustbo.study.study import Study
from robustbo.trials.history import History, Trial
from robustbo.trials.initial import default_num_initial
from robustbo.trials.tree import Trials
from robustbo.validation import real, whole_number
from robustbo.view.view import View

FRESH = 2  # times the default's initial points: until then a model takes for noise what it does not know


class LittleToGain:
    """Stop when several new points in a row promised little: a share of the noise, or an amount that you set.

    A point promises what the model that asked for it expected of the objective there, minus the incumbent of that time.
    Single values decide nothing. Replicates, points that no model asked for, and the first trials (4 (d + 1), or 10 if
    that is more) do not count. If values have hardly any noise, set ``absolute``.

    With several objectives the promise is hypervolume, and noise sets no scale for it: set ``absolute``.

    If several points are evaluated at once, the rule may have to fit a model.

    Args:
        tolerance: The share of the noise's standard deviation that counts as little.
        patience: How many points in a row.
        absolute: An amount, in the objective's unit, that counts as little.

    Raises:
        ValueError, TypeError: If an argument breaks its rule.

    Example:
        >>> import robustbo as rb
        >>> opt = rb.Optimizer(rb.Space(x=rb.Float(-1.0, 1.0)), direction="minimize", surrogate="standard", seed=0)
        >>> enough = LittleToGain(absolute=0.1)
        >>> while not enough(opt, opt.tell(trial := opt.ask(), trial.params["x"] ** 2)):
        ...     assert len(opt.history) < 20
    """

    def __init__(self, tolerance: float = 0.1, patience: int = 3, absolute: float = 0.0) -> None:
        self.tolerance, self.absolute = _amount("tolerance", tolerance), _amount("absolute", absolute)
        self.patience = whole_number("patience", patience, 1)
        self._known: WeakKeyDictionary[Study, dict[int, Promise]] = WeakKeyDictionary()

    def __repr__(self) -> str:
        return f"LittleToGain(tolerance={self.tolerance}, patience={self.patience}, absolute={self.absolute})"

    def __call__(self, study: Study, trial: Trial) -> bool:
        """Return whether it is time to stop, after a trial has ended.

        Raises:
            ValueError: If there are several objectives, and no amount was given.
        """
        if len(study.settings.objectives) > 1 and not self.absolute:
            raise ValueError("with several objectives LittleToGain must have an amount of hypervolume: absolute=...")
        history, first = study.history, FRESH * default_num_initial(study.settings.space)
        by_model = [t for t in history.trials[first : trial.number + 1] if t.origin == "model" and t.repeats is None]
        last = by_model[-self.patience :]
        return len(last) == self.patience and all(self._is_little(study, history, t) for t in reversed(last))

    def _is_little(self, study: Study, history: History, trial: Trial) -> bool:
        promises = self._known.setdefault(study, {})
        if trial.number not in promises:
            before = History(Trials(history.trials[: trial.number]))
            promises[trial.number] = View(study.settings, before, study.fits).promise(trial)
        point_promise = promises[trial.number]
        return point_promise.gain < max(self.tolerance * point_promise.noise, self.absolute)


def _amount(name: str, value: float) -> float:
    number = real(name, value)
    if not 0 <= number < math.inf:
        raise ValueError(f"{name} must be at least 0 and finite, got {value!r}")
    return number
