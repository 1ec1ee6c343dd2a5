"""The tables of runs/repeats/tables.md, made from the rows that `python -m benchmarks.repeats.run keep` wrote."""

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import pandas as pd

from benchmarks.common.pages import markdown
from benchmarks.repeats.reports import FAR
from benchmarks.repeats.scores import detection_row, losses, mean, reliability
from robustbo.report.summary.tables import Rows, records

SHARES = (0.25, 0.5, 0.75, 1.0)  # of the trials
AFTER = [f"{share:.0%}" for share in SHARES]
KINDS = ("recommended", "measured")
AGAIN = (("default", "default-never"), ("standard-again", "standard"))  # measuring again or not
BASES = ("default", "standard")  # that others are compared with
UNITS = {"crossed-barrel": ("J", 2), "hplc": ("of peak area", 0)}  # and digits that are worth showing
DEFAULT = "default"


def texts(folder: Path, problems: Sequence[str]) -> dict[str, str]:
    """All tables of the rows in a folder, by the marks between which they belong."""
    tables = {"data": markdown(records(_read(folder / "data.csv")))}
    loop = _read(folder / "loop.csv")
    for problem in problems:
        mine = loop[loop["data"] == problem] if len(loop) else loop
        tables[f"{problem} loop"] = "\n".join(loops(mine, *UNITS[problem])) if len(mine) else markdown([])
        for name in ("detection", "values"):
            values = _read(folder / f"{name}-{problem}.csv.gz")
            tables[f"{problem} {name}"] = "\n".join(doubts(values)) if len(values) else markdown([])
    return tables | {"about": about(_read(folder / "about.csv"))}


def loops(rows: pd.DataFrame, unit: str, digits: int) -> Iterator[str]:
    """Tables of what methods lose, and what replicates win."""
    for kind, label in (("recommended", "what is recommended"), ("measured", "the best point measured")):
        yield f"Regret of {label} ({unit}), after shares of the trials:\n"
        yield markdown(loop_table(rows, kind, digits))
    yield "With replicates less without, paired; a minus is a win:\n"
    yield markdown(again_table(rows, digits))


def _read(file: Path) -> pd.DataFrame:
    return pd.read_csv(file) if file.exists() else pd.DataFrame()


def loop_table(rows: pd.DataFrame, kind: str, digits: int) -> Rows:
    """A method a row: regret after shares of the trials, and in the end less the default's and the plain GP's."""
    rows_of_table = []
    for method in rows["method"].unique():
        mine = _of_method(rows, method)
        row = {"method": f"`{method}`", "n": len(mine)} | {a: mean(mine[f"{kind} {a}"], digits) for a in AFTER}
        for other in BASES:
            both = f"{kind} {AFTER[-1]}"
            less = mean(mine[both] - _of_method(rows, other)[both], digits) if method != other else ""
            row[f"less `{other}`"] = less
        counts = {"again": "again", "nothing_new": "of them nothing new", "flagged": "flagged"}
        rows_of_table.append(row | {shown: f"{mine[name].mean():.1f}" for name, shown in counts.items()})
    return rows_of_table


def again_table(rows: pd.DataFrame, digits: int) -> Rows:
    """A pair of methods and a kind of regret a row: paired differences, measuring again less not."""
    rows_of_table = []
    for (again, never), kind in product(AGAIN, KINDS):
        a, b = _of_method(rows, again), _of_method(rows, never)
        both = a.index.intersection(b.index)
        row = {"pair": f"`{again}` less `{never}`", "regret of what is": kind, "n": len(both)}
        less = {after: mean(a.loc[both, f"{kind} {after}"] - b.loc[both, f"{kind} {after}"], digits) for after in AFTER}
        rows_of_table.append(row | less)
    return rows_of_table


def _of_method(rows: pd.DataFrame, method: str) -> pd.DataFrame:
    return rows[rows["method"] == method].set_index("replication")


def doubts(values: pd.DataFrame) -> Iterator[str]:
    """Tables of who finds values that replicates contradict: of all values, and of points measured once; P(wrong)."""
    for label, part in (("All values", values), ("Points measured once in the run", values[values["here"] == 1])):
        if part is values or len(part) < len(values):
            yield f"{label}:\n"
            named = {f"`{name}`": part[part["method"] == name] for name in part["method"].unique()}
            yield markdown([{"method": name, **detection_row(rows)} for name, rows in (named | alone(part)).items()])
    yield "What the probabilities are worth (log loss in nats, beside that of the share of wrong values for all):\n"
    by_method = [(name, values[values["method"] == name]) for name in values["method"].unique()]
    combinations = [(name, rows, far) for name, rows in by_method for far in (FAR if name == DEFAULT else FAR[:1])]
    yield markdown([{"method": f"`{name}`"} | losses(rows, far) for name, rows, far in combinations])
    default = values[values["method"] == DEFAULT]
    if len(default):
        yield "The default's probabilities, by how large they are:\n"
        yield markdown(list(reliability(default)))


def alone(values: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Table of evidence without a surrogate: the value, and its distance from the median of its replication's."""
    first = values[values["method"] == values["method"].iloc[0]].assign(flagged=0)
    middle = first.groupby("replication")["value"].transform("median")
    return {
        "the value alone": first.assign(evidence=first["value"]),
        "its distance from the median of all": first.assign(evidence=(first["value"] - middle).abs()),
    }


def about(records: pd.DataFrame) -> str:
    """Table of the code by which all was recorded, and of machines."""
    rows = []
    by = ["what", "commit", "processor", "versions"]
    for (subject, commit, processor, versions), part in records.groupby(by) if len(records) else ():
        row = {"what": subject, "cells": part["cells"].sum(), "code": commit, "processor": processor}
        row |= {"from": part["since"].min(), "to": part["until"].max(), "core-hours": f"{part['hours'].sum():.2f}"}
        rows.append(row | {"libraries": versions.replace("==", " ")})
    return markdown(rows)
