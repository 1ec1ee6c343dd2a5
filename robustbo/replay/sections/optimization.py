"""An optimization run: curves with switches, tables, detection, a replication's values, timing.

The curves are those of Figure 7 of the relevance pursuit paper.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from robustbo.replay.score.optimization import Curve, curve, regret_reduction
from robustbo.replay.sections.section import Loaded, Tables, score_html, section, timing
from robustbo.replay.spec.method import sees
from robustbo.replay.spec.optimization import RunSpec
from robustbo.report.charts import svg
from robustbo.report.charts.chart import GRAY, Axis, Chart, Dots, Line, Note, axis
from robustbo.report.charts.timeline import counts
from robustbo.report.page.html import share, side_by_side, table
from robustbo.tasks.several import SeveralProblem
from robustbo.trials.settings import DEFAULT_SURROGATE

VALUE, VOLUME = "true value at the recommended point", "true hypervolume of the recommended points"


def charts(spec: RunSpec, tables: Tables) -> list[list[Chart]]:
    """The curves alone."""
    return [[curves(spec, tables)]]


def curves(spec: RunSpec, tables: Tables) -> Chart:
    """Curves of the true value of the recommendation by trial: mean over replications, 90 % bootstrap band."""
    name = spec.title or spec.problem
    curve_by_method = {method: curve(tables.rows, method) for method in tables.methods}
    marks = [_mark(tables, method, mine) for method, mine in curve_by_method.items()]
    best = spec.best
    across = axis("trials", *(mine.trials for mine in curve_by_method.values()), is_whole=True)
    ends = (end for mine in curve_by_method.values() for end in mine[1:])
    quantity = _value_name(spec)
    up = axis(quantity, *ends, None if best is None else np.array([best[1]]))
    lines, notes = [line for line, _ in marks], []
    if best is not None:
        lines.insert(0, Line("", GRAY, np.array([across.low, across.high]), np.full(2, best[1]), dash="1 3", width=1.0))
        notes.append(Note(best[0], across.low, best[1]))
    dots = [dots for _, dots in marks if dots is not None]
    return Chart(name, across, up, lines, dots, notes, about=f"{name}: {quantity} by trial")


def _value_name(spec: RunSpec) -> str:
    """Label of the quantity that a curve shows."""
    problem = spec.load_problem()
    return VOLUME if isinstance(problem, SeveralProblem) and len(problem.objectives) > 1 else VALUE


def _mark(tables: Tables, method: str, mine: Curve) -> tuple[Line, Dots | None]:
    """A method's curve; where there is one recommendation alone, as of Ax, a dot and its interval."""
    (color, dash), key = tables.looks[method], tables.keys[method]
    if len(mine.trials) != 1:
        return Line(method, color, *mine, dash, key), None
    interval = Line("", color, np.repeat(mine.trials, 2), np.array([*mine.low, *mine.high]), key=key, width=3.0)
    return interval, Dots(method, color, "none", mine.trials, mine.mean, key=key)


def show(run: Loaded, spec: RunSpec) -> str:
    """One run: curves with switches, results, detection, a replication's timeline, timing, and how it is repeated."""
    about = f"{spec.problem}, {goes_wrong(spec)}; {spec.trials} trials, {spec.num_initial} of them initial"
    mean = f"<p>The mean {_value_name(spec)}, with its 90 % bootstrap interval.</p>"
    first = [svg.draw(curves(spec, run.tables)) + mean, _results(run.tables, spec)]
    is_several = isinstance(spec.load_problem(), SeveralProblem)
    last = [piece for piece in ("" if is_several else _one_replication(run), _timing(run)) if piece]
    return section(run, about, [side_by_side(first), "" if is_several else _detection(run), side_by_side(last)])


def goes_wrong(spec: RunSpec) -> str:
    """Text on corruptions, noise and failures."""
    if spec.noise is None:
        return _wrong(spec)
    kind = "Gaussian" if spec.noise.dof is None else f"Student-t ({spec.noise.dof:g} df)"
    return f"{kind} noise of {100 * spec.noise.share:g} % of the spread, {_wrong(spec)}"


