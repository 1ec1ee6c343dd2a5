"""The names that people have given to trials, in an overview's rows: the label "name" of each."""

from collections.abc import Sequence
from typing import Any

from robustbo.trials.identity import title_of
from robustbo.trials.labels import NAME
from robustbo.trials.trial import Trial


def labels_part(trial: Trial) -> dict[str, Any]:
    """The part of a trial's plain values that has its labels; nothing where it has none."""
    return {"labels": dict(trial.labels)} if trial.labels else {}


def title(values: dict[str, Any]) -> str:
    """The trial of plain values, for people."""
    return title_of(values["trial"], values.get("labels", {}).get(NAME))


def with_names(rows: Sequence[dict[str, Any]], values: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of a table with a column of names behind that of trials, where one of the trials has a name.

    Example:
        >>> with_names([{"trial": 3, "at": "x=1"}], [{"trial": 3, "labels": {"name": "Knock Hill"}}])
        [{'trial': 3, 'name': 'Knock Hill', 'at': 'x=1'}]
    """
    names = [of.get("labels", {}).get(NAME) for of in values]
    if all(name is None for name in names):
        return [*rows]
    return [
        {"trial": row["trial"], "name": "" if name is None else str(name)}
        | {k: v for k, v in row.items() if k != "trial"}
        for row, name in zip(rows, names, strict=True)
    ]
