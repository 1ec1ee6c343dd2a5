"""The charts of several outcomes: the front, its hypervolume by trial, and the values of each outcome by trial."""

from collections.abc import Sequence
from dataclasses import dataclass

from robustbo.loop.belief.front import Front, believed, bests, front, hypervolumes
from robustbo.loop.belief.incumbent import Incumbent
from robustbo.loop.belief.measured_points import FrontPoint
from robustbo.loop.surrogate.cache import FitCache
from robustbo.report.charts import fronts, one_outcome
from robustbo.report.charts.chart import Chart
from robustbo.report.charts.one_outcome import Seen
from robustbo.report.summary.outcomes import without_value
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

ACROSS = 3  # charts beside each other


@dataclass(frozen=True)
class Known:
    """What is known of several outcomes.

    Attributes:
        settings: What the study was told at its beginning.
        seen: What each outcome sees of which a value has been told.
        points: Those that are believed; none unless all outcomes have values.
        front: Of several objectives.
        volumes: By trial, its hypervolume.
        best: Of one objective, the best points so far.
    """

    settings: Settings
    seen: Sequence[Seen]
    points: Sequence[FrontPoint] = ()
    front: Front | None = None
    volumes: Sequence[float] = ()
    best: Sequence[Incumbent] = ()

    @property
    def fronts(self) -> list[Chart]:
        """A chart for each pair of objectives."""
        judged = [o for of in self.seen for o in of.judged]
        return [] if self.front is None else fronts.charts(self.settings, self.points, self.front, judged)

    @property
    def timelines(self) -> list[Chart]:
        """A chart an outcome; with the best so far, where one is to be optimized."""
        return [one_outcome.values(of, self.points, self.best if of.wanted.is_objective else ()) for of in self.seen]


def known(settings: Settings, history: History, fits: FitCache) -> Known:
    """What is known of several outcomes.

    Raises:
        FitError: If no surrogate can be fitted.
    """
    seen = one_outcome.seen(settings, history, fits)
    if without_value(settings, history):
        return Known(settings, seen)
    points = believed(settings, history, fits)
    if len(settings.objectives) == 1:
        return Known(settings, seen, points, best=bests(settings, history, fits))
    return Known(settings, seen, points, front(settings, history, fits), hypervolumes(settings, history, fits))


def rows(settings: Settings, history: History) -> list[list[Chart]]:
    """All charts, for a picture."""
    found = known(settings, history, FitCache())
    progress = [[fronts.progress(found.volumes)]] if found.front is not None else []
    pairs = [found.fronts[i : i + ACROSS] for i in range(0, len(found.fronts), ACROSS)]
    return [*pairs, *progress, *([chart] for chart in found.timelines)]
