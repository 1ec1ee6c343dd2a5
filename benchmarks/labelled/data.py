"""Real tables and series whose wrong values their owners labelled, and some of which none is known to be wrong.

A labelled file (`../shared/data/labelled`, described in SOURCES.md there) has columns of inputs, `value` and `label`:
0 right, 1 wrong, 2 disputed, which is told and left out of the scores. The sets that libraries bring along are those of
scikit-learn and Plotly, where these are installed; nobody says that one of their values is wrong.
"""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from robustbo.searchspace.parameters import Choice, Float, Parameter
from robustbo.searchspace.space import Space

RIGHT, WRONG, DISPUTED = 0, 1, 2
TABLES, RIVERS, CLEAN, SHIPPED = "tables", "rivers", "nothing wrong", "shipped"
KINDS = (TABLES, RIVERS, CLEAN, SHIPPED)
# By turns of the names within each kind; rules and constants are chosen on the first and judged on the second.
CHOSEN_HALF = (
    *("aircraft", "davis", "hbk", "newcomb", "stackloss"),
    *("river-blacksmith-2019-do", "river-blacksmith-2019-temp", "river-franklin-2014-temp"),
    *("river-mainstreet-2019-do", "river-mainstreet-2019-temp", "river-tonygrove-2014-ph"),
    *("faithful", "mcycle", "ozone", "sunspots"),
    *("shipped-carshare", "shipped-gapminder", "shipped-linnerud", "shipped-tips"),
)
JUDGED_HALF = (
    *("coleman", "education", "hills", "phosphor", "telef"),
    *("river-blacksmith-2019-ph", "river-franklin-2014-cond", "river-mainstreet-2019-cond"),
    *("river-mainstreet-2019-ph", "river-tonygrove-2014-cond", "river-tonygrove-2014-temp"),
    *("gagurine", "mtcars", "quine", "trees"),
    *("shipped-diabetes", "shipped-iris", "shipped-stocks"),
)
HALVES = {"chosen": CHOSEN_HALF, "judged": JUDGED_HALF, "all": (*CHOSEN_HALF, *JUDGED_HALF)}
MOST = 250  # rows of a shipped set that are taken: the first


class LabelledSet(NamedTuple):
    """Measurements with labels.

    Attributes:
        name: Of the file.
        kind: One of `KINDS`.
        points: ``n`` points of the space; the parameters are called x1, x2 and so on.
        values: ``n`` values.
        labels: ``n`` of `RIGHT`, `WRONG` and `DISPUTED`.
        space: Of the ranges that are in the table.
    """

    name: str
    kind: str
    points: list[dict[str, Any]]
    values: list[float]
    labels: list[int]
    space: Space


def labelled_set(name: str, kind: str, table: pd.DataFrame) -> LabelledSet:
    """The measurements of a table whose last columns are `value` and `label`."""
    columns = [column for column in table if column not in ("value", "label")]
    inputs = table[columns].set_axis([f"x{i}" for i in range(1, len(columns) + 1)], axis=1)
    space = Space(**{str(name_in_space): parameter(column) for name_in_space, column in inputs.items()})
    points: list[dict[str, Any]] = [{str(key): x for key, x in row.items()} for row in inputs.to_dict("records")]
    return LabelledSet(name, kind, points, table["value"].astype(float).tolist(), table["label"].tolist(), space)


def parameter(column: pd.Series) -> Parameter:
    """The parameter of a column: a number in its range, or one of some texts."""
    if pd.api.types.is_numeric_dtype(column):
        return Float(float(column.min()), float(column.max()))
    return Choice(*sorted(column.unique()))


def kind_of(name: str, labels: pd.Series) -> str:
    """The kind of a file, by its name and its labels."""
    if name.startswith("river-"):
        return RIVERS
    return TABLES if (labels != RIGHT).any() else CLEAN


def read_sets(data: Path, half: str) -> Iterator[LabelledSet]:
    """The sets of a half, or of both, that are there.

    Raises:
        SystemExit: If a file is in neither half: then the split is to be extended.
    """
    files = {file.stem: file for file in sorted(data.glob("*.csv"))}
    if strange := sorted(files.keys() - set(HALVES["all"])):
        raise SystemExit(f"each file must be in one of HALVES of benchmarks/labelled/data.py, got {', '.join(strange)}")
    for name in sorted(files.keys() & set(HALVES[half])):
        table = pd.read_csv(files[name])
        yield labelled_set(name, kind_of(name, table["label"]), table)
    for name, (library, load) in sorted(SHIPPED_SETS.items()):
        if name in HALVES[half] and find_spec(library):
            table = load().dropna().head(MOST).reset_index(drop=True)
            yield labelled_set(name, SHIPPED, table.assign(label=RIGHT))


def _with_value(table: pd.DataFrame, value: str, *inputs: str) -> pd.DataFrame:
    return table[[*inputs, value]].rename(columns={value: "value"})


def _diabetes() -> pd.DataFrame:
    from sklearn.datasets import load_diabetes

    return _with_value(load_diabetes(as_frame=True).frame, "target", "bmi", "bp", "s5")


def _linnerud() -> pd.DataFrame:
    from sklearn.datasets import load_linnerud

    return _with_value(load_linnerud(as_frame=True).frame, "Situps", "Weight", "Waist", "Pulse")


def _carshare() -> pd.DataFrame:
    from plotly.data import carshare

    return _with_value(carshare(), "car_hours", "centroid_lat", "centroid_lon")


def _gapminder() -> pd.DataFrame:
    from plotly.data import gapminder

    table = gapminder()
    return _with_value(table[table["year"] == table["year"].max()], "lifeExp", "gdpPercap", "continent")


def _iris() -> pd.DataFrame:
    from plotly.data import iris

    return _with_value(iris(), "petal_length", "sepal_length", "sepal_width", "species")


def _stocks() -> pd.DataFrame:
    from plotly.data import stocks

    return _with_value(stocks().assign(week=range(105)), "GOOG", "week")


def _tips() -> pd.DataFrame:
    from plotly.data import tips

    return _with_value(tips(), "tip", "total_bill", "size", "day")


SHIPPED_SETS: dict[str, tuple[str, Callable[[], pd.DataFrame]]] = {
    "shipped-carshare": ("plotly", _carshare),
    "shipped-diabetes": ("sklearn", _diabetes),
    "shipped-gapminder": ("plotly", _gapminder),
    "shipped-iris": ("plotly", _iris),
    "shipped-linnerud": ("sklearn", _linnerud),
    "shipped-stocks": ("plotly", _stocks),
    "shipped-tips": ("plotly", _tips),
}
