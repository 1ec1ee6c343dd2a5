"""Predictions at points that people name, and the chance of a value there, as a study gives them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, overload

from robustbo.guidance import Guided, explain_misfits
from robustbo.searchspace.tabular import Point, Points
from robustbo.study.sources import check_labels
from robustbo.trials.history import History
from robustbo.trials.sources import Source
from robustbo.validation import flag
from robustbo.view.prediction import Prediction

if TYPE_CHECKING:
    import pandas as pd

    from robustbo.view import view as views


@explain_misfits()
class Predicting(Guided):
    """A study that predicts."""

    @property
    def view(self) -> views.View:
        """The study as it stands."""
        raise NotImplementedError

    @property
    def history(self) -> History:
        """Everything so far."""
        raise NotImplementedError

    @overload
    def viability(self, points: Point) -> float: ...
    @overload
    def viability(self, points: pd.DataFrame | Iterable[Point]) -> pd.Series: ...
    def viability(self, points: Points) -> float | pd.Series:
        """The probability that a trial at a point gives a value; 1 if no trial has failed.

        Args:
            points: As for `predict`.

        Returns:
            A number, or for many points a series with the same index.

        Raises:
            SpaceError: If a point is not in the space; the message names each.
        """
        return self.view.viability(points)

    @overload
    def predict(self, points: Point, *, by: Source | None = None, noisy: bool = False) -> Any: ...
    @overload
    def predict(
        self, points: pd.DataFrame | Iterable[Point], *, by: Source | None = None, noisy: bool = False
    ) -> pd.DataFrame: ...
    def predict(
        self, points: Points, *, by: Source | None = None, noisy: bool = False
    ) -> Prediction | dict[str, Prediction] | pd.DataFrame:
        """Predict the objective, or each of several outcomes, or new measurements of them, in your units.

        Args:
            points: One point (a mapping or a pandas Series), or many: the rows of a data frame, or a list. Columns
                that are no parameters are ignored.
            by: A source, as for `tell`: predict what this source would read, with the error that the surrogate believes
                in (see `sources`), before your own corrections. By default, predict the objective.
            noisy: Whether sd is that of one new measurement, with noise, instead of the objective. With ``by`` it is
                that of `Trial.expectation` for this source.

        Returns:
            A `Prediction`, or for many points a data frame with columns mean and sd and the same index. With several
            outcomes, a dict by name, or columns NAME.mean and NAME.sd.

        Raises:
            SpaceError: If a point is not in the space; the message names each.
            ValueError: If no value has been told, or none by that source; if noisy is neither True nor False.
            FitError: If the surrogate cannot be fitted.

        Example:
            >>> import robustbo as rb
            >>> opt = rb.Optimizer(rb.Space(x=rb.Float(0.0, 1.0)), direction="minimize", seed=0)
            >>> for i in range(12):
            ...     _ = opt.tell({"x": i / 11}, (i / 11 - 0.5) ** 2 + 0.01 * (-1) ** i)
            >>> opt.predict({"x": 0.2}).sd < opt.predict({"x": 0.2}, noisy=True).sd
            True
        """
        labels = tuple(check_labels(self.history, by, "by").items())
        return self.view.predict(points, labels, is_noisy=flag("noisy", noisy))
