"""An optimization run on a page: curves with switches, tables, detection, timeline, timing."""

from html import escape

import numpy as np
import pandas as pd

from robustbo.replay.output.loaded import Loaded, again, opening
from robustbo.replay.score.optimization import curve
from robustbo.replay.spec.method import sees
from robustbo.replay.spec.optimization import RunSpec
from robustbo.report import svg
from robustbo.report.html import share, switches, table
from robustbo.trials.settings import DEFAULT_SURROGATE


def section(run: Loaded, spec: RunSpec) -> str:
    """One run: curves with switches, results, detection, a replication's timeline, timing, and how it is repeated."""
    corruption = "no corruption"
    if spec.corruption is not None:
        extra = ", ".join(f"{key} {value}" for key, value in (spec.corruption.model_extra or {}).items())
        corruption = f"{spec.corruption.kind} corruption of {100 * spec.corruption.probability:g} %"
        corruption += f" ({extra})" if extra else ""
    about = f"{spec.problem}, {corruption}; {spec.trials} trials, {spec.num_initial} of them initial"
    parts = [
        opening(run, about),
        switches(run.keys, run.looks),
        _curves(run),
        "<p>The mean true value at the recommended point, with its 90 % bootstrap interval.</p>",
        _results(run, spec),
        _detection(run),
        _timeline(run),
        _timing(run),
        again(run),
        "</section>",
    ]
    return "".join(parts)


def _marks(run: Loaded, method: str) -> tuple[str, str, str]:
    """Class, color and dashes of a method's curves."""
    return run.keys[method], run.looks[method].color, run.looks[method].dash


def _curves(run: Loaded) -> str:
    drawn = [svg.Line(*_marks(run, method), *curve(run.found.rows, method)) for method in run.methods]
    ys = [array for line in drawn for array in (line.y, line.low, line.high) if array is not None]
    within = svg.frame([line.x for line in drawn], ys, "trials", "true value at the recommended point")
    return svg.lines(drawn, within, f"{run.name}: true value at the recommended point by trial")


def _results(run: Loaded, spec: RunSpec) -> str:
    found = run.found.summary
    maximizes = spec.load_problem().direction == "maximize"
    knowing = {name for name in run.methods if sees(spec.methods, name) != "measured"}
    ours = found[~found["method"].isin(knowing)]
    best = ours.loc[(ours["final"] if maximizes else -ours["final"]).idxmax()] if len(ours) else None
    lines = []
    for row in found.itertuples():
        is_best = best is not None and row.method == best["method"]
        reaches = best is not None and (row.high >= best["low"] if maximizes else row.low <= best["high"])
        final = f"{row.final:.4g}"
        final = f"<b>{final}</b>" if is_best else f"{final} ≈" if reaches and row.method not in knowing else final
        cells = (f"{row.low:.4g} to {row.high:.4g}", f"{row.average:.4g}", f"{row.repeats:.1f}")
        lines.append([escape(row.method), final, *cells, share(row.precision), share(row.recall)])
    header = ["method", "at the end", "90 %", "average", "measured again", "precision", "recall"]
    about = "<p>Bold: the best of those that do not know the errors; ≈: within its interval.</p>"
    return table(header, lines, is_safe=True) + about


def _detection(run: Loaded) -> str:
    """Precision and recall of the values measured up to each trial, by what is flagged at the end."""
    precision, recall = [], []
    for method in run.methods:
        mine = run.found.rows[run.found.rows["method"] == method]
        flagged = _flags(mine)
        if not flagged.any() or not mine["corrupted"].any():
            continue
        by = pd.DataFrame(
            {"trial": mine["trial"], "f": flagged, "c": mine["corrupted"], "h": flagged & mine["corrupted"]}
        )
        sums = by.groupby("trial").sum().cumsum()
        x = sums.index.to_numpy() + 1
        with np.errstate(invalid="ignore", divide="ignore"):
            precision.append(svg.Line(*_marks(run, method), x, (sums["h"] / sums["f"]).to_numpy(dtype=float)))
            recall.append(svg.Line(*_marks(run, method), x, (sums["h"] / sums["c"]).to_numpy(dtype=float)))
    if not precision:
        return ""
    parts = ["<h3>What was called wrong</h3><p>Of the values up to each trial, by what is flagged at the end.</p>"]
    for name, drawn in (("precision", precision), ("recall", recall)):
        within = svg.frame([line.x for line in drawn], [np.array([0.0, 1.0])], "trials", name)
        parts.append(svg.lines(drawn, within, f"{run.name}: {name} of the flags by trial"))
    return "".join(parts)


def _flags(rows: pd.DataFrame) -> pd.Series:
    """Which values were flagged, what is not known counting as not."""
    return rows["flagged"].astype("boolean").fillna(False).astype(bool)


def _timeline(run: Loaded) -> str:
    """The values of the first replication with flags of the default, or of the first method that flags any."""
    flags = run.found.rows[_flags(run.found.rows)]
    order = [m for m in (DEFAULT_SURROGATE, *run.methods) if m in set(flags["method"])]
    if not order:
        return ""
    first = flags.loc[flags["method"] == order[0], "replication"].min()
    mine = run.found.rows[(run.found.rows["method"] == order[0]) & (run.found.rows["replication"] == first)]
    x, y = mine["trial"].to_numpy() + 1, mine["value"].to_numpy()
    wrong, flagged = mine["corrupted"].to_numpy(bool), _flags(mine).to_numpy()
    low, high = np.quantile(y[~wrong] if (~wrong).any() else y, [0.0, 1.0])
    reach = 0.5 * max(high - low, 1e-9)
    within = svg.Frame((0.0, float(x.max() + 1)), (float(low - reach), float(high + reach)), "trials", "measured value")
    kinds = [
        svg.Dots("believed and right", "#56B4E9", "none", x[~wrong & ~flagged], y[~wrong & ~flagged]),
        svg.Dots("wrong, not called so", "none", "#D55E00", x[wrong & ~flagged], y[wrong & ~flagged]),
        svg.Dots("right, called wrong", "#000000", "none", x[~wrong & flagged], y[~wrong & flagged]),
        svg.Dots("wrong, called so", "#D55E00", "none", x[wrong & flagged], y[wrong & flagged]),
    ]
    legend = "; ".join(f"{kind.label}: {len(kind.x)}" for kind in kinds)
    name = f"{order[0]}, replication {mine['replication'].iloc[0]}"
    key = "Blue: believed and right; ring: wrong, not called so; black: right, called wrong; orange: wrong, called so"
    return (
        f"<h3>One replication</h3>{svg.dots(kinds, within, f'{name}: values by trial; {legend}')}"
        f"<p>{escape(name)}. {key} ({escape(legend)}). Values beyond the frame are drawn at its edge.</p>"
    )


def _timing(run: Loaded) -> str:
    asked = run.found.rows[run.found.rows["origin"] != "sobol"]
    lines = []
    for method in run.methods:
        mine = asked[asked["method"] == method]
        if len(mine):
            columns = (mine["fit_s"].median(), mine["acquisition_s"].median(), mine["fit_s"].max())
            lines.append([method, *(f"{value:.2g} s" for value in columns)])
    header = ["method", "fit, median", "acquisition, median", "slowest fit"]
    return f"<h3>What an ask took</h3>{table(header, lines)}" if lines else ""
