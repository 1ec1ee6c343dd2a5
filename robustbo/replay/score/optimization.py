"""Tables made of recorded cells: one row a trial, and a summary a method."""

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import DegenerateDataWarning, bootstrap

from robustbo.errors import JournalError
from robustbo.foreign.tables import Cells
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.cells.own_loop import value_to_tell
from robustbo.replay.cells.recommendation import trials_of
from robustbo.replay.cells.records import read_of_cell
from robustbo.replay.score.detection import detection
from robustbo.replay.score.sources import name_rates, source_columns
from robustbo.tasks.problem import Problem
from robustbo.tasks.several import SeveralProblem
from robustbo.trials.codec import fold

CONFIDENCE = 0.9
RESAMPLES = 9999

Entries = Sequence[dict[str, Any]]  # what is recorded of each trial


def columns(table: pd.DataFrame) -> dict[str, Cells]:
    """The columns that `rows` makes, and what their cells are, as far as anything follows from them."""
    names = [name.removesuffix("corrupted") for name in table if str(name).endswith("corrupted")] or [""]
    kinds: dict[str, Cells] = {"method": "text", "replication": "whole", "trial": "whole", "origin": "text"}
    kinds |= dict.fromkeys(("repeats", "inference", "fit_s", "acquisition_s"), "number")
    for name in names:
        kinds |= {f"{name}clean": "number", f"{name}value": "number"}
        kinds |= {f"{name}corrupted": "truth", f"{name}flagged": "flag"}
    kinds |= {"source": "text", "doubted": "flag"} if "source" in table else {}
    return kinds | ({"failed": "truth"} if "failed" in table else {})


def rows(cells: Sequence[OptimizationCell]) -> pd.DataFrame:
    """One row per method, replication and trial, up to the trials that the cell's spec has.

    Columns: method, replication, trial, origin, repeats (the trial that it replicates, if any), clean (true value),
    value (as told; NaN of a failed trial), corrupted (whether that was), flagged (after the last trial; NA if errors
    are known), recommended (a trial), inference (true value at the recommended point), oracle (best true value measured
    so far), fit_s and acquisition_s (of the ask); where trials may fail, failed; and of several workers, those of
    `source_columns`.

    Of several outcomes clean, value, corrupted and flagged are OUTCOME.clean and so on, and recommended is a text: the
    trials, those of the believed front. Inference and oracle are then what the recommended points, or all those so far,
    are worth in truth: their hypervolume, or the best value that keeps the constraints.
    """
    frames = [_cell_rows(cell) for cell in cells]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _cell_rows(cell: OptimizationCell) -> pd.DataFrame:
    every = cell.entries()
    entries, flagged = every[: cell.spec.trials], cell.flags() if len(every) <= cell.spec.trials else None
    contents = read_of_cell(cell.journal)
    fold(cell.journal, contents)  # which checks each event
    asks = [event for event in contents.events if event["event"] == "ask"][: len(entries)]
    if len(asks) < len(entries):
        raise JournalError(f"{cell.journal}: holds {len(asks)} asks, its truth {len(entries)} trials; events are lost")
    recommended = [entry["recommended"] for entry in entries]
    clean, problem = [entry["clean"] for entry in entries], cell.spec.load_problem()
    flagged = None if cell.how.sees == "errors" else flagged
    told = [value_to_tell(cell, entry["clean"], entry["value"], entry["trial"]) for entry in entries]
    failed = [value is None for value in told]
    is_several = isinstance(problem, SeveralProblem)
    inference = [
        None if recommendation is None else problem.worth([clean[n] for n in trials_of(recommendation)])
        for recommendation in recommended
    ]
    return pd.DataFrame(
        {
            "method": cell.method,
            "replication": cell.replication,
            "trial": [entry["trial"] for entry in entries],
            "origin": [ask.get("origin") for ask in asks],
            "repeats": pd.array([_replicate_of(cell, ask) for ask in asks], dtype="Int64"),
            **(_of_several if is_several else _of_one)(cell, entries, told, flagged),
            "recommended": [" ".join(map(str, trials_of(recommendation))) for recommendation in recommended]
            if is_several
            else pd.array(recommended, dtype="Int64"),
            "inference": pd.array(inference, dtype=float),
            "oracle": _so_far(problem, clean, failed),
            "fit_s": [ask.get("fit_s", math.nan) for ask in asks],
            "acquisition_s": [ask.get("acquisition_s", math.nan) for ask in asks],
            **({"failed": failed} if cell.spec.has_failures else {}),
            **source_columns(cell, entries),
        }
    )


def _replicate_of(cell: OptimizationCell, ask: Mapping[str, Any]) -> int | None:
    """The trial of the record that an ask replicates; a journal has those of old studies before it."""
    number = ask.get("repeats")
    return None if number is None else number - len(cell.old_measurements)


def _of_one(cell: OptimizationCell, entries: Entries, told: list[Any], flagged: Any) -> dict[str, Any]:
    """The columns of values and of judgments on them."""
    return {
        "clean": [entry["clean"] for entry in entries],
        "value": pd.array(told, dtype=float),
        "corrupted": [entry["corrupted"] and cell.how.sees != "clean" for entry in entries],
        "flagged": pd.array([None if flagged is None else e["trial"] in flagged for e in entries], dtype="boolean"),
    }


