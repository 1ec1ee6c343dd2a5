"""An optimization's journal as a page: progress, incumbent, what looks wrong and why, slices of the surrogate."""

from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from robustbo.loop.cache import FitCache
from robustbo.loop.fit import Fitted, fit
from robustbo.report import svg, timeline
from robustbo.report.chart import Chart, Line, axis
from robustbo.report.html import check_name, document, table
from robustbo.report.palette import COLORS
from robustbo.report.slices import across, rows_through, units_of, upright
from robustbo.report.summary import how, how_far, overview, verdict_row, with_sd
from robustbo.report.where_failed import section
from robustbo.searchspace.encoding import encode
from robustbo.searchspace.parameters import Choice
from robustbo.trials.history import History
from robustbo.trials.settings import Settings


def write(name: str, settings: Settings, history: History, path: Path) -> None:
    """Write the page.

    Args:
        name: Of the optimization, as its page calls it.
        settings: What it was told at its beginning.
        history: What has happened in it.
        path: Of the page.

    Raises:
        SpecError: If the page's name does not end in ".html".
        FitError: If the surrogate cannot be fitted.
    """
    check_name(path)
    path.write_text(page(name, settings, history), encoding="utf-8", errors="backslashreplace")


def page(name: str, settings: Settings, history: History) -> str:
    """The page."""
    fits = FitCache()
    found = overview(settings, history, fits)
    parts = [f"<p>{escape(how(found))}; {escape(how_far(found))}.</p>"]
    if not history.having("told"):
        parts += ["<p>Nothing has been told yet.</p>", section(settings, history, fits, found)]
        return document(name, "".join(parts))
    parts += ["<h2>Progress</h2>", _progress(settings, history, fits), "<h2>Incumbent</h2>", _incumbent(found)]
    parts += ["<h2>Values that look wrong, and why</h2>", _suspects(found)]
    if found["diagnoses"]:
        rows = [verdict_row(diagnosis) for diagnosis in found["diagnoses"]]
        parts.append("<h3>Diagnoses on schedule</h3>" + table([*rows[0]], [[*row.values()] for row in rows]))
    parts.append(section(settings, history, fits, found))
    parts += ["<h2>The surrogate, through the incumbent</h2>", _slices(settings, history, fits, found["incumbent"])]
    return document(name, "".join(parts))


def _progress(settings: Settings, history: History, fits: FitCache) -> str:
    """The values by trial and what has become of them, and the best one so far of those that are believed."""
    chart = timeline.values(settings, history, fits)
    ticks = "Ticks: failed (black: looks like its region; gray: like a flake). " if history.having("failed") else ""
    return (
        svg.draw(chart)
        + "<p>Blue: believed; orange cross: called wrong; green diamond: cleared again; ringed: replicates "
        f"({escape(timeline.counts(list(chart.dots)))}). {ticks}Dashed: the best believed value so far. "
        "Values beyond the frame are drawn at its edge.</p>"
    )


def _incumbent(found: dict[str, Any]) -> str:
    """The point of best posterior mean, and that of the best raw value."""
    lines = []
    for label in ("incumbent", "best_raw_value"):
        best = found[label]
        place = ", ".join(f"{name} = {value!r}" for name, value in best["params"].items())
        lines.append([label.replace("_", " "), best["trial"], with_sd(best["value"], best["sd"]), place])
    return table(["", "trial", "value", "at"], lines)


def _suspects(found: dict[str, Any]) -> str:
    if not (suspects := found["outliers"]):
        return "<p>No value looks wrong.</p>"
    lines = []
    for suspect in suspects:
        off = suspect["value"] - suspect["expected"]
        far = f"{abs(off) / suspect['sd']:.3g} standard deviations " if suspect["sd"] > 0 else ""
        why = f"{far}{'above' if off > 0 else 'below'} what the others predict"
        expected = with_sd(suspect["expected"], suspect["sd"])
        verdict = "called wrong" if suspect["flagged"] else "doubtful"
        evidence = f"{suspect['evidence_nats']:.1f}"
        lines.append(
            [suspect["trial"], f"{suspect['value']:.6g}", expected, evidence, verdict, suspect["remeasured"], why]
        )
    header = ["trial", "value", "expected", "evidence, nats", "", "replicated", "why"]
    note = (
        "Evidence: log-likelihood ratio, in nats, of the value having an error of its own; 5 nats: 150 times as likely."
    )
    return table(header, lines) + f"<p>{note}</p>"


def _slices(settings: Settings, history: History, fits: FitCache, incumbent: dict[str, Any]) -> str:
    """What the surrogate predicts where one parameter moves and the others stay at the incumbent."""
    fitted, space = fit(settings, history, fits), settings.space
    at = space.to_unit(incumbent["params"])
    made = [_slice(fitted, settings, at, i) for i in range(len(space))]
    ends = [np.array([low, high]) for _, _, low, high in made]
    parts = ["<p>Mean and twice its standard deviation as one parameter moves; upright: the incumbent.</p>"]
    for (name, parameter), here, (units, mean, low, high) in zip(space.parameters, at, made, strict=True):
        parts.append(f"<h3>{escape(name)}</h3>")
        if isinstance(parameter, Choice):
            rows = zip(parameter.values, mean, high - mean, strict=True)
            parts.append(table([name, "mean", "± 2 sd"], [[f"{v!r}", f"{m:.6g}", f"{s:.2g}"] for v, m, s in rows]))
            continue
        y = axis("predicted value", *ends)
        curve = Line("", COLORS[0], units, mean, low, high)
        about = f"{name}: prediction through the incumbent"
        parts.append(svg.draw(Chart(about, across(name, parameter), y, [curve, upright(here, y)])))
    return "".join(parts)


def _slice(
    fitted: Fitted, settings: Settings, at: list[float], i: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Unit coordinates of a parameter, and mean and ends of the band there."""
    rows = rows_through(settings.space, at, i)
    mean, sd = map(np.array, fitted.predict(encode(settings.space, rows)))
    return np.array(units_of(settings.space.parameters[i][1])), mean, mean - 2 * sd, mean + 2 * sd
