"""The commands that begin an optimization, and that add to what it may choose from.

Heavy imports happen inside the commands, so that ``--help`` answers at once.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from robustbo.cli import terminal
from robustbo.cli.arguments import by_outcome, json_object, mendable, objective, read_number
from robustbo.cli.journals import study_of
from robustbo.cli.options import Journal
from robustbo.errors import JournalExists
from robustbo.trials.outcome import Outcome
from robustbo.validation import one_of

SPACE_HELP = (
    'TOML, or JSON like {"x": {"kind": "float", "low": 0, "high": 1}, ..., "constraints": ["x + y <= 1"]}; sources of '
    "values, such as old studies, in [sources.NAME]. "
    "With --pool it is optional: the columns whose kind their values do not show."
)

NEGLIGIBLE = "--negligible-error"

ConstraintOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT",
        help='A constraint, such as "x + y <= 1" or "at most 2 of x, y, z", besides SPACE\'s; may be repeated.',
    ),
]

commands = typer.Typer(no_args_is_help=True, add_completion=False)


@commands.command()
def create(
    journal: Journal,
    space: Annotated[
        typer.FileBinaryRead | None, typer.Argument(metavar="SPACE", help=SPACE_HELP, show_default=False)
    ] = None,
    pool: Annotated[
        typer.FileBinaryRead | None,
        typer.Option(metavar="FILE", help="Choose from the rows of this table (.csv, .xlsx); a column is a parameter."),
    ] = None,
    constraint: ConstraintOption = None,
    direction: Annotated[str | None, typer.Option(help="minimize or maximize; required without --objective.")] = None,
    objectives: Annotated[
        list[str] | None,
        typer.Option(
            "--objective", metavar="NAME:DIRECTION", help="An objective, such as yield:maximize; may be repeated."
        ),
    ] = None,
    bounds: Annotated[
        list[str] | None,
        typer.Option(
            "--outcome-constraint",
            metavar="TEXT",
            help='A bound on an outcome, such as "purity >= 0.95"; may be repeated.',
        ),
    ] = None,
    reference: Annotated[
        list[str] | None,
        typer.Option("--reference-point", metavar="NAME=NUMBER", help="The worst acceptable value of each objective."),
    ] = None,
    outcome: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help='The outcome, its unit and possible range: "0 <= yield (%) <= 100"; may be repeated.',
        ),
    ] = None,
    negligible: Annotated[
        list[str] | None,
        typer.Option(
            NEGLIGIBLE,
            metavar="NUMBER",
            help="The largest error of a right value; with several outcomes NAME=NUMBER, may be repeated.",
        ),
    ] = None,
    block: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND", help="A kind of source with expected differences, such as plate; may be repeated."
        ),
    ] = None,
    prior_data: Annotated[
        list[str] | None,
        typer.Option(
            "--prior-data",
            metavar="[SOURCE=]FILE",
            help="Earlier measurements: a table (.csv, .tsv, .txt, .xlsx) or a journal; one for each source.",
        ),
    ] = None,
    surrogate: Annotated[str | None, typer.Option(help="The surrogate (default: auto); see `robustbo list`.")] = None,
    surrogate_options: Annotated[str | None, typer.Option(metavar="JSON", help="Options of the surrogate.")] = None,
    acquisition: Annotated[str | None, typer.Option(help="Acquisition: auto, qLogNEI, qLogEI, LogEI or sobol.")] = None,
    num_initial: Annotated[int | None, typer.Option(help="Number of space-filling points at the beginning.")] = None,
    replicate: Annotated[str | None, typer.Option(help="Points to replicate: flagged, any or never.")] = None,
    max_replicates: Annotated[int | None, typer.Option(help="Largest number of replicates of one point.")] = None,
    remeasure: Annotated[str | None, typer.Option(hidden=True)] = None,
    max_repeats: Annotated[int | None, typer.Option(hidden=True)] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all random numbers (default: drawn).")] = None,
    if_exists: Annotated[str, typer.Option(help="error, or resume: continue if the settings are the same.")] = "error",
) -> None:
    """Begin an optimization."""
    from robustbo.cli.declared import prior_of, read_sources, tables_of
    from robustbo.cli.typed import description_of
    from robustbo.optimizer import Optimizer
    from robustbo.trials.storage.places import display_name

    arguments: dict[str, Any] = {"direction": direction, "surrogate": surrogate, "acquisition": acquisition}
    arguments |= {"num_initial": num_initial, "replicate": replicate, "max_replicates": max_replicates, "seed": seed}
    arguments |= {"remeasure": remeasure, "max_repeats": max_repeats, "blocks": block or None}
    with mendable():
        arguments |= _outcomes(direction, objectives or (), bounds or (), reference or ())
        if surrogate_options is not None:
            arguments["surrogate_options"] = json_object("--surrogate-options", surrogate_options)
        search_space, described, entries = description_of(space, pool, constraint or ())
        sources, tables = read_sources(entries, "" if space is None else space.name)
        tables |= tables_of(prior_data or (), sources)
        arguments |= {"sources": sources or None, "prior_data": prior_of(tables, search_space)}
        outcomes = [*described, *map(Outcome.read, outcome or ())]
        arguments["outcome"] = _with_negligible_errors(outcomes, negligible or (), is_single=not objectives) or None
        options = _in_new_names({key: value for key, value in arguments.items() if value is not None})
        try:
            opt = Optimizer(search_space, journal=journal, **{"if_exists": if_exists, **options})
        except JournalExists:
            if Path(journal).is_file() and not Path(journal).stat().st_size:
                raise JournalExists(
                    f"{display_name(journal)}: exists and is empty; delete it and call create again"
                ) from None
            raise JournalExists(f"{display_name(journal)}: exists; --if-exists resume continues it") from None
    s = opt.settings
    count = len(opt.history)
    first = f"{count} trial{'s' * (count > 1)}" if count else f"{s.num_initial} space-filling points come first"
    rows = f"; {s.space.size} rows to choose from" if s.space.is_pool else ""
    if pool is not None:  # what its columns were taken for
        kinds = [f"{name} ({type(parameter).__name__})" for name, parameter in s.space.parameters]
        terminal.log(f"columns: {', '.join(kinds)}")
    terminal.lines([f"{display_name(journal)}: {s.goal} with {s.surrogate}, seed {s.seed}{rows}; {first}"])


def _with_negligible_errors(outcomes: Sequence[Outcome], texts: Sequence[str], *, is_single: bool) -> list[Outcome]:
    """The outcomes, with the negligible errors that were typed.

    Args:
        outcomes: Those that were described.
        texts: The errors.
        is_single: Whether there is one outcome, without objectives.
    """
    names = [outcome.name for outcome in outcomes]
    if len(texts) == 1 and "=" not in texts[0] and is_single:
        errors = {names[0] if names else "": _negligible_error(texts[0], NEGLIGIBLE)}
    else:
        errors = by_outcome(
            f"{NEGLIGIBLE} must be a number, or of several outcomes NAME=NUMBER", texts, _negligible_error
        )
    for name in errors if is_single and names else ():
        one_of(f"the outcome of {NEGLIGIBLE}", name, names)
    unnamed = [Outcome(name) for name, error in errors.items() if name not in names and (name or error)]
    return [replace(of, negligible_error=errors.get(of.name, of.negligible_error)) for of in (*outcomes, *unnamed)]


def _negligible_error(text: str, label: str) -> float:
    """A negligible error that was typed."""
    error = read_number(text, label, "0.2")
    if not 0 <= error < math.inf:
        raise ValueError(f"{label} must be at least 0 and finite, got {text!r}; 0 is none")
    return error


def _in_new_names(options: dict[str, Any]) -> dict[str, Any]:
    from robustbo.trials.former_names import in_new_names, old_names

    for sentence in old_names(options):
        terminal.log(sentence)
    return in_new_names(options)


def _outcomes(
    direction: str | None, objectives: Sequence[str], bounds: Sequence[str], reference: Sequence[str]
) -> dict[str, Any]:
    """The optimizer's arguments about several outcomes, from what was typed."""
    if direction is not None and objectives:
        raise ValueError("--direction is for one value without a name; with --objective write NAME:DIRECTION")
    pairs = [objective(text) for text in objectives]
    if len(dict(pairs)) < len(pairs):
        raise ValueError(f"each --objective must have a name of its own, got {[name for name, _ in pairs]}")
    worst = by_outcome("--reference-point must be like NAME=NUMBER", reference)
    arguments = {"objectives": dict(pairs), "outcome_constraints": list(bounds), "reference_point": worst}
    return {key: value or None for key, value in arguments.items()}


