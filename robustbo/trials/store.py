"""The store of an optimization's events: each is in the journal before it is in the history.

Several threads may use a store, and several processes a journal. Each change is one step under one lock: read what
others have written, decide on the events, check that the trials allow them, write them, and take them into the history,
which is replaced as a whole. So it either happened or did not, whatever interrupts it.
"""

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from robustbo.determinism.interrupted import release_on_interrupt
from robustbo.errors import JournalError, JournalExists, JournalWarning, warn
from robustbo.surrogates.names import ALLOWED, name_of
from robustbo.trials import schema, trust
from robustbo.trials.codec import changed_versions, fold, header
from robustbo.trials.extent import check_extent, settings_at
from robustbo.trials.history import History
from robustbo.trials.newer import NewerError
from robustbo.trials.settings import Settings
from robustbo.trials.storage import places
from robustbo.trials.storage.line import Event
from robustbo.trials.storage.log import Conflict, Log, Mark, Memory, Turn
from robustbo.trials.storage.places import Place
from robustbo.trials.trust import Trust

TRIES = 3  # of a decision beside which trials begin

STORES: "weakref.WeakSet[Store]" = weakref.WeakSet()


class State(NamedTuple):
    """A history, and the place in the log that it goes up to."""

    history: History
    mark: Mark


Decide = Callable[[History], Sequence[Event] | None]
Adapt = Callable[[Sequence[Event], State, State], Sequence[Event] | None]


class Store:
    """Settings, a history that grows by events, and the log that each event reaches first."""

    def __init__(self, settings: Settings, log: Log, state: State) -> None:
        self.settings = settings
        self._log, self._state = log, state
        self._renew_locks()

    @classmethod
    def create(cls, settings: Settings, journal: Place | None) -> "Store":
        """An empty one.

        Raises:
            JournalError: If the journal exists.
        """
        if journal is None:
            return cls(settings, Memory(), State(History(), Mark()))
        try:
            log, mark = places.create(journal, header(settings))
        except FileExistsError:
            raise JournalExists(
                f'{places.display_name(journal)}: exists; resume it (if_exists="resume" makes or resumes it) or name a '
                "new one"
            ) from None
        return cls(settings, log, State(History(), mark))

    @classmethod
    def resume(cls, journal: Place, allowed: Trust = False, *, is_watched: bool = False) -> "Store":
        """The store of a journal, to go on with, or only to watch.

        Args:
            journal: Which one.
            allowed: What it may name; see `trials.trust.check`.
            is_watched: Whether it is only watched: nothing is written to the journal then.

        Raises:
            JournalError: If the journal cannot be read; the message has the line.
            TrustError: If it names more than is allowed.
        """
        log, contents = places.resume(journal, is_watched=is_watched)
        settings, history = fold(log.name, contents)
        trust.check(log.name, settings, allowed)
        if changed := changed_versions(contents):
            warn(
                f"{log.name}: begun with other libraries, so further points may differ: {changed}",
                JournalWarning,
            )
        return cls(settings, log, State(history, contents.mark))

    def __getstate__(self) -> dict[str, Any]:
        attributes = {key: value for key, value in vars(self).items() if key not in ("_turn", "_decision")}
        return attributes | {"_class": ALLOWED.get(self.settings.surrogate)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if (allowed := state.pop("_class")) is not None:
            name_of(allowed)
        vars(self).update(state)
        self._renew_locks()

    def _renew_locks(self) -> None:
        self._turn, self._decision = threading.Lock(), threading.Lock()
        self._owner: int | None = None
        self._decider: int | None = None
        STORES.add(self)

    @property
    def state(self) -> State:
        """The history as far as it has been read here."""
        return self._state

    @release_on_interrupt
    def now(self) -> State:
        """The history with all that others have written."""
        if self._log.has_grown(self._state.mark):
            self.commit(lambda _: ())
        return self._state

    @release_on_interrupt
    def decide(
        self,
        on: Decide,
        adapt: Adapt,
    ) -> Sequence[Event] | None:
        """Decide on events that take long to find; others, threads and processes, decide later, and tell meanwhile.

        Args:
            on: Finds the events, given all that has been written; None: there are none.
            adapt: Makes them, decided on in one state, those of a later one; None: they do not fit, and are found anew.

        Returns:
            The events that were written, or None.
        """
        self._check_not_within(self._decider)
        with self._decision, self._log.decision_lock():
            self._decider = threading.get_ident()
            try:
                return self._decide_events(on, adapt)
            finally:
                self._decider = None

    def _decide_events(self, on: Decide, adapt: Adapt) -> Sequence[Event] | None:
        for _ in range(TRIES):
            before = self.now()
            decided = on(before.history)
            if decided is None:
                return None
            events = self.commit(partial(adapt, decided, before))
            if events is not None:
                return events
        return self.commit(lambda state: on(state.history))  # nobody comes between; telling waits this once

    def _check_not_within(self, thread: int | None) -> None:
        if thread == threading.get_ident():
            raise RuntimeError("an optimizer cannot be called during another call, for example by a signal handler")

    def _fold_events(self, events: Sequence[Event]) -> History:
        """The history with what others have written."""
        try:
            settings = settings_at(self.settings, self._state.history)
            history = self._state.history.apply_all(schema.check_all(events, settings))
            check_extent(self.settings, history, len(self._state.history))
            return history
        except NewerError as error:
            raise JournalError(f"{self._log.name}: {error}") from error
        except (KeyError, TypeError, ValueError) as error:
            raise JournalError(f"{self._log.name}: an event contradicts the events before it: {error}") from error

    @release_on_interrupt
    def commit(self, decide: Callable[[State], Sequence[Event] | None]) -> Sequence[Event] | None:
        """Write events down, all or none.

        Args:
            decide: Says which, given all that has been written before; it may be called more than once. None: it
                cannot be decided any more.

        Returns:
            What ``decide`` said.

        Raises:
            ValueError: If a trial's state does not allow its event.
            JournalError: If the journal cannot be written; nothing is recorded then.
        """
        self._check_not_within(self._owner)
        while True:
            try:
                with self._turn, self._log.turn() as turn:
                    self._owner = threading.get_ident()
                    try:
                        return self._commit_in_turn(turn, decide)
                    finally:
                        self._owner = None
            except Conflict:
                continue

    def _commit_in_turn(self, turn: Turn, decide: Callable[[State], Sequence[Event] | None]) -> Sequence[Event] | None:
        unread, mark = turn.behind(self._state.mark)
        if mark != self._state.mark:
            self._state = State(self._fold_events(unread), mark)
        events = decide(self._state)
        if events:
            history = self._state.history.apply_all(events)
            self._state = State(history, turn.append(events, self._state.mark))
        return events


def _renew_after_fork() -> None:
    """Another thread of the parent's may have held a lock, and is not there any more to let it go."""
    for store in list(STORES):
        store._renew_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_after_fork)
