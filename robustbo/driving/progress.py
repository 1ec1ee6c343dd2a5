"""A line on the terminal that shows an optimization's progress, and never gets in its way."""

import logging
import math
import sys
import time
from collections.abc import Callable, Collection

import rich.progress
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fit import is_robust
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo.view.view import View

SHARE = 0.05  # of the time, that looking at a model may take
SHOWN = 8  # trials named that are being measured

log = logging.getLogger("robustbo")


class Display:
    """Trials done, the best, failures, flagged values and what is being measured; silent where stderr is no terminal.

    The best is the posterior mean of the incumbent once there is a model (it is that of the last decision: no fit is
    made for the display), and the best measured value before; of several objectives it is the front's hypervolume. An
    error in here is logged, and the display ends.

    Args:
        settings: Of the optimization.
        fits: Its last fits.
        total: How many trials are to end.
        is_wanted: Whether it is to be seen at all.
        console: Where.
    """

    def __init__(
        self, settings: Settings, fits: FitCache, total: int, *, is_wanted: bool, console: Console | None = None
    ) -> None:
        self._settings, self._fits = settings, fits
        self._is_single = len(settings.objectives) < 2
        self._best, self._flagged, self._regional = "", "", ""
        self._seen_at, self._cost_s = -math.inf, 0.0
        self._is_on = is_wanted
        self._safely(lambda: self._begin(total, console))

    def _begin(self, total: int, console: Console | None) -> None:
        if console is None:
            self._is_on = sys.stderr is not None and sys.stderr.isatty()
            console = Console(stderr=True)
        columns = SpinnerColumn(), BarColumn(bar_width=20), MofNCompleteColumn(), TimeElapsedColumn()
        self._bar = rich.progress.Progress(*columns, TextColumn("{task.fields[shown]}"), console=console)
        self._task = self._bar.add_task("", total=total, shown="")

    def __enter__(self) -> "Display":
        self._safely(lambda: self._bar.start())
        return self

    def __exit__(self, *_: object) -> None:
        self._safely(lambda: self._bar.stop())

    def show(self, history: History, running: Collection[int]) -> None:
        """The trials as they are now.

        Args:
            history: All of them.
            running: The numbers of those that are being measured here.
        """
        self._safely(lambda: self._show(history, running))

    def _show(self, history: History, running: Collection[int]) -> None:
        counts = history.counts()
        best = self._best
        view = View(self._settings, history, self._fits)
        if not best and self._is_single and view.is_measured:
            first = view.raw_best()
            best = f"best {first.quantity.name or 'value'} {first.quantity.number(first.mean)}"
        failed = f"{counts['failed']} failed{self._regional}" if counts["failed"] else ""
        more = f" and {len(running) - SHOWN} more" if len(running) > SHOWN else ""
        at_work = f"running {', '.join(map(str, sorted(running)[:SHOWN]))}{more}" if running else ""
        parts = [part for part in (best, failed, self._flagged, at_work) if part]
        ended = counts["told"] + counts["failed"] + counts["excluded"]
        self._bar.update(self._task, completed=ended, shown=", ".join(parts))

    def on_decision(self, history: History) -> None:
        """A model has just decided: what it believes, unless looking would take too much of the time.

        Args:
            history: What it was fitted to.
        """
        if time.monotonic() - self._seen_at >= self._cost_s / SHARE:
            self._safely(lambda: self._look(history))

    def _look(self, history: History) -> None:
        started = time.monotonic()
        view = View(self._settings, history, self._fits)
        self._best = self._best_of(view)
        if is_robust(self._settings):
            flagged = sum(outlier.flagged for outlier in view.outliers())
            self._flagged = f"{flagged} flagged" if flagged else ""
        if self._settings.failures == "learn" and history.having("failed"):
            regional = sum(f.looks_like == "region" for f in view.failures())
            self._regional = f" ({regional} in their region)" if regional else ""
        self._seen_at = time.monotonic()
        self._cost_s = self._seen_at - started

    def _best_of(self, view: View) -> str:
        if not self._is_single:
            points_of_front = view.front()
            points = "1 point" if len(points_of_front) == 1 else f"{len(points_of_front)} points"
            return f"front of {points}, hypervolume {points_of_front.hypervolume:.4g}"
        best = view.best()
        chance = f", {100 * best.probability_feasible:.2g} % feasible" if best.probability_feasible < 1 else ""
        return f"best {best.quantity.amount(best.mean, best.sd)}{chance}"

    def _safely(self, act: Callable[[], None]) -> None:
        if not self._is_on:
            return
        try:
            act()
        except Exception:
            self._is_on = False
            log.warning("the progress display failed and is now off", exc_info=True)