def _wrong(spec: RunSpec) -> str:
    """Text on the corruption."""
    if spec.corruption is None:
        return "no corruption"
    parameters = dict(spec.corruption.model_extra or {})
    parameters |= {} if spec.corruption.strikes is None else {"strikes": spec.corruption.strikes}
    region = parameters.pop("region", None)
    extra = ", ".join(f"{key} {value}" for key, value in parameters.items())
    rate = f"{100 * (spec.corruption.probability or 0):g} %"
    if not spec.has_failures:
        return f"{spec.corruption.kind} corruption of {rate}" + (f" ({extra})" if extra else "")
    where = f"trials in the region {region}{f' ({extra})' if extra else ''} fail" if region else ""
    anywhere = f"{rate} of {'the others' if region else 'trials'} fail anywhere" if spec.corruption.probability else ""
    return ", and ".join(filter(None, (where, anywhere))) or "no trial fails"


def headline(run: Loaded, spec: RunSpec) -> Sequence[str] | None:
    """The default's normalized regret reduction, of the final values and of their average; None without its peers."""
    means = run.tables.summary.set_index("method")
    if not {"standard", "oracle", DEFAULT_SURROGATE} <= set(means.index):
        return None
    sign = 1 if spec.load_problem().maximizes else -1

    def reduction(column: str) -> str:
        is_better = sign * (means[column]["oracle"] - means[column]["standard"]) > 0
        reduced = 100 * regret_reduction(means[column], DEFAULT_SURROGATE)
        return f"{reduced:.0f} %" if is_better else "the oracle is no better"

    return [run.title, reduction("final"), reduction("average")]


def _results(run: Tables, spec: RunSpec) -> str:
    summary = run.summary
    maximizes = spec.load_problem().maximizes
    knowing = {name for name in run.methods if sees(spec.methods, name) != "measured"}
    ours = summary[~summary["method"].isin(knowing)]
    best = ours.loc[(ours["final"] if maximizes else -ours["final"]).idxmax()] if len(ours) else None
    lines = []
    for row in summary.itertuples():
        is_best = best is not None and row.method == best["method"]
        reaches = best is not None and (row.high >= best["low"] if maximizes else row.low <= best["high"])
        final = score_html(f"{row.final:.4g}", is_best=is_best, is_near=reaches and row.method not in knowing)
        cells = [f"{row.low:.4g} to {row.high:.4g}", f"{row.average:.4g}", f"{row.repeats:.1f}"]
        cells += [f"{row.failed:.1f}"] if "failed" in summary else [share(row.precision), share(row.recall)]
        cells += [share(row.named), f"{row.others_named:.2g}"] if "named" in summary else []
        lines.append([escape(row.method), final, *cells])
    detected = ["failed trials"] if "failed" in summary else ["precision", "recall"]  # of failures nothing is flagged
    detected += ["source named", "others named"] if "named" in summary else []
    header = ["method", "at the end", "90 %", "average", "replicates", *detected]
    about = "<p>Bold: the best of those that do not know the errors; ≈: within its interval.</p>"
    return table(header, lines, is_safe=True) + about


