"""The command line: runs here, single optimizations in `robustbo.cli.beginning`, `results` and `study`.

Results go to stdout, logs and progress bars to stderr. Heavy imports happen inside the commands, so that ``--help``
answers at once.
"""

import platform
import sys
import warnings
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from robustbo.cli import asking, beginning, best, judging, results, serving, sources, terminal
from robustbo.cli import recording as cli_recording
from robustbo.cli.commands import INTERRUPTED, Commands
from robustbo.cli.options import FormatOption
from robustbo.cli.terminal import Format
from robustbo.errors import RobustBOError
from robustbo.replay.execute import workers
from robustbo.replay.output.writable import writable

if TYPE_CHECKING:
    from robustbo.replay.execute.work import CellFailure
    from robustbo.replay.plan import ReplayPlan

app = typer.Typer(
    cls=Commands, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)

BENEATH = ("torch", "botorch")  # whose versions decide what is computed

Runs = Annotated[
    list[Path],
    typer.Argument(metavar="RUN...", help="Spec files, or folders with spec.toml in them.", show_default=False),
]

AllowOption = Annotated[
    list[Path] | None,
    typer.Option(metavar="PATH", help="A further file or folder that recorded runs may read; may be repeated."),
]


def _version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import version

        with_them = ", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in BENEATH)])
        terminal.lines([f"robustbo {version('robustbo')} ({with_them})"])
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_version,
            is_eager=True,
            help="Show the versions of robustbo and its libraries, and exit.",
        ),
    ] = False,
) -> None:
    """Bayesian optimization for measurements that cannot all be trusted."""


@app.command()
def replay(
    runs: Runs,
    method: Annotated[list[str] | None, typer.Option(help="Run only this method; may be repeated.")] = None,
    replications: Annotated[
        int | None, typer.Option(min=1, help="Number of replications (default: the spec's).")
    ] = None,
    trials: Annotated[int | None, typer.Option(min=1, help="Number of trials (default: the spec's).")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override an entry of the spec.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes, each with one thread.")] = 1,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on the workers of this Dask scheduler instead.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the results (default: results/NAME).")] = None,
    resume: Annotated[bool, typer.Option(help="Continue where an earlier call stopped.")] = True,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would run, and for how long.")] = False,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="Stop at the first failure.")] = False,
    format_: FormatOption = Format.table,
) -> None:
    """Run benchmark runs and show how each method did."""
    if jobs > 1 and cluster is None and not dry_run and all(run.exists() for run in runs):
        workers.begin()  # they import what this process does, meanwhile; not where a run is misspelt, and all is over
    from robustbo.replay.plan import forecast, in_all, plan_all, summaries

    flags = {"replications": replications, "trials": trials}
    overrides = [*(set_ or []), *(f"{key}={value}" for key, value in flags.items() if value is not None)]
    plans = plan_all(runs, overrides, method or [], out, resume)
    if dry_run:
        ahead = forecast(plans, jobs)
        terminal.rows(ahead, format_, title="what would run")
        terminal.log(in_all(ahead))
        return
    failures: list[CellFailure] = []
    try:
        for planned in plans:
            if not (fail_fast and failures):
                failures += _run(planned, jobs, cluster, fail_fast)
    except KeyboardInterrupt:
        terminal.log("interrupted; the same command continues from here")
        raise typer.Exit(INTERRUPTED) from None
    title = plans[0].spec.title if len(plans) == 1 else ""
    terminal.rows(summaries(plans, is_readable=format_ is Format.table), format_, title)
    raise typer.Exit(1 if failures else 0)


def _run(planned: "ReplayPlan", jobs: int, cluster: str | None, fail_fast: bool) -> "list[CellFailure]":
    from robustbo.replay.execute import pool
    from robustbo.replay.execute.bars import Bars
    from robustbo.replay.output import report
    from robustbo.replay.spec import kept

    spec, folder = planned.spec, planned.folder
    with writable(folder / kept.SPEC_FILE):
        kept.keep(spec, folder)
    trials_before = sum(planned.counts.values())
    terminal.log(f"{folder}: {len(planned.cells)} cells of {spec.trials} trials, {trials_before} trials done before")
    with Bars(spec, planned.counts) as bars:
        if cluster is None:
            failures = pool.run_cells(planned.cells, jobs, bars.notify, fail_fast=fail_fast)
        else:
            from robustbo.replay.execute import on_dask

            failures = on_dask.run_cells(planned.cells, cluster, bars.notify, fail_fast=fail_fast)
    for failure in failures:
        terminal.log(f"failed: {failure.method}, replication {failure.replication}: {failure.reason}")
    if any(cell.journal.exists() for cell in planned.cells):
        with writable(folder / report.ROWS):
            written = report.write(folder, spec)
        terminal.log("written: " + ", ".join(map(str, written)))
        if len(written) < 3:
            terminal.log("no picture: it needs matplotlib, which comes with the extra robustbo[report]")
    return failures


