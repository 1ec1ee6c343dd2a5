"""Recorded runs as one page that needs nothing else."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from robustbo.replay.output import optimization_section, regression_section
from robustbo.replay.output.figure import plt
from robustbo.replay.output.loaded import Loaded, load
from robustbo.replay.output.report import draw
from robustbo.replay.score.optimization import way
from robustbo.replay.spec.optimization import RunSpec
from robustbo.report.html import check_name, document, table
from robustbo.trials.settings import DEFAULT_SURROGATE


def write(runs: Sequence[Path], path: Path) -> list[Path]:
    """Write the page of recorded runs, and a picture of each in a folder of its name beside it.

    Returns:
        The files written; no pictures where matplotlib is not installed.

    Raises:
        SpecError: As `load` does, or if the page's name does not end in ".html".
    """
    check_name(path)
    found = [load(run) for run in runs]
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
        sign = 1 if run.spec.load_problem().direction == "maximize" else -1
        found.append([run.spec.title or run.name, *(_share(means[column], sign) for column in ("final", "average"))])
    if not found:
        return ""
    text = "<p>How much of the way from the plain GP to the oracle, which sees no wrong value, the default goes.</p>"
    return text + table(["run", "at the end", "on average"], found)


def _share(means: pd.Series, sign: int) -> str:
    is_better = sign * (means["oracle"] - means["standard"]) > 0
    return f"{100 * way(means, DEFAULT_SURROGATE):.0f} %" if is_better else "the oracle is no better"
