"""Recorded runs as one page that needs nothing else."""

from collections.abc import Sequence
from pathlib import Path

from robustbo.replay import optimization_section, regression_section
from robustbo.replay.html import document, table
from robustbo.replay.loaded import Loaded, load
from robustbo.replay.report import draw
from robustbo.replay.spec import RunSpec
from robustbo.settings import DEFAULT_SURROGATE


def write(runs: Sequence[Path], path: Path) -> list[Path]:
    """Write the page of recorded runs, and a picture of each in a folder of its name beside it.

    Returns:
        The files written; no pictures where matplotlib is not installed.

    Raises:
        SpecError: As `load` does.
    """
    found = [load(run) for run in runs]
    folder = path.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(page(found), encoding="utf-8")
    pictures = [(run, folder / f"{run.name}.png") for run in found]
    return [path, *(picture for run, picture in pictures if draw(run.spec, run.found, picture))]


def page(runs: Sequence[Loaded]) -> str:
    """The page."""
    title = runs[0].spec.title or runs[0].name if len(runs) == 1 else f"{len(runs)} runs"
    return document(title, _overview(runs) + "".join(map(_section, runs)))


def _section(run: Loaded) -> str:
    if isinstance(run.spec, RunSpec):
        return optimization_section.section(run, run.spec)
    return regression_section.section(run, run.spec)


def _overview(runs: Sequence[Loaded]) -> str:
    """Where the default stands between the plain GP and the oracle: of the final values, and of their average."""
    found = []
    for run in runs:
        if not isinstance(run.spec, RunSpec):
            continue
        means = run.found.summary.set_index("method")
        if not {"standard", "oracle", DEFAULT_SURROGATE} <= set(means.index):
            continue
        shares = [
            (means.at[DEFAULT_SURROGATE, column] - means.at["standard", column])
            / (means.at["oracle", column] - means.at["standard", column])
            for column in ("final", "average")
        ]
        found.append([run.spec.title or run.name, *(f"{100 * share:.0f} %" for share in shares)])
    if not found:
        return ""
    text = "<p>How much of the way from the plain GP to the oracle, which sees no wrong value, the default goes.</p>"
    return text + table(["run", "at the end", "on average"], found)
