"""Schemas of the lines of a recorded cell, which are checked whatever the checksum says; see `trials.schema`."""

from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired

from pydantic import Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from robustbo.errors import JournalError
from robustbo.foreign.access import check_path
from robustbo.trials.schema import in_a_line, validate
from robustbo.trials.shapes import ANY, Finite, Finites, Number, Text, Yes
from robustbo.trials.storage.reading import REMEDY, Contents, read


@with_config(ANY)
class _Described(TypedDict):
    method: Text
    replication: Number


@with_config(ANY)
class _RecordHeader(TypedDict):
    hash: Text
    cell: _Described


@with_config(ANY)
class _Trial(TypedDict):
    event: Literal["trial"]
    trial: Number
    clean: Finites
    value: Finites | None
    corrupted: Yes | list[Text]
    recommended: Number | list[Number] | None


@with_config(ANY)
class _Flags(TypedDict):
    event: Literal["flags"]
    after: Number
    trials: list[Number] | dict[Text, list[Number]]
    sources: NotRequired[list[Text]]


@with_config(ANY)
class _Fitted(_Described):
    kind: Literal["regression"]
    seed: Number


@with_config(ANY)
class _FitHeader(TypedDict):
    hash: Text
    cell: _Fitted


@with_config(ANY)
class _Fit(TypedDict):
    event: Literal["fit"]
    name: Text
    corruption: Text
    rate: Annotated[Finite, Field(ge=0, le=1)]
    task: Text
    options: dict[Text, Any]
    n: Number
    rmse: Finite
    mae: Finite
    nlpd: Finite
    wrong: Number
    flagged: Number
    hits: Number
    fit_s: Finite


def read_of_cell(path: Path) -> Contents:
    """A journal of a cell, which needs no repair where it is damaged, since it can be made again.

    Raises:
        DataError: If it is a link out of a run that is only read.
        JournalError: If it cannot be read; the message has the line's number.
    """
    check_path(path)
    try:
        return read(path)
    except JournalError as error:
        again = "delete the files of its cell, and the same `robustbo replay` records it again"
        raise JournalError(str(error).replace(REMEDY.format(path), again)) from None


class Record(NamedTuple):
    """Schemas of a kind of record: its first line, and each of the others."""

    header: TypeAdapter[Any]
    event: TypeAdapter[Any]

    def read(self, path: Path) -> Contents:
        """Read one.

        Raises:
            JournalError: If it cannot be read, or a line is none of that kind; the message has the line's number.
        """
        contents = read_of_cell(path)
        for number, line in enumerate([contents.header, *contents.events], start=1):
            try:
                validate(self.header if number == 1 else self.event, line, "line")
            except ValueError as error:
                raise JournalError(f"{path}, line {number}: {in_a_line(error)}") from None
        return contents


TRUTH = Record(TypeAdapter(_RecordHeader), TypeAdapter(Annotated[_Trial | _Flags, Field(discriminator="event")]))
FITS = Record(TypeAdapter(_FitHeader), TypeAdapter(_Fit))
