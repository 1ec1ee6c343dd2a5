"""Tables of bbob-noisy's page, in Markdown between two marks of it, and the picture of running times."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.bbob_noisy.scores import KINDS, OURS, RECOMMENDED, TARGETS, complete_pairs, tables, with_times
from benchmarks.common import pages


def curve(times: Sequence[np.ndarray], at: np.ndarray) -> np.ndarray:
    """The share of all targets of cells that is reached after so many evaluations a dimension."""
    every = np.sort(np.concatenate(list(times)))
    return np.searchsorted(every, at, side="right") / (len(times) * len(TARGETS))


def draw(rows: pd.DataFrame, reference: pd.DataFrame | None, file: Path) -> None:
    """A picture of the distributions: a kind of noise a row, a dimension a column, a method a line."""
    from matplotlib.figure import Figure

    paired = complete_pairs(rows)
    dimensions = sorted(paired["dimension"].unique())
    figure = Figure(figsize=(3.2 * len(dimensions), 7.5), layout="constrained")
    axes = figure.subplots(len(KINDS), len(dimensions), sharex=True, sharey="row", squeeze=False)
    at = np.geomspace(0.2, RECOMMENDED[-1], 200)
    for i, kind in enumerate(KINDS):
        for j, dimension in enumerate(dimensions):
            axis, panel = axes[i, j], paired[(paired["noise"] == kind) & (paired["dimension"] == dimension)]
            for method, cells in panel.groupby("method"):
                axis.step(at, curve(cells["reached"], at), where="post", label=method, linewidth=1.2)
            if reference is not None:
                best = with_times(reference)
                best = best[(best["noise"] == kind) & (best["dimension"] == dimension)]
                if len(best):
                    axis.step(at, curve(best["reached"], at), where="post", color="grey", ls=":", label="best 2009")
            axis.set_xscale("log")
            axis.set_title(f"{kind} noise, {dimension} dimensions", fontsize=8)
            axis.grid(alpha=0.3)
    axes[0, 0].legend(fontsize=7)
    figure.supxlabel("evaluations / dimension")
    figure.supylabel("share of functions, instances and targets")
    figure.savefig(file, dpi=80)


def put_into(files: Sequence[Path], rows: pd.DataFrame, reference: pd.DataFrame | None) -> None:
    """Put the tables between the marks of a page, in place of what is there."""
    pages.put(files, {"tables": markdown(rows, reference)})


def markdown(rows: pd.DataFrame, reference: pd.DataFrame | None) -> str:
    """The tables: targets reached, what ours reaches more than each other, and what is recommended."""
    by_name = tables(rows, reference)
    best = by_name["best_2009_noise"].set_index(["noise", "dimension"])["share"] if reference is not None else None
    shares = pd.concat([by_name["dimensions"], by_name["noise"].assign(dimension="all"), _all(by_name["all"])])
    text = [_heading(rows), "Share of the targets that are reached with 20 evaluations a dimension:\n"]
    text.append(_table(shares, ["noise", "dimension"], "share", "error", "{:.3f}", best))
    if "difference" in shares:
        text.append(f"\nThe same, less that of `{OURS}`, paired:\n")
        text.append(_table(shares, ["noise", "dimension"], "difference", "difference_error", "{:+.3f}"))
    text.append("\nMean log10 of the precision of what is recommended, the user's result; less is better:\n")
    recommended = [
        by_name[f"recommended_{n}d"].rename(columns={f"recommended_{n}d": "mean"}).assign(after=f"{n} d")
        for n in RECOMMENDED
    ]
    text.append(
        _table(
            pd.concat(recommended).sort_values("noise", kind="stable", key=_order),
            ["noise", "after"],
            "mean",
            "error",
            "{:.2f}",
        )
    )
    return "\n".join(text)


def _order(noise: pd.Series) -> pd.Series:
    return noise.map(KINDS.index)


def _all(table: pd.DataFrame) -> pd.DataFrame:
    return table.rename(columns={"all": "noise"}).assign(dimension="all")


def _heading(rows: pd.DataFrame) -> str:
    paired = complete_pairs(rows)
    counts = paired.groupby(["function", "dimension"])["instance"].nunique()
    many = f"{counts.min()}" if counts.min() == counts.max() else f"{counts.min()} to {counts.max()}"
    return f"{len(paired)} cells: {len(counts)} pairs of function and dimension, {many} instances of each.\n"


def _table(
    scores: pd.DataFrame, by: Sequence[str], mean: str, error: str, form: str, best: pd.Series | None = None
) -> str:
    """A group a row and a method a column, each a mean and its error; the best of 2009 as a last column."""
    methods = [method for method in dict.fromkeys(scores["method"]) if not (mean == "difference" and method == OURS)]
    head = [*by, *methods, *(["best of 2009"] if best is not None else [])]
    lines = []
    for key, group in scores.groupby(list(by), sort=False):
        of_method = group.set_index("method")
        line = [*map(str, key)]
        for method in methods:
            spread = of_method.loc[method, error]
            line.append(form.format(of_method.loc[method, mean]) + ("" if pd.isna(spread) else f" ± {spread:.3f}"))
        if best is not None:
            line.append(f"{best[key]:.3f}" if key in best.index else "")
        lines.append(line)
    return pages.table(head, lines)
