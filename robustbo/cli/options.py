"""Arguments and options that several commands have."""

from typing import Annotated

import typer

from robustbo.cli.terminal import Format

JOURNAL_HELP = "The journal: a file, or a study in a database (postgresql://...#name)."
Journal = Annotated[str, typer.Argument(metavar="JOURNAL", help=JOURNAL_HELP, show_default=False)]
TrialArgument = Annotated[int, typer.Argument(metavar="TRIAL", help="Number of the trial.", show_default=False)]
FixedOption = Annotated[
    list[str] | None,
    typer.Option("--fixed", metavar="NAME=VALUE", help="A parameter value that is fixed now; may be repeated."),
]
SdOption = Annotated[
    list[str] | None,
    typer.Option("--sd", metavar="NUMBER", help="Standard deviation of the value's noise, if known; or NAME=NUMBER."),
]
SourceOption = Annotated[
    list[str] | None,
    typer.Option("--source", metavar="[KIND=]NAME", help="The source, such as reactor=R3; may be repeated."),
]
FormatOption = Annotated[Format, typer.Option("--format", help="Output format.")]
NEGATIVE = {"ignore_unknown_options": True}  # a negative value looks like one
