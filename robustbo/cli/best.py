"""The commands that print the best point, or of several objectives the front.

Heavy imports happen inside the commands, so that ``--help`` answers at once.
"""

from typing import Annotated

import typer

from robustbo.cli import terminal
from robustbo.cli.arguments import mendable
from robustbo.cli.journals import say_ahead, view_of
from robustbo.cli.options import FixedOption, FormatOption, Journal
from robustbo.cli.terminal import Format

commands = typer.Typer(no_args_is_help=True, add_completion=False)


@commands.command()
def best(
    journal: Journal,
    raw: Annotated[bool, typer.Option("--raw", help="The best measured value, without the model.")] = False,
    fixed: FixedOption = None,
) -> None:
    """Print the best point so far as a JSON object.

    With --fixed: the measured point that the model predicts to be best after a change to these values.
    """
    from robustbo.cli.typed import fixed_values
    from robustbo.report.summary import overview
    from robustbo.trials.storage.places import display_name

    view = view_of(journal)
    with mendable():
        if len(view.settings.objectives) > 1:
            raise ValueError(
                "several objectives have no single best point: "
                f"robustbo front {display_name(journal)} prints the points that no other beats"
            )
        partial_point = view.space.partial(fixed_values(view.space, fixed or ()))
        if raw and partial_point:
            raise ValueError("best takes --raw or --fixed, got both")
        if not raw:
            say_ahead(journal, view)
        incumbent = view.raw_best() if raw else view.best(partial_point)
    if incumbent.caveat:
        terminal.log(incumbent.caveat.removeprefix("; "))
    terminal.objects([overview.point(incumbent)])


@commands.command()
def front(journal: Journal, fixed: FixedOption = None, format_: FormatOption = Format.json) -> None:
    """Print the believed front, one point a line: feasible points that no other point beats.

    Sorted by the first objective, with means, standard deviations and probabilities. With --fixed: the front of the
    measured points after a change to these values.
    """
    from robustbo.cli.typed import fixed_values
    from robustbo.report.summary import outcomes, text_outcomes

    view = view_of(journal)
    settings, space = view.settings, view.space
    with mendable():
        if not settings.objectives:
            raise ValueError(f"a front needs several objectives; to {settings.direction} one value: robustbo best")
        say_ahead(journal, view)
        points = view.front(space.partial(fixed_values(space, fixed or ())))
    if not points.points:
        terminal.log("the front is empty: no point measured probably keeps the bounds")
    if format_ is Format.json:
        terminal.objects(outcomes.point_values(point) for point in points)
        return
    values = outcomes.front_values(points)
    labels = {outcome.name: outcome.quantity.label for outcome in settings.outcomes} if format_ is Format.table else {}
    rows = text_outcomes.rows(values, labels, is_plain=format_ is Format.csv)
    terminal.rows(rows, format_, text_outcomes.title(values))
