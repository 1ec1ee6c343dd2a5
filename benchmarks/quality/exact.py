"""Exactness of what is believed of few values: against all sets of errors and a quadrature over hyperparameters.

Small data sets are drawn from the model itself: a Matern-5/2 function whose length-scales come from their prior (those
along which it varies), noise whose share of the function's variance comes from its prior, and 0, a tenth or a quarter
of wrong values from a Cauchy density as wide as the outcomes. `probability_right` of the default's surrogate, without a
warp, is compared with that of the same account of a measurement (docs/equations.md 19): up to seven values by
benchmarks/quality/exact_reference.py, in the units that the surrogate standardizes outcomes to; of more values, whose
states are too many, by a hundred times as many draws. Beside the mean |difference| of the probabilities stand its 95 %
quantile, the share of verdicts (p > 0.5) that differ, and the log loss of both. `--finer` halves the steps of the
reference's grid.

With `coverage`, instead: how often f at 50 new points is within two standard deviations of its prediction, and the mean
negative log density (NLPD) of f in outcomes' standard deviations, beside the plain GP's, and beside the same surrogate
that is told between which bounds length-scales were drawn.

    python -m benchmarks.quality.exact probabilities --sets 20 --out runs/exact
    python -m benchmarks.quality.exact coverage --sets 20 --out runs/exact
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch

from benchmarks.common import recording
from benchmarks.common.commands import add_jobs
from benchmarks.common.parsers import parser_of
from benchmarks.common.tables import log_loss, put
from benchmarks.quality.exact_errors import belief
from benchmarks.quality.exact_reference import STEPS, exact_probabilities, matern52
from robustbo import seeds
from robustbo.numerics.belief.densities import log_odd
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.wrong_density import RATE
from robustbo.surrogates.common import contract
from robustbo.surrogates.common.map_gp import ALL
from robustbo.surrogates.common.priors import NOISE_PRIOR, length_scale_prior
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.registry import SURROGATES

SIZES, DIMENSIONS, RATES = (7, 10, 12), (1, 2), (0.0, 0.1, 0.25)
ENUMERABLE, EFFORT = 7, 100  # values whose states are enumerated; of more, so many times as many draws
COVERAGE_SIZES, COVERAGE_DIMENSIONS, COVERAGE_RATES = (10, 20, 40, 80), (2, 6), (0.0, 0.1)
NEW = 50  # points at which f is predicted
SHORT, LONG = 0.15, 1.5  # bounds of a length-scale by sqrt d: along longer ones there is hardly a function
OPTIONS = {"warp": "none"}  # which the reference does not have


class Cell(NamedTuple):
    """One data set of the model's own."""

    n: int
    d: int
    rate: float
    seed: int


class Draw(NamedTuple):
    """Points, values and truth: ``n x d``, ``n``, ``n`` booleans, and ``m x d`` and ``m`` at new points."""

    X: np.ndarray
    y: np.ndarray
    is_wrong: np.ndarray
    new: np.ndarray
    f: np.ndarray


def draw_data(cell: Cell) -> Draw:
    """A function with noise and wrong values; the first of them are not the same for another number."""
    n, d, rate, seed = cell
    rng, prior = seeds.generator(seed, 0, f"exact {n} {d} {rate}"), length_scale_prior(d)
    scales = np.array([_length_scale(rng, prior.loc, prior.scale, d) for _ in range(d)])
    points = rng.random((n + NEW, d))
    K = matern52(points, points, scales[None])[0] + 1e-10 * np.eye(n + NEW)
    f = np.linalg.cholesky(K) @ rng.standard_normal(n + NEW)
    noise = math.exp(0.5 * rng.normal(*NOISE_PRIOR)) * f[:n].std()
    y = f[:n] + noise * rng.standard_normal(n)
    is_wrong = np.isin(np.arange(n), rng.choice(n, round(rate * n), replace=False))
    wrong = np.median(y) + y.std() * rng.standard_cauchy(n)
    return Draw(points[:n], np.where(is_wrong, wrong, y), is_wrong, points[n:], f[n:])


def _length_scale(rng: np.random.Generator, loc: float, scale: float, d: int) -> float:
    while True:
        length_scale = float(rng.lognormal(loc, scale))
        if SHORT < length_scale / math.sqrt(d) < LONG:
            return length_scale


class ToldLengthScales(RelevancePursuitGP):
    """The default's surrogate, told the bounds between which `draw_data` draws length-scales."""

    def search_model(self, rows: torch.Tensor | slice = ALL) -> Model:
        """The model with these bounds."""
        model, d = super().search_model(rows), self.train_inputs[0].shape[-1]
        low, high = (math.log(bound * math.sqrt(d)) for bound in (SHORT, LONG))
        covariance = model.covariance
        bounds = [(low, high)] * d + covariance.bounds[d:]
        starts = tuple(torch.cat([start[:d].clamp(low, high), start[d:]]) for start in covariance.starts)
        return model._replace(covariance=covariance._replace(bounds=bounds, starts=starts))


INFORMED = "told length-scales"


def fit_surrogate(name: str, draw: Draw, options: dict[str, Any]) -> Any:
    """A surrogate fitted to a draw."""
    X, Y = torch.from_numpy(draw.X), torch.from_numpy(draw.y).unsqueeze(-1)
    return contract.fit((ToldLengthScales if name == INFORMED else SURROGATES[name])(X, Y, **options))


