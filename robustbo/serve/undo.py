"""Words taken back: each verdict and each correction is an event, and so is what takes it back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from robustbo.censored import from_json
from robustbo.serve.actions import stamp_in
from robustbo.serve.bench import Bench
from robustbo.serve.forms import Fields, author_in
from robustbo.serve.rows import values_texts
from robustbo.trials.history import Trial
from robustbo.trials.outcome import Outcome
from robustbo.trials.storage import places
from robustbo.trials.storage.line import Event
from robustbo.trials.storage.places import Place

WORDS = {
    "ask": "asked for",
    "enqueue": "put into the queue",
    "assign": "handed out",
    "requeue": "taken back, to wait",
    "tell": "recorded",
    "fail": "failed",
    "withdraw": "withdrawn",
    "exclude": "excluded",
    "include": "vouched for",
    "amend": "corrected",
}


class Happening(NamedTuple):
    """An event of a trial for people: what happened, when, and what was said of it."""

    word: str
    at: str
    text: str


def events_of(place: Place, number: int) -> list[Event]:
    """The events of a trial in a journal, in their order."""
    return [event for event in places.contents(place).events if event.get("trial") == number]


def happenings(events: list[Event], quantities: Mapping[str | None, Outcome]) -> Iterator[Happening]:
    """Events of a trial for people, the first one first."""
    for event in events:
        if (word := WORDS.get(event["event"])) is None:
            continue
        if event["event"] == "include" and not event.get("vouch"):
            word = "word taken back"
        parts = [event.get("outcome"), ", ".join(values_texts(event.get("value"), quantities)), event.get("reason")]
        yield Happening(word, str(event.get("at", "")), ": ".join(str(part) for part in parts if part))


def last_word(trial: Trial, events: list[Event]) -> str | None:
    """The kind of the last word on a trial that can be taken back; None where there is none."""
    words = [event for event in events if event["event"] in ("exclude", "include", "amend", "withdraw", "tell", "fail")]
    if not words:
        return None
    last = words[-1]
    kind = str(last["event"])
    if kind == "amend":
        return kind if _value_before(events) is not None else None
    if kind == "withdraw":
        has_failed = any(event["event"] == "fail" for event in words)  # which waiting again would not bring back
        return kind if trial.handouts and not has_failed else None
    is_word = kind == "exclude" or (kind == "include" and bool(last.get("vouch")))
    return kind if is_word else None


def _value_before(events: list[Event]) -> Event | None:
    """The values that the last correction has changed, as an event has them; None where one had none before."""
    *earlier, last = [event for event in events if event["event"] in ("tell", "amend")] or [{"value": None}]
    if not isinstance(last["value"], Mapping):
        return earlier[-1] if earlier else None
    values, sds = dict[str, Any](), dict[str, Any]()
    for name in last["value"]:
        before = next((event for event in reversed(earlier) if name in event["value"]), None)
        if before is None:
            return None
        values[name], sds[name] = before["value"][name], (before["sd"] or {}).get(name)
    return {"value": values, "sd": sds}


def take_back(bench: Bench, number: int, fields: Fields, place: Place) -> Trial:
    """Take the last word on a trial back, unless the trial is not as it was seen; that is an event too.

    Raises:
        ChangedMeanwhile: If it is another one by now.
        ValueError: If there is no word that can be.
    """
    with bench.opt.require(stamp_in(number, fields)):
        return _take_back(bench, number, fields, place)


def _take_back(bench: Bench, number: int, fields: Fields, place: Place) -> Trial:
    trial, events = bench.opt.history[number], events_of(place, number)
    kind, author = last_word(trial, events), author_in(fields)
    reason = "taken back" + (f" ({author})" if author else "")
    if kind == "withdraw":
        return bench.opt.requeue(number)[0]
    if kind == "amend" and (before := _value_before(events)) is not None:
        value, sd, n = _measurement(before)
        return bench.opt.amend(number, value, sd=sd, n=n, reason=reason)
    if kind in ("exclude", "include"):
        verdicts = [event for event in events if event["event"] in ("exclude", "include")]
        outcome = verdicts[-1].get("outcome")
        earlier = [event["event"] for event in verdicts[:-1] if event.get("outcome") == outcome]
        if kind == "include" and earlier[-1:] == ["exclude"]:
            return bench.opt.exclude(number, outcome=outcome, reason=reason)
        return bench.opt.include(number, outcome=outcome, reason=reason, vouch=False)
    raise ValueError(f"there is no verdict on trial {number} to take back")


def _measurement(event: Event) -> tuple[Any, Any, Any]:
    """The value of an event, its noise and its number of measurements, as `Optimizer.amend` takes them."""
    value = event["value"]
    if not isinstance(value, dict):
        return from_json(value), *_noise(event["sd"])
    noises = {name: _noise((event["sd"] or {}).get(name)) for name in value}
    sds, counts = ({name: noise[at] for name, noise in noises.items()} for at in (0, 1))
    return {name: from_json(of) for name, of in value.items()}, sds, counts


def _noise(entry: float | str | None) -> tuple[float | None, int]:
    """The standard deviation of a single measurement, and of how many the value is the mean."""
    if not isinstance(entry, str):
        return entry, 1
    sd, _, n = entry.partition("/")
    return (float(sd) if sd else None), int(n)
