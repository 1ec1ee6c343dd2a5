"""The proven events of a damaged journal, made to fit each other.

A trial whose first line is lost takes what was said of it along, and later trials move up. Where several threads wrote
to one journal without knowing of each other, one number may stand for several trials: each gets its own, and a later
event is taken to speak of the one that its line was chained to, or else of the first that allows it. No value that is
proven is dropped for a state that does not allow it: it becomes a trial of its own at the same point.
"""

from dataclasses import replace
from typing import Any, NamedTuple

from robustbo.trials import schema
from robustbo.trials.changes import KIND as CHANGE
from robustbo.trials.changes import SpaceChange, changed_space
from robustbo.trials.diagnosis import diagnosis_of
from robustbo.trials.events import BEGIN, fold, states_for
from robustbo.trials.repair.lines import JournalLine
from robustbo.trials.repair.proof import Left, Link, line_left_out
from robustbo.trials.settings import Settings
from robustbo.trials.storage.line import Event
from robustbo.trials.trial import REMEASURE, Trial
from robustbo.trials.verdicts import KIND as VERDICT

LATE = "trial {} had ended already: this value is trial {} now, which repeats it"
AMENDED = "the value that it corrects is lost; it is the value of trial {} now"
AMBIGUOUS = "{} trials had number {}, at other points; this is taken to be of the one that is trial {} now{}"
NOT_CHAINED = ", though its line is chained to none of them"
NO_BEGINNING = "the line that began trial {} is lost, so nothing can be said of it"
NOT_ALLOWED = "trial {} must be {} for it, and is {}"

EXTEND = "extend"  # rows that were added to a pool


class Moved(NamedTuple):
    """A trial that has another number now."""

    line: int
    before: int
    now: int


class Remark(NamedTuple):
    """A remark on a line that was kept: the change that it needed."""

    line: int
    text: str


