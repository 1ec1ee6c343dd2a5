"""Beliefs about points that are named: predictions, chances of a value, and the promise of a measurement."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from robustbo.errors import FitError
from robustbo.loop.belief.outcome_models import OutcomeModels, use_models
from robustbo.loop.candidates.rules import Promise
from robustbo.loop.candidates.suggestion import Suggestion
from robustbo.loop.decide import promise, step
from robustbo.loop.feasibility.report import chances
from robustbo.loop.observations.no_value import no_value
from robustbo.loop.observations.table import observations
from robustbo.loop.surrogate.cache import FitCache
from robustbo.searchspace.region.region import Fixed
from robustbo.searchspace.space import Space
from robustbo.searchspace.tabular import Point, Points, is_point, points_of
from robustbo.trials.extent import space_of
from robustbo.trials.history import History, Trial
from robustbo.trials.settings import Settings
from robustbo.trials.sources import Labels
from robustbo.view.predict import Numbers, index_of, posterior_at, prediction_frame, prediction_series
from robustbo.view.prediction import Prediction

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
Rows = list[list[float]]  # of unit-cube coordinates


class PointView:
    """An optimization as it stands, asked about points; see `robustbo.view.view.View`, which has the rest."""

    def __init__(
        self,
        settings: Settings,
        history: History,
        fits: FitCache | None = None,
        stand_ins: Collection[int] = frozenset(),
    ) -> None:
        self.settings, self.history, self.fits = settings, history, FitCache() if fits is None else fits
        self.stand_ins = frozenset(stand_ins)
        self._results: dict[Hashable, Any] = {}

    @property
    def space(self) -> Space:
        """The search space; a pool has the rows added since the beginning."""
        return space_of(self.settings, self.history)

    @overload
    def viability(self, points: Point) -> float: ...
    @overload
    def viability(self, points: pd.DataFrame | Iterable[Point]) -> pd.Series: ...
    def viability(self, points: Points) -> float | pd.Series:
        """The probability that a trial at a point gives a value; of many points a series with their index.

        Raises:
            SpaceError: If a point is not in the space; the message names each.
            FitError: If it cannot be learned where trials fail.
        """
        p = self.chances(self._rows(points))
        return p[0] if is_point(points) else prediction_series("viability", p, index_of(points))

    @overload
    def predict(self, points: Point, by: Labels = (), *, is_noisy: bool = False) -> Any: ...
    @overload
    def predict(
        self, points: pd.DataFrame | Iterable[Point], by: Labels = (), *, is_noisy: bool = False
    ) -> pd.DataFrame: ...
    def predict(
        self, points: Points, by: Labels = (), *, is_noisy: bool = False
    ) -> Prediction | dict[str, Prediction] | pd.DataFrame:
        """Mean and standard deviation of the objective or of each of several outcomes, in your units.

        Args:
            points: One point, or many.
            by: The source whose error is to be in it, as it measures now; none by default.
            is_noisy: Whether it is of one new value there, its noise included.

        Returns:
            Of one point a `Prediction`, or a dict by outcome; of many a data frame with their index.

        Raises:
            SpaceError: If a point is not in the space; the message names each.
            ValueError: If an outcome has no value that counts.
            FitError: If no surrogate can be fitted.
        """
        posteriors = self.posteriors(self._rows(points), by, is_noisy=is_noisy)
        if not is_point(points):
            return prediction_frame(posteriors, index_of(points))
        predictions = {name: Prediction(means[0], sds[0]) for name, (means, sds) in posteriors.items()}
        return predictions.get(None, predictions)

    def _rows(self, points: Points) -> Rows:
        """The unit-cube rows of one point, or of many."""
        space = self.space
        return [space.to_unit(point) for point in points_of(space, [points] if is_point(points) else points)]

    def posteriors(self, rows: Rows, by: Labels = (), *, is_noisy: bool = False) -> dict[str | None, Numbers]:
        """Means and standard deviations at unit-cube rows, of each of several outcomes by its name, or under None.

        Noisy ones are of one new value there.

        Raises:
            ValueError: If an outcome has no value that counts.
            FitError: If no surrogate can be fitted.
        """
        return posterior_at(self.settings, self.history, self.fits, rows, by, is_noisy=is_noisy)

    def chances(self, rows: Rows) -> list[float]:
        """The probability that a trial at each unit-cube row gives a value.

        Raises:
            FitError: If it cannot be learned where trials fail.
        """
        return chances(self.settings, self.history, rows, self.fits)

    def with_models(self, use: Callable[[OutcomeModels], T]) -> T:
        """Return what is made of the first surrogates, one an outcome, that can be fitted and used for it.

        Args:
            use: What is made of them; an error in the numbers says that it cannot be.

        Raises:
            FitError: If it can be made of none, or no value has been told.
        """
        data = observations(self.settings, self.history)
        if not data.told:
            raise FitError(no_value(data.trials, "a surrogate"))
        result, reason = use_models(self.settings, data, lambda models: (use(models),), self.fits, is_judging=True)
        if result is None:
            raise FitError(f"no surrogate could be used {reason}")
        return result[0]

    def promise(self, trial: Trial) -> Promise:
        """The promise of a trial's point; infinite where nothing is known, or where no surrogate can be fitted."""
        return promise(self.settings, self.history, tuple(self.space.to_unit(trial.params)), self.fits)

    def suggest(self, trial: int, fixed: Fixed = (), by: Labels = ()) -> Suggestion:
        """The point that trial number ``trial`` is to measure, by a source; see `robustbo.loop.decide.step`.

        Raises:
            SpaceExhausted: If every point of the space is being measured.
            SpaceError: If no point of it keeps the constraints, with what is fixed.
        """
        return step(self.settings, self.history, trial, self.fits, fixed, by)

    def _once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """A result that is kept under a key, or else computed; an error is not kept."""
        if key not in self._results:
            self._results[key] = compute()
        return self._results[key]
