"""The queue of what people want measured: points of their own, trials taken back, rows of a pool."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from robustbo.errors import SpaceWarning, warn
from robustbo.guidance import explain_misfits
from robustbo.searchspace.pool import Pool
from robustbo.searchspace.space import Space
from robustbo.searchspace.tabular import Points, check_constraints, is_point, points_of
from robustbo.study.columns import check_names
from robustbo.study.declared import source_to_measure
from robustbo.study.handing import TrialLike, enqueue_events, requeue_events
from robustbo.study.lines import line_of
from robustbo.study.origin import origin_to_record
from robustbo.study.study import Study
from robustbo.trials import worker
from robustbo.trials.changes import change_of, check_change
from robustbo.trials.extent import space_of
from robustbo.trials.history import Trial
from robustbo.trials.labels import NAME
from robustbo.trials.source_space import check_values
from robustbo.trials.storage.line import Event
from robustbo.trials.store import State
from robustbo.validation import flag

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger("robustbo")


@explain_misfits()
class Queueing(Study):
    """A study to which points are added that are to be measured."""

    def requeue(
        self, trials: TrialLike | Iterable[TrialLike] | None = None, *, older_than: timedelta | float | None = None
    ) -> list[Trial]:
        """Take pending trials back, so that the next asks return them; a late value is still kept.

        A trial of a declared source waits for that source.

        Args:
            trials: One trial, or several.
            older_than: Trials asked for at least this long ago (seconds, or a timedelta). Without both arguments:
                trials of ended processes of this machine.

        Returns:
            The queued trials.

        Raises:
            ValueError: If one of the given trials is not pending, or both arguments are given.
        """
        return self._commit(lambda state: requeue_events(state.history, trials, older_than))

    def enqueue(
        self,
        points: Points,
        *,
        labels: Mapping[str, Any] | None = None,
        ignore_extra: bool = False,
        source: str | None = None,
    ) -> list[Trial]:
        """Queue points of your own, which the next asks return first: a mapping, a pandas Series or frame, or a list.

        Args:
            points: One, or several.
            labels: Labels to keep with them, as for `tell`.
            ignore_extra: Whether to ignore columns of a frame that are not parameters.
            source: The declared source that is to measure them, as for `ask`; by default the first that asks.

        Raises:
            SpaceError: If a point is outside the space; the message names each, and nothing is recorded.
            ValueError: If there is no such source, or it may not be asked.
        """
        space = self.settings.space
        is_free = flag("ignore_extra", ignore_extra)
        params = points_of(space, [points] if is_point(points) else points, ignore_extra=is_free)
        check_constraints(space, params)
        own = origin_to_record(source_to_measure(self.settings, None, source), None, labels)
        return self._commit(lambda state: [{**event, **own} for event in enqueue_events(state.history, params)])

    def change(self, space: Space, *, was: Mapping[str, Any] | None = None) -> Space:
        """Change the space from now on: other bounds, steps, values or constraints, or further parameters.

        Measured values stay where they were measured, and are modelled, outside the new space too. Asks and `best`
        follow the new space. Queued points outside it are not given out; a `SpaceWarning` says so.

        Args:
            space: The new one, with all parameters of the old; one that is not to vary any more is fixed in asks
                (``ask(fixed=...)``).
            was: By new parameter, the value that it had in all trials so far; by one whose condition is wider now, the
                value where it did not exist.

        Returns:
            The space as it is now.

        Raises:
            SpaceError: If a parameter is left out, a new one has no old value, or a trial has no place in the new space
                (a value at or below 0 on a log scale).
            TypeError: If the space is a pool: its rows grow by `add_rows`.

        Example:
            >>> import robustbo as rb
            >>> opt = rb.Optimizer(rb.Space(heat=rb.Float(20, 80)), direction="maximize", seed=0)
            >>> _ = opt.tell({"heat": 75.0}, 0.4)
            >>> space = rb.Space(heat=rb.Float(20, 70), stirring=rb.Float(100, 900))
            >>> opt.change(space, was={"stirring": 300.0}).names, opt.history[0].params
            (['heat', 'stirring'], {'heat': 75.0, 'stirring': 300.0})
        """
        if not isinstance(space, Space) or space.is_pool or self.settings.space.is_pool:
            raise TypeError(
                f"space must be a robustbo.Space, which replaces the present one, got {space!r}; a pool has add_rows"
            )

        def events(state: State) -> Sequence[Event]:
            before = space_of(self._store.settings, state.history)
            change = change_of(len(state.history), space, was or {})
            check_change(before, change, state.history)
            settings = replace(self._store.settings, space=space)
            check_names(settings)
            check_values(settings.space, settings.sources)
            waiting = [t.number for t in state.history.having("queued") if not space.allows(change.apply(t).params)]
            if waiting:
                text = f"trials {waiting} wait outside the changed space, and are given out no more"
                warn(f"{text}; withdraw them, or change the space again", SpaceWarning)
            return [{**change.event(), "at": worker.now(), "by": worker.name()}]

        self._store.commit(events)
        log.info("change: %r", space)
        return self.settings.space

    def add_rows(self, frame: pd.DataFrame) -> int:
        """Add rows to the pool: all of them, or none if one breaks a rule. Later asks may choose them.

        Args:
            frame: With the columns of the pool.

        Returns:
            The number of rows that the pool has now.

        Raises:
            TypeError: If the space is no pool.
            SpaceError: If columns differ, cells are missing, or a row is there already; the message names the rows.
        """

        def extend(state: State) -> Sequence[Event]:
            pool = space_of(self._store.settings, state.history)
            if not isinstance(pool, Pool):
                raise TypeError(f"only a pool takes new rows, and this space is {pool!r}")
            rows = [list(row) for row in pool.rows_of(frame)]
            author = {"at": worker.now(), "by": worker.name()}
            return [{"event": "extend", "trial": len(state.history), "rows": rows, **author}] if rows else []

        self._store.commit(extend)
        size = space_of(self._store.settings, self._store.state.history).size
        log.info("extend: the pool has %s rows", size)
        return size or 0

    def _commit(self, decide: Callable[[State], Sequence[Event]]) -> list[Trial]:
        """Write events down; the trials that they changed, each once."""
        pool = self._store.settings.space
        if isinstance(pool, Pool) and pool.row_names:
            decide = partial(_with_row_names, pool, decide)
        events, quantities = self._store.commit(decide) or (), self._store.settings.quantities
        history = self._store.state.history
        changed = {event["trial"]: own(history[event["trial"]]) for event in events}
        for event in events:
            log.info("%s: %s", event["event"], line_of(changed[event["trial"]], quantities))
        return [*changed.values()]


def _with_row_names(pool: Pool, decide: Callable[[State], Sequence[Event]], state: State) -> list[Event]:
    """Events, of which those that end a trial at a row of a pool have the row's name as a label."""
    results = []
    for event in decide(state) or ():
        if event["event"] in ("tell", "fail"):
            number = event["trial"]
            params = event.get("params") or (state.history[number].params if number < len(state.history) else {})
            if (name := pool.name_of(params)) is not None:
                event = {**event, "labels": {NAME: name, **event.get("labels", {})}}
        results.append(event)
    return results


def own(trial: Trial) -> Trial:
    """A trial that is the caller's to keep."""
    return replace(trial, params=dict(trial.params))
