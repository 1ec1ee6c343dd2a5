"""Requests as plain values: the fields of a form or of a JSON object, what was typed for a trial, and who sent it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request

from robustbo.errors import FileError
from robustbo.foreign.texts import json_of
from robustbo.searchspace.units import without_unit
from robustbo.serve.guard import UPLOAD_BYTES
from robustbo.sheets.cells import number_of
from robustbo.sheets.filled import FilledRow, cell_value
from robustbo.study.sources import labels_by_declaration
from robustbo.study.study import Study
from robustbo.trials.sources import Source

ENTERED_BY = "entered by"  # the label of a trial that says who typed its value
NOTE = "note"
MOST_FIELDS = 2000
NAME_CHARACTERS = 80

Fields = Mapping[str, Any]


async def fields_of(request: Request) -> dict[str, Any]:
    """The fields of a post: those of a form (texts, and an uploaded file), of a JSON object, or none.

    Raises:
        HTTPException: If it is neither.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        try:
            content = json_of((await request.body()).decode(), "the request")
        except (FileError, UnicodeDecodeError) as error:
            raise HTTPException(400, str(error)) from None
        if not isinstance(content, dict):
            raise HTTPException(400, "the request must be a JSON object")
        return content
    if kind in ("application/x-www-form-urlencoded", "multipart/form-data"):
        try:
            form = await request.form(max_files=1, max_fields=MOST_FIELDS, max_part_size=UPLOAD_BYTES)
        except (MultiPartException, ValueError) as error:
            raise HTTPException(400, f"the form cannot be read: {error}") from None
        return dict(form)
    if not kind and not await request.body():
        return {}
    raise HTTPException(415, "the request must be a form or JSON")


class Upload(NamedTuple):
    """A file that came with a form: its name, as the client says it, and its contents."""

    name: str
    data: bytes


async def upload_in(fields: Fields, name: str) -> Upload | None:
    """The file in a field; None where none was chosen."""
    file = fields.get(name)
    if not isinstance(file, UploadFile):
        return None
    data = await file.read()
    await file.close()
    return Upload(file.filename, data) if file.filename else None


def is_json(request: Request) -> bool:
    """Return whether a request has a JSON object, as a program sends it."""
    return request.headers.get("content-type", "").startswith("application/json")


def wants_json(request: Request) -> bool:
    """Return whether a request is to be answered by JSON."""
    return "application/json" in request.headers.get("accept", "") or (
        is_json(request) and "text/html" not in request.headers.get("accept", "")
    )


def text_in(fields: Fields, name: str) -> str:
    """A text, without spaces around it; empty where there is none."""
    value = fields.get(name)
    return "" if value is None or not isinstance(value, str | int | float) else str(value).strip()


def number_in(name: str, text: str) -> float:
    """A number as people write it, with a decimal point or comma.

    Raises:
        ValueError: If it is none.

    Example:
        >>> number_in("sd", "0,5")
        0.5
    """
    number = number_of(text)
    if number is None or not math.isfinite(number):
        raise ValueError(f"{name} must be a number, got {text!r}")
    return number


def author_in(fields: Fields) -> str:
    """The name of whoever sent it, as they have typed it; empty where it is not known."""
    return text_in(fields, "who")[:NAME_CHARACTERS]


def labels_in(fields: Fields) -> dict[str, str]:
    """Labels that are kept with a trial: who typed its value, and a note."""
    labels = {ENTERED_BY: author_in(fields), NOTE: text_in(fields, "note")}
    return {name: text for name, text in labels.items() if text}


def source_in(study: Study, fields: Fields) -> dict[str, str]:
    """The labels of the source that was typed, a name, or KIND=NAME, several behind commas, as `Optimizer.tell` has it.

    Raises:
        ValueError: If a kind is there twice, or there is no such source.

    Example:
        >>> import robustbo as rb
        >>> study = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", seed=0)
        >>> source_in(study, {"source": "R3"}), source_in(study, {"source": "reactor=R3, operator=B"})
        ({'source': 'R3'}, {'reactor': 'R3', 'operator': 'B'})
    """
    text = text_in(fields, "source")
    pairs = [part.strip().rpartition("=") for part in text.split(",") if part.strip()]
    sources: list[Source] = [{kind.strip(): name.strip()} if kind.strip() else name.strip() for kind, _, name in pairs]
    labels = dict[str, str]()
    for source in sources:
        own = labels_by_declaration(study.settings.sources, study.history, source)
        if own.keys() & labels.keys():
            raise ValueError(f"a source must have each kind once, got {text!r}; write such as reactor=R3, operator=B")
        labels |= own
    return labels


def row_in(study: Study, number: int, fields: Fields) -> FilledRow:
    """A row of a sheet with what was typed for a trial: ``value.0`` is of the first outcome, and ``sd.0`` its noise.

    Raises:
        ValueError: If a cell is neither a number nor a reason why there is none.
    """
    values, sds, waits = {}, {}, []
    for at, (name, quantity) in enumerate(study.settings.quantities.items()):
        text = without_unit(quantity.label, text_in(fields, f"value.{at}"))
        if not text:
            waits.append(name or "the value")
            continue
        try:
            values[name] = cell_value(text, ".")
        except ValueError as error:
            raise ValueError(f"{quantity.label} {error}") from None
        if noise := without_unit(quantity.label, text_in(fields, f"sd.{at}")):
            sds[name] = number_in(f"sd of {quantity.label}", noise)
    if not values:
        raise ValueError(f"{waits[0]} is not filled in")
    source = source_in(study, fields)
    return FilledRow(0, f"trial {number}", number, {}, values, sds, {}, waits, source, labels_in(fields))


def values_in(study: Study, fields: Fields) -> tuple[Any, Any]:
    """Values and noises that were typed, as `Optimizer.amend` takes them; outcomes that are empty are left out.

    Raises:
        ValueError: If one is no number, or none is there.
    """
    row = row_in(study, 0, fields)
    if reasons := [cell.text for cell in row.values.values() if cell.reason is not None]:
        raise ValueError(f"the corrected value must be a number, got {reasons[0]!r}; exclude says that it is wrong")
    return value_and_noise(row)


def value_and_noise(row: FilledRow) -> tuple[Any, Any]:
    """The numbers of a row, and their noise, as `Optimizer.tell` takes them."""
    values = {name: cell.number for name, cell in row.values.items()}
    return (values[None], row.sds.get(None)) if None in values else (values, row.sds or None)
