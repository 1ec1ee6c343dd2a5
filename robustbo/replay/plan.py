"""Plan of one call of `robustbo replay`, checked before anything of it begins, and its results."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from robustbo.errors import SpecError
from robustbo.replay.cells.cell import CELLS, Cell
from robustbo.replay.execute.work import past_seconds
from robustbo.replay.kinds import KINDS, kind_of
from robustbo.replay.spec import reading
from robustbo.replay.spec.reading import AnySpec
from robustbo.report.summary.tables import Rows, records
from robustbo.trials.storage.places import check_file

UNKNOWN = "unknown"


class ReplayPlan(NamedTuple):
    """One run: its cells, and how many trials of each (method, replication) are recorded already."""

    spec: AnySpec
    folder: Path
    cells: Sequence[Cell]
    counts: dict[tuple[str, int], int]


def plan(spec: AnySpec, folder: Path, resume: bool) -> ReplayPlan:
    """Check a run against what its folder holds.

    Raises:
        SpecError: If the folder holds results of another spec, or any at all without ``resume``.
    """
    kind = kind_of(spec)
    other_suffixes = [other.cell.suffix for other in KINDS.values() if other is not kind]
    if any(any((folder / CELLS).glob(f"*{suffix}")) for suffix in other_suffixes):
        raise SpecError(f"{folder}: holds a run of another kind; choose another --out")
    cells = kind.cells(spec, folder)
    counts = {(cell.method, cell.replication): min(len(cell.entries()), spec.trials) for cell in cells}
    if any(counts.values()) and not resume:
        raise SpecError(f"{folder}: holds results; omit --no-resume to continue them, or choose another --out")
    return ReplayPlan(spec, folder, cells, counts)


def plan_all(
    runs: Sequence[Path], overrides: Sequence[str], methods: Sequence[str], out: Path | None, resume: bool
) -> list[ReplayPlan]:
    """Plans of runs, each in a folder of its own.

    Args:
        runs: Spec files, or folders with one.
        overrides: Entries of the specs, as ``key=value``.
        methods: The only ones; all if none.
        out: Folder of the results, of several runs with a folder for each in it; results/NAME by default.
        resume: Whether results that are there are continued.

    Raises:
        SpecError: If a run is not there or not right, or as `plan`.
    """
    plans = list[ReplayPlan]()
    if out is not None:
        check_file(out)
    for run in runs:
        path = reading.find(run)
        name = (path.resolve().parent.name or "run") if path.name == reading.SPEC_FILE else path.stem
        folder = Path("results") / name if out is None else out / name if len(runs) > 1 else out
        if any(folder == other.folder for other in plans):
            raise SpecError(f"runs must have names of their own, got two of {folder}; rename one, or replay it alone")
        plans.append(plan(reading.only(reading.load(run, overrides), methods), folder, resume))
    return plans


def forecast(plans: Sequence[ReplayPlan], jobs: int) -> Rows:
    """Rows of what is left to do, one a method of a run, with times where runs on the problem have kept theirs.

    Args:
        plans: The runs.
        jobs: How many cells are run at a time.
    """
    rows: Rows = []
    for spec, folder, planned, counts in plans:
        places = sorted({folder, *Path("results").glob("*"), *Path("runs").glob("*")})
        seconds = past_seconds(spec.problem, places)
        for method in spec.methods:
            mine = [(cell.method, cell.replication) for cell in planned if cell.method == method]
            left = [spec.trials - counts[key] for key in mine]
            seconds_a_trial = seconds.get(method)
            rows.append(
                {"run": folder.name, "method": method, "cells": sum(map(bool, left)), "trials": sum(left)}
                | {"seconds a trial": UNKNOWN if seconds_a_trial is None else f"{seconds_a_trial:.2g}"}
                | {"minutes": _minutes(sum(left), seconds_a_trial, jobs)}
            )
    return rows


def in_all(forecasted: Rows) -> str:
    """A forecast in a sentence."""
    minutes = [float(row["minutes"]) for row in forecasted if row["minutes"] != UNKNOWN]
    about = "more than" if len(minutes) < len(forecasted) else "about"
    cells, trials = (sum(row[name] for row in forecasted) for name in ("cells", "trials"))
    return f"in all {cells} cells, {trials} trials, {about} {sum(minutes):.1f} minutes"


def _minutes(trials: int, seconds: float | None, jobs: int) -> str:
    if trials == 0:
        return "0.0"
    return UNKNOWN if seconds is None else f"{trials * seconds / 60 / jobs:.1f}"


def summaries(plans: Sequence[ReplayPlan], *, is_readable: bool) -> Rows:
    """The summary rows of all finished cells of the plans, run by run; shortened for people where ``is_readable``."""
    rows: Rows = []
    for spec, folder, planned, _ in plans:
        finished = [cell for cell in planned if len(cell.entries()) >= spec.trials]
        if not finished:
            continue
        kind = kind_of(spec)
        for row in records(kind.tables(kind.rows(finished), spec).summary):
            named = {"run": folder.name} if len(plans) > 1 else {}
            rows.append(named | (kind.readable(row) if is_readable else row))
    return rows
