"""A problem of COCO's bbob-noisy, the severe noise of f107 to f130, and what its values would be without noise.

Eight functions, each with three kinds of noise: Gaussian (the distance to the optimum times exp of a standard normal
number), uniform (times factors of up to 1e9), and Cauchy (1,000 added, and to one value in five a Cauchy number too).
All three of a function are the same without noise, so what a point is worth is read off the Cauchy one, where about
four values in five are exact: it is evaluated until a value comes a third time.

Noise comes from counters of the whole process, which a new `cocoex.Suite` sets back. So a problem begins with a suite
of its own, and lets as many draws pass as the problems before it may take: a cell sees the same noise whenever it is
run, and no two of a kind of noise see the same. What a point is worth is asked for when all is measured, since that
draws too.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

try:
    import cocoex
except ImportError as error:
    raise SystemExit("bbob-noisy needs cocoex, got none: pip install coco-experiment") from error

KINDS = ("gaussian", "uniform", "cauchy")
BASES = {  # the first of three functions, and the one of "bbob" with the same optimum
    107: (1, "sphere"),
    110: (8, "Rosenbrock"),
    113: (7, "step ellipsoid"),
    116: (10, "ellipsoid"),
    119: (14, "different powers"),
    122: (17, "Schaffer F7"),
    125: (19, "Griewank-Rosenbrock"),
    128: (21, "Gallagher, 101 peaks"),
}
FUNCTIONS = range(107, 131)
DIMENSIONS = (2, 3, 5)
INSTANCES = range(1, 16)
BUDGET = 20  # evaluations a dimension
ADDED = 1000.0  # by Cauchy noise to every value
EPSILON = 1.01e-8  # by every noise
AGREED = 3  # equal values of a Cauchy function are its value without noise
MOST = 1000  # evaluations until then: three of them come among ten with probability 0.9999


def kind_of(function: int) -> str:
    """The noise of a function."""
    return KINDS[(function - FUNCTIONS[0]) % 3]


def base_of(function: int) -> int:
    """The first of the three functions that are the same without noise."""
    return function - (function - FUNCTIONS[0]) % 3


class NoisyProblem:
    """A function in a dimension, an instance of it; a number a call.

    Args:
        function: 107 to 130.
        dimension: 2, 3 or 5.
        instance: 1 to 15.
    """

    def __init__(self, function: int, dimension: int, instance: int) -> None:
        for name, value, allowed in (
            ("function", function, FUNCTIONS),
            ("dimension", dimension, DIMENSIONS),
            ("instance", instance, INSTANCES),
        ):
            if value not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(map(str, allowed))}, got {value}")
        exact = base_of(function) + KINDS.index("cauchy")
        sphere = FUNCTIONS[0] + KINDS.index(kind_of(function))
        indices = ",".join(str(number - 100) for number in sorted({function, exact, sphere}))
        self._suite = suite(f"function_indices:{indices} dimensions:{dimension} instance_indices:{instance}")
        get = self._suite.get_problem_by_function_dimension_instance
        self._problem, self._exact, cheap = (get(number, dimension, instance) for number in (function, exact, sphere))
        self.dimension, self.key = dimension, (function, dimension, instance)
        self.optimum, self.best = optimum(function, dimension, instance)
        for _ in range(self.num_passed_over()):
            cheap(self.best)

    def num_passed_over(self) -> int:
        """Number of evaluations of its kind of noise that are passed over, one after another as the problems are."""
        function, dimension, instance = self.key
        before = list(BASES).index(base_of(function))
        place = (before * len(DIMENSIONS) + DIMENSIONS.index(dimension)) * len(INSTANCES) + instance - 1
        return place * BUDGET * max(DIMENSIONS)

    def __call__(self, x: Sequence[float]) -> float:
        """The measured value."""
        return float(self._problem(np.asarray(x, dtype=float)))

    def precision(self, x: Sequence[float]) -> float:
        """Distance of the value without noise above the optimum's; it draws from what is noise."""
        counts: Counter[float] = Counter()
        for _ in range(MOST):
            value = float(self._exact(np.asarray(x, dtype=float)))
            counts[value] += 1
            if counts[value] == AGREED:
                return max(value - ADDED - EPSILON - self.optimum, 0.0)
        raise RuntimeError(f"no value came {AGREED} times among {MOST} of the Cauchy function of {self.key} at {x}")


def suite(options: str) -> "cocoex.Suite":
    """A suite of bbob-noisy, which sets the noise back to where it begins in a new process."""
    return cocoex.Suite("bbob-noisy", "", options)


def optimum(function: int, dimension: int, instance: int) -> tuple[float, np.ndarray]:
    """The smallest value without noise, and where it is, by the noise-free suite, whose optima are the same."""
    bare = cocoex.BareProblem("bbob", BASES[base_of(function)][0], dimension, instance)
    return float(bare.best_value()), np.array(bare.best_parameter())


def write_coco_files(name: str, points: Iterator[tuple[tuple[int, int, int], Sequence[Sequence[float]]]]) -> str:
    """COCO's own files of points in the order of their evaluation, for cocopp; the folder that they are in.

    Its logger keeps values without noise, so these are the files of the run that the points are from.

    Args:
        name: The algorithm's, and the folder's in exdata.
        points: By function, dimension and instance, in this order.
    """
    observer = cocoex.Observer("bbob-noisy", f"result_folder:{name} algorithm_name:{name}")
    full_suite = suite(f"dimensions:{','.join(map(str, DIMENSIONS))}")
    for key, evaluated in points:
        problem = full_suite.get_problem_by_function_dimension_instance(*key, observer)
        for x in evaluated:
            problem(np.asarray(x, dtype=float))
        problem.free()
    return str(observer.result_folder)
