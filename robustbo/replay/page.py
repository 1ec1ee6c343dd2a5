"""Recorded runs as one page that needs nothing else: curves with switches, tables, detection, timeline, timing."""

import math
from collections.abc import Sequence
from html import escape
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from robustbo.errors import SpecError
from robustbo.replay import spec as specs
from robustbo.replay import svg
from robustbo.replay.cell import CELLS, cells_in
from robustbo.replay.colors import COLORS, FIXED
from robustbo.replay.report import ROWS
from robustbo.replay.score import interval, rows, summary
from robustbo.replay.spec import RunSpec
from robustbo.replay.style import SCRIPT, STYLE
from robustbo.settings import DEFAULT_SURROGATE

DASHES = ("", "2 4", "8 4")


class Recorded(NamedTuple):
    """A run: its name, spec, rows as `score.rows` has them, methods in order."""

    name: str
    path: Path
    spec: RunSpec
    table: pd.DataFrame
    methods: list[str]


def load(run: Path) -> Recorded:
    """A recorded run: a folder with rows or cells in it and a spec in it or beside it, or that spec.

    Raises:
        SpecError: If there is no spec, or nothing is recorded.
    """
    path = specs.find(run)
    folder = path.parent if path.name == specs.SPEC_FILE else path.with_suffix("")
    if (folder / CELLS).is_dir():
        table = rows(cells_in(folder))
    elif (folder / ROWS).is_file():
        table = pd.read_csv(folder / ROWS)
    else:
        raise SpecError(f"{folder}: expected a recorded run ({ROWS} or {CELLS}/), found none; robustbo replay makes it")
    spec, there = specs.load(run), set(table["method"])
    methods = [name for name in spec.methods if name in there]
    return Recorded(folder.name, path, spec, table, [*methods, *sorted(there - set(methods))])


def write(runs: Sequence[Path], path: Path) -> None:
    """Write the page of recorded runs; raises what `load` does."""
    path.write_text(page([load(run) for run in runs]), encoding="utf-8")


def page(runs: Sequence[Recorded]) -> str:
    """The page."""
    body = "".join(_section(run) for run in runs)
    title = runs[0].spec.title or runs[0].name if len(runs) == 1 else f"{len(runs)} runs"
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>robustbo: {escape(title)}</title><style>{STYLE}</style>"
        f"<h1>robustbo: {escape(title)}</h1>{_overview(runs)}{body}<script>{SCRIPT}</script></html>\n"
    )


def _overview(runs: Sequence[Recorded]) -> str:
    """Where the default stands between the plain GP and the oracle: of the final values, and of their average."""
    found = []
    for run in runs:
        means = summary(run.table, run.methods).set_index("method")
        if not {"standard", "oracle", DEFAULT_SURROGATE} <= set(means.index):
            continue
        shares = [
            (means.at[DEFAULT_SURROGATE, column] - means.at["standard", column])
            / (means.at["oracle", column] - means.at["standard", column])
            for column in ("final", "average")
        ]
        found.append([run.spec.title or run.name, *(f"{100 * share:.0f} %" for share in shares)])
    if not found:
        return ""
    text = "<p>How much of the way from the plain GP to the oracle, which sees no wrong value, the default goes.</p>"
    return text + _table(["run", "at the end", "on average"], found)


def _section(run: Recorded) -> str:
    spec, marks = run.spec, _marks(run.methods)
    corruption = "no corruption"
    if spec.corruption is not None:
        extra = ", ".join(f"{key} {value}" for key, value in (spec.corruption.model_extra or {}).items())
        corruption = f"{spec.corruption.kind} corruption of {100 * spec.corruption.probability:g} %"
        corruption += f" ({extra})" if extra else ""
    replications = run.table.groupby("method")["replication"].nunique().max()
    about = f"{spec.problem}, {corruption}; {spec.trials} trials, {spec.num_initial} of them initial"
    parts = [
        f"<section><h2>{escape(spec.title or run.name)}</h2><p>{escape(about)}; {replications} replications.</p>",
        _switches(run.methods, marks),
        _curves(run, marks),
        "<p>The mean true value at the recommended point, with its 90 % bootstrap interval.</p>",
        _results(run),
        _detection(run, marks),
        _timeline(run),
        _timing(run),
        f"<h3>Again</h3><pre>robustbo replay {escape(str(run.path))} --out results/{escape(run.name)}</pre></section>",
    ]
    return "".join(parts)


def _marks(methods: Sequence[str]) -> dict[str, tuple[str, str, str]]:
    """Class, color and dashes of each method."""
    free = product(DASHES, (color for color in COLORS if color not in FIXED.values()))
    found = {}
    for i, method in enumerate(methods):
        dash, color = ("6 3", FIXED[method]) if method in FIXED else next(free, ("1 6", "#999999"))
        found[method] = (f"m{i}", color, dash)
    return found


