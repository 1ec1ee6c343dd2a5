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
        """The probability that a trial at a point gives a value; 1 where none has failed.

        Args:
            points: As for `predict`.

        Returns:
            A number, or for many points a series with the same index.

        Raises:
            SpaceError: If any is no point of the space; the message tells of each.
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
            by: What is to measure there, as for `tell`: then it is what that source would read, its error included as
                far as one is believed (see `sources`). Your own corrections are not added: they are taken off what it
                reads. Unless given it is the objective, without anybody's error.
            noisy: Whether sd is that of one new measurement, by a value whose noise is that of the others, and not of
                the objective. With ``by`` it is that of `Trial.expectation` of what that source would be asked for.

        Returns:
            A `Prediction`, or for many points a data frame with columns mean and sd and the same index. Of several
            outcomes a dict by name, or columns NAME.mean and NAME.sd.

        Raises:
            SpaceError: If any is no point of the space; the message tells of each.
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
