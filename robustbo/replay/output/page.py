"""Recorded runs as one page that needs nothing else."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from robustbo.errors import SpecError
from robustbo.replay.kinds import kind_of
from robustbo.replay.output.loaded import load
from robustbo.replay.output.report import draw
from robustbo.replay.sections.section import Loaded
from robustbo.report.charts.matplotlib_canvas import plt
from robustbo.report.page.html import check_name, document, table
from robustbo.trials.storage.whole import replace_text


def write(
    runs: Sequence[Path], path: Path, allowed: Sequence[Path] = (), *, created_at: datetime | None = None
) -> list[Path]:
    """Write the page of recorded runs, and a picture of each in a folder of its name beside it.

    Args:
        runs: Their folders or specs.
        path: Of the page.
        allowed: What else they may read; see `load`.
        created_at: When it is made, which it says where that is given.

    Returns:
        The files written; no pictures where matplotlib is not installed.

    Raises:
        SpecError: As `load` does, or if the page's name does not end in ".html", or its folder is a link.
    """
    check_name(path)
    loaded = [load(run, allowed) for run in runs]
    folder = path.with_suffix("")
    if plt is not None:
        if folder.is_symlink():
            raise SpecError(
                f"{folder}: must be a folder for the page's pictures, is a link; name another page by --out"
            )
        folder.mkdir(parents=True, exist_ok=True)
    replace_text(path, page(loaded, created_at=created_at))
    written, same = [path], Counter[str]()
    for run in loaded:
        same[run.name] += 1
        picture = folder / (f"{run.name}.png" if same[run.name] == 1 else f"{run.name}~{same[run.name]}.png")
        written += [picture] if draw(run.spec, run.tables, picture) else []
    return written


def page(runs: Sequence[Loaded], *, created_at: datetime | None = None) -> str:
    """The page, which says when it was made where that is given."""
    title = runs[0].title if len(runs) == 1 else f"{len(runs)} runs"
    shown = runs if len(runs) == 1 else _with_labels(runs)
    return document(
        title, _overview(runs) + "".join(kind_of(run.spec).show(run, run.spec) for run in shown), made_at=created_at
    )


def _with_labels(runs: Sequence[Loaded]) -> list[Loaded]:
    """Runs of one page, each called so that it can be told from the others."""
    titles, same = Counter(run.title for run in runs), Counter[str]()
    labelled = []
    for run in runs:
        same[run.title] += 1
        label = run.title if titles[run.title] == 1 else f"{run.title} ({same[run.title]})"
        labelled.append(run._replace(label=label))
    return labelled


def _overview(runs: Sequence[Loaded]) -> str:
    """Place of the default between the plain GP and the oracle: by the final values, and by their average."""
    rows = [line for run in runs if (line := kind_of(run.spec).headline(run, run.spec)) is not None]
    if not rows:
        return ""
    text = (
        "<p>Normalized regret reduction of the default: 0 % is the plain GP, 100 % the oracle, which sees no wrong "
        "value.</p>"
    )
    return text + table(["run", "at the end", "on average"], rows)
