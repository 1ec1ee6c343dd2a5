"""Common part of all peers: the study as it was begun, and the trials so far."""

from typing import Any

Point = dict[str, Any]


class Base:
    """A peer that keeps its trials, and recommends the best measured point unless it overrides that.

    Args:
        message: The message "begin".

    Attributes:
        space: Parameters by name.
        constraints: Linear ones, each coefficients by name and a constant.
        direction: "minimize" or "maximize".
        sign: 1 where less is better, -1 where more is.
        seed: Of 31 bits.
        budget: Number of trials that there will be.
        trials: Points and values so far, None of a trial that failed.
    """

    def __init__(self, message: dict[str, Any]) -> None:
        self.space: dict[str, dict[str, Any]] = message["space"]
        self.constraints: list[Any] = message.get("constraints", [])
        self.direction: str = message["direction"]
        self.sign = -1.0 if self.direction == "maximize" else 1.0
        self.seed: int = message["seed"]
        self.budget: int = message["budget"]
        self.trials: list[tuple[Point, float | None]] = []
        self._old: list[tuple[Point, float]] = message.get("old", [])

    @property
    def old_study(self) -> tuple[list[Point], list[float]]:
        """Points of an old study, and their costs; none where there is no such study."""
        return [point for point, _ in self._old], [self.sign * value for _, value in self._old]

    def tell(self, point: Point, value: float | None) -> None:
        """Keep a trial."""
        self.trials.append((point, value))

    def recommend(self) -> Point:
        """The point of the best value; the first where there is no value."""
        points = self.measured_points
        return min(points, key=lambda pair: pair[1])[0] if points else self.trials[0][0]

    @property
    def measured_points(self) -> list[tuple[Point, float]]:
        """Points with their costs: values of which less is better."""
        return [(point, self.sign * value) for point, value in self.trials if value is not None]

    @property
    def worst(self) -> float:
        """The worst cost so far, 0 of none: what a failed trial is told as where a library has no word for that."""
        return max((cost for _, cost in self.measured_points), default=0.0)

    @property
    def costs(self) -> list[tuple[Point, float]]:
        """Points with their costs, those of failed trials included; none before anything is measured."""
        if not self.measured_points:
            return []
        worst = self.worst
        return [(point, worst if value is None else self.sign * value) for point, value in self.trials]


def num_initial(dimensions: int) -> int:
    """Number of first points where a library leaves it to its user: 2 (d + 1), from 5 to 20, as ours has it."""
    return min(max(5, 2 * (dimensions + 1)), 20)
