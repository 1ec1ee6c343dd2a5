"""Journals as one file: a page (of several, with the best so far of each beside the others'), or a picture of one."""

import re
from collections.abc import Sequence
from datetime import datetime
from html import escape
from pathlib import Path
from typing import NamedTuple

from robustbo.errors import RobustBOError, SpecError
from robustbo.loop.belief.front import bests
from robustbo.loop.belief.incumbent import Incumbent, incumbents
from robustbo.loop.surrogate.cache import FitCache
from robustbo.report.charts import matplotlib_canvas, svg, timeline
from robustbo.report.charts.chart import Chart, Line, axis, trials_axis
from robustbo.report.charts.one_outcome import risen
from robustbo.report.charts.palette import looks
from robustbo.report.page import journal_page
from robustbo.report.page.html import check_name, document, switches, table
from robustbo.report.summary.outcomes import without_value
from robustbo.report.summary.text_outcomes import place_of
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo.trials.storage.whole import replace_text

ABOUT = (
    "By trial the incumbent among the points measured until then, by what each journal's surrogate believes now; the "
    "last is the incumbent of its section below."
)


class Read(NamedTuple):
    """A journal: what it is called, what it was told at its beginning, what has happened in it, and its place."""

    name: str
    settings: Settings
    history: History
    place: str = journal_page.SOMEWHERE


def write(found: Sequence[Read], path: Path, *, made: datetime | None = None) -> None:
    """Write a page, or (by the suffix of its name) a picture.

    Args:
        found: The journals; of a picture one alone.
        path: Of the file.
        made: When it is made, which a page says.

    Raises:
        RobustBOError: If a picture is to show several journals, or cannot be drawn.
        SpecError: If the name has no such suffix.
        FitError: If a surrogate cannot be fitted.
    """
    if path.suffix in matplotlib_canvas.FORMATS:
        if len(found) > 1:
            raise RobustBOError(f"a picture shows one journal, got {len(found)}; a page (--out NAME.html) has them all")
        return timeline.draw(found[0].settings, found[0].history, path)
    try:
        check_name(path)
    except SpecError as error:
        raise SpecError(f"{error}; or, of a picture, in one of {', '.join(matplotlib_canvas.FORMATS)}") from None
    replace_text(path, page(found, made=made))
    return None


def page(found: Sequence[Read], *, made: datetime | None = None) -> str:
    """The page, which says when it was made where that is given."""
    if len(found) == 1:
        name, settings, history, place = found[0]
        return journal_page.page(name, settings, history, place=place, made=made)
    fits = [FitCache() for _ in found]
    parts = [_compared(found, fits)]
    for (name, settings, history, place), kept in zip(found, fits, strict=True):
        body = re.sub("(</?h)([23])>", _lower, journal_page.body(settings, history, kept, place=place, made=made))
        parts.append(f"<section><h2>{escape(name)}</h2>{body}</section>")
    return document(f"{len(found)} journals", "".join(parts), made=made)


def _lower(tag: re.Match[str]) -> str:
    """A heading's tag, one level below."""
    return f"{tag[1]}{int(tag[2]) + 1}>"


def _best(of: Read, fits: FitCache) -> Sequence[Incumbent]:
    """The best points so far, where there is one objective and a value."""
    has_one = len(of.settings.objectives) < 2 and of.history.having("told")
    if not has_one or without_value(of.settings, of.history):
        return ()
    return (bests if of.settings.outcomes else incumbents)(of.settings, of.history, fits)


def _wanted(settings: Settings) -> str:
    """What is to be optimized, for those that can be compared."""
    several = " and ".join(w.quantity.wanted(w.direction) for w in settings.outcomes if w.direction is not None)
    return several or settings.quantity.wanted(settings.direction)


def _compared(found: Sequence[Read], fits: Sequence[FitCache]) -> str:
    """The best so far of each, in a chart for those that want the same, and a table of all."""
    best = [_best(of, kept) for of, kept in zip(found, fits, strict=True)]
    keys = {f"{i + 1}: {of.name}": f"j{i}" for i, of in enumerate(found)}  # two may have one name
    styles, lines = looks([*keys]), dict[str, list[Line]]()
    for (name, key), of, risen_by in zip(keys.items(), found, best, strict=True):
        if risen_by:
            color, dash = styles[name]
            line = risen(risen_by, len(of.history))
            drawn = line._replace(label=name, color=color, dash=dash, key=key, width=2.0)
            lines.setdefault(_wanted(of.settings), []).append(drawn)
    charts = []
    for what, drawn_here in lines.items():
        across = trials_axis(max(int(line.x[-1]) for line in drawn_here))
        up = axis(what, *(line.y for line in drawn_here), margin=0.06)
        charts.append(svg.draw(Chart("", across, up, drawn_here, about=f"{what}: the best so far of each journal")))
    rows = []
    for name, of, risen_by in zip(keys, found, best, strict=True):
        last = risen_by[-1] if risen_by else None
        said: list[object] = ["-", "-", "-"]
        if last is not None:
            said = [last.trial.number, last.quantity.amount(last.mean, last.sd), place_of(last.params)]
        rows.append([name, _wanted(of.settings), of.history.counts()["told"], *said])
    shown = switches(keys, styles, keys, "Journals") + "".join(charts) + f"<p>{ABOUT}</p>" if charts else ""
    header = ["journal", "wanted", "told", "incumbent", "believed", "at"]
    return f"<section><h2>Best so far</h2>{shown}{table(header, rows)}</section>"
