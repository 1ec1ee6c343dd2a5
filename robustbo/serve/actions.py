"""Actions on a trial: tell, fail, withdraw, requeue, exclude, include, amend, measure again.

Each is recorded, and on the disk, before its function returns; or nothing is, and an error says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from robustbo.censored import from_json
from robustbo.serve.bench import Bench
from robustbo.serve.forms import Fields, author_in, labels_in, number_in, row_in, text_in, value_and_noise, values_in
from robustbo.serve.served import ChangedMeanwhile, TrialStamp, stamp
from robustbo.sheets.filled import WITHDRAWN
from robustbo.study.copied import measurement
from robustbo.trials.history import Trial
from robustbo.trials.sources import COMPUTER
from robustbo.trials.values import values_to_record
from robustbo.validation import real

Action = Callable[[Bench, int, Fields], Trial]
REASON = "reason"


def tell_row(bench: Bench, number: int, fields: Fields) -> Trial:
    """Record what was typed in a row of the table; what is recorded already is recorded once.

    Raises:
        ChangedMeanwhile: If somebody else has recorded something else.
        ValueError: If a cell cannot be read, or a value is not possible.
    """
    row = row_in(bench.opt, number, fields)
    try:
        bench.opt.record_row(row)
    except ValueError:
        trial = bench.opt.history[number]
        if not trial.is_open and trial.state != "withdrawn":
            raise ChangedMeanwhile(trial) from None
        raise
    return bench.opt.history[number]


def tell_values(bench: Bench, number: int, fields: Fields) -> Trial:
    """Record what a program has measured, as `Optimizer.tell`; the same once more is recorded once.

    Raises:
        ChangedMeanwhile: If something else is recorded.
        ValueError: If it is no value.
    """
    opt, trial = bench.opt, bench.opt.history[number]
    value = json_value(fields)
    if not trial.is_open and trial.state != "withdrawn":
        now = values_to_record(opt.settings.outcomes, value, None, None)[0]
        if trial.state == "told" and measurement(None, now) == measurement(None, trial.raw_value):
            return trial
        raise ChangedMeanwhile(trial)
    with opt.require(TrialStamp(number, stamp(trial))):
        return opt.tell(number, value, params=fields.get("params"), **json_options(fields))


def json_value(fields: Fields) -> Any:
    """The value in a JSON object: a number, a text as people write it ("3,5", "<0.05"), or these by outcome.

    Raises:
        ValueError: If there is none.
    """
    value = fields.get("value")
    if isinstance(value, Mapping):
        return {str(name): _number(name, of) for name, of in value.items()}
    if value is None:
        raise ValueError('there must be a "value": a number, or, with several outcomes, an object by their names')
    return _number("value", value)


def _number(name: Any, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{name} must be a number, got {value!r}")
    if not isinstance(value, str):
        return real(str(name), value)
    return from_json(value) if value.startswith(("<", ">")) else number_in(str(name), value)


def json_options(fields: Fields) -> dict[str, Any]:
    """The options of `tell` in a JSON object: sd, n, source, measured_at and labels."""
    options = {name: fields[name] for name in ("sd", "n", "source", "measured_at") if fields.get(name) is not None}
    labels = {**labels_in(fields), **(fields.get("labels") or {})}
    return options | ({"labels": labels} if labels else {})


def add_measurement(bench: Bench, fields: Fields) -> Trial:
    """Record a measurement that nobody has asked for, or one more at the point of a trial ("trial").

    Raises:
        ValueError, TypeError: If there is no point, or no value.
    """
    opt = bench.opt
    if text_in(fields, "trial"):
        return _measure_once_more(bench, int(number_in("trial", text_in(fields, "trial"))), fields)
    if not isinstance(fields.get("params"), Mapping):
        raise ValueError('there must be "params", an object of the parameters, and a "value"')
    return opt.tell(fields["params"], json_value(fields), **json_options(fields))


def _measure_once_more(bench: Bench, number: int, fields: Fields) -> Trial:
    """Record what was typed as one more measurement of a trial's point, by the same source unless another was typed."""
    opt, trial, row = bench.opt, bench.opt.history[number], row_in(bench.opt, number, fields)
    own = {kind: label for kind, label in trial.sources.items() if kind != COMPUTER}
    origin: dict[str, Any] = {"source": {**own, **row.sources}, "labels": row.labels}
    reasons = [cell.reason for cell in row.values.values() if cell.reason is not None]
    if len(reasons) == len(row.values):
        if all(map(WITHDRAWN.match, reasons)):
            raise ValueError(f"there is no trial to withdraw: trial {number} has ended")
        return opt.fail(trial.target_params, "; ".join(dict.fromkeys(reasons)), **origin)
    value, sd = value_and_noise(row)
    return opt.tell(trial.target_params, value, sd=sd, **origin)


