"""Reports on values whose points were really measured more than once, beside their replicates.

A value's distance is |value - median of its point's other measurements|, in robust standard deviations of a data set:
1.4826 median |a - b| / sqrt(2) over all pairs of measurements at one point, which is the standard deviation of a
measurement where errors are normal. A value is called wrong where its distance is more than five; also three is looked
at. Where a point was measured once there is no distance.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from robustbo.loop.belief.judge import Outlier
from robustbo.tasks.problem import Problem, load

FAR = (5.0, 3.0)  # robust standard deviations beyond which a value is called wrong; the first is the definition
TO_NORMAL = 1.4826  # median absolute value to standard deviation, of a normal distribution
COLUMNS = ("trial", "value", "distance", "probability", "evidence", "flagged", "here")


@cache
def robust_sd(name: str) -> float:
    """Standard deviation of a measurement of a problem with replicates."""
    return sd_of(repeats_of(load(name), point) for point in points(name))


def sd_of(repeats: Iterable[tuple[float, ...]]) -> float:
    """Standard deviation of a measurement, by the differences of all pairs at one point."""
    differences = [abs(a - b) for values in repeats for a, b in combinations(values, 2)]
    return TO_NORMAL * float(np.median(differences)) / np.sqrt(2)


@cache
def points(name: str) -> list[dict[str, Any]]:
    """The points of a problem that were measured more than once."""
    problem = load(name)
    listed = map(problem.space.point, range(problem.space.size or 0))
    return [point for point in listed if len(repeats_of(problem, point)) > 1]


def repeats_of(problem: Problem, params: Mapping[str, Any]) -> tuple[float, ...]:
    """All measurements at a point."""
    assert problem.repeats is not None
    return tuple(problem.repeats(params))


def distance(value: float, repeats: tuple[float, ...], sd: float) -> float:
    """Distance of a value from the median of the other measurements at its point; NaN where there is none."""
    rest = list(repeats)
    rest.remove(value)
    return abs(value - float(np.median(rest))) / sd if rest else float("nan")


def report_table(problem: Problem, outlier_reports: Iterable[Outlier]) -> pd.DataFrame:
    """A row a value: its distance, and what a surrogate says of it; `here`, how often its point was measured."""
    sd, reports = robust_sd(problem.name), list(outlier_reports)
    at = pd.Series([o.trial.point for o in reports]).value_counts()
    rows = [
        (
            o.trial.number,
            o.value,
            distance(o.value, repeats_of(problem, o.trial.params), sd),
            o.probability_wrong,
            o.evidence,
            int(o.flagged),
            int(at[o.trial.point]),
        )
        for o in reports
    ]
    return pd.DataFrame(rows, columns=COLUMNS).sort_values("trial", ignore_index=True)


def round_table(table: pd.DataFrame) -> pd.DataFrame:
    """Round to as many digits as are worth keeping."""
    digits = {"value": 4, "distance": 3, "probability": 3}
    short = table["evidence"].map(lambda number: float(f"{number:.3g}"))
    return table.round(digits).assign(evidence=short)


def describe_data(name: str) -> dict[str, Any]:
    """Description of a data set: of its replicated values, how many are wrong, of all and of each quarter by size."""
    problem, sd = load(name), robust_sd(name)
    sizes = [len(repeats_of(problem, problem.space.point(i))) for i in range(problem.space.size or 0)]
    rows = [
        (value, distance(value, own, sd)) for p in points(name) for own in [repeats_of(problem, p)] for value in own
    ]
    values = pd.DataFrame(rows, columns=["value", "distance"])
    quarter = pd.qcut(values["value"].rank(method="first"), 4, labels=False)
    wrong = (values["distance"] > FAR[0]).groupby(quarter).mean()
    row: dict[str, Any] = {"data": name, "points": len(sizes), "measured twice or more": len(points(name))}
    row |= {"values there": len(values), "their sd": round(values["value"].std(), 1), "sd of repeats": round(sd, 2)}
    row |= {f"more than {far:g} sd off": f"{(values['distance'] > far).mean():.1%}" for far in FAR}
    row["of each quarter of values, lowest first"] = ", ".join(f"{share:.0%}" for share in wrong)
    zeros = [repeats_of(problem, p) for p in points(name) if 0.0 in repeats_of(problem, p)]
    row["zeros there"] = f"{len(zeros)} points, {sum(set(own) == {0.0} for own in zeros)} of them 0 each time"
    return row
