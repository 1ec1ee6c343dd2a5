"""Differences between what a row says of a trial and what was told of it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from robustbo.censored import to_json
from robustbo.sheets.filled import FilledRow
from robustbo.sheets.places import OWN_ROW
from robustbo.trials.declared import Declared, target_of
from robustbo.trials.events import UNCHANGED
from robustbo.trials.history import Trial
from robustbo.trials.noise import ValueNoise, noise_entry, single_noise
from robustbo.trials.sources import DEFAULT_KIND, source_text

TAKE = "take it as a correction (--amend, in Python amend=True)"


def raw_measurement(trial: Trial, name: str | None) -> tuple[float | None, ValueNoise]:
    """The value of an outcome and its noise, as they were told: a sheet knows no correction of a source."""
    measured = trial if name is None else trial.outcomes.get(name)
    return (None, ValueNoise(None)) if measured is None else (measured.raw_value, single_noise(measured))


def noise_in(row: FilledRow, name: str | None, told: ValueNoise) -> ValueNoise:
    """The noise that a row says of a value, and what was told where its cells are empty."""
    noise = ValueNoise(row.sds.get(name, told.sd), row.counts.get(name, told.n))
    is_same = noise.n == told.n and None not in (noise.sd, told.sd) and math.isclose(noise.sd or 0, told.sd or 0)
    return told if is_same else noise


def changed_outcomes(trial: Trial, row: FilledRow) -> list[str | None]:
    """The outcomes of which a row says something else than is known."""
    names = []
    for name, shown in row.values.items():
        value, told = raw_measurement(trial, name)
        is_other_noise = math.isfinite(shown.number) and noise_in(row, name, told) != told
        if not shown.is_value(value) or (is_other_noise and value is not None):
            names.append(name)
    return names


def changed_origin(trial: Trial, row: FilledRow, declared: Declared) -> dict[str, Any]:
    """The sources and labels in a row that are none of its trial's, as an event has them; empty cells say nothing."""
    target = {DEFAULT_KIND: name} if (name := target_of(declared)) is not None else {}
    sources = dict(row.sources.items() - {**target, **trial.sources}.items())
    labels = {
        name: text for name, text in row.labels.items() if str(trial.labels.get(name)).casefold() != text.casefold()
    }
    return ({"source": sources} if sources else {}) | ({"labels": labels} if labels else {})


def same_value(trial: Trial) -> dict[str, Any]:
    """The value of a trial and its noise, as an amendment has them that changes neither."""
    measured: Mapping[Any, Any] = trial.outcomes or {None: trial}
    values = {name: to_json(value) for name, of in measured.items() if (value := of.raw_value) is not None}
    noises = {name: noise_entry(*single_noise(measured[name])) for name in values}
    return {"value": values.get(None, values), "sd": noises.get(None, noises), UNCHANGED: True}


def is_completed(trial: Trial, changed: Sequence[str | None]) -> bool:
    """Return whether a row only adds outcomes that were missing and not reported as lost."""
    if trial.state == "failed" or None in changed:
        return False
    outcomes = [trial.outcomes.get(name) for name in changed if name is not None]
    return all(outcome is None or (outcome.value is None and not outcome.is_lost) for outcome in outcomes)


def _noise_text(noise: ValueNoise) -> str:
    parts = [] if noise.sd is None else [f"sd {noise.sd!r}"]
    parts += [f"n {noise.n}"] if noise.n > 1 else []
    return f" ({', '.join(parts)})" if parts else ""


def _failure_text(trial: Trial, name: str | None) -> str:
    """The reason why there is no value; "None" where nobody said any."""
    outcome = None if name is None else trial.outcomes.get(name)
    reason = trial.reason if trial.state == "failed" else None if outcome is None else outcome.reason
    return f"failed: {reason}" if reason else "None"


def question_about_source(trial: Trial, sources: Mapping[str, str]) -> str:
    """The question about the source of a told value that has changed."""
    before = {kind: trial.sources[kind] for kind in sources if kind in trial.sources}
    told = f"with the source {source_text(before)}" if before else "without this source"
    advice = f"if the cell is right, {TAKE}; else write again what was told, or {OWN_ROW}"
    return f"trial {trial.number} was told {told}, the cell has {source_text(sources)}; {advice}"


def question_about(trial: Trial, row: FilledRow, changed: Sequence[str | None]) -> str:
    """The question about a told value that has changed."""
    parts = []
    for name in changed:
        of, (value, told) = "" if name is None else f"{name} ", raw_measurement(trial, name)
        before = _failure_text(trial, name) if value is None else f"{value!r}{_noise_text(told)}"
        cell = f"{row.values[name].text.strip()!r}{_noise_text(ValueNoise(row.sds.get(name), row.counts.get(name, 1)))}"
        parts.append(f"{of}{before}, the cell has {cell}")
    advice = f"if the cell is right, {TAKE}; else write again what was told"
    if any(row.values[name].reason is not None for name in changed):
        advice = f"if the value is wrong, exclude trial {trial.number}; write again what was told"
    return f"trial {trial.number} was told as {'; '.join(parts)}; {advice}, or {OWN_ROW}"
