"""A recorded run as a page shows it."""

import shlex
from html import escape
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from robustbo.errors import SpecError
from robustbo.replay.cells.engine import cells_in
from robustbo.replay.cells.optimization import CELLS
from robustbo.replay.output.report import ROWS, Tables, recorded_rows, rows_of, tables
from robustbo.replay.spec import optimization as specs
from robustbo.replay.spec.optimization import AnySpec
from robustbo.report.palette import Look, looks


class Loaded(NamedTuple):
    """A run: its name, the file of its spec, the spec, and what is recorded."""

    name: str
    path: Path
    spec: AnySpec
    found: Tables

    @property
    def methods(self) -> list[str]:
        """In order."""
        return self.found.methods

    @property
    def looks(self) -> dict[str, Look]:
        """How each is drawn."""
        return looks(self.methods)

    @property
    def keys(self) -> dict[str, str]:
        """The class of each method's marks."""
        return {method: f"m{i}" for i, method in enumerate(self.methods)}


def load(run: Path) -> Loaded:
    """A recorded run: a folder with rows or cells in it and a spec in it or beside it, or that spec.

    Raises:
        SpecError: If there is no spec, or nothing is recorded.
    """
    path = specs.find(run)
    folder = path.parent if path.name == specs.SPEC_FILE else path.with_suffix("")
    if (folder / CELLS).is_dir():
        rows = rows_of(cells_in(folder))
    elif (written := recorded_rows(folder)) is not None:
        rows = pd.read_csv(written)
    else:
        raise SpecError(f"{folder}: expected a recorded run ({ROWS} or {CELLS}/), found none; robustbo replay makes it")
    spec = specs.load(run, is_recorded=True)
    return Loaded(folder.name, path, spec, tables(rows, spec))


def opening(run: Loaded, about: str) -> str:
    """The head of a run's section, as HTML: its title, what it is about (as text), and how often it was repeated.

    It names the methods of which less is recorded than of others: their means are over fewer rows.
    """
    by_method = run.found.rows.groupby("method")["replication"]
    replications, counts = by_method.nunique().max(), by_method.size()
    fewer = [f"{method} ({count} rows of {counts.max()})" for method, count in counts.items() if count < counts.max()]
    said = f"{about}; {replications} replications."
    if fewer:
        said += f" Less is recorded of {', '.join(fewer)}."
    return f"<section><h2>{escape(run.spec.title or run.name)}</h2><p>{escape(said)}</p>"


def again(run: Loaded) -> str:
    """The command that makes a run again, as HTML."""
    command = shlex.join(["robustbo", "replay", str(run.path), "--out", f"results/{run.name}"])
    return f"<h3>Again</h3><pre>{escape(command)}</pre>"
