"""COCO's bbob-noisy: functions of severe noise (f107 to f130) in 2, 3 and 5 dimensions, 20 evaluations a dimension.

    pip install coco-experiment cma optuna      (the suite, and what two of the methods need; ax-platform for a third)
    python -m benchmarks.bbob_noisy.run record --work W --instances 1:16 --methods default standard optuna-gp cma random
    python -m benchmarks.bbob_noisy.run keep --work W --out runs/bbob-noisy
    python -m benchmarks.bbob_noisy.run tables --rows runs/bbob-noisy --page runs/bbob-noisy/tables.md
    python -m benchmarks.bbob_noisy.run draw --rows runs/bbob-noisy --out docs/evidence
    python -m benchmarks.bbob_noisy.run reference --archive best2009-bbob-noisy.tar.gz --out runs/bbob-noisy
    python -m benchmarks.bbob_noisy.run coco --work W --methods default

A cell is a function, a dimension, an instance and a method; it is recorded whole, with all points and values, into a
file of its own in W, and what is there is kept. All of an instance comes before the next one. `keep` writes
rows.csv.gz, a cell a row, and about.csv, what it was recorded with. `reference` reads the file of best results that
cocopp brings, in its folder refalgs: of each target the smallest expected running time of any algorithm of the
workshop of 2009. `coco` writes COCO's own files into exdata/METHOD where it is called, which cocopp draws
(`pip install cocopp; python -m cocopp exdata/default`).
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchmarks.bbob_noisy import page, scores
from benchmarks.bbob_noisy.methods import LIBRARIES, METHODS, start_method
from benchmarks.common import recording
from benchmarks.common.commands import Commands, add_jobs, add_page
from benchmarks.common.provenance import commit, origins
from benchmarks.common.tables import put
from benchmarks.common.whole_cells import read_entry, record_entry


class Cell(NamedTuple):
    """A cell, which is recorded at once."""

    work: Path
    function: int
    dimension: int
    instance: int
    method: str
    commit: str

    @property
    def file(self) -> Path:
        """File of its record."""
        name = f"f{self.function}-d{self.dimension}-i{self.instance:02}"
        return self.work / self.method / f"{name}.json.gz"

    def entry(self) -> dict[str, Any] | None:
        """Record of the cell; None where there is none yet."""
        return read_entry(self.file)


def run(cell: Cell) -> dict[str, Any]:
    """A cell from its first evaluation to its last, and then what its points are worth without noise."""
    from benchmarks.bbob_noisy.problem import BUDGET, NoisyProblem

    key = (cell.function, cell.dimension, cell.instance)
    problem, method = NoisyProblem(*key), start_method(cell.method, key)
    points, values, recommended = [], [], {}
    started = time.process_time()
    for number in range(1, BUDGET * cell.dimension + 1):
        points.append(method.ask())
        values.append(problem(points[-1]))
        method.tell(values[-1])
        if number in [share * cell.dimension for share in scores.RECOMMENDED]:
            recommended[number // cell.dimension] = method.recommendation()
    seconds = time.process_time() - started
    return {
        "points": points,
        "values": values,
        "precision": [problem.precision(point) for point in points],
        "recommended": recommended,
        "recommended_precision": {share: problem.precision(point) for share, point in recommended.items()},
        "cpu_s": round(seconds, 3),
    }


def record_one(cell: Cell) -> tuple[Cell, float, str]:
    """Record a cell that is not there: its seconds of the processor, and why it failed if it did."""
    libraries = [name for name in ("coco-experiment", LIBRARIES.get(cell.method)) if name]
    entry, failure = record_entry(cell.file, partial(run, cell), cell.commit, libraries)
    return cell, 0.0 if entry is None else entry["cpu_s"], failure


def cells(options: argparse.Namespace) -> Iterator[Cell]:
    """Cells to record or to read: an instance of all before the next one."""
    combinations = product(options.instances, options.functions, options.dimensions, options.methods)
    for instance, function, dimension, method in combinations:
        yield Cell(options.work, function, dimension, instance, method, options.commit)


def record(options: argparse.Namespace) -> None:
    """Run what is not yet done, and say of each cell what it took, or why it failed."""
    import benchmarks.bbob_noisy.problem  # noqa: F401  # which says what to install, once, where it is missing

    todo = [cell for cell in cells(options) if not cell.file.exists()]
    for cell, seconds, failure in recording.run_all(record_one, todo, options.jobs):
        print(f"{cell.method}/{cell.file.name}: {failure or f'{seconds:.1f} s'}", flush=True)


def keep(options: argparse.Namespace) -> None:
    """Write a row a cell that is recorded, and what they were recorded with."""
    rows, provenance = [], []
    for cell in cells(options):
        entry = cell.entry()
        if entry is not None:
            rows.append(scores.row(cell.function, cell.dimension, cell.instance, cell.method, entry))
            provenance.append({"method": cell.method, **entry["about"], "hours": entry["cpu_s"] / 3600})
    if not rows:
        raise SystemExit(f"nothing is recorded in {options.work}")
    options.out.mkdir(parents=True, exist_ok=True)
    table = pd.DataFrame(rows).sort_values(scores.KEY)
    table.to_csv(options.out / "rows.csv.gz", index=False, compression={"method": "gzip", "mtime": 0})
    by_code = pd.DataFrame(provenance).groupby(["method", "commit", "processor", "versions"])
    origins(by_code).round(3).to_csv(options.out / "about.csv", index=False)
    print(f"{len(rows)} cells in {options.out}")


def tables(options: argparse.Namespace) -> None:
    """Print and keep the tables, and put those of the page into it."""
    rows, best = scores.read(options.rows, options.methods), scores.reference_in(options.rows)
    put(scores.tables(rows, best), options.rows)
    if options.page is not None:
        page.put_into(options.page, rows, best)


def draw(options: argparse.Namespace) -> None:
    """Draw the distributions of running times."""
    options.out.mkdir(parents=True, exist_ok=True)
    rows, best = scores.read(options.rows, options.methods), scores.reference_in(options.rows)
    page.draw(rows, best, options.out / "bbob-noisy.png")


def reference(options: argparse.Namespace) -> None:
    """Keep what the best algorithms of 2009 needed."""
    options.out.mkdir(parents=True, exist_ok=True)
    scores.reference(options.archive).to_csv(options.out / scores.REFERENCE, index=False)


def coco(options: argparse.Namespace) -> None:
    """Write COCO's own files of what one method evaluated."""
    from benchmarks.bbob_noisy.problem import write_coco_files

    (method,) = options.methods
    entries = sorted((cell[1:4], cell.entry()) for cell in cells(options) if cell.file.exists())
    print(write_coco_files(method, ((key, entry["points"]) for key, entry in entries if entry is not None)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Record, or make something of what is recorded."""
    commands = Commands(__doc__)
    selection = argparse.ArgumentParser(add_help=False, parents=[commands.work])
    selection.add_argument("--instances", type=recording.replications, default=range(1, 16), metavar="FIRST:END")
    selection.add_argument("--functions", type=recording.replications, default=range(107, 131), metavar="FIRST:END")
    selection.add_argument("--dimensions", type=int, nargs="+", default=[2, 3, 5])
    selection.add_argument("--methods", nargs="+", choices=METHODS, default=[*METHODS])
    selection.add_argument("--commit", default=commit(), help="of this code, where git cannot say it")
    kept_rows = argparse.ArgumentParser(add_help=False)
    kept_rows.add_argument("--rows", type=Path, required=True, help="the folder that keep wrote")
    kept_rows.add_argument("--methods", nargs="+", help="on the instances that all of these have; all unless said")
    folder = argparse.ArgumentParser(add_help=False)
    folder.add_argument("--out", type=Path, required=True, help="a folder")
    add_jobs(commands.add("record", record, parents=[selection]))
    commands.add("keep", keep, parents=[selection, folder])
    commands.add("coco", coco, parents=[selection])
    add_page(commands.add("tables", tables, parents=[kept_rows]))
    commands.add("draw", draw, parents=[kept_rows, folder])
    commands.add("reference", reference, parents=[folder]).add_argument("--archive", type=Path, required=True)
    commands.run(arguments)


if __name__ == "__main__":
    main()
