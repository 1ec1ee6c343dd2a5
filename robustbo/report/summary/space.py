"""What an optimization chooses from, in words: its parameters, its constraints, its pool, and who breaks them."""

from typing import Any

from robustbo.searchspace.conditions import condition_text
from robustbo.searchspace.parameters import Choice, Int, Ordinal, Parameter
from robustbo.trials.extent import space_of
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

SHOWN = 10  # values of a parameter, or trials, that a line tells of


def chosen(settings: Settings, history: History) -> dict[str, Any]:
    """What an overview has of constraints and pools, as plain JSON values; nothing where there are none.

    Returns:
        ``constraints``, their texts; ``pool``, how many rows there are and how many have been told; and
        ``breaking``, an object a trial that has a value and breaks a constraint.
    """
    space, found = space_of(settings, history), dict[str, Any]()
    if space.constraints:
        found["constraints"] = space.texts
        broken = [(trial.number, space.broken(trial.params)) for trial in history.having("told")]
        found["breaking"] = [{"trial": number, "constraints": texts} for number, texts in broken if texts]
    if space.is_pool:
        told = {trial.point for trial in history.having("told")}
        found["pool"] = {"rows": space.size, "added": len(history.rows), "told": len(told)}
    return found


def rows(settings: Settings, history: History) -> list[list[str]]:
    """The parameters: name, values, and where each exists, for a page's table."""
    space = space_of(settings, history)
    return [
        [name, values_of(p), f"only where {condition_text(p)}" if p.condition else ""] for name, p in space.parameters
    ]


def values_of(parameter: Parameter) -> str:
    """The values of a parameter, in words.

    Example:
        >>> values_of(Int(1, 64, log=True)), values_of(Int(1, 1)), values_of(Ordinal("low", "high"))
        ('1 to 64, whole, on a log scale', '1 alone', "'low' < 'high'")
    """
    if isinstance(parameter, Choice | Ordinal):
        between = " < " if isinstance(parameter, Ordinal) else ", "
        texts = [repr(value) for value in parameter.values]
        more = f"{between}... ({len(texts)} in all)" if len(texts) > SHOWN else ""
        return between.join(texts[:SHOWN]) + more
    if parameter.count == 1:
        return f"{parameter.low!r} alone"
    step = f" by {parameter.step!r}" if parameter.step is not None else ", whole" if isinstance(parameter, Int) else ""
    return f"{parameter.low!r} to {parameter.high!r}{step}{', on a log scale' if parameter.log else ''}"
