"""Recorded runs as one page that needs nothing else."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from robustbo.replay.kinds import kind_of
from robustbo.replay.output.loaded import load
from robustbo.replay.output.report import draw
from robustbo.replay.sections.section import Loaded
from robustbo.report.canvas import plt
from robustbo.report.html import check_name, document, table


def write(runs: Sequence[Path], path: Path, allowed: Sequence[Path] = ()) -> list[Path]:
    """Write the page of recorded runs, and a picture of each in a folder of its name beside it.

    Args:
        runs: Their folders or specs.
        path: Of the page.
        allowed: What else they may read; see `load`.

    Returns:
        The files written; no pictures where matplotlib is not installed.

    Raises:
        SpecError: As `load` does, or if the page's name does not end in ".html".
    """
    check_name(path)
    found = [load(run, allowed) for run in runs]
    folder = path.with_suffix("")
    if plt is not None:
        folder.mkdir(parents=True, exist_ok=True)
    path.write_text(page(found), encoding="utf-8", errors="backslashreplace")
    written, same = [path], Counter[str]()
    for run in found:
        same[run.name] += 1
        picture = folder / (f"{run.name}.png" if same[run.name] == 1 else f"{run.name}~{same[run.name]}.png")
        written += [picture] if draw(run.spec, run.found, picture) else []
    return written


def page(runs: Sequence[Loaded]) -> str:
    """The page."""
    title = runs[0].title if len(runs) == 1 else f"{len(runs)} runs"
    return document(title, _overview(runs) + "".join(kind_of(run.spec).show(run, run.spec) for run in runs))


def _overview(runs: Sequence[Loaded]) -> str:
    """Where the default stands between the plain GP and the oracle: of the final values, and of their average."""
    found = [line for run in runs if (line := kind_of(run.spec).headline(run, run.spec)) is not None]
    if not found:
        return ""
    text = (
        "<p>Normalized regret reduction of the default: 0 % is the plain GP, 100 % the oracle, which sees no wrong "
        "value.</p>"
    )
    return text + table(["run", "at the end", "on average"], found)
