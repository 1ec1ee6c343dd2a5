"""List of all that can be run: surrogates, problems, regression tasks, corruptions and methods."""

from robustbo.replay.spec.method import NAMED_ABOUT
from robustbo.report.summary.tables import Rows
from robustbo.surrogates.registry import SURROGATES
from robustbo.tasks import corruption, problem, regions, regression
from robustbo.trials.settings import DEFAULT_SURROGATE

FIRST = (DEFAULT_SURROGATE, "student-t", "standard")  # the surrogates that are chosen most


def catalog() -> Rows:
    """A row a name, what is chosen most first: its kind, and what it is in a line."""
    surrogates = {name: _first_line(SURROGATES[name]) for name in dict.fromkeys([*FIRST, *SURROGATES])}
    kinds: dict[str, dict[str, str]] = {
        "surrogate": {"auto": f"The default: {DEFAULT_SURROGATE}."} | surrogates,
        "problem": {name: problem.about(name) for name in problem.names()},
        "task": regression.about(),
        "corruption": {name: _first_line(kind) for name, kind in sorted(corruption.CORRUPTIONS.items())},
        "region": {name: _first_line(shape) for name, (shape, *_) in sorted(regions.SHAPES.items())},
        "method": dict(NAMED_ABOUT),
    }
    return [
        {"kind": kind, "name": name, "about": about} for kind, names in kinds.items() for name, about in names.items()
    ]


def is_whole(rows: Rows) -> bool:
    """Return whether all problems could be loaded: what could not today may be there tomorrow."""
    return not any(row["about"].startswith(problem.UNLOADED) for row in rows)


def _first_line(definition: object) -> str:
    return (definition.__doc__ or "").splitlines()[0]
