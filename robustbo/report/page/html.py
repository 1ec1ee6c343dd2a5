"""Pieces that pages are made of: a page that needs nothing else, tables, switches."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

from robustbo.errors import SpecError
from robustbo.report.charts.palette import Look
from robustbo.report.charts.svg import INKS, SCROLLED
from robustbo.report.page.assets import LIVE, SCRIPT, STYLE
from robustbo.report.page.policy import META
from robustbo.report.summary.text_times import in_utc

HINT = '<p class="hint">The table is wider than a small screen: scroll it sideways.</p>'
LONGEST, NARROW = 24, 48  # letters of a cell before it is wrapped, and of a row that a telephone has room for
NUMBER = re.compile(r"(<b>)?[-+]?\.?\d(?!.* to )")
LOOKED_AT = 20  # rows of a table whose width is guessed


def check_name(path: Path) -> None:
    """Check the name of a page.

    Raises:
        SpecError: If it does not end in ".html".
    """
    if path.suffix != ".html":
        raise SpecError(f"--out: the page's name must end in .html, got {path.name!r}")


def document(title: str, body: str, version: str | None = None, made: datetime | None = None) -> str:
    """A page with its style and script inside.

    Args:
        title: As text.
        body: As HTML.
        version: Where it is served: of what it shows; it is loaded again when ``version`` beside it is another.
        made: When it was made, with a time zone, which the page says; nothing is said unless given.
    """
    live = "" if version is None else f'<script data-version="{escape(version)}">{LIVE}</script>'
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8">{META}'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>robustbo: {escape(title)}</title><style>{STYLE}</style>"
        f"<main><h1>robustbo: {escape(title)}</h1>{body}{_made(made)}</main><script>{SCRIPT}</script>{live}</html>\n"
    )


def _made(made: datetime | None) -> str:
    return "" if made is None else f'<p class="made">This page was made at {in_utc(made)}.</p>'


def part(title: str, body: str, *, is_wide: bool = False, is_tall: bool = False) -> str:
    """A part of a page under a heading; where there is room beside another, unless it is wide; beside two, if tall."""
    return f'<div class="part{" wide" * is_wide}{" tall" * is_tall}"><h2>{escape(title)}</h2>{body}</div>'


def parts(made: Sequence[str]) -> str:
    """Parts, below each other, or in two columns where there is room."""
    return f'<div class="parts">{"".join(made)}</div>'


def side_by_side(made: Sequence[str]) -> str:
    """Pieces of a wide part, below each other, or in two columns where there is room."""
    return f'<div class="pieces">{"".join(f"<div>{piece}</div>" for piece in made)}</div>'


def table(header: Sequence[str], lines: Sequence[Sequence[Any]], *, is_safe: bool = False) -> str:
    """A table of cells, which are escaped unless they are HTML already."""

    def cell(value: Any) -> str:
        return f"<td>{value if is_safe else escape(str(value))}</td>"

    head = "".join(f'<th scope="col">{escape(name)}</th>' if name else "<td></td>" for name in header)
    body = "".join(f"<tr>{''.join(map(cell, line))}</tr>" for line in lines)
    hint = HINT if _width([header, *lines[:LOOKED_AT]]) > NARROW else ""
    words = " ".join(f"t{k + 1}" for k, column in enumerate(zip(*lines, strict=True)) if not _has_numbers(column))
    which = f' class="{words}"' if words else ""
    return f"{hint}{SCROLLED.format('table')}<table{which}><tr>{head}</tr>{body}</table></div>"


def _has_numbers(cells: Sequence[Any]) -> bool:
    """Whether a column is of numbers rather than of words, which are aligned at the left."""
    return any(NUMBER.match(str(cell)) and len(str(cell)) <= LONGEST for cell in cells)


def _width(rows: Sequence[Sequence[Any]]) -> int:
    """About how many letters a table is wide."""
    return sum(min(max(len(str(cell)) for cell in column), LONGEST) + 3 for column in zip(*rows, strict=True))


def share(value: float | None) -> str:
    """A share, or nothing where there is none."""
    return "" if value is None or math.isnan(value) else f"{value:.2f}"


def switches(keys: Mapping[str, str], styles: Mapping[str, Look], on: Collection[str], of: str = "Methods") -> str:
    """A box a method, which shows and hides the marks of its class.

    Args:
        keys: The class of each method's marks.
        styles: How each is drawn.
        on: The methods that are shown at first.
        of: What else than methods they are.
    """
    boxes = []
    for method, key in keys.items():
        color, dash = INKS.get(styles[method].color, styles[method].color), styles[method].dash
        line = f'<line x1="0" x2="28" y1="5" y2="5" stroke="{color}" stroke-width="3" stroke-dasharray="{dash}"/>'
        swatch = f'<svg viewBox="0 0 28 10" aria-hidden="true">{line}</svg>'
        box = f'<input type="checkbox"{" checked" * (method in on)} data-key="{key}">'
        boxes.append(f"<label>{box} {swatch} {escape(method)}</label>")
    return f"<fieldset><legend>{of} shown</legend>{''.join(boxes)}</fieldset>"