class Fitting:
    """The proven events, made to fit each other."""

    def __init__(self, links: list[Link], settings: Settings) -> None:
        self.events: list[tuple[JournalLine, Event]] = []
        self.left: list[Left] = []
        self.remarks: list[Remark] = []
        self.moved: list[Moved] = []
        self._links, self._settings = links, settings
        parents = [link.parent for link in links if link.parent is not None]
        self._has_branches = len(set(parents)) < len(parents)
        self._trials: list[Trial] = []
        self._new_numbers: dict[int, dict[int, int]] = {}  # by old number: the links that began it, and its new numbers
        self._remark(links[0].line, links[0].remark)
        for index, link in enumerate(links[1:], start=1):
            try:
                self._take(index, link)
            except (KeyError, ValueError, TypeError, AttributeError) as error:
                self.left.append(line_left_out(link.line, f"does not fit what came before: {error}"))
            else:
                self._remark(link.line, link.remark)

    def _take(self, index: int, link: Link) -> None:
        event: dict[str, Any] = link.line.content or {}
        kind = event["event"]
        schema.check(event, self._settings)
        if kind == "diagnose":
            self._put(link.line, self._renumber_diagnosis(index, event))
        elif kind == VERDICT:
            self._put(link.line, self._renumber_verdict(index, event))
        elif kind == EXTEND:
            self._put(link.line, event)
        elif kind == CHANGE:
            self._change(link.line, {**event, "trial": len(self._trials)})
        elif kind in BEGIN or ("params" in event and not self._is_measured_elsewhere(index, event)):
            self._begin(index, link.line, event)
        elif candidates := self._candidates(index, event["trial"]):
            self._end(index, link.line, event, candidates)
        else:
            self.left.append(line_left_out(link.line, NO_BEGINNING.format(event["trial"])))

    def _put(self, line: JournalLine, event: Event) -> None:
        count = len(self._trials)
        try:
            if event["event"] == "diagnose":
                diagnosis_of(event)
            elif event["event"] not in (VERDICT, EXTEND):
                fold(self._trials, event)
        except Exception:
            del self._trials[count:]
            raise
        self.events.append((line, event))

    def _change(self, line: JournalLine, event: Event) -> None:
        """A change of the space, which the events after it are checked by."""
        change = SpaceChange.of(event)
        self._trials[:] = [change.apply(trial) for trial in self._trials]
        self._settings = replace(self._settings, space=changed_space(self._settings.space, (change,)))
        self.events.append((line, event))

    def _is_measured_elsewhere(self, index: int, event: Event) -> bool:
        """Return whether an event ends an open trial at the point where that was measured; else it begins one."""
        open_trials = [n for n in self._candidates(index, event["trial"]) if self._trials[n].is_open]
        return event["event"] in ("tell", "fail") and bool(open_trials) and not self._has_branches

    def _remark(self, line: JournalLine, text: str) -> None:
        if text:
            self.remarks.append(Remark(line.number, text))

    def _begin(self, index: int, line: JournalLine, event: dict[str, Any]) -> None:
        """A trial: with the next number, which need not be the one it had."""
        old, new = event["trial"], len(self._trials)
        if (repeats := event.get("repeats")) is not None:
            same = [n for n in self._candidates(index, repeats) if self._trials[n].params == event["params"]]
            lost = () if same else ("repeats", "reason") if event.get("reason") == REMEASURE else ("repeats",)
            event = {k: same[0] if k == "repeats" else v for k, v in event.items() if k not in lost}
        self._put(line, {**event, "trial": new})
        self._new_numbers.setdefault(old, {})[index] = new
        if old != new:
            self.moved.append(Moved(line.number, old, new))

    def _end(self, index: int, line: JournalLine, event: dict[str, Any], candidates: list[int]) -> None:
        """An event of a trial: of the first candidate that allows it, for a value; else of the first."""
        kind = event["event"]
        allowed, of = states_for(event), candidates if kind in ("tell", "fail") else candidates[:1]
        number = next((n for n in of if self._trials[n].state in allowed), candidates[0])
        trial, new = self._trials[number], len(self._trials)
        place = event.get("params", trial.params)
        if trial.state in allowed:
            self._put(line, {**event, "trial": number})
        elif kind == "amend":  # of an open trial: the tell is lost
            self._put(line, {"event": "tell", "trial": number, "value": event["value"], "sd": event["sd"]})
            self._remark(line, AMENDED.format(number))
        elif kind == "tell":
            self._put(line, {**event, "trial": new, "repeats": number, "origin": "late", "params": place})
            self._remark(line, LATE.format(number, new))
        else:
            self.left.append(line_left_out(line, NOT_ALLOWED.format(number, " or ".join(allowed), trial.state)))
            return
        if len({self._trials[n].point for n in candidates}) > 1:
            how = "" if self._trial_by_chain(index, event["trial"]) is not None else NOT_CHAINED
            self._remark(line, AMBIGUOUS.format(len(candidates), event["trial"], number, how))

    def _renumber_diagnosis(self, index: int, event: dict[str, Any]) -> Event:
        """A diagnosis without the outliers whose trials are lost."""
        pairs = zip(event["outliers"], event["percentiles"], strict=True)
        entries = [(candidates[0], u) for outlier, u in pairs if (candidates := self._candidates(index, outlier))]
        numbers, percentiles = [number for number, _ in entries], [u for _, u in entries]
        return {**event, "trial": len(self._trials), "outliers": numbers, "percentiles": percentiles}

    def _renumber_verdict(self, index: int, event: dict[str, Any]) -> Event:
        """A word on a source, since the trial that it names by its number now.

        Raises:
            ValueError: If that trial is lost, or has no end before it.
        """
        event = {**event, "trial": len(self._trials)}
        if "since" not in event:
            return event
        ended = [number for number in self._candidates(index, event["since"]) if not self._trials[number].is_open]
        if not ended:
            raise ValueError(f"trial {event['since']}, which is its first, is lost")
        return {**event, "since": ended[0]}

    def _candidates(self, index: int, old: int) -> list[int]:
        """The new numbers of the trials that had a number: first that of the line that this one is chained to."""
        numbers = [*self._new_numbers.get(old, {}).values()]
        first = self._trial_by_chain(index, old) if len(numbers) > 1 else None
        return numbers if first is None else [first, *(n for n in numbers if n != first)]

    def _trial_by_chain(self, index: int, old: int) -> int | None:
        """The trial of a number that began on a line that a line is chained to."""
        numbers, at = self._new_numbers[old], self._links[index].parent if self._has_branches else None
        while at is not None and at not in numbers:
            at = self._links[at].parent
        return None if at is None else numbers[at]
