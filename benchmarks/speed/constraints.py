"""Cost of many constraints: an ask with some beside one without any, at the same history.

Ten parameters, and constraints at random around a point that keeps them, other ones in each repeat. Both decide on the
same history of points that keep the constraints, in turn, one thread, each with its own last fits; seconds of the
processor. "points" is what the first initial points of a new region take, "first" an ask that fits from nothing.

    python -m benchmarks.speed.constraints --counts 1 10 30 60 --out runs/spaces/constraints.csv
"""

import random
import statistics
import time
from pathlib import Path
from typing import Any

import torch

import robustbo as rb
from benchmarks.common.parsers import parser_of
from benchmarks.common.tables import put_in
from robustbo.loop.decide import step
from robustbo.loop.surrogate.cache import FitCache
from robustbo.searchspace.region.factory import region_of
from robustbo.searchspace.region.sampling import sobol_points
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo_problems.synthetic import levy

LEVY = levy(10)
NAMES = LEVY.space.names
BOX = {name: rb.Float(0, 1) for name in NAMES}
NEAR = 0.1  # how far the boundary of each is from the point around which they lie
NUM_INITIAL = 5


def linear(rng: random.Random, witness: dict[str, float]) -> str:
    """A half space, at a distance from a point."""
    slopes = {name: rng.gauss(0, 1) for name in NAMES}
    size = sum(slope**2 for slope in slopes.values()) ** 0.5
    bound = sum(slope * witness[name] for name, slope in slopes.items()) / size + NEAR
    return " + ".join(f"{slope / size:.6f} * {name}" for name, slope in slopes.items()) + f" <= {bound:.6f}"


def nonlinear(rng: random.Random, witness: dict[str, float]) -> str:
    """A quadratic form of three parameters with a product and a quotient, likewise."""
    a, b, c = rng.sample(NAMES, 3)
    center, sign = rng.random(), rng.choice((-1, 1))
    left = f"({a} - {center:.3f})**2 + {sign} * {b} * {c} - {a} / (1 + {c}**2)"
    (x, y, z) = (witness[name] for name in (a, b, c))
    value = (x - round(center, 3)) ** 2 + sign * y * z - x / (1 + z**2)
    return f"{left} <= {value + NEAR:.6f}"


def texts_of(kind: str, count: int, seed: int) -> list[str]:
    """The constraints of a case."""
    if kind == "simplex, in order":
        return [" <= ".join(NAMES), f"{' + '.join(NAMES)} <= {1 + seed / 100}"]
    rng = random.Random(seed)
    witness = {name: rng.uniform(0.3, 0.7) for name in NAMES}
    return [{"linear": linear, "nonlinear": nonlinear}[kind](rng, witness) for _ in range(count)]


def objective(params: Any) -> float:
    """Levy's function, on the unit cube."""
    return LEVY.objective({name: 20 * float(x) - 10 for name, x in params.items()})


def time_asks(kind: str, count: int, seed: int, n: int, asks: int) -> dict[str, list[float]]:
    """Seconds of the first initial points, and of each ask with and without."""
    space, plain = rb.Space.from_dict(BOX, texts_of(kind, count, seed)), rb.Space.from_dict(BOX)
    started = time.process_time()
    points = sobol_points(region_of(space), seed, 0, n)
    seconds: dict[str, list[float]] = {"points": [time.process_time() - started], "with": [], "without": []}
    opt = rb.Optimizer(space, direction="minimize", seed=0)
    for params in points:
        opt.tell(params, objective(params))
    history: History = opt.history
    settings = {"with": Settings(space, seed=seed, num_initial=NUM_INITIAL)}
    settings["without"] = Settings(plain, seed=seed, num_initial=NUM_INITIAL)
    fits = {name: FitCache() for name in settings}
    for i in range(asks):
        suggestions = {}
        for name in list(settings)[:: 1 if (i + seed) % 2 else -1]:
            started = time.process_time()
            suggestions[name] = step(settings[name], history, len(history), fits[name], ())
            seconds[name].append(time.process_time() - started)
        params = suggestions["with"].params
        assert not space.broken(params), params
        tell = {"event": "tell", "trial": len(history), "params": params, "value": objective(params), "sd": None}
        history = history.apply_all([tell])
    return seconds


def row(kind: str, count: int, repeats: int, n: int, asks: int) -> dict[str, Any]:
    """Medians over repeats."""
    results = [time_asks(kind, count, seed, n, asks) for seed in range(repeats)]
    first, without_first = (statistics.median(result[name][0] for result in results) for name in ("with", "without"))
    later, without = (
        statistics.median(t for result in results for t in result[name][1:]) for name in ("with", "without")
    )
    return {
        "constraints": kind,
        "count": count,
        "points_s": round(statistics.median(result["points"][0] for result in results), 3),
        "first_s": round(first, 3),
        "first_ratio": round(first / without_first, 2),
        "next_s": round(later, 3),
        "next_ratio": round(later / without, 2),
    }


def main() -> None:
    """Time, print and write the table."""
    parser = parser_of(__doc__)
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 10, 30, 60])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--asks", type=int, default=4)
    parser.add_argument("--n", type=int, default=20)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    torch.set_num_threads(1)
    time_asks("linear", 1, 99, options.n, 2)  # imports, and what is computed once a process
    cases = [(kind, count) for kind in ("linear", "nonlinear") for count in options.counts]
    cases.append(("simplex, in order", len(NAMES)))
    put_in([row(kind, count, options.repeats, options.n, options.asks) for kind, count in cases], options.out)


if __name__ == "__main__":
    main()
