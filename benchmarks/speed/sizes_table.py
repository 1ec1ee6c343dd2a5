"""Tables of `benchmarks/speed/sizes.py`: seconds of an ask, what ours takes besides, and how time grows with n."""

import math
from typing import Any

import pandas as pd

from robustbo.report.summary.tables import records, render

RATIOS = {
    "default / Optuna": ("default", "optuna", "cpu_s"),
    "first / first": ("default", "optuna", "first_cpu_s"),
    "in Ax / Ax": ("default in ax", "ax", "cpu_s"),
}
SECONDS = ["slowest_s", "largest_ratio", "peak_mib", "best_s", "outliers_s", "told_best_s", "told_outliers_s"]
CHOLESKYS = ["choleskys", "first_choleskys", "counted", "first_counted", "factored", "first_factored"]
GROWTH = (200, 2000)  # values between which time grows by a power of n


def side_by_side(rows: pd.DataFrame) -> pd.DataFrame:
    """A function and a size a row: medians over the seeds, and ratios at the same seed, by their geometric mean."""
    lines = []
    for (function, n), of in rows.groupby(["function", "n"], sort=False):
        row: dict[str, Any] = {"function": function, "n": n}
        for name, its in of.groupby("competitor", sort=False):
            row |= {f"{name}_s": its["median_s"].median(), f"{name}_first_s": its["first_s"].median()}
        for label, (above, below, key) in RATIOS.items():
            wide = of.pivot(index="seed", columns="competitor", values=key)
            if {above, below} <= set(rows["competitor"]):
                ratios = (wide[above] / wide[below]).dropna() if {above, below} <= set(wide) else []
                row[label] = math.exp(ratios.map(math.log).mean()) if len(ratios) else math.nan
        lines.append(row)
    return pd.DataFrame(lines)


def besides(rows: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Table of ours alone: medians over the seeds; no row where nothing of ours was measured."""
    of = rows.reindex(columns=["competitor", "function", "n", *columns])
    of = of[of["competitor"].isin(["default", "standard"])]
    return of.groupby(["competitor", "function", "n"], sort=False)[columns].median().reset_index()


def exponent(n: pd.Series, seconds: pd.Series) -> float:
    """The power of n with which time grows, by least squares on the logarithms; NaN of fewer than two sizes."""
    x, y = n.map(math.log), seconds.map(math.log)
    x, y = x - x.mean(), y - y.mean()
    return float((x * y).sum() / (x * x).sum()) if len(set(x)) > 1 else math.nan


def growth(rows: pd.DataFrame) -> pd.DataFrame:
    """The exponents of each competitor's asks, from `GROWTH`."""
    between = rows[rows["n"].between(*GROWTH)]
    return pd.DataFrame(
        [
            {
                "competitor": name,
                "function": function,
                "from": of["n"].min(),
                "to": of["n"].max(),
                "exponent": exponent(of["n"], of["cpu_s"]),
                "first": exponent(of["n"], of["first_cpu_s"]),
            }
            for (name, function), of in between.groupby(["competitor", "function"], sort=False)
        ]
    )


def show(rows: list[dict[str, Any]]) -> None:
    """Print the tables."""
    table = pd.DataFrame(rows)
    words = ["function", "competitor"]
    table = table.assign(**{key: pd.to_numeric(table[key]) for key in table.columns if key not in words})
    for title, part in (
        ("seconds of an ask", side_by_side(table)),
        ("ours: seconds, the largest ratio of an ask to the one before, MiB", besides(table, SECONDS)),
        (
            "ours: an ask and the first, by time, by arithmetic and by number of factorizations",
            besides(table, CHOLESKYS),
        ),
        ("exponent of time over n", growth(table)),
    ):
        if len(part):
            print(render(records(part), "table", title))
