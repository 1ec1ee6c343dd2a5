"""Journals as one file: a page (of several, with the best so far of each beside the others'), or a picture of one."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from markupsafe import Markup

from robustbo.errors import RobustBOError, SpecError
from robustbo.report.charts import matplotlib_canvas, timeline
from robustbo.report.page import journal_page
from robustbo.report.page.comparison import NamedView, compare
from robustbo.report.page.environment import render
from robustbo.report.page.html import check_name, document, switches
from robustbo.trials.storage.whole import replace_text


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
