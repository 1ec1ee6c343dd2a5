"""The command that asks for points.

Heavy imports happen inside the command, so that ``--help`` answers at once.
"""

import socket
from typing import Annotated, Any

import typer

from robustbo.cli.arguments import source_of
from robustbo.cli.journals import study_of
from robustbo.cli.options import FixedOption, FormatOption, Journal
from robustbo.cli.sheets import SheetOption, ValueOption, add_rows
from robustbo.cli.terminal import Format

commands = typer.Typer(no_args_is_help=True, add_completion=False)


@commands.command()
def ask(
    journal: Journal,
    n: Annotated[int, typer.Option("-n", min=0, help="Number of points; 0 only adds the rows that a sheet lacks.")] = 1,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="[KIND=]NAME", help="Who measures the points (default: this machine, or the sheet)."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="One of the study's declared sources (default: the optimizer chooses)."),
    ] = None,
    fixed: FixedOption = None,
    sheet: SheetOption = None,
    column: ValueOption = None,
    format_: FormatOption = Format.json,
) -> None:
    """Ask for the next points to measure.

    Each point is a JSON object on its own line: {"trial": 3, "params": {"x": 0.5}, "repeats": null}. If it repeats an
    earlier trial, measure that point again: its value is in doubt, or the trial failed and may be a flake.

    With --sheet, robustbo tells the values filled in there, and then adds a row for each point.
    """
    from robustbo.cli.asked import say
    from robustbo.cli.typed import fixed_values

    with study_of(journal) as opt:
        fixed_point = fixed_values(opt.settings.space, fixed or ())
        if sheet is not None:
            is_source = any("=" in text for text in by or ())
            asker = source_of(by or (), "--by") if is_source else ", ".join(by or ()) or None
            trials: Any = add_rows(opt, sheet, n, column, fixed_point, asker, source)
        elif by or source is not None:
            trials = opt.ask(n, fixed=fixed_point, by=source_of(by or (), "--by"), source=source)
        else:
            trials = opt.ask_as(f"{socket.gethostname()}:command line", n, fixed=fixed_point)
    say(trials, opt.settings.space.names, format_, has_sources=bool(opt.settings.sources))
