"""Cost of a command of the command line, each in a process of its own: processor time, medians.

One journal of told trials; `tell`, `amend` and the like write a line, `ask`, `best` and the first `show` fit to it,
`--help` and the bare import are beside them, and so is importing torch alone, of which `ask` can cost no less. What
Python compiles must be kept (PYTHONDONTWRITEBYTECODE must not be set), as it is where a package was installed.

    python -m benchmarks.speed.start --out runs/speed-start/results.csv
"""

import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import robustbo as rb
from benchmarks.common import provenance
from benchmarks.common.parsers import parser_of
from robustbo.report.summary.tables import render

NUM_TOLD = 20  # trials of the journal
COMMANDS = {
    "import robustbo": ("-c", "import robustbo"),
    "import torch": ("-c", "import torch"),
    "--help": ("-m", "robustbo", "--help"),
    "tell": ("-m", "robustbo", "tell", "lab.jsonl", "0.5", "--params", '{"x": 0.5, "y": 0.25}'),
    "amend": ("-m", "robustbo", "amend", "lab.jsonl", "0", "0.75"),
    "exclude": ("-m", "robustbo", "exclude", "lab.jsonl", "1"),
    "include": ("-m", "robustbo", "include", "lab.jsonl", "1"),
    "requeue": ("-m", "robustbo", "requeue", "lab.jsonl"),
    "show": ("-m", "robustbo", "show", "lab.jsonl"),
    "show, cached": ("-m", "robustbo", "show", "lab.jsonl"),
    "best": ("-m", "robustbo", "best", "lab.jsonl"),
    "ask": ("-m", "robustbo", "ask", "lab.jsonl"),
}


def prepare(folder: Path) -> None:
    """A journal with told trials."""
    space = rb.Space(x=rb.Float(0.0, 1.0), y=rb.Float(0.0, 1.0))
    opt = rb.Optimizer(space, direction="minimize", seed=0, num_initial=NUM_TOLD, journal=folder / "lab.jsonl")
    for trial in opt.ask(NUM_TOLD):
        opt.tell(trial, (trial.params["x"] - 0.3) ** 2 + trial.params["y"])


def processor_s(arguments: tuple[str, ...], folder: Path) -> float:
    """Processor time of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    """Measure each command so many times, in turn."""
    parser = parser_of(__doc__)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        for _ in range(args.times + 1):
            for command, arguments in COMMANDS.items():
                seconds[command].append(processor_s(arguments, folder))
    rows: list[dict[str, Any]] = [
        {"command": command, "cpu_s": round(statistics.median(times[1:]), 3)} for command, times in seconds.items()
    ]  # the first writes what Python compiles
    print(render(rows, "table", "processor time of a command"))
    if args.out is not None:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(render([{**row, **provenance.about(provenance.commit())} for row in rows], "csv", ""))


if __name__ == "__main__":
    main()
