"""The commands that show what an optimization has found.

Heavy imports happen inside the commands, so that ``--help`` answers at once.
"""

import re
import sys
import warnings
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from robustbo.cli import terminal
from robustbo.cli.journals import say_ahead, view_of
from robustbo.cli.options import Journal
from robustbo.cli.terminal import Format
from robustbo.errors import RobustBOError
from robustbo.replay.output.writable import writable

commands = typer.Typer(no_args_is_help=True, add_completion=False)


@commands.command()
def show(
    journal: Journal,
    format_: Annotated[
        Format, typer.Option("--format", help="Output format; json has all, csv only the values that look wrong.")
    ] = Format.table,
    html: Annotated[bool, typer.Option("--html", help="Write a page with slices, as `report` does.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The page, a picture (.png, .pdf, .svg) or a table of all trials (.csv, .xlsx); by default "
            "beside the journal."
        ),
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show the study again at each change, until Ctrl-C.")] = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the page to browsers on this machine, until Ctrl-C.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port for --serve (default: a free one).")] = 0,
) -> None:
    """Show an optimization: its best point or front, and the values that look wrong.

    It also shows pending trials (with whom, since when), and queued, failed and excluded ones.
    """
    if watch + serve + (html or out is not None) > 1:
        raise RobustBOError("show takes only one of --html (or --out), --watch and --serve")
    if port and not serve:
        raise RobustBOError(f"--port needs --serve, got {port}")
    if html or out is not None:
        from robustbo.report.charts.matplotlib_canvas import FORMATS

        if html and out is not None and out.suffix in (*FORMATS, ".csv", ".xlsx"):
            kind = "picture" if out.suffix in FORMATS else "table"
            raise RobustBOError(f"--html writes a page, got --out {out}; a {kind} needs no --html")
        is_table = out is not None and out.suffix in (".csv", ".xlsx")
        terminal.lines([str(_write_trials(journal, out) if is_table and out else report_journals([journal], out))])
        return
    from robustbo.trials.storage.places import display_name

    if not (serve or watch):
        _print(display_name(journal), format_, _overview(journal))
        return
    from robustbo.cli import bounded, live

    say_ahead(journal, view_of(journal))  # or an error says what is wrong with it
    if serve:
        server = live.Server(journal, display_name(journal), port)
        terminal.lines([server.address])
        sys.stdout.flush()
        bounded.serve(server)
    else:
        live.watch(journal, partial(_print, display_name(journal), format_), is_terminal=sys.stdout.isatty())


def _overview(journal: str) -> dict[str, Any]:
    """The overview of a journal: that which was kept, if nothing has changed since."""
    from robustbo.report.summary import cache

    key = cache.key(journal)
    if key is not None and (summary := cache.get(key)) is not None:
        return summary
    from robustbo.report.summary.overview import overview

    with warnings.catch_warnings(record=True) as caught:
        view = view_of(journal)
        is_same = cache.key(journal) == key
        say_ahead(journal, view)
        summary = overview(view)
    for warning in caught:
        warnings.showwarning(warning.message, warning.category, warning.filename, warning.lineno)
    if key is not None and is_same and not caught:
        cache.put(key, summary)
    return summary


def _print(name: str, format_: Format, summary: dict[str, Any]) -> None:
    from robustbo.report.summary import text_summary, text_todo

    if format_ is Format.json:
        terminal.objects([summary])
        return
    if format_ is Format.csv:
        plain = [{k: v for k, v in o.items() if k not in ("params", "labels")} for o in summary["outliers"]]
        labels = [{f"label.{name}": v for name, v in o.get("labels", {}).items()} for o in summary["outliers"]]
        terminal.rows(_with_same_columns([row | of for row, of in zip(plain, labels, strict=True)]), format_)
        return
    terminal.lines(text_summary.lines(name, summary))
    for title, rows in text_summary.results(summary).items():
        terminal.rows(rows, format_, title=title)
    if not summary["outliers"] and "outliers" not in summary.get("not_computed", ()):
        terminal.lines(["no value looks wrong"])
    for title, rows in text_summary.tables(summary, datetime.now(UTC)).items():
        terminal.rows(rows, format_, title=title)
    terminal.lines(text_todo.lines(name, summary))


def _with_same_columns(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with the same columns, those of each row."""
    return [{**dict.fromkeys(column for other in rows for column in other), **row} for row in rows]


def _write_trials(journal: str, out: Path) -> Path:
    """Write the table of a journal's trials, with the evidence on each value."""
    from robustbo.sheets.table import write_table

    view = view_of(journal)
    say_ahead(journal, view)
    with writable(out) as path:
        write_table(view.frame(), path)
    return out


def report_journals(places: list[str], out: Path | None) -> Path:
    """Write the page of journals, or the picture of one; gives its path.

    Args:
        places: Of the journals.
        out: The path; by default that of the only journal with the suffix .html, or report.html.
    """
    from robustbo.report.page import journals
    from robustbo.trials.storage.places import display_name

    named = [journals.NamedView(beside(place, ".html").stem, view_of(place), display_name(place)) for place in places]
    for place, study in zip(places, named, strict=True):
        say_ahead(place, study.view)
    with writable(out or (beside(places[0], ".html") if len(places) == 1 else Path("report.html"))) as path:
        journals.write(named, path, made_at=datetime.now(UTC))
    return path


def beside(journal: str, suffix: str) -> Path:
    """The name of what is written of a journal; of a database's, that of the study."""
    from robustbo.trials.storage.places import is_address

    study = re.sub(r"[^\w.-]+", "-", journal.partition("#")[2]) or "study"
    return Path(study + suffix) if is_address(journal) else Path(journal).with_suffix(suffix)
