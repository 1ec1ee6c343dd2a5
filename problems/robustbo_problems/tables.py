"""Tables of real measurements as problems: a pool of the points measured, each with its own repeats.

The true value of a point is the median of its repeats. What a trial measures is one of them, with the corruption
"repeats": then nothing that is measured is made up.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from robustbo import limits
from robustbo.errors import DataError
from robustbo.foreign import reading
from robustbo.foreign.tables import table_of
from robustbo.searchspace.pool import Pool
from robustbo.tasks.problem import Problem

EXAMPLE = Path(__file__).with_name("table.csv")
SHIPPED = Path(__file__).with_name("published")  # whose they are is said there
Key = tuple[Any, ...]


class Published(NamedTuple):
    """A table that was published.

    Attributes:
        name: The problem's.
        file: Its name without the ending, as it is shipped with the problems.
        digest: SHA-256 of its content, uncompressed.
        reference: Where it is from.
        names: Of its columns, where it has no line of them.
    """

    name: str
    file: str
    digest: str
    reference: str
    names: tuple[str, ...] | None = None


BARREL = Published(
    name="crossed-barrel",
    file="crossed_barrel",
    digest="2c01f875f3c210e986ca6142bf20f417884c2ad7d6f008c2fc574b44a3d5f606",
    reference="Gongora et al. (2020)",
)
HPLC = Published(
    name="hplc",
    file="hplc",
    digest="9c94222798229c1391f75445f44d9c0ed285e83c1b1e0608ab76b28bf05decef",
    reference="Roch et al. (2018)",
    names=(
        *("sample_loop", "additional_volume", "tubing_volume", "sample_flow", "push_speed", "wait_time"),
        "peak_area",
    ),
)


def table(
    file: str | None = None,
    inputs: Sequence[str] | None = None,
    value: str | None = None,
    direction: Literal["minimize", "maximize"] = "maximize",
) -> Problem:
    """The problem of a CSV file, a row a measurement; rows with the same inputs are repeats of a point.

    Args:
        file: Its path; a small example unless given.
        inputs: Its columns that make a point; all others unless given.
        value: Its column of what was measured; the last unless given.
        direction: "minimize" or "maximize".

    Raises:
        DataError: If the file cannot be read, lacks a column, or a value is not a finite number.
        ValueError: If the direction is neither.
        SpaceError: If the points make no pool.
    """
    if direction not in ("minimize", "maximize"):
        raise ValueError(f'direction must be "minimize" or "maximize", got {direction!r}')
    path = EXAMPLE if file is None else Path(file).expanduser()
    names = None if inputs is None else tuple(inputs)
    return _problem("table", path, names, value, direction, f"the measurements in {path.name}")


def crossed_barrel(data: str | None = None) -> Problem:
    """Crossed barrels of four sizes, printed and crushed, maximized: toughness in joules; 600 points, 3 barrels each.

    Args:
        data: The file, if it is to be another copy than the one that is shipped.

    Raises:
        DataError: If that cannot be read, or is not what was published.
    """
    return _problem_of(BARREL, data)


def hplc(data: str | None = None) -> Problem:
    """Injections into a liquid chromatograph, maximized: peak area by six settings; 1,007 points, 379 injected twice.

    Of the 16.5 % of values that are 0 it is not published which are injections that missed.

    Args:
        data: The file, if it is to be another copy than the one that is shipped.

    Raises:
        DataError: If that cannot be read, or is not what was published.
    """
    return _problem_of(HPLC, data)


def _problem_of(table: Published, data: str | None) -> Problem:
    path = SHIPPED / f"{table.file}.csv.gz" if data is None else Path(data).expanduser()
    shipped = "leave data out for the copy that is shipped"
    try:
        content = reading.decompress_file(path, limits.TABLE_BYTES, lambda message: DataError(f"{message}; {shipped}"))
    except (FileNotFoundError, NotADirectoryError):
        raise DataError(f"{path}: there is no such file; {shipped}") from None
    if hashlib.sha256(content).hexdigest() != table.digest:  # what another file has is not told
        raise DataError(f"{path}: its content must have the SHA-256 {table.digest}, and has another; {shipped}")
    return _problem(table.name, path, None, None, "maximize", table.reference, table.names)


@lru_cache(maxsize=8)
def _problem(
    name: str,
    path: Path,
    inputs: tuple[str, ...] | None,
    value: str | None,
    direction: Any,
    reference: str,
    columns: tuple[str, ...] | None = None,
) -> Problem:
    points, repeats = _read(path, inputs, value, columns)
    pool = Pool(points)
    sign = 1.0 if direction == "maximize" else -1.0
    rows = [tuple(pool.point(i).values()) for i in range(pool.size)]
    by_row: dict[Key, tuple[float, ...]] = dict(zip(rows, repeats, strict=True))
    best = max(range(len(rows)), key=lambda i: sign * float(np.median(repeats[i])))
    return Problem(
        name=name,
        space=pool,
        direction=direction,
        objective=partial(_median_of, by_row),
        optimum=float(np.median(repeats[best])),
        optimizer=pool.point(best),
        cost_s=1e-5,
        reference=reference,
        repeats=partial(_repeats_of, by_row),
    )


def _read(
    path: Path, inputs: tuple[str, ...] | None, value: str | None, columns: tuple[str, ...] | None
) -> tuple[pd.DataFrame, list[tuple[float, ...]]]:
    """The points of a file, in the order in which they are first measured, and the values of each."""
    frame = table_of(path, columns, DataError)
    target = str(frame.columns[-1]) if value is None else value
    names = [name for name in frame.columns if name != target] if inputs is None else list(inputs)
    if missing := [name for name in (*names, target) if name not in frame.columns]:
        raise DataError(f"{path}: must have the column {missing[0]!r}, got {list(frame.columns)}")
    measured = pd.to_numeric(frame[target], errors="coerce")
    if not np.isfinite(measured).all():
        row = int(np.flatnonzero(~np.isfinite(measured))[0])
        raise DataError(
            f"{path}: {target} must be a finite number in every row, got {frame[target][row]!r} in row {row}"
        )
    groups = measured.groupby([frame[name] for name in names], sort=False, dropna=False)
    points = frame[names].drop_duplicates(ignore_index=True)
    return points, [tuple(map(float, group)) for _, group in groups]


def _repeats_of(by_row: Mapping[Key, tuple[float, ...]], params: Mapping[str, Any]) -> tuple[float, ...]:
    return by_row[tuple(params.values())]


def _median_of(by_row: Mapping[Key, tuple[float, ...]], params: Mapping[str, Any]) -> float:
    return float(np.median(_repeats_of(by_row, params)))
