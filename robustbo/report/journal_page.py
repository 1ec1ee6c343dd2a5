"""An optimization's journal as a page: progress, incumbent, what looks wrong and why, slices of the surrogate."""

from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from robustbo.loop.cache import FitCache
from robustbo.loop.fit import fit
from robustbo.loop.fitted import Fitted
from robustbo.report import chosen, pool_rows, svg, timeline
from robustbo.report.chart import Chart, axis
from robustbo.report.html import check_name, document, table
from robustbo.report.slices import Slice, across, curves, dots, guide, shades, slices, upright
from robustbo.report.summary import how, how_far, overview, verdict_row, with_sd
from robustbo.report.timeline import BREAKING
from robustbo.report.where_failed import section
from robustbo.trials.extent import space_of
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
    parts += [f"<p>{escape(line[0].upper() + line[1:])}.</p>" for line in chosen.lines(found)]
    if not history.having("told"):
        parts += ["<p>Nothing has been told yet.</p>", section(settings, history, fits, found)]
        parts.append(_space(settings, history, found))
        return document(name, "".join(parts))
    parts += ["<h2>Progress</h2>", _progress(settings, history, fits), "<h2>Incumbent</h2>", _incumbent(found)]
    parts += ["<h2>Values that look wrong, and why</h2>", _suspects(found)]
    if found["diagnoses"]:
        rows = [verdict_row(diagnosis) for diagnosis in found["diagnoses"]]
        parts.append("<h3>Diagnoses on schedule</h3>" + table([*rows[0]], [[*row.values()] for row in rows]))
    parts.append(section(settings, history, fits, found))
    if settings.space.is_pool:
        parts.append(pool_rows.section(settings, history, fits))
    else:
        parts += ["<h2>The surrogate, through the incumbent</h2>", _slices(settings, history, fits, found["incumbent"])]
    parts.append(_space(settings, history, found))
    return document(name, "".join(parts))


def _progress(settings: Settings, history: History, fits: FitCache) -> str:
    """The values by trial and what has become of them, and the best one so far of those that are believed."""
    chart = timeline.values(settings, history, fits)
    ticks = "Ticks: failed (black: looks like its region; gray: like a flake). " if history.having("failed") else ""
    broken = "Squares: they break a constraint. " if any(kind.label == BREAKING for kind in chart.dots) else ""
    return (
        svg.draw(chart)
        + "<p>Blue: believed; orange cross: called wrong; green diamond: cleared again; ringed: replicates "
        f"({escape(timeline.counts(list(chart.dots)))}). {ticks}{broken}Dashed: the best believed value so far. "
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
    space, fitted = space_of(settings, history), fit(settings, history, fits)
    found = slices(space, incumbent["params"])
    made = {each.name: _predicted(fitted, each) for each in found if len(each.units)}
    ends = [np.array([y[each.keeps] for y in made[each.name][1:]]) for each in found if each.name in made]
    parts = [f"<p>{escape(guide(space))}</p>"]
    for each in found:
        parts.append(f"<h3>{escape(each.name)}</h3>" + (f"<p>{escape(each.note)}.</p>" if each.note else ""))
        if each.name not in made:
            continue
        mean, low, high = made[each.name]
        if each.is_table:
            lines = [
                [f"{value!r}", *((f"{m:.6g}", f"{h - m:.2g}") if keeps else ("breaks a constraint", ""))]
                for value, m, h, keeps in zip(each.values, mean, high, each.keeps, strict=True)
            ]
            parts.append(table([each.name, "mean", "± 2 sd"], lines))
            continue
        y = axis("predicted value", *ends)
        drawn = [*shades(each, y), *curves(each, mean, low, high), upright(each.here, y)]
        about = f"{each.name}: prediction through the incumbent"
        parts.append(svg.draw(Chart(about, across(each), y, drawn, dots(each, mean))))
    return "".join(parts)


def _predicted(fitted: Fitted, of: Slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and ends of the band along a slice."""
    mean, sd = map(np.array, fitted.predict(fitted.encoded(of.rows)))
    return mean, mean - 2 * sd, mean + 2 * sd


def _space(settings: Settings, history: History, found: dict[str, Any]) -> str:
    """The parameters and constraints that it was told."""
    lines = chosen.rows(settings, history)
    is_conditional = any(where for *_, where in lines)
    header = ["parameter", "values", *(["exists"] if is_conditional else [])]
    texts = "".join(f"<li><code>{escape(text)}</code></li>" for text in found.get("constraints", ()))
    kept = f"<p>Constraints:</p><ul>{texts}</ul>" if texts else ""
    return "<h2>The space</h2>" + table(header, [line[: len(header)] for line in lines]) + kept
