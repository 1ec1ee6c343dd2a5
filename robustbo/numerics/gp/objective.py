"""The height that a search for hyperparameters climbs, and the search itself: alike for every model of observations.

Notation (no batch dimensions: a search is one search):
    x   m  coordinates
    F      height, a log posterior density
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import torch
from torch import Tensor

from robustbo.numerics.gp.ascent import Ascent, Point, ascend, ascend_by_gradient

S = TypeVar("S")


class Evaluation(Protocol):
    """The height of a model at some x, and whatever else it computes there; -inf where it cannot be had."""

    @property
    def F(self) -> float:
        """Height."""

    @property
    def x(self) -> Tensor:
        """``m`` coordinates."""


V = TypeVar("V", bound=Evaluation)


@dataclass(frozen=True)
class Objective(Generic[V]):
    """A height as a function of x, and its derivatives.

    Attributes:
        bounds: A pair a coordinate.
        evaluate: From x, and an evaluation nearby (None at a cold start), to the evaluation there.
        slopes: The gradient of F at an evaluation.
        information: The information matrix there, see `ascent`; None where nobody knows it.
    """

    bounds: Sequence[tuple[float, float]]
    evaluate: Callable[[Tensor, V | None], V]
    slopes: Callable[[V], Tensor]
    information: Callable[[V], Tensor] | None = None


def climb(objective: Objective[V], begin: V, *, ftol: float, maxiter: int = 200) -> Ascent:
    """Climb from an evaluation: by the information where it is known, else by the gradient alone.

    Each step is evaluated from the last place whose derivatives were asked for.

    Args:
        objective: What is climbed.
        begin: Where; moved within the bounds.
        ftol: Rise of F at which the climb stops, as in `ascent.ascend`.
        maxiter: Most steps.
    """
    last = begin

    def at(x: Tensor) -> Point:
        value = begin if torch.equal(x, begin.x) else objective.evaluate(x, last)

        def derivatives() -> tuple[Tensor, Tensor]:
            nonlocal last
            last = value
            slopes = objective.slopes(value)
            return slopes, slopes[:0] if objective.information is None else objective.information(value)

        return Point(value.F, derivatives, value)

    climb_within = ascend_by_gradient if objective.information is None else ascend
    return climb_within(at, begin.x, *begin.x.new_tensor(objective.bounds).T, ftol=ftol, maxiter=maxiter)


def search(objective: Objective[V], starts: Iterable[Tensor], *, rough: float, fine: float) -> Ascent:
    """The highest of the maxima that the starts lead to; ``rough`` and ``fine`` are as ``ftol``."""

    def climb_on(best: Ascent) -> Ascent:
        end = climb(objective, best.value, ftol=fine)
        return end._replace(num_evaluations=end.num_evaluations - 1)  # it begins where the other ended

    return highest(starts, lambda x: climb(objective, objective.evaluate(x, None), ftol=rough), climb_on)


def highest(starts: Iterable[S], rough: Callable[[S], Ascent], fine: Callable[[Ascent], Ascent]) -> Ascent:
    """Climb from several places, and from the highest end on.

    Args:
        starts: Where to begin; of several ends of one height, that of the first counts.
        rough: A climb from a start.
        fine: A climb from the end of another.

    Returns:
        The end of the fine climb, with the evaluations of all.
    """
    climbs = [rough(start) for start in starts]
    end = fine(max(climbs, key=lambda climb: climb.F))
    return end._replace(num_evaluations=sum(climb.num_evaluations for climb in (*climbs, end)))
