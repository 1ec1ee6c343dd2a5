"""List of all that can be run: problems, regression tasks, corruptions, methods, and specs under runs/."""

from pathlib import Path

from robustbo.replay.spec.method import NAMED_ABOUT
from robustbo.replay.spec.reading import SPEC_FILE
from robustbo.report.summary.tables import Rows
from robustbo.surrogates.registry import SURROGATES
from robustbo.tasks import corruption, problem, regions, regression
from robustbo.trials.settings import DEFAULT_SURROGATE

FIRST = (DEFAULT_SURROGATE, "student-t", "standard")  # the surrogates that are chosen most


def catalog() -> Rows:
    """A row a name, what is chosen most first: its kind, and what it is in a line."""
    specs = [*Path("runs").glob(f"*/{SPEC_FILE}"), *Path("runs").glob("*.toml")]
    surrogates = {name: _first_line(SURROGATES[name]) for name in dict.fromkeys([*FIRST, *SURROGATES])}
    kinds: dict[str, dict[str, str]] = {
        "surrogate": {"auto": f"The default: {DEFAULT_SURROGATE}."} | surrogates,
        "problem": {name: problem.about(name) for name in problem.names()},
        "task": regression.about(),
        "corruption": {name: _first_line(kind) for name, kind in sorted(corruption.CORRUPTIONS.items())},
        "region": {name: _first_line(shape) for name, (shape, *_) in sorted(regions.SHAPES.items())},
        "method": dict(NAMED_ABOUT),
        "run": dict.fromkeys(sorted(str(path.parent if path.name == SPEC_FILE else path) for path in specs), ""),
    }
    return [
        {"kind": kind, "name": name, "about": about} for kind, names in kinds.items() for name, about in names.items()
    ]


def _first_line(definition: object) -> str:
    return (definition.__doc__ or "").splitlines()[0]
