"""Results as loops give them back: whose they are, and what became of the evaluation."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pandas as pd

from robustbo.foreign.frame_json import number_in_json
from robustbo.gest.problem import ID, VocsProblem, in_words
from robustbo.searchspace.parameters import Choice, Value
from robustbo.trials.declared import Declared, check_source_name, source_in
from robustbo.trials.history import History, Trial
from robustbo.trials.source_space import own_values
from robustbo.trials.sources import labels_to_record
from robustbo.validation import plain_scalar, real

REASON = 2000  # characters of an error that are kept: its end, where the exception is
SHOWN = 20  # results that an error tells of
NEARLY = 1e-6  # of a variable's range and value: what is left of a point after 32 bits


@dataclass(frozen=True)
class Result:
    """The result of one evaluation.

    Attributes:
        number: Of the trial that it is of; None for a point that was not suggested here.
        params: The point.
        kind: "tell" where there is a value, "fail" where there is none.
        content: The value, or the reason.
    """

    number: int | None
    params: dict[str, Value]
    kind: Literal["tell", "fail"]
    content: dict[str, Any]


def rows_of(results: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The results as a list, checked to be dicts.

    Raises:
        TypeError: If it is no list of dicts.
    """
    if isinstance(results, str | Mapping | pd.DataFrame) or not isinstance(results, Iterable):
        raise TypeError(f"results must be a list of dicts, got {type(results).__name__}")
    rows = list(results)
    if wrong := [row for row in rows if not isinstance(row, Mapping)]:
        raise TypeError(f"results must be a list of dicts, got {wrong[0]!r} in it")
    return rows


def results_of(
    problem: VocsProblem,
    history: History,
    rows: Sequence[Mapping[str, Any]],
    kinds: Sequence[str] = (),
    declared: Declared = (),
) -> list[Result]:
    """The results in a list of dicts.

    Args:
        problem: What is optimized.
        history: All trials.
        rows: The dicts.
        kinds: The keys that say what measured a result, each a kind of source.
        declared: The sources that are declared; a result without an identifier may be of another than the target.

    Raises:
        ValueError: If any breaks a rule; the message tells of each.
    """
    results, errors = list[Result](), list[str]()
    for place, row in enumerate(rows):
        try:
            labels = labels_to_record({kind: row.get(kind) for kind in kinds})
            result = _read(problem, history, row, labels, declared)
            results.append(replace(result, content={**result.content, "source": labels}) if labels else result)
        except (ValueError, TypeError) as error:
            errors.append(f"result {place}: {error}")
    if errors:
        more = [f"... and {len(errors) - SHOWN} more"] if len(errors) > SHOWN else []
        told = "\n".join([*errors[:SHOWN], *more])
        raise ValueError(f"{len(errors)} of {len(rows)} results break a rule, and robustbo recorded none:\n{told}")
    return results


def _read(
    problem: VocsProblem, history: History, row: Mapping[str, Any], labels: Mapping[str, str], declared: Declared
) -> Result:
    check_source_name(declared, labels)
    if (number := _identifier(row.get(ID))) is not None:
        if (source := source_in(declared, labels)) is not None:
            raise ValueError(f"a point that was suggested is the target's, got {ID} {number} of source {source!r}")
        trial = _suggested_trial(history, number)
        return Result(number, _measured_place(problem, trial, row), *_outcome(problem, row))
    return Result(
        None, problem.space.measured_point(_own_place(problem, row, labels, declared)), *_outcome(problem, row)
    )


def _own_place(
    problem: VocsProblem, row: Mapping[str, Any], labels: Mapping[str, str], declared: Declared
) -> Mapping[str, Any]:
    """The variables of a result that was not suggested; those that its source does not have are as this says."""
    own, names = own_values(declared, labels), problem.space.names
    params = {name: row[name] for name in names if name in row and not (name in own and is_missing(row[name]))}
    params = {**own, **params}
    if missing := [name for name in names if name not in params]:
        raise ValueError(f"a result without {ID} must have every variable, {missing} is missing in {dict(row)}")
    return params


def _identifier(cell: Any) -> int | None:
    """A trial's number; a data frame that has some makes numbers with a point of them, and fills up with NaN."""
    plain = plain_scalar(cell)
    if is_missing(plain):
        return None
    if isinstance(plain, bool | str) or not isinstance(plain, int | float) or plain % 1:
        raise ValueError(f"{ID} must be a whole number, or missing, got {cell!r}")
    return int(plain)


def _suggested_trial(history: History, number: int) -> Trial:
    if 0 <= number < len(history) and history[number].handouts:
        return history[number]
    raise ValueError(
        f"{ID} must be that of a point that this generator suggested, got {number}; leave {ID} out for points of others"
    )


def _measured_place(problem: VocsProblem, trial: Trial, row: Mapping[str, Any]) -> dict[str, Value]:
    """The point of a result: that suggested, or where it was measured, if that differs by more than is lost on the way.

    Raises:
        ValueError: If a choice is another than was suggested: that is no reading, but another point.
    """
    place = dict(trial.target_params)
    for name, parameter in problem.space.parameters:
        value = plain_scalar(row.get(name))
        if is_missing(value):
            continue
        suggested: Any = trial.target_params[name]
        if parameter.interval is None:
            is_there = value == suggested
        else:
            low, high = parameter.interval
            far = min(abs(real(name, value) - place) for place in (suggested, number_in_json(suggested)))
            is_there = far <= NEARLY * (high - low + abs(suggested))
        if not is_there and isinstance(parameter, Choice):
            raise ValueError(
                f"{name} must be {suggested!r}, as suggested with {ID} {trial.number}, got {value!r}; "
                f"leave {ID} out if another point was measured"
            )
        if not is_there:
            place[name] = value
    return problem.space.measured_point(place)


def _outcome(problem: VocsProblem, row: Mapping[str, Any]) -> tuple[Literal["tell", "fail"], dict[str, Any]]:
    """The kind and content of the event that an evaluation ends with."""
    name, error = problem.objective, plain_scalar(row.get("xopt_error"))
    if not is_missing(error) and error:
        text = row.get("xopt_error_str")
        return "fail", {"reason": text.strip()[-REASON:] if isinstance(text, str) and text.strip() else "xopt_error"}
    value = plain_scalar(row.get(name))
    if name not in row or value is None or value is pd.NA:
        return "fail", {"reason": f"no value of {name}"}
    measured = real(name, value)
    if not math.isfinite(measured):
        return "fail", {"reason": f"{name} is {measured}"}
    for constrained, constraint in problem.constraints.items():
        if constrained not in row:
            raise ValueError(f"{constrained}: a result must have the value of every constraint, got {sorted(row)}")
        bound = plain_scalar(row[constrained])
        if is_missing(bound):
            return "fail", {"reason": f"no value of {constrained}; {name} is {measured}"}
        if not constraint.check(real(constrained, bound)):
            reason = f"breaks {in_words(constrained, constraint)}: {constrained} is {bound}, {name} is {measured}"
            return "fail", {"reason": reason, "retry": False}
    return "tell", {"value": measured, "sd": None}


def is_missing(value: Any) -> bool:
    """Return whether a scalar stands for none: None, NaN, or pandas' NA.

    Example:
        >>> is_missing(float("nan")), is_missing(0), is_missing([])
        (True, False, False)
    """
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))
