"""Pieces of HTML, from templates: a page that needs nothing else, tables, switches."""

import math
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from markupsafe import Markup

from robustbo.errors import SpecError
from robustbo.report.charts.palette import Look
from robustbo.report.charts.svg import INKS
from robustbo.report.page.environment import render
from robustbo.report.page.policy import POLICY
from robustbo.report.page.table import Table


def check_name(path: Path) -> None:
    """Check the name of a page.

    Raises:
        SpecError: If it does not end in ".html".
    """
    if path.suffix != ".html":
        raise SpecError(f"--out: the page's name must end in .html, got {path.name!r}")


def document(title: str, body: str, version: str | None = None, made_at: datetime | None = None) -> str:
    """A page with its style and script inside.

    Args:
        title: As text.
        body: As HTML.
        version: Where it is served: of what it shows; it is loaded again when ``version`` beside it is another.
        made_at: When it was made, with a time zone, which the page says; by default no time is shown.
    """
    page = render("document.html", title=title, body=Markup(body), policy=POLICY, version=version, made_at=made_at)
    return f"{page}\n"


def side_by_side(pieces: Sequence[str]) -> str:
    """Pieces of HTML in a wide part, below each other, or in two columns where there is room."""
    return render("side_by_side.html", pieces=[*map(Markup, pieces)])


def table(header: Sequence[str], lines: Sequence[Sequence[Any]], *, is_safe: bool = False) -> str:
    """A table of cells as HTML; they are escaped unless they are HTML already."""
    rows = [[Markup(cell) if is_safe else cell for cell in line] for line in lines]
    return render("table.html", table=Table(header, rows))


def share(value: float | None) -> str:
    """A share, or nothing where there is none."""
    return "" if value is None or math.isnan(value) else f"{value:.2f}"


def switches(keys: Mapping[str, str], styles: Mapping[str, Look], on: Collection[str], of: str = "Methods") -> str:
    """A box a method, which shows and hides the marks of its class, as HTML.

    Args:
        keys: The class of each method's marks.
        styles: How each is drawn.
        on: The methods that are shown at first.
        of: What else than methods they are.
    """
    looks = {method: Look(INKS.get(styles[method].color, styles[method].color), styles[method].dash) for method in keys}
    return render("switches.html", keys=keys, looks=looks, on=on, of=of)
