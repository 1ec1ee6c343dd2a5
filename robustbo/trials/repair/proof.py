"""Proofs, by the chain of checksums, that lines of a damaged journal are as they were written.

A line's checksum is the CRC-32 of its text, begun at the checksum of the line before. A CRC can be run backwards: the
text and the checksum of a line say the only checksum that it can follow. So a line is proven if that one stands in the
journal, at whatever line, even a damaged one: threads that wrote with a stale predecessor, lines that changed places,
other line ends or spacing do no harm.

Where the line before cannot be read at all, that checksum is lost. Then the next line proves the checksum of this one,
though not its text: it is kept, with a remark, if it looks as it was written. Only damage to a digit, right behind
damage to a whole line, could go unseen there.
"""

import zlib
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from robustbo.trials.repair.lines import JournalLine, canonical
from robustbo.trials.storage.groups import num_unfinished, place_in

BY_THE_NEXT = "the line before it cannot be read; kept, since the line after it follows it"
BY_BOTH = "its checksum is damaged; the lines around it prove it"
BY_REQUEST = "nothing proves it; kept as you asked"
ILLEGIBLE, TORN = "cannot be read", "cannot be read; perhaps its write never finished"
TORN_CALL = "its call wrote several lines, and its write never finished: repeat the call"
CHANGED = "it was changed, or the line before it is missing"
NOT_PROVEN = "the line before it cannot be read, and none after it proves it"
FOREIGN = "belongs to another journal, begun on line {}"
COPY = "is a copy of line {}"


class Link(NamedTuple):
    """A line that is kept, the index of the one that it follows among those kept (None if lost), and a remark."""

    line: JournalLine
    parent: int | None
    remark: str


class Left(NamedTuple):
    """A line that is left out, why, and as much of it as can be shown."""

    line: int
    why: str
    text: str


def line_left_out(line: JournalLine, why: str) -> Left:
    """A line that is left out for a reason."""
    return Left(line.number, why, line.text.strip().decode(errors="replace"))


def prove_lines(raw_lines: list[JournalLine], keep: Collection[int] = ()) -> tuple[list[Link], list[Left]]:
    """The lines that are proven, each behind the one that it follows and else in their order; and the others.

    Args:
        raw_lines: The lines of the journal.
        keep: Numbers of lines to be kept although nothing proves them.
    """
    lines = [*_mend(raw_lines)]
    entries, lost = _split_lines(lines, keep)
    order = _in_order(entries)
    headers = [place for place in order if lines[place].is_header]
    home: dict[int, int | None] = {}  # the header of each line's journal
    for place in order:
        parent, above = entries[place].parent, [header for header in headers if header <= place]
        home[place] = home[parent] if parent in home else [*headers[:1], *above][-1] if headers else None
    ours = headers[:1] + [place for place in order if home[place] in headers[:1] and place not in headers]
    lost |= {p: FOREIGN.format(lines[h].number) for p, h in home.items() if h is not None and h != headers[0]}
    index = {place: i for i, place in enumerate(ours)}
    links = []
    for place in ours:
        parent, remark = entries[place]
        is_mended = lines[place] is not raw_lines[place]
        links.append(Link(lines[place], None if parent is None else index.get(parent), BY_BOTH * is_mended or remark))
    return links, [line_left_out(raw_lines[place], why) for place, why in sorted(lost.items())]


def _mend(lines: list[JournalLine]) -> Iterator[JournalLine]:
    """The lines; where one's checksum is damaged and the line before and another one say what it was, with that."""
    predecessors = {line.before for line in lines} - {None}
    stands = {line.check for line in lines}
    check: int | None = 0
    for line in lines:
        if line.content is not None and check is not None and line.before != check and line.before not in stands:
            candidate = zlib.crc32(canonical(line.content), check)
            if candidate in predecessors and candidate not in stands:
                line = line._replace(check=candidate, before=check)
        yield line
        check = line.check


class _Entry(NamedTuple):
    parent: int | None  # the place of the line that it follows
    remark: str


def _split_lines(lines: list[JournalLine], keep: Collection[int]) -> tuple[dict[int, _Entry], dict[int, str]]:
    """The lines to keep, by their place; and of the others the reason."""
    entries: dict[int, _Entry] = {}
    lost: dict[int, str] = {}
    first_numbers: dict[tuple[bytes, int | None], int] = {}
    places: dict[int | None, int] = {line.check: place for place, line in reversed([*enumerate(lines)])}
    for place, line in enumerate(lines):
        if line.content is None:
            lost[place] = ILLEGIBLE if place + 1 < len(lines) else TORN
            continue
        parent = None if line.before is None else places.get(line.before)
        is_proven = line.before == 0 if line.is_header else parent not in (None, place)
        remark = "" if is_proven else BY_THE_NEXT if _is_proven_by_the_next(lines, place) else BY_REQUEST
        if remark == BY_REQUEST and line.number not in keep:
            has_predecessor = place == 0 or lines[place - 1].check is not None
            lost[place] = CHANGED if has_predecessor else NOT_PROVEN
        elif (copy := first_numbers.setdefault((canonical(line.content), line.before), line.number)) != line.number:
            lost[place] = COPY.format(copy)
        else:
            entries[place] = _Entry(parent if is_proven and not line.is_header else None, remark)
    return entries, lost


def without_torn(links: list[Link], lost: list[Left], keep: Collection[int] = ()) -> tuple[list[Link], list[Left]]:
    """The lines without the last ones of a call whose end was never written, unless they are to be kept."""
    places = [place_in(link.line.content or {}) for link in links]
    count = len(links) - num_unfinished(places)
    torn = [link.line for link in links[count:]]
    last = max((line.line for line in lost if line.why != TORN), default=0)
    if not torn or torn[-1].number < last or any(line.number in keep for line in torn):
        return links, lost
    return links[:count], [*lost, *(line_left_out(line, TORN_CALL) for line in torn)]


def _is_proven_by_the_next(lines: list[JournalLine], place: int) -> bool:
    """Return whether the next line follows one whose predecessor cannot be read, and which looks as it was written."""
    line, following = lines[place], lines[place + 1 : place + 2]
    if line.content is None or "event" not in line.content or place == 0 or lines[place - 1].check is not None:
        return False
    is_as_written = line.text.strip().startswith(canonical(line.content)[:-1])
    return is_as_written and line.check is not None and any(other.before == line.check for other in following)


def _in_order(entries: dict[int, _Entry]) -> list[int]:
    """The places of the lines that are kept, each behind the one that it follows."""
    order: dict[int, None] = {}
    waiting: dict[int, list[int]] = {}

    def put(places: Iterable[int]) -> None:
        stack = [*places][::-1]
        while stack:
            place = stack.pop()
            order[place] = None
            stack += waiting.pop(place, [])[::-1]

    for place, (parent, _) in entries.items():
        if parent is None or parent in order or parent not in entries:
            put([place])
        else:
            waiting.setdefault(parent, []).append(place)
    put(place for places in waiting.values() for place in places)
    return [*order]
