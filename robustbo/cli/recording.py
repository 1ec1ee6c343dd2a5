"""The commands that record what became of trials, and that repair a journal.

Heavy imports happen inside the commands, so that ``--help`` answers at once.
"""

from pathlib import Path
from typing import Annotated, Any

import typer

from robustbo.cli import terminal
from robustbo.cli.arguments import (
    bare_values,
    has_trial,
    json_object,
    labels_of,
    noise_of,
    only_value,
    seconds,
    source_of,
    trial_and_value,
)
from robustbo.cli.journals import study_of
from robustbo.cli.options import NEGATIVE, FormatOption, Journal, SdOption, SourceOption, TrialArgument
from robustbo.cli.sheets import AmendOption, LabelOption, MeasuredOption, SheetOption, ValueOption, tell_sheet
from robustbo.cli.terminal import Format

commands = typer.Typer(no_args_is_help=True, add_completion=False)


@commands.command(context_settings=NEGATIVE)
def tell(
    journal: Journal,
    numbers: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TRIAL] VALUE", help="The trial's number and the value, or outcomes as NAME=VALUE ..."),
    ] = None,
    params: Annotated[
        str | None, typer.Option(metavar="JSON", help="The point, in place of TRIAL; or where TRIAL was measured.")
    ] = None,
    sd: SdOption = None,
    sheet: SheetOption = None,
    column: ValueOption = None,
    count: Annotated[
        int | None, typer.Option("--n", metavar="N", help="Number of measurements whose mean is the value.")
    ] = None,
    source: SourceOption = None,
    measured_at: Annotated[
        str | None, typer.Option(metavar="TIME", help='Time of the measurement, such as "2026-11-24 14:10", in UTC.')
    ] = None,
    label: LabelOption = None,
    amend: AmendOption = False,
    as_measured: MeasuredOption = False,
    out_of_range: Annotated[
        str, typer.Option(metavar="WHAT", help="For an impossible value: raise, or exclude (keep it, excluded).")
    ] = "raise",
) -> None:
    """Tell a measured value, or all values that people have filled in in a sheet.

    Give a trial's number; or, with --params, a point: it means the pending trial there, or begins a new trial.
    With both, the trial was measured at that point, which may differ from the point asked for.
    The value may be negative, or a bound in quotes, such as "<0.05" below a detection limit, or ">200". A value
    that is not finite (nan, inf) makes the trial failed. With several outcomes some may be missing: 3 yield=0.81
    cost=3.2.

    With --sheet, robustbo tells all new values in the sheet, in any order of rows and columns.
    """
    with study_of(journal) as opt:
        if sheet is not None:
            typed_besides = {"": " ".join(numbers or ()), "--params": params, "--sd": " ".join(sd or ())}
            typed_besides |= {"--source": " ".join(source or ()), "--measured-at": measured_at}
            typed_besides |= {"--label": " ".join(label or ()), "--n": None if count is None else str(count)}
            options = {"amend": amend, "as_measured": as_measured, "out_of_range": out_of_range}
            tell_sheet(opt, sheet, column, typed_besides, **options)
            return
        if as_measured:
            raise ValueError("--as-measured needs --sheet; for one trial, --params says where it was measured")
        if amend:
            raise ValueError("--amend needs --sheet; robustbo amend JOURNAL TRIAL VALUE corrects one value")
        names = outcome_names(opt)
        texts, sds = (bare_values(typed or (), opt.settings.quantities) for typed in (numbers, sd))
        rest: dict[str, Any] = {"sd": noise_of(sds, names), "source": source_of(source or ())}
        rest |= {"out_of_range": out_of_range, "measured_at": measured_at, "n": count, "labels": labels_of(label or ())}
        point = None if params is None else json_object("--params", params)
        if point is None or has_trial(texts, names):
            place, value = trial_and_value("tell", texts, names)
            told = opt.tell(place, value, params=point, **rest)
        else:
            told = opt.tell(point, only_value(texts, names), **rest)
    say_trials([told], opt)


@commands.command()
def fail(
    journal: Journal,
    trial: TrialArgument,
    reason: Annotated[str, typer.Option(help="The reason.")] = "failed",
    retry: Annotated[
        bool | None,
        typer.Option("--retry/--no-retry", help="Whether the failure was a flake, to try again, or lies in the point."),
    ] = None,
    label: LabelOption = None,
) -> None:
    """Report that a trial gave no value; later asks avoid regions where trials fail."""
    with study_of(journal) as opt:
        failed = opt.fail(trial, reason, retry=retry, labels=labels_of(label or ()))
    say_trials([failed], opt)


@commands.command()
def withdraw(
    journal: Journal,
    trial: TrialArgument,
    reason: Annotated[str | None, typer.Option(help="The reason.")] = None,
) -> None:
    """Withdraw a trial that nobody will measure: it is neither pending nor failed, and tells nothing of its point."""
    with study_of(journal) as opt:
        withdrawn = opt.withdraw(trial, reason)
    say_trials([withdrawn], opt)


@commands.command()
def requeue(
    journal: Journal,
    trials: Annotated[list[int] | None, typer.Argument(metavar="[TRIAL]...", help="Numbers of the trials.")] = None,
    older_than: Annotated[str | None, typer.Option(metavar="AGE", help="At least this old: 2h, 90m, 30s.")] = None,
) -> None:
    """Take back trials that nobody measures any more.

    The next ask returns them again. Without numbers or an age: the trials of processes on this machine that have
    ended.
    """
    with study_of(journal) as opt:
        age = None if older_than is None else seconds(older_than)
        trials_back = opt.requeue(trials or None, older_than=age)
    say_trials(trials_back, opt)
    if not trials_back:
        why = "none was asked for so long ago" if older_than else "no asker is known to have ended"
        terminal.log(f"nothing was taken back: {why}; to take one back anyway, give its number")


@commands.command()
def repair(
    journal: Journal,
    out: Annotated[Path | None, typer.Option(help="The new file (default: NAME.repaired.jsonl).")] = None,
    keep: Annotated[list[int] | None, typer.Option(metavar="LINE", help="Keep this unproven line.")] = None,
    format_: FormatOption = Format.table,
) -> None:
    """Write the provable part of a damaged journal to a new file.

    The damaged file stays as it is.
    """
    from robustbo.trials.repair import report
    from robustbo.trials.repair.salvage import salvage_journal, write

    salvage = salvage_journal(journal, keep or ())
    path = None if salvage.is_whole else out or report.beside(Path(journal))
    if path is not None:
        write(salvage, path)
    if format_ is Format.json:
        terminal.objects([report.report(salvage, path)])
        return
    if format_ is Format.csv:
        terminal.rows(report.rows_left_out(salvage), format_)
        return
    terminal.lines(report.lines(journal, salvage, path))
    for title, rows in report.tables(salvage).items():
        terminal.rows(rows, format_, title)


def outcome_names(opt: Any) -> list[str]:
    """The names of several outcomes; none in the short form."""
    return [outcome.name for outcome in opt.settings.outcomes]


def say_trials(trials: list[Any], opt: Any) -> None:
    from robustbo.study.lines import line_of

    if trials:
        terminal.lines(line_of(trial, opt.settings.quantities) for trial in trials)
