"""Reports of each surrogate on values that were measured at random points, without a loop that chose them.

A draw is of 60 points of those that were measured more than once, and of one measurement at each; all surrogates are
told the same.
"""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch

import robustbo as rb
from benchmarks.common.provenance import note
from benchmarks.repeats.reports import points, repeats_of, report_table, round_table
from robustbo import seeds
from robustbo.tasks.problem import load

POINTS = 60
SURROGATES: dict[str, tuple[str, dict[str, Any]]] = {
    "default": ("relevance-pursuit", {}),
    "pursuit-alone": ("relevance-pursuit", {"is_averaged": False}),
} | {
    name: (name, {})
    for name in (
        *("standard", "student-t", "student-t-process", "conjugate", "computation-aware", "filtered", "trimmed"),
        *("winsorized", "scaled-clip", "power-transform"),
    )
}


class Draw(NamedTuple):
    """One surrogate, told one draw of a data set."""

    problem: str
    surrogate: str
    number: int
    work: Path

    @property
    def file(self) -> Path:
        """File of its rows."""
        return self.work / "detection" / self.problem / f"{self.surrogate}-{self.number}.csv"

    @property
    def note(self) -> Path:
        """File that notes by which code they were made; it is there when they are."""
        return self.file.with_suffix(".json")


def draws(problems: Iterable[str], numbers: Iterable[int], work: Path) -> Iterator[Draw]:
    """Every surrogate of a draw before the next one."""
    for number in numbers:
        for problem in problems:
            yield from (Draw(problem, surrogate, number, work) for surrogate in SURROGATES)


def draw_values(problem: str, number: int) -> list[tuple[dict[str, Any], float]]:
    """The points and values of a draw."""
    listed, generator = points(problem), seeds.generator(number, 0, f"detection {problem}")
    points_drawn = [listed[i] for i in generator.choice(len(listed), POINTS, replace=False)]
    of = load(problem)
    return [(point, float(generator.choice(np.array(repeats_of(of, point))))) for point in points_drawn]


def detect(draw: Draw, commit: str) -> Path:
    """Fit a surrogate to a draw, unless that is done, and keep what it says."""
    torch.set_num_threads(1)
    if not draw.note.exists():
        started = time.process_time()
        problem, (name, options) = load(draw.problem), SURROGATES[draw.surrogate]
        told: dict[str, Any] = {"surrogate": name, "surrogate_options": options, "direction": problem.direction}
        opt = rb.Optimizer(problem.space, seed=0, **told)
        for point, value in draw_values(draw.problem, draw.number):
            opt.tell(point, value)
        write_table(report_table(problem, opt.outliers()), draw.file)
        note(draw.note, commit, time.process_time() - started)
    return draw.file


def write_table(table: pd.DataFrame, file: Path) -> None:
    """Keep a table in a file that is whole or not there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    round_table(table).to_csv(part, index=False)
    part.replace(file)


def read_rows(draw: Draw) -> pd.DataFrame:
    """Rows of a draw."""
    return pd.read_csv(draw.file).assign(method=draw.surrogate, replication=draw.number)
