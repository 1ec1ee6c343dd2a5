"""The command line: the only file that prints. Results go to stdout, logs and progress bars to stderr.

Heavy imports happen inside the commands, so that ``--help`` answers at once.
"""

import json
import sys
import warnings
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from robustbo.replay import workers

if TYPE_CHECKING:
    from robustbo.replay.plan import Plan
    from robustbo.replay.work import Failure

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


class Format(StrEnum):
    """How results are written to stdout."""

    table = "table"
    json = "json"
    csv = "csv"


Runs = Annotated[
    list[Path],
    typer.Argument(metavar="RUN...", help="Spec files, or folders with spec.toml in them.", show_default=False),
]
FormatOption = Annotated[Format, typer.Option("--format", help="How to write the result.")]


@app.callback()
def about() -> None:
    """Bayesian optimization for measurements that cannot all be trusted."""


@app.command()
def replay(
    runs: Runs,
    method: Annotated[list[str] | None, typer.Option(help="Only this method; may be repeated.")] = None,
    replications: Annotated[int | None, typer.Option(min=1, help="Instead of the spec's.")] = None,
    trials: Annotated[int | None, typer.Option(min=1, help="Instead of the spec's.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override an entry.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes, of one thread each.")] = 1,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on the workers of this Dask scheduler instead.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the results; results/NAME unless said.")] = None,
    resume: Annotated[bool, typer.Option(help="Continue where an earlier call stopped.")] = True,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would run, and for how long.")] = False,
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
        _show(ahead, format_, title="what would run")
        _log(in_all(ahead))
        return
    failures: list[Failure] = []
    try:
        for planned in plans:
            if not (fail_fast and failures):
                failures += _run(planned, jobs, cluster, fail_fast)
    except KeyboardInterrupt:
        _log("interrupted; the same command continues from here")
        raise typer.Exit(130) from None
    title = plans[0].spec.title if len(plans) == 1 else ""
    _show(summaries(plans, is_readable=format_ is Format.table), format_, title)
    raise typer.Exit(1 if failures else 0)


def _run(planned: "Plan", jobs: int, cluster: str | None, fail_fast: bool) -> "list[Failure]":
    from robustbo.replay import pool, report
    from robustbo.replay.bars import Bars

    spec, folder = planned.spec, planned.folder
    done = sum(planned.done.values())
    _log(f"{folder}: {len(planned.cells)} cells of {spec.trials} trials, {done} trials done before")
    with Bars(spec, planned.done) as bars:
        if cluster is None:
            failures = pool.run_cells(planned.cells, jobs, bars.notify, fail_fast=fail_fast)
        else:
            from robustbo.replay import on_dask

            failures = on_dask.run_cells(planned.cells, cluster, bars.notify, fail_fast=fail_fast)
    for failure in failures:
        _log(f"failed: {failure.method}, replication {failure.replication}: {failure.reason}")
    if any(cell.journal.exists() for cell in planned.cells):
        written = report.write(folder, spec)
        _log("written: " + ", ".join(map(str, written)))
        if len(written) < 3:
            _log("no picture: it needs matplotlib, which comes with the extra robustbo[report]")
    return failures


@app.command()
def verify(runs: Runs, format_: FormatOption = Format.table) -> None:
    """Recompute recorded runs and compare them bit for bit; exit code 1 on a difference."""
    from robustbo.replay.verify import THE_SAME, verdicts

    rows = []
    for row in verdicts(runs):
        rows.append(row)
        if row["replication"] is not None:
            _log(f"{row['method']}, replication {row['replication']}: {row['verdict']}")
    _show(rows, format_, title="verify")
    raise typer.Exit(0 if all(row["verdict"] == THE_SAME for row in rows) else 1)


@app.command()
def show(
    journal: Annotated[Path, typer.Argument(help="The journal of an optimization.")],
    format_: FormatOption = Format.table,
    html: Annotated[bool, typer.Option("--html", help="Write a page, with slices of the surrogate.")] = False,
    out: Annotated[Path | None, typer.Option(help="Of such a page; beside the journal unless said.")] = None,
) -> None:
    """Show an optimization's progress, its incumbent, and the values that look wrong."""
    from robustbo.overview import lines, overview, verdict_row
    from robustbo.trials.codec import opened

    settings, history = opened(journal)
    if html or out is not None:
        from robustbo.replay import journal_page

        path = out or journal.with_suffix(".html")
        journal_page.write(journal.stem, settings, history, path)
        typer.echo(str(path))
        return
    found = overview(settings, history)
    suspects = found["outliers"]
    if format_ is Format.json:
        typer.echo(json.dumps(found))
        return
    if format_ is Format.table:
        typer.echo("\n".join(lines(str(journal), found)))
        if found["diagnoses"]:
            _show([verdict_row(d) for d in found["diagnoses"]], format_, title="diagnoses on schedule")
    if suspects or format_ is Format.csv:
        _show(suspects, format_, title="values that look wrong, the most suspicious first")
    else:
        typer.echo("no value looks wrong")


@app.command()
def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Recorded runs, or one journal.")],
    out: Annotated[Path | None, typer.Option(help="The page; report.html, or a picture beside the journal.")] = None,
) -> None:
    """Write recorded runs as one page and pictures, or an optimization's journal as a timeline of its values."""
    from robustbo.replay import page, timeline
    from robustbo.trials.codec import opened

    if runs[0].suffix == ".jsonl":
        written = [out or runs[0].with_suffix(".png")]
        timeline.draw(*opened(runs[0]), written[0])
    else:
        written = page.write(runs, out or Path("report.html"))
    typer.echo("\n".join(map(str, written)))


@app.command("list")
def list_(format_: FormatOption = Format.table) -> None:
    """List the problems, regression tasks, corruptions and surrogates, and the specs under runs/."""
    from robustbo.replay.listing import listing

    _show(listing(), format_)


def _log(message: str) -> None:
    typer.echo(message, err=True)


def _show(rows: list[dict[str, Any]], format_: Format, title: str = "") -> None:
    from robustbo.tables import render

    typer.echo(render(rows, format_.value, title), nl=False)


def main() -> None:
    """Run the command line; what the user can mend is one message and exit code 2, without a traceback."""
    warnings.showwarning = lambda message, *_: _log(f"warning: {message}")
    try:
        app()
    except Exception as error:
        from robustbo.errors import RobustBOError

        if not isinstance(error, RobustBOError):
            raise
        _log(f"error: {error}")
        sys.exit(2)


if __name__ == "__main__":
    main()
