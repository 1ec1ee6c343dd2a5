"""The search space as plain values: its parameters, its constraints, its pool, and the trials that break them."""

from typing import Any

from robustbo.searchspace.conditions import condition_text
from robustbo.searchspace.parameters import Choice, Int, Ordinal, Parameter
from robustbo.view.view import View

SHOWN = 10  # values of a parameter, or trials, that a line tells of


def space_values(view: View) -> dict[str, Any]:
    """The part of an overview on constraints and pools, as plain JSON values; nothing where there are none.

    Returns:
        ``constraints``, their texts; ``pool``, how many rows there are and how many have been told; and
        ``breaking``, an object a trial that has a value and breaks a constraint; and ``outside``, the trials that were
        measured where the space does not allow it, where there are some.
    """
    space, told, values = view.space, [*view.of_target.having("told")], dict[str, Any]()
    if space.constraints:
        values["constraints"] = space.texts
        broken = [(trial.number, space.broken(trial.params)) for trial in told]
        values["breaking"] = [{"trial": number, "constraints": texts} for number, texts in broken if texts]
    if space.is_pool:
        points = {trial.point for trial in told}
        values["pool"] = {"rows": space.size, "added": len(view.history.rows), "told": len(points)}
    outside = [trial.number for trial in told if space.why_outside(trial.params) is not None]
    return values | ({"outside": outside} if outside else {})


def parameter_rows(view: View) -> list[list[str]]:
    """The parameters: name, values, and where each exists, for a page's table."""
    parameters = view.space.parameters
    return [[name, values_of(p), f"only where {condition_text(p)}" if p.condition else ""] for name, p in parameters]


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
