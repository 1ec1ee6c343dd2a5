"""Predictions at points: posterior mean and standard deviation of each outcome."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from robustbo.determinism.surroundings import pin_surroundings
from robustbo.errors import FitError
from robustbo.lazy import Module
from robustbo.loop.belief.outcome_models import OutcomeModels, unmeasured_outcomes, use_models
from robustbo.loop.observations.no_value import no_value
from robustbo.loop.observations.table import observations
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fallback import check_finite
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.searchspace.tabular import is_frame
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo.trials.sources import Labels

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = Module("pandas")

Numbers = tuple[list[float], list[float]]  # means and standard deviations at rows


@pin_surroundings  # so that it must not look into the store, whose lock somebody may hold who waits for this one
def posterior_at(
    settings: Settings,
    history: History,
    fits: FitCache,
    rows: list[list[float]],
    by: Labels = (),
    *,
    is_noisy: bool = False,
) -> dict[str | None, Numbers]:
    """Means and standard deviations at unit-cube rows, of each of several outcomes by its name, or under None.

    Of a source they are of what it reads: the objective and its error, which are taken for independent. Noisy ones are
    of one new value, whose noise is independent of both.

    Raises:
        ValueError: If no value counts of the outcome, or of one of them.
        FitError: If no surrogate can be fitted.
    """
    data = observations(settings, history)
    names = unmeasured_outcomes(settings, data.trials)
    if names or not data.told:
        raise ValueError(no_value(data.trials, "a prediction", names))
    posteriors, why = use_models(settings, data, partial(_posteriors, rows, by, is_noisy), fits, is_judging=True)
    if posteriors is None:
        raise FitError(f"no surrogate could predict {why}")
    quantities = settings.quantities
    return {name: ([*map(quantities[name].nearest, means)], sds) for name, (means, sds) in posteriors.items()}


def _posteriors(
    rows: list[list[float]], by: Labels, is_noisy: bool, models: OutcomeModels
) -> dict[str | None, Numbers]:
    return {model.name: _posterior(rows, by, is_noisy, model.fitted) for model in models}


def _posterior(rows: list[list[float]], by: Labels, is_noisy: bool, fitted: FittedSurrogate) -> Numbers:
    means, sds = fitted.predict(fitted.encoded(rows), is_noisy=is_noisy) if rows else ([], [])
    if by and (shift := fitted.source_shift(dict(by))) is not None:
        means, sds = [mean + shift.mean for mean in means], [math.hypot(sd, shift.sd) for sd in sds]
    check_finite(*means, *sds)
    return means, sds


def prediction_frame(posteriors: Mapping[str | None, Numbers], index: pd.Index | None) -> pd.DataFrame:
    """One row a point, with columns mean and sd, or NAME.mean and NAME.sd of each of several outcomes."""
    columns = {
        key if name is None else f"{name}.{key}": numbers
        for name, pair in posteriors.items()
        for key, numbers in zip(("mean", "sd"), pair, strict=True)
    }
    return pd.DataFrame(columns, index=index, dtype="float64")


def prediction_series(name: str, numbers: list[float], index: pd.Index | None) -> pd.Series:
    """A series of one number a point."""
    return pd.Series(numbers, index=index, name=name, dtype="float64")


def index_of(points: Any) -> pd.Index | None:
    """The labels of points, where they have some."""
    return points.index if is_frame(points) else None