def _switches(methods: Sequence[str], marks: dict[str, tuple[str, str, str]]) -> str:
    boxes = []
    for method in methods:
        key, color, dash = marks[method]
        line = f'<line x1="0" x2="28" y1="5" y2="5" stroke="{color}" stroke-width="3" stroke-dasharray="{dash}"/>'
        swatch = f'<svg viewBox="0 0 28 10" aria-hidden="true">{line}</svg>'
        boxes.append(f'<label><input type="checkbox" checked data-key="{key}"> {swatch} {escape(method)}</label>')
    return f'<fieldset aria-label="methods shown">{"".join(boxes)}</fieldset>'


def _curves(run: Recorded, marks: dict[str, tuple[str, str, str]]) -> str:
    drawn = []
    for method in run.methods:
        mine = run.table[run.table["method"] == method]
        curves = mine.pivot_table(index="replication", columns="trial", values="inference")
        low, high = interval(curves.to_numpy())
        drawn.append(svg.Line(*marks[method], curves.columns.to_numpy() + 1, curves.mean().to_numpy(), low, high))
    ys = [array for line in drawn for array in (line.y, line.low, line.high) if array is not None]
    within = svg.frame([line.x for line in drawn], ys, "trials", "true value at the recommended point")
    return svg.lines(drawn, within, f"{run.name}: true value at the recommended point by trial")


def _results(run: Recorded) -> str:
    table = summary(run.table, run.methods)
    maximizes = run.spec.load_problem().direction == "maximize"
    ours = table[table["method"] != "oracle"]
    best = ours.loc[(ours["final"] if maximizes else -ours["final"]).idxmax()] if len(ours) else None
    lines = []
    for row in table.itertuples():
        is_best = best is not None and row.method == best["method"]
        reaches = best is not None and (row.high >= best["low"] if maximizes else row.low <= best["high"])
        final = f"{row.final:.4g}"
        final = f"<b>{final}</b>" if is_best else f"{final} ≈" if reaches and row.method != "oracle" else final
        cells = (f"{row.low:.4g} to {row.high:.4g}", f"{row.average:.4g}", f"{row.repeats:.1f}")
        lines.append([escape(row.method), final, *cells, _share(row.precision), _share(row.recall)])
    header = ["method", "at the end", "90 %", "average", "measured again", "precision", "recall"]
    return _table(header, lines, is_safe=True) + "<p>Bold: the best but for the oracle; ≈: within its interval.</p>"


def _detection(run: Recorded, marks: dict[str, tuple[str, str, str]]) -> str:
    """Precision and recall of the values measured up to each trial, by what is flagged at the end."""
    precision, recall = [], []
    for method in run.methods:
        mine = run.table[run.table["method"] == method]
        flagged = mine["flagged"].astype("boolean").fillna(False).astype(bool)
        if not flagged.any() or not mine["corrupted"].any():
            continue
        by = pd.DataFrame(
            {"trial": mine["trial"], "f": flagged, "c": mine["corrupted"], "h": flagged & mine["corrupted"]}
        )
        sums = by.groupby("trial").sum().cumsum()
        x = sums.index.to_numpy() + 1
        with np.errstate(invalid="ignore", divide="ignore"):
            precision.append(svg.Line(*marks[method], x, (sums["h"] / sums["f"]).to_numpy(dtype=float)))
            recall.append(svg.Line(*marks[method], x, (sums["h"] / sums["c"]).to_numpy(dtype=float)))
    if not precision:
        return ""
    parts = ["<h3>What was called wrong</h3><p>Of the values up to each trial, by what is flagged at the end.</p>"]
    for name, drawn in (("precision", precision), ("recall", recall)):
        within = svg.frame([line.x for line in drawn], [np.array([0.0, 1.0])], "trials", name)
        parts.append(svg.lines(drawn, within, f"{run.name}: {name} of the flags by trial"))
    return "".join(parts)


def _timeline(run: Recorded) -> str:
    """The values of the first replication of the default, or of the first method that flags any."""
    flags = run.table[run.table["flagged"].astype("boolean").fillna(False)]["method"].unique()
    order = [m for m in (DEFAULT_SURROGATE, *run.methods) if m in flags]
    if not order:
        return ""
    mine = run.table[run.table["method"] == order[0]]
    mine = mine[mine["replication"] == mine["replication"].min()]
    x, y = mine["trial"].to_numpy() + 1, mine["value"].to_numpy()
    wrong, flagged = mine["corrupted"].to_numpy(bool), mine["flagged"].astype("boolean").fillna(False).to_numpy(bool)
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


def _timing(run: Recorded) -> str:
    asked = run.table[run.table["origin"] != "sobol"]
    lines = []
    for method in run.methods:
        mine = asked[asked["method"] == method]
        if len(mine):
            columns = (mine["fit_s"].median(), mine["acquisition_s"].median(), mine["fit_s"].max())
            lines.append([method, *(f"{value:.2g} s" for value in columns)])
    header = ["method", "fit, median", "acquisition, median", "slowest fit"]
    return f"<h3>What an ask took</h3>{_table(header, lines)}" if lines else ""


def _share(value: float) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.2f}"


def _table(header: Sequence[str], lines: Sequence[Sequence[Any]], *, is_safe: bool = False) -> str:
    def cell(value: Any) -> str:
        return f"<td>{value if is_safe else escape(str(value))}</td>"

    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(map(cell, line))}</tr>" for line in lines)
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>'
