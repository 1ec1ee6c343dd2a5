"""Methods compared on bbob-noisy, each with its defaults, asked for a point at a time in [-5, 5]^d.

    default      `robustbo.Optimizer`; it recommends `best()`
    standard     the same with a plain Gaussian process
    optuna-gp    Optuna's GPSampler, told that values have noise; it recommends the best measured point
    ax           Ax's default strategy; it recommends as `get_best_parameterization` does
    cma          pycma, first step size 2, from a point drawn in [-4, 4]^d, without its noise handling (which measures
                 again what a budget of 20 d does not have), begun anew with twice the population where it stops; it
                 recommends the mean of its distribution (`xfavorite`)
    random       points drawn uniformly; it recommends the best measured point

Libraries are imported where a method needs them, so that each can be recorded without those of the others.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from robustbo import Float, Optimizer, Space, seeds

LOW, HIGH = -5.0, 5.0
SIGMA, BEGINS_WITHIN = 2.0, 4.0  # of CMA-ES, as COCO's examples have it for this box
METRIC = "value"


class Method(Protocol):
    """Method that proposes points, is told their values, and recommends one."""

    def ask(self) -> list[float]:
        """The next point."""

    def tell(self, value: float) -> None:
        """Take the value measured there."""

    def recommendation(self) -> list[float]:
        """The point that is believed to be best now."""


def space(dimension: int) -> Space:
    """The box."""
    return Space(**{f"x{i}": Float(LOW, HIGH) for i in range(dimension)})


def row(params: Any) -> list[float]:
    """The coordinates of a point that is given by name."""
    return [float(params[f"x{i}"]) for i in range(len(params))]


class Ours:
    """Our optimizer."""

    def __init__(self, dimension: int, seed: int, surrogate: Any = "auto") -> None:
        self._optimizer = Optimizer(space(dimension), direction="minimize", surrogate=surrogate, seed=seed)

    def ask(self) -> list[float]:
        """Point of the next trial."""
        self._trial = self._optimizer.ask()
        return row(self._trial.params)

    def tell(self, value: float) -> None:
        """The trial's value."""
        self._optimizer.tell(self._trial, value)

    def recommendation(self) -> list[float]:
        """Best point of the study."""
        return row(self._optimizer.best().trial.params)


class Optuna:
    """A study with GPSampler."""

    def __init__(self, dimension: int, seed: int) -> None:
        import optuna

        from robustbo.replay.cells.optuna import distribution

        sampler = optuna.samplers.GPSampler(seed=seed, deterministic_objective=False)
        self._study = optuna.create_study(sampler=sampler)
        self._space = {name: distribution(parameter) for name, parameter in space(dimension).parameters}

    def ask(self) -> list[float]:
        """The sampler's point."""
        self._trial = self._study.ask(self._space)
        return row(self._trial.params)

    def tell(self, value: float) -> None:
        """Complete the trial."""
        self._study.tell(self._trial, value)

    def recommendation(self) -> list[float]:
        """The point of the best value."""
        return row(self._study.best_trial.params)


class Ax:
    """Ax's client with its own strategy; where that gives no point, one is drawn."""

    def __init__(self, dimension: int, seed: int) -> None:
        from robustbo.ax import client_for, complete

        self._complete, self._draw, self._dimension = complete, np.random.default_rng(seed), dimension
        self._client = client_for(space(dimension), "minimize", METRIC, seed=seed)
        self._client.configure_generation_strategy(initialization_random_seed=seed)

    def ask(self) -> list[float]:
        """The strategy's point."""
        try:
            ((self._index, params),) = self._client.get_next_trials(max_trials=1).items()
        except Exception:  # of Ax, BoTorch or PyTorch: it is theirs, and as many kinds as there are causes
            point = self._draw.uniform(LOW, HIGH, self._dimension)
            params = {f"x{i}": float(coordinate) for i, coordinate in enumerate(point)}
            self._index = self._client.attach_trial(params)
        return row(params)

    def tell(self, value: float) -> None:
        """Complete the trial."""
        self._complete(self._client, self._index, {METRIC: value})

    def recommendation(self) -> list[float]:
        """The point that Ax recommends."""
        return row(self._client.get_best_parameterization()[0])


class Cma:
    """The covariance matrix adaptation evolution strategy, a generation of points after another."""

    def __init__(self, dimension: int, seed: int) -> None:
        self._draw, self._dimension = np.random.default_rng(seed), dimension
        self._favorite: list[float] | None = None
        self._values: list[float] = []
        self._begin(None)

    def _begin(self, population: int | None) -> None:
        import cma

        options = {"bounds": [LOW, HIGH], "seed": int(self._draw.integers(1, 2**31)), "verbose": -9}
        options |= {} if population is None else {"popsize": population}
        start = self._draw.uniform(-BEGINS_WITHIN, BEGINS_WITHIN, self._dimension)
        self._strategy = cma.CMAEvolutionStrategy(start, SIGMA, options)
        self._favorite = start.tolist() if self._favorite is None else self._favorite
        self._generation, self._values = self._strategy.ask(), []

    def ask(self) -> list[float]:
        """The next of the generation."""
        return [float(coordinate) for coordinate in self._generation[len(self._values)]]

    def tell(self, value: float) -> None:
        """Take a value; a whole generation moves the distribution."""
        self._values.append(value)
        if len(self._values) < len(self._generation):
            return
        self._strategy.tell(self._generation, self._values)
        self._favorite = [float(coordinate) for coordinate in self._strategy.result.xfavorite]
        if self._strategy.stop():
            self._begin(2 * self._strategy.popsize)
        else:
            self._generation, self._values = self._strategy.ask(), []

    def recommendation(self) -> list[float]:
        """The mean of the distribution after the last whole generation, where it began before the first."""
        assert self._favorite is not None
        return self._favorite


class Random:
    """Uniform search."""

    def __init__(self, dimension: int, seed: int) -> None:
        self._draw, self._dimension = np.random.default_rng(seed), dimension
        self._told: list[tuple[float, list[float]]] = []

    def ask(self) -> list[float]:
        """Any point."""
        self._point: list[float] = self._draw.uniform(LOW, HIGH, self._dimension).tolist()
        return self._point

    def tell(self, value: float) -> None:
        """Keep it."""
        self._told.append((value, self._point))

    def recommendation(self) -> list[float]:
        """The point of the best value."""
        return min(self._told)[1]


METHODS: dict[str, Callable[[int, int], Method]] = {
    "default": Ours,
    "standard": lambda dimension, seed: Ours(dimension, seed, "standard"),
    "optuna-gp": Optuna,
    "cma": Cma,
    "random": Random,
    "ax": Ax,
}
LIBRARIES = {"optuna-gp": "optuna", "cma": "cma", "ax": "ax-platform"}  # that a method needs besides ours


def start_method(name: str, key: Sequence[int]) -> Method:
    """A method at the beginning of a cell; all methods of a cell have one seed."""
    function, dimension, instance = key
    return METHODS[name](dimension, seeds.derive(0, instance, f"bbob-noisy f{function} d{dimension}") % 2**31)
