"""The columns of a sheet by the names in its header; columns of other people are passed over."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from robustbo import limits
from robustbo.errors import SheetError
from robustbo.searchspace.measured_columns import COUNT, is_numbering
from robustbo.searchspace.parameters import Value
from robustbo.sheets.grid import TRIAL, Grid, header_of, missing_column_error, places_of, plain
from robustbo.trials.history import Trial, column_names
from robustbo.trials.labels import LABEL
from robustbo.trials.outcome import Outcome
from robustbo.trials.sources import DEFAULT_KIND

REPEATS = "repeats"
SOURCE = "source."  # how the names of columns begin that say what measured a value


@dataclass(frozen=True)
class Names:
    """The names of the columns.

    Attributes:
        parameters: The column of each parameter, by its name.
        values: The column of each outcome by its name, or of the only one, which is None.
        sds: Those of their noise's standard deviations, which need not be there.
        counts: Those of how many measurements a value is the mean of, likewise, except for names that others have.
        units: By name of a column of values or of noise, their unit; empty where that is not known.
        source: That of the sources, which need not be there; None where something else has that name.
        has_sources: Whether the study was begun with sources, so that a new sheet has that column.
    """

    parameters: dict[str, str]
    values: dict[str | None, str]
    sds: dict[str | None, str]
    counts: dict[str | None, str]
    units: dict[str, str]
    source: str | None = None
    has_sources: bool = False

    @property
    def explicit_counts(self) -> list[str]:
        """The name VALUE.n of the counts of the only outcome, which is nothing else; none of several outcomes."""
        return [f"{self.values[None]}.{COUNT}"] if None in self.counts else []

    @property
    def header(self) -> list[str]:
        """The header of a new sheet."""
        source = [self.source] if self.has_sources and self.source is not None else []
        return [TRIAL, *self.parameters.values(), REPEATS, *source, *self.values.values()]


def names_of(
    parameters: Sequence[str],
    quantities: Mapping[str | None, Outcome],
    value: str | None = None,
    *,
    has_sources: bool = False,
) -> Names:
    """The names of the columns in a study's sheets.

    Args:
        parameters: Their names.
        quantities: What is measured: several outcomes by their names, or the only one under None.
        value: The column of the only one, where that is called otherwise.
        has_sources: Whether the study was begun with sources.

    Raises:
        SheetError: If columns of several outcomes are to be named otherwise, or a name is taken.
    """
    outcomes = [name for name in quantities if name is not None]
    if outcomes and value is not None:
        raise SheetError(f"columns of several outcomes have their names, {outcomes}, got value={value!r}")
    if value is not None and value in parameters:
        raise SheetError(f"value={value!r} is a parameter; name the column of what is measured there")
    values = {name: value or outcome.label if name is None else name for name, outcome in quantities.items()}
    sds = {name: "sd" if name is None else f"{name}.sd" for name in values}
    own = [REPEATS, *([DEFAULT_KIND] if has_sources else []), *values.values(), *sds.values()]
    if len({TRIAL, *own}) <= len(own):
        raise SheetError(f"the column of values must have a name of its own, got value={value!r}")
    columns = column_names(parameters, own)
    units = {column: outcome.unit for name, outcome in quantities.items() for column in (values[name], sds[name])}
    is_free = DEFAULT_KIND not in map(plain, [*columns, *values.values(), *sds.values()])
    counts = {name: COUNT if name is None else f"{name}.{COUNT}" for name in values}
    counts = {name: column for name, column in counts.items() if column not in (*parameters, *columns, *own)}
    by_name, source = dict(zip(parameters, columns, strict=True)), DEFAULT_KIND if has_sources or is_free else None
    return Names(by_name, values, sds, counts, units, source, has_sources)


@dataclass(frozen=True)
class Columns:
    """The positions of the columns in a sheet.

    Attributes:
        header: Its row.
        names: What is in it.
        trial: The column of the trials' numbers.
        parameters: Those of parameters, by name, as far as they are there.
        values: Those of outcomes.
        sds: Those of their noise, as far as they are there.
        counts: Those of how many measurements they are the mean of, likewise.
        repeats: That of what a trial repeats.
        sources: By kind, those that say what measured a value, whose names are "source.KIND", as far as they are there.
        labels: Those of other people, by their names, which are kept with the trials.
        has_numbering: Whether the column "n" numbers the rows, and is one of these.
    """

    header: int
    names: list[str]
    trial: int
    parameters: dict[str, int]
    values: dict[str | None, int]
    sds: dict[str | None, int]
    counts: dict[str | None, int]
    repeats: int | None
    sources: dict[str, int] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    has_numbering: bool = False

    @property
    def places(self) -> set[int]:
        """All of these that are there."""
        own = (self.trial, *([] if self.repeats is None else [self.repeats]))
        by_outcome = (*self.values.values(), *self.sds.values(), *self.counts.values())
        return {*own, *self.parameters.values(), *by_outcome, *self.sources.values()}


def columns_of(grid: Grid, names: Names) -> Columns:
    """Find the columns in a sheet's header.

    Raises:
        SheetError: If one that must be there is not, or they cannot be told apart.
    """
    row = header_of(grid.rows)
    if row is None:
        first = next((cells for cells in grid.rows if any(cells)), [])
        hint = "name another file for a new sheet; a table of old values is told by tell_frame"
        raise SheetError(f"there must be a column {TRIAL!r} of the trials' numbers, got {first}; {hint}")
    header = grid.rows[row]
    source = [] if names.source is None else [names.source]
    further = [*names.sds.values(), *names.counts.values(), *source, *names.explicit_counts]
    at = places_of(header, dict.fromkeys([*names.header, *further]), names.units)
    numbering, at = _without_numbering(grid.rows[row + 1 :], at, names)
    for name, column in names.values.items():
        if column not in at:
            advice = "if it has another name, say so: --value NAME, or value='NAME'" if name is None else ""
            raise missing_column_error(header, {*at.values()}, column, "of measured values (it may be empty)", advice)
    return replace(build_columns(row, header, names, at), has_numbering=numbering)


def _without_numbering(
    rows: Sequence[Sequence[str]], at: Mapping[str, int], names: Names
) -> tuple[bool, dict[str, int]]:
    """Return whether the column "n" numbers the rows, and the places without it; VALUE.n always has counts."""
    for name in names.explicit_counts:
        if name in at:
            return False, {**at, COUNT: at[name]}
    column = at.get(names.counts.get(None, ""))
    cells = [] if column is None else [row[column].strip() for row in rows if column < len(row)]
    texts = [cell for cell in cells if cell]
    if not (all(map(str.isdecimal, texts)) and is_numbering([int(text) for text in texts])):
        return False, {**at}
    return True, {name: place for name, place in at.items() if name != COUNT}


def build_columns(row: int, header: list[str], names: Names, at: Mapping[str, int]) -> Columns:
    """The columns of a header.

    Args:
        row: Its row.
        header: Its cells.
        names: What the columns are called.
        at: Where they are, by these names.
    """
    columns = Columns(
        row,
        header,
        at[TRIAL],
        {name: at[column] for name, column in names.parameters.items() if column in at},
        {name: at[column] for name, column in names.values.items()},
        {name: at[column] for name, column in names.sds.items() if column in at},
        {name: at[column] for name, column in names.counts.items() if column in at},
        at.get(REPEATS),
        _source_columns(header, at, names.source),
    )
    further = {i: cell.strip() for i, cell in enumerate(header) if i not in columns.places and cell.strip()}
    labels = {cell.removeprefix(LABEL): i for i, cell in reversed(further.items())}
    return replace(columns, labels=dict(sorted(labels.items(), key=lambda pair: pair[1])[: limits.LABELS]))


def _source_columns(header: Sequence[str], at: Mapping[str, int], own: str | None) -> dict[str, int]:
    """The columns that say what measured a value, by the kind of source.

    Args:
        header: The names of all columns.
        at: Where those are that have a name of their own.
        own: The one that is of sources, if there is any.

    Raises:
        SheetError: If two are of one kind, whatever its case.
    """
    columns = {DEFAULT_KIND: at[own]} if own is not None and own in at else {}
    for column, cell in enumerate(header):
        name = cell.strip()
        if column in at.values() or not name.casefold().startswith(SOURCE) or name.casefold() == SOURCE:
            continue
        kind = name[len(SOURCE) :]
        if kind.casefold() in map(str.casefold, columns):
            raise SheetError(f"there must be one column {name!r}, got 2; rename the others")
        columns[kind] = column
    return columns


def row_of(trial: Trial, columns: Columns) -> list[Value]:
    """A trial as a row of a sheet that has a column for each parameter, without a value."""
    row: list[Value] = [None] * len(columns.names)
    row[columns.trial] = trial.number
    for name, value in trial.params.items():
        row[columns.parameters[name]] = str(value) if isinstance(value, bool | None) else value
    if columns.repeats is not None:
        row[columns.repeats] = trial.repeats
    if DEFAULT_KIND in columns.sources:
        row[columns.sources[DEFAULT_KIND]] = trial.source
    return row
