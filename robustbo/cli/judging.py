"""The commands by which people say what is right of values, one at a time or all those of a source."""

from typing import Annotated, Any

import typer

from robustbo.cli import terminal
from robustbo.cli.arguments import bare_values, error_of, noise_of, source_of, trial_and_value
from robustbo.cli.journals import study_of
from robustbo.cli.options import NEGATIVE, Journal, SdOption, SourceOption
from robustbo.cli.recording import outcome_names, say_trials

OutcomeOption = Annotated[str | None, typer.Option(metavar="NAME", help="One of several outcomes (default: all).")]
WhyOption = Annotated[str | None, typer.Option("--reason", help="The reason.")]
TrialArgument = Annotated[
    int | None, typer.Argument(metavar="[TRIAL]", help="Number of the trial.", show_default=False)
]
SinceOption = Annotated[
    int | None, typer.Option(metavar="TRIAL", help="First trial, in the order of telling (default: the beginning).")
]

commands = typer.Typer(no_args_is_help=True, add_completion=False)


@commands.command(context_settings=NEGATIVE)
def amend(
    journal: Journal,
    numbers: Annotated[
        list[str],
        typer.Argument(
            metavar="TRIAL VALUE", help="The trial's number and the right value, or outcomes as NAME=VALUE ..."
        ),
    ],
    sd: SdOption = None,
    reason: WhyOption = None,
) -> None:
    """Correct a told value; with several outcomes, only the given ones change."""
    with study_of(journal) as opt:
        texts, sds = (bare_values(typed or (), opt.settings.quantities) for typed in (numbers, sd))
        number, value = trial_and_value("amend", texts, outcome_names(opt))
        amended = opt.amend(number, value, sd=noise_of(sds, outcome_names(opt)), reason=reason)
    say_trials([amended], opt)


@commands.command()
def exclude(
    journal: Journal,
    trial: TrialArgument = None,
    source: SourceOption = None,
    since: SinceOption = None,
    outcome: OutcomeOption = None,
    reason: WhyOption = None,
) -> None:
    """Mark a value, or all values of a source, as wrong: the journal keeps them, and no model sees them."""
    _judge("exclude", journal, trial, source, since, outcome, reason)


@commands.command()
def include(
    journal: Journal,
    trial: TrialArgument = None,
    source: SourceOption = None,
    since: SinceOption = None,
    outcome: OutcomeOption = None,
    reason: WhyOption = None,
    no_vouch: Annotated[
        bool, typer.Option("--no-vouch", help="Only take your own exclude or include of a trial back.")
    ] = False,
) -> None:
    """Mark a flagged or excluded value as right, or take back the verdict on a source."""
    _judge("include", journal, trial, source, since, outcome, reason, **({"vouch": False} if no_vouch else {}))


@commands.command(context_settings=NEGATIVE)
def correct(
    journal: Journal,
    error: Annotated[
        str | None,
        typer.Argument(
            metavar="ERROR",
            help="How much too high the source's values read; negative if too low.  [required]",
            show_default=False,
        ),
    ] = None,
    source: SourceOption = None,
    since: SinceOption = None,
    outcome: OutcomeOption = None,
    reason: WhyOption = None,
) -> None:
    """Correct all values of a source, past and future, by how much too high they read."""
    with study_of(journal) as opt:
        number = error_of(error, journal, opt.settings.quantities.get(outcome))
        trials = opt.correct(error=number, source=source_of(source or ()), since=since, outcome=outcome, reason=reason)
    _say_verdict(trials, opt)


def _judge(
    verdict: str,
    journal: str,
    trial: int | None,
    source: list[str] | None,
    since: int | None,
    outcome: str | None,
    reason: str | None,
    **options: bool,
) -> None:
    with study_of(journal) as opt:
        call = getattr(opt, verdict)
        if source or since is not None:
            if options:
                raise ValueError("--no-vouch is of a trial, got a source: include takes its verdict back without it")
            trials = call(trial, source=source_of(source or ()), since=since, outcome=outcome, reason=reason)
        elif trial is not None:
            say_trials([call(trial, outcome=outcome, reason=reason, **options)], opt)
            return
        else:
            raise ValueError(f"{verdict} takes a trial's number, or --source or --since, got none of them")
    _say_verdict(trials, opt)


def _say_verdict(trials: list[Any], opt: Any) -> None:
    """Print what was said of a source, and of which trials."""
    terminal.lines([f"{opt.history.verdicts[-1].text}: {len(trials)} trial{'' if len(trials) == 1 else 's'} so far"])
    say_trials(trials, opt)
