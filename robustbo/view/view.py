"""The one object that is read: an optimization as it stands; beliefs about its trials are computed once and kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING

from robustbo.errors import FitError, NumericsWarning, warn
from robustbo.loop.belief.flag_patterns import FlagPattern
from robustbo.loop.belief.outcome_models import unmeasured_outcomes
from robustbo.loop.belief.outliers import Outlier, outliers
from robustbo.loop.best.best import best, bests, raw_best
from robustbo.loop.best.front import Front, credible_points, front, hypervolumes
from robustbo.loop.best.incumbent import Incumbent
from robustbo.loop.best.measured_points import FrontPoint
from robustbo.loop.feasibility.report import Failure, failures, flake_rate
from robustbo.loop.sources.relations import RelationReport, relations
from robustbo.loop.sources.sources import SourceReport, sources
from robustbo.searchspace.region.region import Fixed
from robustbo.trials.aside import target_history
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo.view.frame import trial_frame
from robustbo.view.patterns import patterns
from robustbo.view.points import PointView

if TYPE_CHECKING:
    import pandas as pd


class View(PointView):
    """An optimization as it stands; nothing of it changes, so what is believed of its trials is computed once.

    What depends on points to be named (`robustbo.view.points.PointView`) is computed each time, by the same fits; what
    two threads ask for at once may be, too, to the same.

    Args:
        settings: What the optimization was told at its beginning.
        history: All that happened.
        fits: The last fits, of whoever looks again and again as the history grows; they change nothing but the time.
        stand_ins: Trials that are learned from, and are neither candidates for the best nor listed as outliers.

    All of these are attributes, too.

    Example:
        >>> import robustbo as rb
        >>> settings = Settings(rb.Space(x=rb.Float(-1.0, 1.0)), seed=0)
        >>> events = [{"event": "tell", "trial": i, "params": {"x": x}, "value": x * x, "sd": None}
        ...           for i, x in enumerate((-0.5, 0.0, 0.5))]
        >>> view = View(settings, History().apply_all(events))
        >>> view.raw_best().trial.number, view.failures()
        (1, [])
    """

    def at(self, settings: Settings, history: History, stand_ins: Collection[int] = frozenset()) -> View:
        """Return this view if it has these settings and this history; else a view of them with the same fits."""
        is_same = history == self.history and settings == self.settings and stand_ins == self.stand_ins
        return self if is_same else View(settings, history, self.fits, stand_ins)

    def best(self, fixed: Fixed = ()) -> Incumbent:
        """The best point measured, by what is believed; of several outcomes the best that probably keeps the bounds.

        Args:
            fixed: Parameters that have a given value, and it: the point that is best when it is changed to these.

        Raises:
            ValueError: If there are several objectives, or an outcome has no value that counts.
            FitError: If some values are fixed and no surrogate can be fitted.
        """
        if not fixed:
            return self.bests()[-1]
        return self._once(("best", fixed), lambda: best(self.settings, self.history, self.fits, fixed))

    def bests(self) -> list[Incumbent]:
        """The best points so far, by what is believed now: each beats those before it; the last is the `best`."""
        compute = partial(bests, self.settings, self.history, self.fits, without=self.stand_ins)
        return [*self._once("bests", compute)]

    def raw_best(self) -> Incumbent:
        """The trial of best measured value, whatever the surrogate thinks of it.

        Raises:
            ValueError: If there are several objectives, or no value has been told.
        """
        return self._once("raw best", lambda: raw_best(self.settings, self.history))

    def unmeasured_outcomes(self) -> list[str]:
        """The names of the outcomes of which no value counts, so that nothing is believed of any point."""
        return [*self._once("unmeasured outcomes", lambda: unmeasured_outcomes(self.settings, self.of_target.trials))]

    @property
    def of_target(self) -> History:
        """The history in which trials of other declared sources than the target are aside."""
        return self._once("of target", lambda: target_history(self.settings.sources, self.history))

    @property
    def is_measured(self) -> bool:
        """Return whether a value has been told, of each of several outcomes."""
        return self.of_target.trials.num("told") > 0 and not self.unmeasured_outcomes()

    def front(self, fixed: Fixed = ()) -> Front:
        """The points measured that are believed to keep the outcome constraints, and to be beaten by no other.

        Raises:
            ValueError: If an outcome has no value that counts.
            FitError: If no surrogate can be fitted.
        """
        return self._once(("front", fixed), lambda: front(self.settings, self.history, self.fits, fixed))

    def credible_points(self) -> tuple[FrontPoint, ...]:
        """The points measured whose values are believed, by trial; see `robustbo.loop.best.front.credible_points`."""
        return self._once("credible points", lambda: credible_points(self.settings, self.history, self.fits))

    def hypervolumes(self, reference: Mapping[str, float] | None = None) -> list[float]:
        """The hypervolume by trial, by what is believed now; see `robustbo.loop.best.front.hypervolumes`.

        Args:
            reference: A value of each objective, beyond which volume counts; that of the `front` by default.
        """
        key = ("hypervolumes", None if reference is None else tuple(reference.items()))
        return [*self._once(key, lambda: hypervolumes(self.settings, self.history, self.fits, reference))]

    def outliers(self) -> list[Outlier]:
        """Every told value with its evidence, the most suspicious first.

        Raises:
            FitError: If no surrogate can judge them.
        """

        def compute() -> list[Outlier]:
            judged = outliers(self.settings, self.history, self.fits)
            return [outlier for outlier in judged if outlier.trial.number not in self.stand_ins]

        return [*self._once("outliers", compute)]

    def flag_patterns(self) -> list[FlagPattern]:
        """Sentences on flagged values that are more, or more alike, than single errors explain; most often none.

        Raises:
            FitError: If no surrogate can judge the values.
        """
        return [*self._once("flag patterns", lambda: patterns(self.settings, self.space, self.outliers()))]

    def failures(self, *, is_judged: bool = True) -> list[Failure]:
        """Every failed trial in order, and whether it looks like its point's doing or like a flake.

        Args:
            is_judged: Whether that is to be learned, which takes time.
        """
        compute = partial(failures, self.settings, self.history, self.fits, is_judged=is_judged)
        return [*self._once(("failures", is_judged), compute)]

    def flake_rate(self) -> float | None:
        """The share of trials that fail wherever they are, as it is learned; None where nothing is learned."""
        return self._once("flake rate", lambda: flake_rate(self.settings, self.history, self.fits))

    def frame(self, *, evidence: bool = True) -> pd.DataFrame:
        """One row a trial: parameters, value, state and how it was asked, and the evidence on each value.

        Where no surrogate can judge the values a `NumericsWarning` says why, and their evidence is missing.
        """
        judged: list[Outlier] | None = None
        if evidence:
            try:
                judged = self.outliers()
            except FitError as error:
                warn(f"the frame has no evidence: {error}", NumericsWarning)
                return trial_frame(self.settings, self.history, [])
        return self._once(("frame", evidence), lambda: trial_frame(self.settings, self.history, judged)).copy()

    def sources(self) -> list[SourceReport]:
        """Every source of measurements that was told, and its error; a `FitError` if no surrogate can be fitted."""
        return [*self._once("sources", lambda: sources(self.settings, self.history, self.fits))]

    def relations(self) -> list[RelationReport]:
        """Every source that was declared beside the target; a `FitError` if no surrogate can be fitted."""
        return [*self._once("relations", lambda: relations(self.settings, self.history, self.fits))]
