"""An optimization's journal as a page: progress, incumbent, what looks wrong and why, slices of the surrogate."""

from html import escape
from typing import Any

from robustbo.loop.cache import FitCache
from robustbo.loop.fitted import Fitted
from robustbo.loop.ladder import by_first
from robustbo.loop.observations import observations
from robustbo.report import (
    chosen_section,
    pool_rows,
    several_page,
    suspects,
    svg,
    through,
    timeline,
    waiting,
    where_failed,
)
from robustbo.report.fates import BREAKING
from robustbo.report.html import document, table
from robustbo.report.overview import overview
from robustbo.report.part import part
from robustbo.report.words import chosen as chosen_words
from robustbo.report.words.summary import how, how_far, verdict_row
from robustbo.trials.extent import space_of
from robustbo.trials.history import History
from robustbo.trials.outcome import Outcome
from robustbo.trials.settings import Settings


def page(
    name: str, settings: Settings, history: History, fits: FitCache | None = None, *, version: str | None = None
) -> str:
    """The page.

    Args:
        name: Of the optimization, as its page calls it.
        settings: What it was told at its beginning.
        history: What has happened in it.
        fits: The last fits.
        version: Of the journal, where the page is served and shows itself anew when that changes.

    What cannot be computed is said in its place.
    """
    return document(name, body(settings, history, FitCache() if fits is None else fits), version)


def body(settings: Settings, history: History, fits: FitCache) -> str:
    """What the page says, below its title."""
    found = overview(settings, history, fits)
    parts = (several_page.parts if settings.outcomes else _of_one)(settings, history, fits, found)
    return "".join([*parts, waiting.section(found), chosen_section.section(settings, history)])


def _of_one(settings: Settings, history: History, fits: FitCache, found: dict[str, Any]) -> list[str]:
    parts = [f"<p>{escape(how(found))}; {escape(how_far(found))}.</p>"]
    parts += [f"<p>{escape(line[0].upper() + line[1:])}.</p>" for line in chosen_words.lines(found)]
    failing = where_failed.section(settings, history, fits, found)
    if not history.having("told"):
        return [*parts, "<p>Nothing has been told yet.</p>", failing]
    parts += ["<h2>Progress</h2>", part(settings, lambda: _progress(settings, history, fits))]
    parts += ["<h2>Incumbent</h2>", _incumbent(found, settings.quantity)]
    parts += ["<h2>Values that look wrong, and why</h2>", suspects.section(found, settings.quantities)]
    if found["diagnoses"]:
        rows = [verdict_row(diagnosis) for diagnosis in found["diagnoses"]]
        parts.append("<h3>Diagnoses on schedule</h3>" + table([*rows[0]], [[*row.values()] for row in rows]))
    parts.append(failing)
    if settings.space.is_pool:
        return [*parts, part(settings, lambda: pool_rows.section(settings, history, fits))]
    parts.append("<h2>The surrogate, through the incumbent</h2>")
    return [*parts, part(settings, lambda: _slices(settings, history, fits, found))]


def _slices(settings: Settings, history: History, fits: FitCache, found: dict[str, Any]) -> str:
    """The surrogate through the incumbent: the first that can be fitted and predicts there."""
    values, space = through.measured(history, found["outliers"]), space_of(settings, history)

    def drawn(fitted: Fitted) -> str:
        return through.section(
            space, found["incumbent"]["params"], [through.Surface(fitted, settings.quantity, values=values)]
        )

    return by_first(settings, observations(settings, history), drawn, fits)


def _progress(settings: Settings, history: History, fits: FitCache) -> str:
    """The values by trial and what has become of them, and the best one so far of those that are believed."""
    chart = timeline.values(settings, history, fits)
    ticks = "Ticks: failed (strong: looks like its region; pale: like a flake). " if history.having("failed") else ""
    broken = "Squares: they break a constraint. " if any(kind.label == BREAKING for kind in chart.dots) else ""
    return (
        svg.draw(chart)
        + "<p>Blue: believed; orange cross: called wrong (flagged, quarantined or refuted); green diamond: cleared "
        f"again; ringed: replicates ({escape(timeline.counts(list(chart.dots)))}). {ticks}{broken}Dashed: the "
        "incumbent among the points measured so far, as the surrogate believes them now. "
        "Values beyond the frame are drawn at its edge, with their numbers.</p>"
    )


def _incumbent(found: dict[str, Any], of: Outcome) -> str:
    """The point of best posterior mean, and that of the best raw value."""
    lines = []
    for label in ("incumbent", "best_raw_value"):
        best = found[label]
        place = ", ".join(f"{name} = {value!r}" for name, value in best["params"].items())
        lines.append([label.replace("_", " "), best["trial"], of.amount(best["value"], best["sd"]), place])
    return table(["", "trial", of.name or "value", "at"], lines)
