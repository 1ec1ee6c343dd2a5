"""Filled sheets that are uploaded: first what would be recorded is shown, then, where somebody says so, it is recorded.

A sheet is never stored: it waits in memory for the word, the last few alone, and is read once more then.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import PurePath
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from robustbo.errors import RobustBOError
from robustbo.serve.environment import answer, bench_of, refuse
from robustbo.serve.forms import fields_of, labels_in, text_in, upload_in, wants_json
from robustbo.serve.rows import values_texts
from robustbo.serve.served import Served
from robustbo.sheets.doubts import doubts
from robustbo.trials.history import History
from robustbo.trials.storage.line import Event

SUFFIXES = (".csv", ".tsv", ".txt", ".xlsx")
MOST = 8  # sheets that wait
WORDS = {"tell": "new", "amend": "correction", "fail": "failed", "withdraw": "withdrawn", "exclude": "excluded"}


class PreviewRow(NamedTuple):
    """A line of the preview: which trial, what would become of it, the value or the reason, and whether to look."""

    trial: int
    kind: str
    text: str
    doubt: str


class Preview(NamedTuple):
    """The record that a sheet would be: its lines, what waits, what is wrong, and a digest of it all."""

    rows: list[PreviewRow]
    waiting: list[str]
    errors: list[str]
    digest: str


class Uploads:
    """The last sheets and tables that were uploaded, by words that nobody can guess."""

    def __init__(self) -> None:
        self._sheets: OrderedDict[str, tuple[str, bytes]] = OrderedDict()

    def keep(self, name: str, data: bytes) -> str:
        """Keep a sheet for a while; its word."""
        word = secrets.token_urlsafe(12)
        self._sheets[word] = name, data
        while len(self._sheets) > MOST:
            self._sheets.popitem(last=False)
        return word

    def get(self, word: str) -> tuple[str, bytes] | None:
        """The name and contents of a sheet; None where it is not kept any more."""
        return self._sheets.get(word)

    def drop(self, word: str) -> None:
        """Keep a sheet no more."""
        self._sheets.pop(word, None)


def plain_name(name: str | None, stem: str = "sheet") -> str:
    """The name of an uploaded file without folders, of which only the suffix decides anything.

    Raises:
        ValueError: If it is no sheet.

    Example:
        >>> plain_name("C:\\\\lab\\\\../plate 3.CSV")
        'sheet.csv'
    """
    suffix = PurePath(name or "").suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(f"a {stem} must be one of {', '.join(SUFFIXES)}, got {suffix or 'no suffix'}")
    return f"{stem}{suffix}"


def preview(opt: Served, name: str, data: bytes, *, amends: bool) -> Preview:
    """The record that a sheet would be; raises a `SheetError` where it is none of this study's."""
    history = opt.history
    result = opt.read_changes(name, data, amends)(history)
    rows = [_row(opt, history, event) for event in result.events]
    return Preview(rows, result.waiting, result.errors, digest(result.events))


def digest(events: Sequence[Event]) -> str:
    """A word for what events would change, whoever writes them and when."""
    content = [[(key, event[key]) for key in sorted(event) if key not in ("at", "by")] for event in events]
    return hashlib.sha256(repr(content).encode()).hexdigest()[:16]


def _row(opt: Served, history: History, event: Event) -> PreviewRow:
    number, value = event["trial"], event.get("value")
    is_known = number < len(history)
    quantities = opt.settings.quantities
    word = str(event["event"])
    kind = WORDS.get(word, word) if is_known else "new, not asked for"
    text = "; ".join(values_texts(value, quantities)) or str(event.get("reason", ""))
    return PreviewRow(number, kind, text, "; ".join(doubts(opt.settings, history, event)))


async def post_sheet(request: Request) -> Response:
    """Show what a sheet would record, or record what was shown: ``POST /sheet``."""
    bench = bench_of(request)
    uploads: Uploads = request.app.state.uploads
    fields = await fields_of(request)
    file, word = await upload_in(fields, "file"), text_in(fields, "upload")
    amends = text_in(fields, "amend") == "yes"
    try:
        if file is not None:
            name, data = plain_name(file.name), file.data
            word = uploads.keep(name, data)
        elif (sheet := uploads.get(word)) is not None:
            name, data = sheet
        else:
            raise HTTPException(410, "this sheet is not here any more; upload it again")
        if shown := text_in(fields, "shown"):
            labels = labels_in(fields)
            await asyncio.to_thread(bench.opt.record_sheet, name, data, amends, lambda e: digest(e) == shown, labels)
            uploads.drop(word)
            bench.publish()
            return JSONResponse({"ok": True}) if wants_json(request) else RedirectResponse("/", 303)
        view = await asyncio.to_thread(lambda: preview(bench.opt, name, data, amends=amends))
    except (RobustBOError, ValueError, TypeError) as error:
        return refuse(request, "Nothing was recorded", error)
    if wants_json(request):
        rows = [row._asdict() for row in view.rows]
        return JSONResponse({"upload": word, **view._asdict(), "rows": rows})
    return answer(request, "sheet.html", preview=view, word=word, amends=amends)
