"""The command that serves a study as a page that a lab works in.

Heavy imports happen inside the command, so that ``--help`` answers at once.
"""

import math
import sys
from typing import Annotated

import typer

from robustbo.cli import terminal
from robustbo.cli.options import JOURNAL_HELP
from robustbo.errors import RobustBOError

NEEDED = "robustbo serve needs {}, which comes with the extra robustbo[serve]; pip install 'robustbo[serve]'"
SERVED = f"{JOURNAL_HELP} If the file does not exist, the page has a form that begins the study."
NAMELESS = (
    "JOURNAL must be the file that the study is kept in, got none; write such as robustbo serve lab.jsonl: where there "
    "is no lab.jsonl yet, the page begins a new study there"
)

commands = typer.Typer(no_args_is_help=True, add_completion=False)


@commands.command()
def serve(
    journal: Annotated[str | None, typer.Argument(metavar="JOURNAL", help=SERVED, show_default=False)] = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen: 0.0.0.0 for the lab (default: this machine).")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port (default: a free one).")] = 0,
    name: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A name by which others reach it; may be repeated.")
    ] = None,
    token: Annotated[
        bool, typer.Option("--token/--no-token", help="Whether browsers need a token; always with --host of others.")
    ] = True,
    beside: Annotated[
        list[str] | None,
        typer.Option(metavar="JOURNAL", help="Another study to draw this one's progress with; may be repeated."),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="Cost that all measurements may have; each has 1, or its source's cost."),
    ] = None,
) -> None:
    """Serve a study as a page where people take points and enter and judge values, until Ctrl-C.

    For example `robustbo serve lab.jsonl`. If lab.jsonl does not exist, the page has a form that begins the study.

    The command prints an address with a token that opens the page. Other processes may work on the same study.
    Set ROBUSTBO_SERVE_TOKEN to keep the token over restarts.
    """
    if journal is None:
        raise RobustBOError(NAMELESS)
    try:
        from robustbo.serve import server
    except ModuleNotFoundError as error:
        raise RobustBOError(NEEDED.format(error.name)) from None

    def say(address: str) -> None:
        terminal.lines([address])
        sys.stdout.flush()
        terminal.log("open this address in a browser; Ctrl-C ends the server, and nothing that was recorded is lost")

    limit = math.inf if budget is None else budget
    server.serve(
        journal, say, host=host, port=port, names=name or (), has_token=token, beside=beside or (), budget=limit
    )
