"""Journals as one file: a page (of several, with the best so far of each beside the others'), or a picture of one."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from robustbo.errors import RobustBOError, SpecError
from robustbo.loop.belief.incumbent import Incumbent
from robustbo.report.charts import matplotlib_canvas, timeline
from robustbo.report.charts.chart import Chart, Line, axis, trials_axis
from robustbo.report.charts.one_outcome import best_so_far
from robustbo.report.charts.palette import Look, looks
from robustbo.report.page import journal_page
from robustbo.report.page.environment import render
from robustbo.report.page.html import check_name, document, switches
from robustbo.report.page.table import Table
from robustbo.report.summary.text_outcomes import place_of
from robustbo.trials.settings import Settings
from robustbo.trials.storage.whole import replace_text
from robustbo.view.view import View

HEADER = ("journal", "wanted", "told", "incumbent", "believed", "at")


class NamedView(NamedTuple):
    """An optimization, what it is called, and the place of its journal."""

    name: str
    view: View
    place: str = journal_page.SOMEWHERE


class Comparison(NamedTuple):
    """Several optimizations beside each other.

    Attributes:
        charts: Of the best so far, one a goal.
        table: A row an optimization.
        keys: The class of the marks of each.
        looks: How each is drawn.
    """

    charts: Sequence[Chart]
    table: Table
    keys: Mapping[str, str]
    looks: Mapping[str, Look]


def write(journals: Sequence[NamedView], path: Path, *, made_at: datetime | None = None) -> None:
    """Write a page, or (by the suffix of its name) a picture.

    Args:
        journals: They; of a picture one alone.
        path: Of the file.
        made_at: When it is made, which a page says.

    Raises:
        RobustBOError: If a picture is to show several journals, or cannot be drawn.
        SpecError: If the name has no such suffix.
        FitError: If a surrogate cannot be fitted.
    """
    if path.suffix in matplotlib_canvas.FORMATS:
        if len(journals) > 1:
            message = f"a picture shows one journal, got {len(journals)}; a page (--out NAME.html) has them all"
            raise RobustBOError(message)
        return timeline.draw(journals[0].view, path)
    try:
        check_name(path)
    except SpecError as error:
        raise SpecError(f"{error}; or, of a picture, in one of {', '.join(matplotlib_canvas.FORMATS)}") from None
    replace_text(path, page(journals, made_at=made_at))
    return None


def page(journals: Sequence[NamedView], *, made_at: datetime | None = None) -> str:
    """The page, which says when it was made where that is given."""
    if len(journals) == 1:
        name, view, place = journals[0]
        return journal_page.page(name, view, place=place, made_at=made_at)
    bodies = [
        (name, Markup(journal_page.body(view, place=place, made_at=made_at, level=3))) for name, view, place in journals
    ]
    both = compare(journals)
    boxes = Markup(switches(both.keys, both.looks, both.keys, "Journals"))
    body = render("journals.html", bodies=bodies, switches=boxes, charts=both.charts, table=both.table)
    return document(f"{len(journals)} journals", body, made_at=made_at)


def _bests(view: View) -> Sequence[Incumbent]:
    """The best points so far, where there is one objective and a value."""
    return view.bests() if len(view.settings.objectives) < 2 and view.is_measured else ()


def _goal(settings: Settings) -> str:
    """The objectives with their directions; journals of the same can be compared."""
    objectives = (o.quantity.label_with_goal(o.direction) for o in settings.outcomes if o.direction is not None)
    return " and ".join(objectives) or settings.quantity.label_with_goal(settings.direction)


def compare(journals: Sequence[NamedView]) -> Comparison:
    """The best so far of each, in a chart for those that want the same, and a table of all.

    Raises:
        FitError: If a surrogate cannot be fitted.
    """
    bests = [_bests(view) for _, view, _ in journals]
    keys = {f"{i + 1}: {journal.name}": f"j{i}" for i, journal in enumerate(journals)}  # two may have one name
    styles, lines, rows = looks([*keys]), dict[str, list[Line]](), list[list[object]]()
    for (name, key), (_, view, _), best in zip(keys.items(), journals, bests, strict=True):
        goal, last = _goal(view.settings), best[-1] if best else None
        cells: list[object] = ["-", "-", "-"]
        if last is not None:
            lines.setdefault(goal, []).append(_line(best, len(view.history), name, styles[name], key))
            cells = [last.trial.number, last.quantity.amount(last.mean, last.sd), place_of(last.params)]
        rows.append([name, goal, view.history.counts()["told"], *cells])
    charts = [_chart(goal, of_goal) for goal, of_goal in lines.items()]
    return Comparison(charts, Table(HEADER, rows), keys, styles)


def _line(best: Sequence[Incumbent], num_trials: int, name: str, look: Look, key: str) -> Line:
    line = best_so_far(best, num_trials)
    return line._replace(label=name, color=look.color, dash=look.dash, key=key, width=2.0)


def _chart(goal: str, lines: Sequence[Line]) -> Chart:
    across = trials_axis(max(int(line.x[-1]) for line in lines))
    up = axis(goal, *(line.y for line in lines), margin=0.06)
    return Chart("", across, up, lines, about=f"{goal}: the best so far of each journal")
