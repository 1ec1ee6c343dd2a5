"""The command that shows sources: what each says of the target, and which kind of source is in error.

Heavy imports happen inside the command, so that ``--help`` answers at once.
"""

from typing import Any

import typer

from robustbo.cli import terminal
from robustbo.cli.journals import say_ahead, view_of
from robustbo.cli.options import FormatOption, Journal
from robustbo.cli.terminal import Format
from robustbo.errors import RobustBOError

NO_SOURCE = "no source of any value was told"

commands = typer.Typer(no_args_is_help=True, add_completion=False)


@commands.command()
def sources(journal: Journal, format_: FormatOption = Format.table) -> None:
    """Show every source of values.

    For declared sources, such as old studies: how they relate to the target. For others, such as reactors: how much
    too high they read, and since when.
    """
    from robustbo.report.summary.relations import relation_values
    from robustbo.report.summary.sources import source_values

    view = view_of(journal)
    say_ahead(journal, view)
    errors, relations = source_values(view), relation_values(view)
    for summary, subject in ((relations, "what other sources say"), (errors, "which source is in error")):
        if "uncomputed" in summary:
            raise RobustBOError(f"{subject} could not be computed: {summary['uncomputed']}")
    reports = [*relations.get("relations", ()), *errors.get("sources", ())]
    if not reports and format_ is not Format.table:
        terminal.log(NO_SOURCE)
    if format_ is Format.json:
        terminal.objects(reports)
    elif format_ is Format.csv:
        rows = relations.get("relations") or errors.get("sources", ())
        terminal.rows([_plain(report) for report in rows], format_)
    else:
        outcome = [quantity.to_dict() for quantity in view.settings.outcome]
        _print(relations | errors | {"outcome": outcome}, has_any=bool(reports))


def _print(overview: dict[str, Any], *, has_any: bool) -> None:
    """Print sentences and tables."""
    from robustbo.loop.sources.source_report import sentences
    from robustbo.report.summary import text_relations, text_sources

    in_error = sentences((report["status"], report["text"]) for report in overview.get("sources", ()))
    terminal.lines([*text_relations.lines(overview), *in_error] if has_any else [NO_SOURCE])
    for text in (text_relations, text_sources):
        if rows := text.rows(overview):
            terminal.rows(rows, Format.table, text.TITLE)


def _plain(report: dict[str, Any]) -> dict[str, Any]:
    """A report as a row of a table of texts and numbers alone."""
    chances = {f"probability.{name}": chance for name, chance in report.get("probabilities", {}).items()}
    omitted = ("trials", "text", "probabilities", "wrong")
    counts = {"trials": len(report["trials"]), "wrong": len(report["wrong"])} if "wrong" in report else {}
    return {key: value for key, value in report.items() if key not in omitted} | counts | chances