def fail(bench: Bench, number: int, fields: Fields) -> Trial:
    """Record that a trial gave no value, and why."""
    retry = {"flake": True, "point": False}.get(text_in(fields, "because"))
    reason = _reason(fields, "it failed")
    return bench.opt.fail(number, reason, retry=retry, labels=labels_in(fields) or None)


def withdraw(bench: Bench, number: int, fields: Fields) -> Trial:
    """Record that nobody will measure a trial, and why."""
    return bench.opt.withdraw(number, _reason(fields, "nobody will measure it"))


def requeue(bench: Bench, number: int, fields: Fields) -> Trial:
    """Let a trial wait again, for the next ask to give it out."""
    return bench.opt.requeue(number)[0]


def exclude(bench: Bench, number: int, fields: Fields) -> Trial:
    """Record that a value is wrong, and why."""
    return bench.opt.exclude(number, outcome=_outcome(fields), reason=_reason(fields, "it is wrong"))


def include(bench: Bench, number: int, fields: Fields) -> Trial:
    """Vouch for a value, and say why."""
    return bench.opt.include(number, outcome=_outcome(fields), reason=_reason(fields, "it is right"))


def amend(bench: Bench, number: int, fields: Fields) -> Trial:
    """Correct a value, and say why."""
    if isinstance(fields.get("value"), Mapping | int | float | str):
        value, sd = json_value(fields), fields.get("sd")
    else:
        value, sd = values_in(bench.opt, fields)
    return bench.opt.amend(number, value, sd=sd, reason=_reason(fields, "it was a slip"))


def measure_again(bench: Bench, number: int, fields: Fields) -> Trial:
    """Let the point of a trial wait to be measured again by its source; the next ask gives it out."""
    reason = _reason(fields, "the value is in doubt")
    text = f"trial {number} again: {reason}"
    opt, trial = bench.opt, bench.opt.history[number]
    source = trial.source if opt.settings.sources else None
    return opt.enqueue(trial.target_params, labels={"why": text} | labels_in(fields), source=source)[0]


def _reason(fields: Fields, claim: str) -> str:
    """The reason that was typed, with who says so.

    Raises:
        ValueError: If there is none.
    """
    reason, author = text_in(fields, REASON), author_in(fields)
    if not reason:
        raise ValueError(f"say why {claim}: the reason is kept with the trial")
    return f"{reason} ({author})" if author else reason


def _outcome(fields: Fields) -> str | None:
    return text_in(fields, "outcome") or None


ACTIONS: dict[str, Action] = {
    "tell": tell_row,
    "fail": fail,
    "withdraw": withdraw,
    "requeue": requeue,
    "exclude": exclude,
    "include": include,
    "amend": amend,
    "measure-again": measure_again,
}


def stamp_in(number: int, fields: Fields) -> TrialStamp | None:
    """The trial as whoever does something to it saw it; None where a form does not say."""
    text = text_in(fields, "seen")
    return TrialStamp(number, text) if text else None


def act(bench: Bench, action: str, number: int, fields: Fields, *, is_program: bool) -> Trial:
    """Do something to a trial, unless it is not as whoever does it saw it ("seen").

    Raises:
        ChangedMeanwhile: If it is not.
        ValueError, TypeError, RobustBOError: If it cannot be done; nothing is recorded then.
    """
    if action == "tell":  # which looks by itself
        return (tell_values if is_program else tell_row)(bench, number, fields)
    with bench.opt.require(stamp_in(number, fields)):
        return ACTIONS[action](bench, number, fields)