@commands.command()
def change(
    journal: Journal,
    space: Annotated[
        typer.FileBinaryRead,
        typer.Argument(metavar="SPACE", help="TOML or JSON, as for create.", show_default=False),
    ],
    was: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="The value that a new parameter had in all trials so far."),
    ] = None,
    constraint: ConstraintOption = None,
) -> None:
    """Change the space of an optimization: measured values stay, and asks follow the new space."""
    from robustbo.cli.typed import description_of, fixed_values
    from robustbo.searchspace.parameters.text import measured_value_of

    with study_of(journal) as opt:
        changed = description_of(space, None, constraint or ()).space
        changed = opt.change(changed, was=fixed_values(changed, was or (), "--was", measured_value_of))
    terminal.lines([f"the space from now on: {changed!r}"])


@commands.command("add-rows")
def add_rows(
    journal: Journal,
    table: Annotated[
        typer.FileBinaryRead,
        typer.Argument(metavar="FILE", help="A .csv or .xlsx file with the columns of the pool.", show_default=False),
    ],
) -> None:
    """Add the rows of a table to the pool of an optimization: all rows, or none if one is wrong."""
    from robustbo.sheets.points import frame_of
    from robustbo.trials.storage.places import display_name

    with study_of(journal) as opt:
        if not opt.settings.space.is_pool:
            raise ValueError(
                f"{display_name(journal)}: only a pool takes new rows, and this space is {opt.settings.space!r}"
            )
        before = opt.settings.space.size or 0
        frame = frame_of(table, dict(opt.settings.space.parameters))
        try:
            size = opt.add_rows(frame)
        except ValueError as error:
            raise ValueError(f"{table.name}: {error}") from None
    terminal.lines([f"{display_name(journal)}: {size - before} rows added; {size} rows to choose from"])
