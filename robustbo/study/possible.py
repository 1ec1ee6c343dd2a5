"""Values outside the possible range of their outcome: refused, or kept as they came and excluded."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from robustbo.censored import from_json
from robustbo.trials.declared import source_in
from robustbo.trials.events import UNCHANGED
from robustbo.trials.history import History, Trial
from robustbo.trials.outcome import OUT_OF_RANGE, Outcome, OutOfRange
from robustbo.trials.settings import Settings
from robustbo.trials.storage.line import Event
from robustbo.validation import one_of

TO_KEEP_IT = "correct it, or record it as excluded, by out_of_range='exclude' (--out-of-range exclude)"


def check_possible(settings: Settings, advice: str) -> Callable[[Any], None]:
    """Return a check that raises a ValueError, which advises what to do, where a value is not possible."""

    quantities = settings.quantities

    def check(value: Any) -> None:
        for name, number in _values(value):
            quantities[name].check(number, advice)

    return check


def value_check(settings: Settings, out_of_range: OutOfRange, advice: str = TO_KEEP_IT) -> Callable[[Any], None]:
    """Return a check of each value told, which raises unless values that are not possible are to be excluded.

    Raises:
        ValueError: If ``out_of_range`` is none of the words for it.
    """
    if one_of("out_of_range", out_of_range, OUT_OF_RANGE) == "exclude":
        return lambda _: None
    return check_possible(settings, advice)


def with_exclusions(settings: Settings, history: History, events: Iterable[Event]) -> list[Event]:
    """Events, and after each that tells or adds a value which is not possible those that exclude it."""
    quantities, results = settings.quantities, list[Event]()
    for event in events:
        results.append(event)
        if is_of_target(settings, history, event["trial"], event.get("source", {})):
            results += _exclusions(quantities, event)
    return results


def is_of_target(settings: Settings, history: History, trial: Any, labels: Mapping[str, str]) -> bool:
    """Return whether a value is of the target: another source may read in other units, where all is possible.

    Args:
        settings: Those of the study.
        history: All trials.
        trial: Which one it is of, as its holder was given it; its number, as it is; or a point that is none.
        labels: What measured it, as far as that is said.
    """
    if not settings.sources:
        return True
    number = trial.number if isinstance(trial, Trial) else trial
    is_there = isinstance(number, int) and 0 <= number < len(history)
    own = history[number].sources if is_there else {}
    own = {**own, **trial.sources} if isinstance(trial, Trial) else own
    return source_in(settings.sources, {**own, **labels}) is None


def _exclusions(quantities: Mapping[str | None, Outcome], event: Event) -> Iterator[Event]:
    has_new = event["event"] in ("tell", "amend") and not event.get(UNCHANGED)
    for name, number in _values(event["value"]) if has_new else ():
        if not quantities[name].holds(number):
            outcome = {} if name is None else {"outcome": name}
            author = {key: event[key] for key in ("by", "at") if key in event}
            yield {"event": "exclude", "trial": event["trial"], **outcome, "reason": quantities[name].reason, **author}


def _values(value: Any) -> Iterable[tuple[str | None, float]]:
    """The values that were told, finite ones or limits, by outcome; the only one under None."""
    by_name = value.items() if isinstance(value, Mapping) else [(None, value)]
    return [(name, from_json(number)) for name, number in by_name]
