"""Trials in a line each, for logs and for the command line."""

from collections.abc import Mapping

from robustbo.trials.history import Trial
from robustbo.trials.outcome import Outcome
from robustbo.trials.sources import source_text
from robustbo.trials.target import target_text
from robustbo.trials.trial import FAILURE_VERDICTS, Measured


def _verdict(outcome: Measured) -> str:
    """The user's word on one of several outcomes."""
    return "excluded" if outcome.is_excluded else "vouched for" if outcome.is_vouched else ""


def line_of(trial: Trial, quantities: Mapping[str | None, Outcome] | None = None) -> str:
    """A trial in a line, for logs.

    Args:
        trial: It.
        quantities: What is measured: each of several outcomes by its name, or the only value under None.

    Example:
        >>> line_of(Trial(3, {"x": 0.5}, state="told", value=1.25, origin="model"))
        'trial 3 (told, model), x=0.5: 1.25'
    """
    outcome_of: Mapping[str | None, Outcome] = quantities or {None: Outcome()}
    place = ", ".join(f"{name}={value!r}" for name, value in trial.params.items())
    target = target_text(trial)
    place += f" ({target})" if target else ""
    values = ", ".join(f"{name} {_with_unit(outcome_of.get(name), value)}" for name, value in trial.values.items())
    values = values if trial.value is None else _with_unit(outcome_of.get(None), trial.value)
    result = f": {values}" if values else f": {trial.reason}" if trial.reason else ""
    result += ", vouched for" if trial.is_vouched else ""
    result += f", {_with_unit(outcome_of.get(None), trial.as_told)} as told" if trial.as_told is not None else ""
    result += f", by {source_text(trial.sources)}" if trial.sources else ""
    result += "".join(f", {name} failed ({of.reason})" for name, of in trial.outcomes.items() if of.reason)
    result += "".join(f", {name} {word}" for name, outcome in trial.outcomes.items() if (word := _verdict(outcome)))
    notes = [note for note in (trial.note, *(outcome.note for outcome in trial.outcomes.values())) if note]
    result += f" ({'; '.join(dict.fromkeys(notes))})" if notes else ""
    only, expected = outcome_of.get(None, Outcome()), ""
    if trial.expectation is not None:
        mean, sd = trial.expectation
        expected = f", expected {only.amount(only.nearest(mean), sd)}"
    retry = "" if trial.retry is None else f", {FAILURE_VERDICTS[trial.retry]}"
    labels = ", ".join(f"{name}={value}" for name, value in trial.labels.items())
    expected += f" [{labels}]" if labels else ""
    return f"trial {trial.number} ({trial.state}, {trial.origin}{retry}), {place}{result}{expected}"


def _with_unit(quantity: Outcome | None, value: float) -> str:
    return repr(value) if quantity is None else quantity.with_unit(repr(value))
