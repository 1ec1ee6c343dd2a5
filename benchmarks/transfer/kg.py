"""BoTorch's multi-fidelity knowledge gradient in the loops of `loops`: whom does it ask, and is it better?

Problems, sources, budget, noise and first points are those of `loops`, whose rows are compared by cell. The
other source is a fidelity of 0.5 beside the target's 1, with the cost that it has (a fifth). The model is
`SingleTaskMultiFidelityGP`; what is recommended is the point of the lowest posterior mean at the target's fidelity,
measured or not, as BoTorch's tutorial does. Fantasies and restarts are fewer than its defaults (128 and 10), which take
20 s an ask.

Cells that --work has are not run again. Seeds come first, so that it may be stopped at any time.

    python -m benchmarks.transfer.kg --loops W/loops.csv --work W/kg.csv --page runs/transfer/tables.md
"""

import time
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from botorch.acquisition import PosteriorMean
from botorch.acquisition.cost_aware import InverseCostWeightedUtility
from botorch.acquisition.fixed_feature import FixedFeatureAcquisitionFunction
from botorch.acquisition.knowledge_gradient import qMultiFidelityKnowledgeGradient
from botorch.acquisition.utils import project_to_target_fidelity
from botorch.fit import fit_gpytorch_mll
from botorch.models import AffineFidelityCostModel, SingleTaskMultiFidelityGP
from botorch.models.transforms.outcome import Standardize
from botorch.optim import optimize_acqf, optimize_acqf_mixed
from gpytorch.mlls import ExactMarginalLogLikelihood
from torch import Tensor

from benchmarks.common.commands import parser_of_seeds, record_seeds
from benchmarks.transfer.data import NOISE, Function, objective, regret, source_function, standardize
from benchmarks.transfer.loops import BUDGET, COST, KEY, NUM_INITIAL, PROBLEMS, first_points
from benchmarks.transfer.run import mean_and_error

CASES = ("identical", "biased", "unrelated")
FIDELITY = {"lab": 1.0, "other": 0.5}
FANTASIES, RESTARTS, RAW, STEPS = 16, 2, 32, 50


def cells_of(problems: Sequence[str], seeds: range) -> Iterator[tuple[Any, ...]]:
    """The cells of the plan."""
    return ((problem, case, seed) for seed in seeds for problem in problems for case in CASES)


def run_cell(problem: str, case: str, seed: int) -> dict[str, Any]:
    """One loop until the budget is spent."""
    d, f = objective(problem)
    target = standardize(f, d)
    readings = {"lab": target, "other": source_function(case, target, d, seed)}
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        point, share, asks = _loop(readings, d, seed)
    row = dict(zip(KEY, (problem, case, seed), strict=True)) | {"regret": regret(target, d, point), "share": share}
    return row | {"asks": asks, "seconds": time.process_time() - begin}


def _loop(readings: dict[str, Function], d: int, seed: int) -> tuple[list[float], float, int]:
    """The point recommended when the budget is spent, the other source's share of it, and the number of values."""
    generators = {name: np.random.default_rng([seed, i]) for i, name in enumerate(readings)}
    plan = [(name, x) for name in readings for x in first_points(d, seed, NUM_INITIAL)]
    X, y, spent = list[list[float]](), list[float](), dict.fromkeys(readings, 0.0)
    while sum(spent.values()) + COST <= BUDGET + 1e-9:
        torch.manual_seed(seed + len(y))
        name, x = plan[len(y)] if len(y) < len(plan) else _ask(_fit(X, y), d)
        if name == "lab" and sum(spent.values()) + 1 > BUDGET + 1e-9:
            name = "other"  # for which the rest is enough
        X.append([*x, FIDELITY[name]])
        y.append(float(readings[name](np.array([x]))[0] + NOISE * generators[name].standard_normal()))
        spent[name] += 1.0 if name == "lab" else COST
    return _best(_fit(X, y), d)[0][0, :d].tolist(), spent["other"] / BUDGET, len(y)


def _fit(X: list[list[float]], y: list[float]) -> SingleTaskMultiFidelityGP:
    train_X, train_Y = torch.tensor(X, dtype=torch.float64), -torch.tensor(y, dtype=torch.float64)[:, None]
    fidelity = [train_X.shape[-1] - 1]
    model = SingleTaskMultiFidelityGP(train_X, train_Y, data_fidelities=fidelity, outcome_transform=Standardize(m=1))
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def _best(model: SingleTaskMultiFidelityGP, d: int) -> tuple[Tensor, Tensor]:
    """The point of the best posterior mean at the target's fidelity, and that mean."""
    mean = FixedFeatureAcquisitionFunction(PosteriorMean(model), d=d + 1, columns=[d], values=[1.0])
    point, value = optimize_acqf(mean, _bounds(d), q=1, num_restarts=RESTARTS, raw_samples=4 * RAW)
    return point, value


def _ask(model: SingleTaskMultiFidelityGP, d: int) -> tuple[str, list[float]]:
    """The source of the largest gain by its cost, and where."""
    per_fidelity = (1 - COST) / (FIDELITY["lab"] - FIDELITY["other"])
    cost = AffineFidelityCostModel(fidelity_weights={d: per_fidelity}, fixed_cost=1 - per_fidelity)
    function = qMultiFidelityKnowledgeGradient(
        model,
        num_fantasies=FANTASIES,
        current_value=_best(model, d)[1],
        cost_aware_utility=InverseCostWeightedUtility(cost_model=cost),
        project=partial(project_to_target_fidelity, target_fidelities={d: 1.0}, d=d + 1),
    )
    point, _ = optimize_acqf_mixed(
        function,
        _bounds(d + 1),
        q=1,
        fixed_features_list=[{d: fidelity} for fidelity in FIDELITY.values()],
        num_restarts=RESTARTS,
        raw_samples=RAW,
        options={"maxiter": STEPS},
    )
    name = min(FIDELITY, key=lambda of: abs(FIDELITY[of] - float(point[0, d])))
    return name, point[0, :d].tolist()


def _bounds(d: int) -> Tensor:
    return torch.tensor([[0.0] * d, [1.0] * d], dtype=torch.float64)


def summary(loops: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Regrets of the knowledge gradient by case, beside those of our loops in the same cells."""
    lines = []
    for case, group in rows.groupby("case", sort=False):
        pairs = group.merge(loops, on=list(KEY), suffixes=("", " ours"))
        shares = [f"{100 * pairs[column].mean():.0f}" for column in ("share", "share ours")]
        lines.append(
            {
                "source": case,
                "loops": len(pairs),
                "regret": f"{pairs['regret'].mean():.3f}",
                "ours": f"{pairs['regret ours'].mean():.3f}",
                "difference": mean_and_error(pairs["regret"] - pairs["regret ours"]),
                "spent on the source, %": f"{shares[0]} (ours {shares[1]})",
                "CPU s a value": f"{(pairs['seconds'] / pairs['asks']).median():.2f}",
            }
        )
    return pd.DataFrame(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the cells, and print or write their rows and their summary."""
    parser = parser_of_seeds(__doc__, 2)
    parser.add_argument("--problems", nargs="+", default=PROBLEMS)
    parser.add_argument("--loops", type=Path, required=True, help="the rows of benchmarks.transfer.loops")
    o = parser.parse_args(arguments)
    loops = pd.read_csv(o.loops)
    record_seeds(o, KEY, cells_of(o.problems, o.seeds), run_cell, lambda rows: {"qMFKG": summary(loops, rows)})


if __name__ == "__main__":
    main()