@app.command()
def verify(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="Recorded runs, or journals of optimizations.", show_default=False),
    ],
    bits: Annotated[bool, typer.Option("--bits", help="Accept only the same bits.")] = False,
    allow: AllowOption = None,
    format_: FormatOption = Format.table,
) -> None:
    """Recompute recorded runs, or journals, and compare: the same bits, the same to rounding, as good, or different.

    robustbo repeats each decision from its recorded events. Other processors round differently: values may differ
    by 1e-12 of their size, points by 1e-6 of each range. Another point is as good if the same model values it within
    1e-3 nats of the best. The exit code is 1 if anything differs by more, and 2 if
    something cannot be read.
    """
    from robustbo.replay.check.comparison import ACCEPTED, Match
    from robustbo.replay.verify import verdicts

    rows = []
    for row in verdicts(runs, allow or ()):
        rows.append(row)
        if row["replication"] is not None:
            terminal.log(f"{row['method']}, replication {row['replication']}: {row['verdict']}")
    terminal.rows(rows, format_, title="verify")
    enough = (Match.BITS,) if bits else ACCEPTED
    if unreadable := [row["verdict"] for row in rows if row["agreement"] == Match.UNREADABLE]:
        more = f" (and {len(unreadable) - 1} more could not be read)" if len(unreadable) > 1 else ""
        raise RobustBOError(f"{unreadable[0]}{more}")
    raise typer.Exit(0 if all(row["agreement"] in enough for row in rows) else 1)


@app.command()
def report(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Recorded runs, or journals.", show_default=False)
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="The page, or a picture of one journal (default: report.html, or beside the only journal)."),
    ] = None,
    allow: AllowOption = None,
) -> None:
    """Write a page about recorded runs or journals (for one journal, the same as `show --html`)."""
    from robustbo.replay.output import page
    from robustbo.replay.verify import is_journal
    from robustbo.trials.storage.places import display_name

    if journals := [place for place in runs if is_journal(place)]:
        if runs_only := [place for place in runs if place not in journals]:
            run, journal = display_name(runs_only[0]), display_name(journals[0])
            if not Path(runs_only[0]).exists():
                raise RobustBOError(f"{run}: must be a recorded run or a journal, but no such file exists")
            raise RobustBOError(
                f"a page shows either recorded runs or journals, got both: {run} is a run, {journal} a journal"
            )
        written = [results.report_journals(journals, out)]
    else:
        with writable(out or Path("report.html")) as path:
            written = page.write([*map(Path, runs)], path, allow or (), created_at=datetime.now(UTC))
    terminal.lines(map(str, written))


@app.command("list")
def list_(format_: FormatOption = Format.table) -> None:
    """List surrogates, problems and corruptions.

    It also lists the regression tasks, the other methods of benchmarks, and the specs under runs/.
    """
    from robustbo.replay.catalog import catalog

    terminal.rows(catalog(), format_)


# In the order of the help: what an optimization has found, how one is begun and driven, and benchmarks.
_of_a_study = (
    results.commands,
    best.commands,
    beginning.commands,
    asking.commands,
    cli_recording.commands,
    judging.commands,
    sources.commands,
    serving.commands,
)
app.registered_commands[:0] = [command for commands in _of_a_study for command in commands.registered_commands]


def main() -> None:
    """Run the command line; what the user can mend is one message and exit code 2, without a traceback."""
    log = cache(terminal.log)  # each once: of several outcomes every surrogate has its own
    warnings.showwarning = lambda message, *_: log(f"warning: {message}")
    try:
        app()
    except RobustBOError as error:
        terminal.log(f"error: {error}")
        sys.exit(2)
