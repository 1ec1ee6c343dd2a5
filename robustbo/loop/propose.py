"""The new point that a fitted surrogate proposes: where the acquisition function is greatest, and nobody measures."""

from collections.abc import Callable

from robustbo.loop.acquisition import next_point, values_at
from robustbo.loop.distinct import free_points, is_taken
from robustbo.loop.fit import Fitted
from robustbo.loop.ladder import finite
from robustbo.loop.observations import Data, Row
from robustbo.loop.viability import Viability
from robustbo.searchspace.encoding import decode
from robustbo.searchspace.parameters import Value


def propose(
    acquisition: str, data: Data, fitted: Fitted, viability: Viability | None, seed: Callable[[str], int]
) -> dict[str, Value]:
    """What maximizes the acquisition function; the best of some others, where that is being measured.

    Args:
        acquisition: The function's name.
        data: All trials; the values of those that are pending or quarantined are unknown to the model.
        fitted: The surrogate.
        viability: Where trials give a value; None where none has failed.
        seed: Of each purpose.
    """
    space = data.space
    unknown, drawn = unknown_rows(data, fitted), seed("acquisition")
    x = next_point(acquisition, fitted, viability, unknown, drawn)
    finite(*x.tolist())
    point = space.from_unit(decode(space, x.unsqueeze(0))[0])
    if not is_taken(data, point):
        return point
    others = free_points(space, {trial.point for trial in (*data.pending, *data.barred)}, seed("others"))
    found = values_at(acquisition, fitted, viability, unknown, drawn, [space.to_unit(other) for other in others])
    return others[int(found.argmax())]


def unknown_rows(data: Data, fitted: Fitted) -> list[Row]:
    """Where something is measured whose value the surrogate does not know."""
    return data.rows_of([*(trial.number for trial in data.pending), *fitted.quarantined])