def _of_several(cell: OptimizationCell, entries: Entries, told: list[Any], flagged: Any) -> dict[str, Any]:
    """Columns of each outcome, as those of one."""
    columns_by_name: dict[str, Any] = {}
    for name in entries[0]["clean"] if entries else ():
        alone = [{**e, "clean": e["clean"][name], "corrupted": name in e["corrupted"]} for e in entries]
        values = [None if value is None else value.get(name) for value in told]
        theirs = flagged.get(name, []) if isinstance(flagged, dict) else flagged
        columns_by_name |= {f"{name}.{key}": column for key, column in _of_one(cell, alone, values, theirs).items()}
    return columns_by_name


def _so_far(problem: Problem, clean: list[Any], failed: list[bool]) -> Any:
    """Worth of all points up to each trial."""
    if isinstance(problem, SeveralProblem):
        values = [value for value, is_lost in zip(clean, failed, strict=True) if not is_lost]
        counts = np.cumsum(~np.array(failed))
        return [problem.worth(values[:count]) for count in counts]
    best = np.fmax if problem.maximizes else np.fmin
    return best.accumulate(np.where(failed, math.nan, clean))


def marks(table: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Flags and corruptions of values; of several outcomes those of all, one after another."""
    names = [name.removesuffix("corrupted") for name in table if name.endswith("corrupted")]
    flagged, corrupted = (pd.concat([table[name + key] for name in names]) for key in ("flagged", "corrupted"))
    return flagged, corrupted


def interval(values: np.ndarray) -> tuple[Any, Any]:
    """Bootstrap interval (90 %, percentile) of the mean over replications.

    Args:
        values: ``replications x ...``; with one replication the interval is NaN.
    """
    if len(values) < 2:
        nan = np.full(values.shape[1:], math.nan)
        return nan, nan
    with warnings.catch_warnings():  # where a replication is not finished the interval is NaN, which is what is meant
        warnings.simplefilter("ignore", DegenerateDataWarning)
        bounds = bootstrap(
            (values,), np.mean, axis=0, confidence_level=CONFIDENCE, n_resamples=RESAMPLES, method="percentile", rng=0
        ).confidence_interval
    return bounds.low, bounds.high


class Curve(NamedTuple):
    """The true value at the recommended point by trial: mean over replications, and the ends of its interval."""

    trials: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


def curve(table: pd.DataFrame, method: str) -> Curve:
    """A method's curve, from the first trial (counted from 1) that has a recommended point."""
    curves = table[table["method"] == method].pivot_table(index="replication", columns="trial", values="inference")
    trials = curves.columns.to_numpy(dtype=int) + 1
    return Curve(trials, curves.mean().to_numpy(), *interval(curves.to_numpy()))


def summary(table: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """One row a method, in the order given.

    Columns: replications, final (mean true value of the incumbent at the last trial) with the ends of its interval
    (low, high), average (the same, averaged over all trials that have one), repeats (mean number of replicates),
    flagged, precision and recall (of the values flagged after the last trial, all replications together; NaN where
    there is nothing to divide by), slowest_fit_s and slowest_acquisition_s; and where any trial failed, failed (mean
    number a replication). Final is of the replications that have an incumbent: one without any value has none.
    """
    has_failures = "failed" in table and bool(table["failed"].any())
    return pd.DataFrame([_summarize(method, table[table["method"] == method], has_failures) for method in methods])


def _summarize(method: str, table: pd.DataFrame, has_failures: bool) -> dict[str, object]:
    last = table[table["trial"] == table["trial"].max()].sort_values("replication")
    low, high = interval(last["inference"].to_numpy())
    marked, corrupted = marks(table)
    flagged = None if marked.isna().any() else marked.to_numpy(bool)
    hits, flags, wrong = 0, 0, 0
    if flagged is not None:
        wrongs = corrupted.to_numpy(bool)
        hits, flags, wrong = int((flagged & wrongs).sum()), int(flagged.sum()), int(wrongs.sum())
    return {
        "method": method,
        "replications": len(last),
        "final": last["inference"].mean(),
        "low": float(low),
        "high": float(high),
        "average": table["inference"].mean(),
        "repeats": table["repeats"].notna().sum() / len(last),
        "flagged": pd.NA if flagged is None else flags,
        **detection(hits, flags, wrong),
        "slowest_fit_s": table["fit_s"].max(),
        "slowest_acquisition_s": table["acquisition_s"].max(),
        **({"failed": table["failed"].sum() / len(last)} if has_failures else {}),
        **name_rates(table),
    }


def regret_reduction(means: Any, method: str) -> Any:
    """The normalized regret reduction of a method, 0 for the plain GP and 1 for the oracle.

    That is (it - plain) / (oracle - plain).

    Args:
        means: By method: numbers, or columns of a table.
        method: Which.
    """
    return (means[method] - means["standard"]) / (means["oracle"] - means["standard"])


def readable(row: dict[str, Any]) -> dict[str, Any]:
    """A summary's row in as few columns as a terminal of 80 shows well."""
    interval_known = row["low"] is not None and not math.isnan(row["low"])
    width = row["high"] - row["low"] if interval_known else 0.0
    digits = 2 if not 0 < width < 0.1 else min(9, 1 - math.floor(math.log10(width)))  # so that its ends differ
    return {
        "method": row["method"],
        "runs": row["replications"],
        "final": row["final"],
        "90 %": f"{row['low']:.{digits}f}..{row['high']:.{digits}f}" if interval_known else None,
        "average": row["average"],
        "again": row["repeats"],
        "precision": row["precision"],
        "recall": row["recall"],
        **({"failed": row["failed"]} if "failed" in row else {}),
        **({"named": row["named"]} if "named" in row else {}),
    }