def in_model_units(model: Any, y: np.ndarray) -> np.ndarray:
    """Outcomes in the units of a fitted model."""
    with torch.no_grad():
        return contract.outcome_transform(model)(torch.from_numpy(y).unsqueeze(-1))[0].squeeze(-1).numpy()


def compare(cell: Cell, is_finer: bool = False, effort: int = EFFORT) -> list[dict[str, Any]]:
    """A row a value: the exact probability that it is wrong, and the surrogate's."""
    torch.set_num_threads(1)
    draw, started = draw_data(cell), time.process_time()
    model = fit_surrogate("relevance-pursuit", draw, OPTIONS)
    probability_right = contract.probability_right(model)
    assert probability_right is not None
    middle = time.process_time()
    if cell.n <= ENUMERABLE:
        z, step = in_model_units(model, draw.y), STEPS[cell.d] / (2 if is_finer else 1)
        share = log_odd(torch.from_numpy(z), torch.ones(cell.n).double())[1].numpy()
        exact = share * exact_probabilities(draw.X, z, belief(RATE), step)
    else:
        exact = (1 - model.probability_right(effort)).numpy()
    seconds = {"seconds": middle - started, "exact_seconds": time.process_time() - middle}
    values = zip(draw.is_wrong.tolist(), (1 - probability_right).tolist(), exact.tolist(), strict=True)
    return [cell._asdict() | {"is_wrong": w, "said": p, "exact": q} | seconds for w, p, q in values]


def compare_table(rows: pd.DataFrame) -> pd.DataFrame:
    """A row a number of values, and one of all: how far the probabilities are from the exact ones."""
    lines = []
    by_size, by_rate = rows.groupby("n"), rows.groupby("rate")
    parts = [*((f"{n} values", mine) for n, mine in by_size), *((f"rate {rate:g}", mine) for rate, mine in by_rate)]
    for of, mine in [*parts, ("all", rows)]:
        off = (mine["said"] - mine["exact"]).abs()
        differs = (mine["said"] > 0.5) != (mine["exact"] > 0.5)
        by_set = off.groupby([mine["n"], mine["d"], mine["rate"], mine["seed"]]).mean()
        line = {"of": of, "sets": len(by_set), "mean": off.mean(), "error": by_set.std() / math.sqrt(len(by_set))}
        line |= {"95 %": off.quantile(0.95), "verdicts differ": differs.mean()}
        line |= {
            "log loss": log_loss(mine["said"], mine["is_wrong"]),
            "exact": log_loss(mine["exact"], mine["is_wrong"]),
        }
        lines.append(line | {"seconds": mine["seconds"].mean()})
    return pd.DataFrame(lines).round(4)


Prediction = Callable[[Draw], tuple[np.ndarray, np.ndarray]]


def by_surrogate(name: str, draw: Draw, options: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of f at the new points, by a surrogate."""
    mean, sd = contract.marginals(fit_surrogate(name, draw, options), torch.from_numpy(draw.new))
    return mean.detach().numpy(), sd.detach().numpy()


def cover(cell: Cell) -> list[dict[str, Any]]:
    """A row a method: the share of f at the new points within two standard deviations, and its NLPD."""
    torch.set_num_threads(1)
    draw, rows = draw_data(cell), []
    methods: dict[str, Prediction] = {
        name: partial(by_surrogate, name, options={})
        for name in ("relevance-pursuit", "student-t", "standard", INFORMED)
    }
    for method, prediction in methods.items():
        mean, sd = prediction(draw)
        z = (draw.f - mean) / sd
        nlpd = 0.5 * z**2 + np.log(sd / draw.f.std()) + 0.5 * math.log(2 * math.pi)
        rows.append(cell._asdict() | {"method": method, "covered": (abs(z) < 2).mean(), "nlpd": nlpd.mean()})
    return rows


def cover_table(rows: pd.DataFrame) -> pd.DataFrame:
    """A row a dimension, size, rate and method: means, and their errors over data sets."""
    groups = rows.groupby(["d", "n", "rate", "method"], sort=False)
    means, errors = groups[["covered", "nlpd"]].mean(), groups[["covered", "nlpd"]].sem()
    return means.join(errors.add_suffix("_error")).round(3).reset_index()


def cells(sizes: Sequence[int], dimensions: Sequence[int], rates: Sequence[float], count: range) -> Iterator[Cell]:
    """All data sets of a seed before the next one."""
    for seed, n, d, rate in product(count, sizes, dimensions, rates):
        yield Cell(n, d, rate, seed)


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw, compare, and print or write a table."""
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=("probabilities", "coverage"))
    parser.add_argument("--sets", type=recording.replications, default=range(10), help="first:end, of each kind")
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--dimensions", type=int, nargs="+")
    parser.add_argument("--finer", action="store_true", help="half the steps of the reference's grid")
    add_jobs(parser)
    parser.add_argument("--out", type=Path, help="a folder")
    options = parser.parse_args(arguments)
    is_exact = options.what == "probabilities"
    defaults = (SIZES, DIMENSIONS, RATES) if is_exact else (COVERAGE_SIZES, COVERAGE_DIMENSIONS, COVERAGE_RATES)
    todo = list(cells(options.sizes or defaults[0], options.dimensions or defaults[1], defaults[2], options.sets))
    run = partial(compare, is_finer=options.finer) if is_exact else cover
    rows = pd.DataFrame([row for part in recording.run_all(run, todo, options.jobs) for row in part])
    put({f"{options.what}": (compare_table if is_exact else cover_table)(rows)}, options.out)


if __name__ == "__main__":
    main()
