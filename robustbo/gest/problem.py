"""A problem as a VOCS describes it, translated to a space and outcomes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gest_api.vocs import (
    VOCS,
    BoundsConstraint,
    GreaterThanConstraint,
    LessThanConstraint,
    MaximizeObjective,
    MinimizeObjective,
)

from robustbo.gest.variables import parameter_of
from robustbo.searchspace.space import Space
from robustbo.trials.settings import Direction
from robustbo.validation import nearest

ID = "_id"  # gest-api's own key in points and results


@dataclass(frozen=True)
class VocsProblem:
    """A space to search, and the outcomes that are measured.

    Attributes:
        space: The variables.
        direction: Whether the objective is to be small or large.
        objective: Its name.
        constraints: What measured values must hold, by name: gest-api's own constraints.
        constants: What each point has besides.
    """

    space: Space
    direction: Direction
    objective: str
    constraints: dict[str, Any]
    constants: dict[str, Any]


def problem_of(vocs: VOCS, log: Iterable[str] = ()) -> VocsProblem:
    """Translate a VOCS.

    Args:
        vocs: It.
        log: The names of variables that are to be searched on a log scale.

    Raises:
        ValueError: If it asks for what we do not have: anything but one objective that is minimized or maximized,
            variables that are arrays or only observed; or if a name means two things.

    Example:
        >>> problem_of(VOCS(variables={"x": [0, 1]}, objectives={"f": "MAXIMIZE"})).direction
        'maximize'
    """
    _check_names(vocs)
    (objective, kind), *rest = [*vocs.objectives.items()] or [("", None)]
    if rest or kind is None:
        raise ValueError(f"there must be one objective, got {list(vocs.objectives) or 'none'}")
    if not isinstance(kind, MinimizeObjective | MaximizeObjective):
        raise ValueError(f"{objective}: must be MINIMIZE or MAXIMIZE, got {type(kind).__name__}")
    scales = _names(log)
    if wrong := [name for name in scales if name not in vocs.variables]:
        raise ValueError(f"log must name variables, got {wrong[0]!r}{nearest(wrong[0], vocs.variables)}")
    parameters = {name: parameter_of(name, v, is_log=name in scales) for name, v in vocs.variables.items()}
    return VocsProblem(
        Space.from_dict(parameters),
        "maximize" if isinstance(kind, MaximizeObjective) else "minimize",
        objective,
        dict(vocs.constraints),
        {name: constant.value for name, constant in vocs.constants.items()},
    )


def _names(log: Iterable[str]) -> list[str]:
    if isinstance(log, str):
        raise ValueError(f"log must be a list of names of variables, got {log!r}")
    return list(log)


def _check_names(vocs: VOCS) -> None:
    if not vocs.variables:
        raise ValueError("there must be at least one variable, got none")
    inputs = [*vocs.variables, *vocs.constants]
    outputs = {*vocs.objectives, *vocs.constraints, *vocs.observables}
    if ID in (*inputs, *outputs):
        raise ValueError(f"{ID} is the key of a point's identifier; rename your own {ID}")
    if twice := [name for i, name in enumerate(inputs) if name in outputs or name in inputs[:i]]:
        raise ValueError(f"{twice[0]}: a name must be that of a variable, a constant or an output, got two of them")


def in_words(name: str, constraint: Any) -> str:
    """A constraint to read.

    Example:
        >>> in_words("c", LessThanConstraint(value=0.5)), in_words("c", BoundsConstraint(range=[-1, 1]))
        ('c < 0.5', '-1.0 <= c <= 1.0')
    """
    if isinstance(constraint, BoundsConstraint):
        low, high = constraint.range
        return f"{low} <= {name} <= {high}"
    if isinstance(constraint, LessThanConstraint | GreaterThanConstraint):
        return f"{name} {'<' if isinstance(constraint, LessThanConstraint) else '>'} {constraint.value}"
    return f"{name}: {constraint!r}"
