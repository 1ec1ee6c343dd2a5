"""Labels of trials: names, notes, lot numbers, what else a row of a table has; for people, no model sees them."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from robustbo import limits
from robustbo.validation import plain_scalar

Label = str | int | float | bool
LABEL = "label."  # how columns of labels begin
NAME = "name"  # the label by which reports call a trial


def read_labels(labels: Mapping[str, Any] | None) -> dict[str, Label]:
    """Labels as a journal keeps them; those that are missing (None, NaN, empty) are left out.

    Raises:
        TypeError, ValueError: If they are no mapping of names to texts, numbers or booleans, or too many or too long.

    Example:
        >>> read_labels({"name": "Knock Hill", "lot": 7, "note": None, "day": date(2026, 11, 28)})
        {'name': 'Knock Hill', 'lot': 7, 'day': '2026-11-28'}
    """
    if labels is None:
        return {}
    if not isinstance(labels, Mapping) or not all(isinstance(name, str) and name.strip() for name in labels):
        raise TypeError(f'labels must be a mapping of names, such as {{"lot": 7, "note": "cloudy"}}, got {labels!r}')
    values = {name.strip(): value for name, cell in labels.items() if (value := _label(name, cell)) is not None}
    if len(values) > limits.LABELS:
        raise ValueError(f"labels must be at most {limits.LABELS}, got {len(values)}; keep the others elsewhere")
    return values


def _label(name: str, cell: Any) -> Label | None:
    value = plain_scalar(cell)
    if value is None or value != value or str(value).strip() in ("", "NaT", "<NA>"):  # NaN differs from itself
        return None
    if isinstance(value, date):
        value = value.isoformat()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:  # as of a column with empty cells
        value = int(value)
    if isinstance(value, float) and value in (float("inf"), -float("inf")):
        value = str(value)
    if not isinstance(value, Label):
        raise TypeError(f"the label {name!r} must be text, a number or a boolean, got {cell!r}")
    if isinstance(value, int) and abs(value) > 2**53:
        value = str(value)
    if max(len(name), len(str(value))) > limits.LABEL_CHARACTERS:
        raise ValueError(f"the label {name!r} must have at most {limits.LABEL_CHARACTERS} characters")
    return value


def label_columns(trials: Sequence[Any]) -> dict[str, list[Label | None]]:
    """The columns of labels that some trial has."""
    names = dict.fromkeys(name for trial in trials for name in trial.labels)
    return {LABEL + name: [trial.labels.get(name) for trial in trials] for name in names}