def _detection(run: Loaded) -> str:
    """Precision and recall of the values measured up to each trial, by what is flagged at the end."""
    tables = run.tables
    precision: list[Line] = []
    recall: list[Line] = []
    for method in tables.methods:
        mine = tables.of(method)
        flagged = _flags(mine)
        if not flagged.any() or not mine["corrupted"].any():
            continue
        by = pd.DataFrame(
            {"trial": mine["trial"], "f": flagged, "c": mine["corrupted"], "h": flagged & mine["corrupted"]}
        )
        sums = by.groupby("trial").sum().cumsum()
        x, (color, dash) = sums.index.to_numpy() + 1, tables.looks[method]
        for lines, denominator in ((precision, "f"), (recall, "c")):
            with np.errstate(invalid="ignore", divide="ignore"):
                part = (sums["h"] / sums[denominator]).to_numpy(dtype=float)
            lines.append(Line(method, color, x, part, dash=dash, key=tables.keys[method]))
    if not precision:
        return ""
    about = "Of the values up to each trial, by what is flagged at the end: the share of the flags that are right "
    about += "(precision), and the share of the wrong values that are flagged (recall)."
    head, charts = f"{run.heading('What was called wrong')}<p>{about}</p>", list[str]()
    for name, lines in (("precision", precision), ("recall", recall)):
        about = f"{run.name}: {name} of the flags by trial"
        across = axis("trials", *(line.x for line in lines), is_whole=True)
        charts.append(svg.draw(Chart(name, across, axis(name, np.array([0.0, 1.0])), lines, about=about)))
    return head + side_by_side(charts)


def _flags(rows: pd.DataFrame) -> pd.Series:
    """Flags of values; an unknown one counts as not flagged."""
    return rows["flagged"].astype("boolean").fillna(False).astype(bool)


def _one_replication(run: Loaded) -> str:
    """The values of the first replication with flags of the default, or of the first method that flags any."""
    tables = run.tables
    flags = tables.rows[_flags(tables.rows)]
    order = [m for m in (DEFAULT_SURROGATE, *tables.methods) if m in set(flags["method"])]
    if not order:
        return ""
    replication = flags.loc[flags["method"] == order[0], "replication"].min()
    mine = tables.of(order[0])
    mine = mine[mine["replication"] == replication]
    name = f"{order[0]}, replication {replication}"
    chart = _values(mine, name)
    about = f"The values of {name}. Those beyond the frame are drawn at its edge."
    return f"{run.heading('One replication')}<p>{escape(about)}</p>{svg.draw(chart)}{svg.legend(chart)}"


def _values(mine: pd.DataFrame, name: str) -> Chart:
    """The values of a replication by trial, and what was called wrong, rightly or not; failed trials have none."""
    mine = mine[mine["value"].notna()]
    x, y = mine["trial"].to_numpy() + 1, mine["value"].to_numpy()
    wrong, flagged = mine["corrupted"].to_numpy(bool), _flags(mine).to_numpy()
    low, high = np.quantile(y[~wrong] if (~wrong).any() else y, [0.0, 1.0])
    reach = 0.5 * max(high - low, 1e-9)
    kinds: list[tuple[str, str, str, Any]] = [
        ("believed and right", "#56B4E9", "none", ~wrong & ~flagged),
        ("wrong, not called so", "none", "#D55E00", wrong & ~flagged),
        ("right, called wrong", "#000000", "none", ~wrong & flagged),
        ("wrong, called so", "#D55E00", "none", wrong & flagged),
    ]
    dots = [
        Dots(
            label,
            fill,
            stroke,
            x[mask],
            y[mask],
            titles=[f"trial {n}: {v:.6g}; {label}" for n, v in zip(x[mask], y[mask], strict=True)],
        )
        for label, fill, stroke, mask in kinds
    ]
    across = Axis("trials", 0.0, float(x.max() + 1), is_whole=True)
    up = Axis("measured value", float(low - reach), float(high + reach))
    return Chart(name, across, up, dots=dots, about=f"{name}: values by trial; {counts(dots)}")


def _timing(run: Loaded) -> str:
    tables = run.tables
    modelled = [(method, mine[mine["origin"] != "sobol"]) for method in tables.methods for mine in [tables.of(method)]]
    seconds = [
        (method, (mine["fit_s"].median(), mine["acquisition_s"].median(), mine["fit_s"].max()))
        for method, mine in modelled
        if len(mine)
    ]
    return timing(run.heading("What an ask took"), ["fit, median", "acquisition, median", "slowest fit"], seconds)
