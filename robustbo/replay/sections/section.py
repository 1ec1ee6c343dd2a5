"""Parts that all sections of a page have in common, whatever the kind of run."""

import shlex
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from robustbo.replay.spec.method import NAMED_ABOUT
from robustbo.replay.spec.reading import AnySpec
from robustbo.report.charts.palette import Look, looks
from robustbo.report.page.html import switches, table
from robustbo.trials.settings import DEFAULT_SURROGATE

ABOUT = {
    "sobol": "No optimizer: the points of a Sobol sequence, spread evenly whatever is measured. What learns from "
    "values must be better than this.",
    "oracle": "The plain Gaussian process of standard, shown nothing that is wrong. In life nobody knows what is; it "
    "says how good a method could be that nothing misleads.",
}
MATTER, FIRST = ("oracle", "standard", DEFAULT_SURROGATE, "default", "student-t"), 5


class Tables(NamedTuple):
    """A run's rows, their summary, and the methods in order."""

    rows: pd.DataFrame
    summary: pd.DataFrame
    methods: list[str]

    @property
    def looks(self) -> dict[str, Look]:
        """Color and dash of each method."""
        return looks(self.methods)

    @property
    def keys(self) -> dict[str, str]:
        """The class of each method's marks."""
        return {method: f"m{i}" for i, method in enumerate(self.methods)}

    def of(self, method: str) -> pd.DataFrame:
        """A method's rows."""
        return self.rows[self.rows["method"] == method]


class Loaded(NamedTuple):
    """A recorded run: its name, the file of its spec, the spec, what is recorded, and, where a page has several runs,
    what it is called there."""

    name: str
    path: Path
    spec: AnySpec
    tables: Tables
    label: str = ""

    @property
    def title(self) -> str:
        """Name under which it is shown."""
        return self.spec.title or self.name

    def heading(self, text: str) -> str:
        """A heading within its section: of a page of several runs with its label, so that no two are the same."""
        return f"<h3>{escape(f'{text}, {self.label}' if self.label else text)}</h3>"


def section(run: Loaded, about: str, parts: Sequence[str]) -> str:
    """A run's section: its title, what it is about (as text), switches, its parts, and how it is run once more.

    It names the methods of which less is recorded than of others: their means are over fewer rows.
    """
    by_method = run.tables.rows.groupby("method")["replication"]
    replications, counts = by_method.nunique().max(), by_method.size()
    fewer = [f"{method} ({count} rows of {counts.max()})" for method, count in counts.items() if count < counts.max()]
    caption = f"{about}; {replications} replications."
    if fewer:
        caption += f" Less is recorded of {', '.join(fewer)}."
    boxes = switches(run.tables.keys, run.tables.looks, initial_methods(run.tables.methods))
    title = f"<h2>{escape(run.label)}</h2>" if run.label else ""  # else the page has it
    head = f'<section class="wide">{title}<p>{escape(caption)}</p>{boxes}'
    command = shlex.join(["robustbo", "replay", str(run.path), "--out", f"results/{run.name}"])
    again = f"{run.heading('To run it again')}<pre>{escape(command)}</pre>"
    return "".join([head, *parts, _methods(run), again, "</section>"])


def _methods(run: Loaded) -> str:
    """Explanations of the methods whose names are no surrogate's."""
    about = {name: ABOUT.get(name) or NAMED_ABOUT.get(name) or _by_spec(run, name) for name in run.tables.methods}
    about = {name: text for name, text in about.items() if text}
    terms = "".join(f"<dt><b>{escape(name)}</b></dt><dd>{escape(text)}</dd>" for name, text in about.items())
    rest = "<p>The other methods are surrogates of that name.</p>" if len(about) < len(run.tables.methods) else ""
    return f"{run.heading('What the methods are')}<dl>{terms}</dl>{rest}" if about else ""


def _by_spec(run: Loaded, name: str) -> str:
    """Explanation, by the spec, of a method whose name means nothing by itself."""
    surrogate = run.spec.methods[name].surrogate if name in run.spec.methods else name
    return "" if surrogate == name else f"The surrogate {surrogate}, with settings of this run."


def initial_methods(methods: Sequence[str]) -> list[str]:
    """The methods that a page shows before anybody switches.

    They are the oracle, the plain GP, the default (under its own name, and with all that the optimizer does) and the GP
    of Student-t noise, where they are recorded, and as many others in order as make `FIRST`.
    """
    told = [method for method in MATTER if method in methods]
    return [*told, *(method for method in methods if method not in told)][:FIRST]


def score_html(text: str, *, is_best: bool, is_near: bool) -> str:
    """A score of a table, as HTML: the best in bold, one that is within its error of it marked."""
    return f"<b>{text}</b>" if is_best else f"{text} ≈" if is_near else text


def timing(heading: str, header: Sequence[str], seconds: Sequence[tuple[str, Sequence[float]]]) -> str:
    """A table of what something took, a row a method, under a heading as HTML; nothing where there is none."""
    lines = [[method, *(f"{value:.2g} s" for value in values)] for method, values in seconds]
    return heading + table(["method", *header], lines) if lines else ""
