"""The asks of a study: which trials somebody is given, as events that are in the journal before the call returns."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from robustbo.errors import ExhaustedWarning, warn
from robustbo.guidance import explain_misfits
from robustbo.lazy import Module
from robustbo.study.declared import source_to_measure
from robustbo.study.lines import line_of
from robustbo.study.queueing import own
from robustbo.study.recording import Recording
from robustbo.study.source_warning import warn_of_sources
from robustbo.study.sources import labels_to_tell
from robustbo.trials import worker
from robustbo.trials.extent import settings_at
from robustbo.trials.history import History, Trial
from robustbo.trials.sources import Source
from robustbo.trials.storage.line import Event
from robustbo.validation import whole_number

if TYPE_CHECKING:
    from robustbo.loop.candidates import pending
    from robustbo.searchspace.region import factory
    from robustbo.searchspace.region.region import Fixed
    from robustbo.study import next_trials
    from robustbo.view import view as views
else:
    next_trials, pending = Module("robustbo.study.next_trials"), Module("robustbo.loop.candidates.pending")
    factory, views = Module("robustbo.searchspace.region.factory"), Module("robustbo.view.view")

log = logging.getLogger("robustbo")


@explain_misfits()
class Asking(Recording):
    """A study that asks for measurements, and is told of them."""

    @overload
    def ask(
        self,
        n: None = None,
        *,
        fixed: Mapping[str, Any] | None = None,
        by: Source | None = None,
        source: str | None = None,
    ) -> Trial: ...

    @overload
    def ask(
        self, n: int, *, fixed: Mapping[str, Any] | None = None, by: Source | None = None, source: str | None = None
    ) -> list[Trial]: ...

    def ask(
        self,
        n: int | None = None,
        *,
        fixed: Mapping[str, Any] | None = None,
        by: Source | None = None,
        source: str | None = None,
    ) -> Trial | list[Trial]:
        """The next point to measure, or a list of the next ``n``; no two open ones are the same.

        Queued trials (`enqueue`, `requeue`) come first. A trial with `Trial.repeats` replicates an earlier trial whose
        value is in doubt. If you give a trial up, call `fail` or `withdraw`: no other replicate comes while one is
        pending. Once every point of a finite space has been asked for, trials have the reason "nothing new left", with
        a warning.

        If the surrogate fails numerically, a simpler one decides; `Trial.fallback` names it and the reason.

        Args:
            n: Number of points; by default one, without a list.
            fixed: Values of parameters that you cannot choose now, such as today's temperature. The point has them, and
                so have the queued points that this ask may return. The surrogate learns from all values.
            by: The source that will measure, as for `tell`; a later `tell` uses it unless you name another. Another
                source than its own replicates a doubtful value, if there is one (`Trial.elsewhere`).
            source: The declared source to ask; by default the one whose value is most worth its cost (`Trial.source`).

        Raises:
            SpaceExhausted: If every point of the space is being measured.
            SpaceError: If no point keeps the constraints, or what is fixed is no value of the space.
        """
        labels = labels_to_tell(self.history, source_to_measure(self.settings, by, source), "by")
        asker = ", ".join(labels.values()) if labels else worker.name()
        return self._ask(asker, n, self.settings.space.partial(fixed), labels)

    @overload
    def ask_as(self, by: str, n: None = None, *, fixed: Mapping[str, Any] | None = None) -> Trial: ...

    @overload
    def ask_as(self, by: str, n: int, *, fixed: Mapping[str, Any] | None = None) -> list[Trial]: ...

    def ask_as(self, by: str, n: int | None = None, *, fixed: Mapping[str, Any] | None = None) -> Trial | list[Trial]:
        """`ask` for somebody else, whose name `Trial.asked_by` keeps."""
        return self._ask(by, n, self.settings.space.partial(fixed), {})

    def _ask(self, asker: str, n: int | None, fixed: Fixed, labels: Mapping[str, str]) -> Trial | list[Trial]:
        count = 1 if n is None else whole_number("n", n, 1)

        def decide(history: History) -> list[Event]:
            view = views.View(settings_at(self._store.settings, history), history, self.fits)
            events = next_trials.hand_out(view, count, asker, fixed, labels)
            self._warn(events, fixed)  # before anything is recorded: a warning may be made an error
            if any(event.get("origin") == "model" for event in events):
                warn_of_sources(self, view)
            return events

        events = self._store.decide(decide, next_trials.as_of_now) or ()
        history = self._store.state.history
        trials = [own(history[event["trial"]]) for event in events if event["event"] in ("ask", "assign")]
        for trial in trials:
            log.info("asked: %s", line_of(trial, self._store.settings.quantities))
        return trials[0] if n is None else trials

    def _warn(self, events: Sequence[Event], fixed: Fixed) -> None:
        """Say so where there is nothing new to ask for."""
        if any(event.get("reason") == pending.NOTHING_NEW for event in events):
            size = factory.region_of(self.settings.space, fixed).size
            statement = f"each of the {size} points of the space has been asked for before"
            warn(f"{pending.NOTHING_NEW}: {statement}", ExhaustedWarning)
