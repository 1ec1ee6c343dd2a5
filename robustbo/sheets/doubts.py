"""Doubts about values of a sheet before they are recorded: those that are far from what was expected at the ask."""

from __future__ import annotations

from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo.trials.storage.line import Event

FAR = 4.0  # standard deviations from what was expected, from which on a value is doubtful


def doubts(settings: Settings, history: History, event: Event) -> list[str]:
    """The expectations that the values of an event are far from, in words; none of a trial that nobody asked for.

    Args:
        settings: What the optimization was told at its beginning.
        history: Its trials, with what was expected of each when it was asked for.
        event: A tell, or an amendment; others have no values.
    """
    number, value = event["trial"], event.get("value")
    if number >= len(history):
        return []
    texts = []
    for name, of in (value if isinstance(value, dict) else {None: value}).items():
        expectation = history[number].of(name).expectation if name else history[number].expectation
        if expectation and isinstance(of, int | float) and abs(of - expectation[0]) > FAR * expectation[1]:
            texts.append(f"expected {settings.quantities[name].amount(*expectation, digits=3)}")
    return texts
