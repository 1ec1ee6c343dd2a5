"""Predictions at points, and the chance of a value there, as an optimization gives them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, overload

from robustbo.loop.feasibility.report import chances
from robustbo.loop.surrogate.cache import FitCache
from robustbo.searchspace.space import Space
from robustbo.searchspace.tabular import Point, Points, is_point, points_of
from robustbo.trials.extent import space_of
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo.trials.sources import Labels
from robustbo.view.predict import index_of, posterior_at, prediction_frame, prediction_series
from robustbo.view.prediction import Prediction

if TYPE_CHECKING:
    import pandas as pd


class PointView:
    """An optimization as it stands, asked of points; what it says of them is computed each time, by the same fits.

    Attributes:
        settings: What the optimization was told at its beginning.
        history: All that happened.
        fits: The last fits.
    """

    settings: Settings
    history: History
    fits: FitCache

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
            SpaceError: If any is no point of the space; the message tells of each.
            FitError: If it cannot be learned where trials fail.
        """
        p = chances(self.settings, self.history, self._rows(points), self.fits)
        return p[0] if is_point(points) else prediction_series("viability", p, index_of(points))

    @overload
    def predict(self, points: Point, by: Labels = ()) -> Any: ...
    @overload
    def predict(self, points: pd.DataFrame | Iterable[Point], by: Labels = ()) -> pd.DataFrame: ...
    def predict(self, points: Points, by: Labels = ()) -> Prediction | dict[str, Prediction] | pd.DataFrame:
        """Mean and standard deviation of the objective or of each of several outcomes, without noise, in your units.

        Args:
            points: One point, or many.
            by: The source whose error is to be in it, as it measures now; none unless given.

        Returns:
            Of one point a `Prediction`, or a dict by outcome; of many a data frame with their index.

        Raises:
            SpaceError: If any is no point of the space; the message tells of each.
            ValueError: If an outcome has no value that counts.
            FitError: If no surrogate can be fitted.
        """
        posteriors = posterior_at(self.settings, self.history, self.fits, self._rows(points), by)
        if not is_point(points):
            return prediction_frame(posteriors, index_of(points))
        predictions = {name: Prediction(means[0], sds[0]) for name, (means, sds) in posteriors.items()}
        return predictions if self.settings.outcomes else predictions[None]

    def _rows(self, points: Points) -> list[list[float]]:
        """The unit-cube rows of one point, or of many."""
        space = self.space
        return [space.to_unit(point) for point in points_of(space, [points] if is_point(points) else points)]
