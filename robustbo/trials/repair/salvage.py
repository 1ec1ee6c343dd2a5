"""A damaged journal made whole: what can be read and proven, as events that fit each other, in a new file.

Which lines are proven, `trials.repair.proof` says; how they are made to fit, `trials.repair.fitting`.
"""

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from robustbo.errors import JournalError, JournalExists, JournalWriteError
from robustbo.trials import schema
from robustbo.trials.codec import settings_of
from robustbo.trials.history import History
from robustbo.trials.newer import NewerError
from robustbo.trials.repair.fitting import Fitting, Moved, Remark
from robustbo.trials.repair.lines import JournalLine, lines_in
from robustbo.trials.repair.proof import Left, Link, prove_lines, without_torn
from robustbo.trials.storage import whole
from robustbo.trials.storage.groups import GROUP, num_unfinished, place_in
from robustbo.trials.storage.line import SCHEMA, header_line, line_of
from robustbo.trials.storage.places import Place, check_file, display_name, is_address
from robustbo.trials.storage.reading import BEGINNING, bytes_of

SALVAGED = "salvaged"  # of an ask that was decided on knowing other events than those that stand before it now
NO_HEADER = (
    "{}: its header (line 1) is damaged, so the settings that its trials were asked for with cannot be proven; "
    "put line 1 back from a copy of the file; --keep 1 takes it as it is, if it can be read"
)


class Salvaged(NamedTuple):
    """The part of a journal that is left.

    Attributes:
        data: The new journal.
        history: What it holds.
        num_events: How many events.
        left: The lines that were left out.
        remarks: What else was done.
        moved: The trials that have other numbers now.
        salvaged_from: The first trial whose ask cannot be computed again, since events are lost or stand elsewhere.
        is_whole: Whether the old one was whole, so that there is nothing to do.
    """

    data: bytes
    history: History
    num_events: int
    left: list[Left]
    remarks: list[Remark]
    moved: list[Moved]
    salvaged_from: int | None
    is_whole: bool


def salvage_journal(place: Place, keep: Collection[int] = ()) -> Salvaged:
    """The part of a journal that can be read and proven; the journal is left as it is.

    Args:
        place: Of the journal.
        keep: Numbers of lines to be kept although nothing proves them.

    Raises:
        JournalError: If it is no journal, its header cannot be proven, or a newer robustbo has written some line.
    """
    if is_address(place):
        raise JournalError(f"{display_name(place)}: only a file can be repaired; restore a database from its backup")
    path = Path(place)
    data = bytes_of(path)
    if BEGINNING not in data and b'"check": "' not in data:
        raise JournalError(f"{path}: is not a journal of robustbo; a journal begins with {BEGINNING.decode()}: 1, ...")
    lines = lines_in(data)
    if missing := sorted({*keep} - {line.number for line in lines}):
        raise JournalError(f"{path}, line {missing[0]}: there is no such line to keep; the last one is {len(lines)}")
    links, lost = without_torn(*prove_lines(lines, keep), keep)
    header = links[0].line.content if links else None
    if header is None or "schema" not in header:
        raise JournalError(NO_HEADER.format(path))
    if header["schema"] != SCHEMA:
        raise JournalError(f"{path}, line 1: must be a header of schema {SCHEMA}, got {header['schema']!r}")
    settings = settings_of(path, header)
    _check_kinds(path, links)
    fitting = Fitting(links, settings)
    text, salvaged_from = _new_journal(header, links[0].line, fitting)
    every, is_whole = sorted([*lost, *fitting.left]), text.rstrip() == data.rstrip()
    history = History().apply_all([event for _, event in fitting.events])
    moves = (fitting.remarks, fitting.moved, salvaged_from)
    return Salvaged(text, history, len(fitting.events), every, *moves, is_whole)


def _check_kinds(path: Path, links: Iterable[Link]) -> None:
    """Raise a `JournalError` where a line that is proven is an event of a newer robustbo: that is no damage."""
    for line in (link.line for link in links if link.parent is not None):
        try:
            schema.validate(schema.EVENT, line.content or {}, "event")
        except NewerError as error:
            raise JournalError(f"{path}, line {line.number}: {error}") from None
        except ValueError:  # which the fitting says
            continue


def write(salvage: Salvaged, path: str | os.PathLike[str]) -> None:
    """Write it as a new journal.

    Raises:
        JournalError: If there is such a file, or it cannot be written.
    """
    check_file(path)
    try:
        whole.create(Path(path).absolute(), salvage.data)
    except FileExistsError:
        raise JournalExists(f"{path}: exists, and robustbo does not overwrite it; name another file") from None
    except OSError as error:
        raise JournalWriteError(f"{path}: cannot be written: {error.strerror}") from None


def _new_journal(header: Mapping[str, Any], first: JournalLine, fitting: Fitting) -> tuple[bytes, int | None]:
    """The new journal; from where its checksums differ from the old ones on, its asks cannot be computed again."""
    line, check = header_line(header)
    lines, is_same, salvaged_from = [line], check == first.check, None
    count = len(fitting.events) - num_unfinished([place_in(event) for _, event in fitting.events])
    for number, (old, event) in enumerate(fitting.events):
        if number >= count:  # of a group whose end is damaged
            event = {key: value for key, value in event.items() if key != GROUP}
        line, new = line_of(event, check)
        is_same = is_same and new == old.check
        if not is_same and event["event"] == "ask":
            line, new = line_of({**{k: v for k, v in event.items() if k != "unseen"}, SALVAGED: True}, check)
            salvaged_from = event["trial"] if salvaged_from is None else salvaged_from
        lines.append(line)
        check = new
    return "".join(f"{line}\n" for line in lines).encode(), salvaged_from
