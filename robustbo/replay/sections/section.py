"""What all sections of a page have in common, whatever the kind of run."""

import shlex
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from robustbo.replay.spec.reading import AnySpec
from robustbo.report.html import switches, table
from robustbo.report.palette import Look, looks
from robustbo.trials.settings import DEFAULT_SURROGATE

MATTER, FIRST = ("oracle", "standard", DEFAULT_SURROGATE, "default", "student-t"), 5


class Tables(NamedTuple):
    """A run's rows, their summary, and the methods in order."""

    rows: pd.DataFrame
    summary: pd.DataFrame
    methods: list[str]

    @property
    def looks(self) -> dict[str, Look]:
        """How each method is drawn."""
        return looks(self.methods)

    @property
    def keys(self) -> dict[str, str]:
        """The class of each method's marks."""
        return {method: f"m{i}" for i, method in enumerate(self.methods)}

    def of(self, method: str) -> pd.DataFrame:
        """A method's rows."""
        return self.rows[self.rows["method"] == method]


class Loaded(NamedTuple):
    """A recorded run: its name, the file of its spec, the spec, and what is recorded."""

    name: str
    path: Path
    spec: AnySpec
    found: Tables

    @property
    def title(self) -> str:
        """What it is called where it is shown."""
        return self.spec.title or self.name


def section(run: Loaded, about: str, parts: Sequence[str]) -> str:
    """A run's section: its title, what it is about (as text), switches, its parts, and how it is run once more.

    It names the methods of which less is recorded than of others: their means are over fewer rows.
    """
    by_method = run.found.rows.groupby("method")["replication"]
    replications, counts = by_method.nunique().max(), by_method.size()
    fewer = [f"{method} ({count} rows of {counts.max()})" for method, count in counts.items() if count < counts.max()]
    said = f"{about}; {replications} replications."
    if fewer:
        said += f" Less is recorded of {', '.join(fewer)}."
    boxes = switches(run.found.keys, run.found.looks, first_shown(run.found.methods))
    head = f"<section><h2>{escape(run.title)}</h2><p>{escape(said)}</p>{boxes}"
    command = shlex.join(["robustbo", "replay", str(run.path), "--out", f"results/{run.name}"])
    return "".join([head, *parts, f"<h3>Again</h3><pre>{escape(command)}</pre></section>"])


def first_shown(methods: Sequence[str]) -> list[str]:
    """The methods that a page shows before anybody switches.

    They are the oracle, the plain GP, the default (under its own name, and with all that the optimizer does) and the GP
    of Student-t noise, where they are recorded, and as many others in order as make `FIRST`.
    """
    told = [method for method in MATTER if method in methods]
    return [*told, *(method for method in methods if method not in told)][:FIRST]


def ranked(text: str, *, is_best: bool, is_near: bool) -> str:
    """A score of a table, as HTML: the best in bold, one that is within its error of it marked."""
    return f"<b>{text}</b>" if is_best else f"{text} ≈" if is_near else text


def timing(title: str, header: Sequence[str], seconds: Sequence[tuple[str, Sequence[float]]]) -> str:
    """A table of what something took, a row a method; nothing where there is none."""
    lines = [[method, *(f"{value:.2g} s" for value in values)] for method, values in seconds]
    return f"<h3>{title}</h3>{table(['method', *header], lines)}" if lines else ""
