"""Which lines of a damaged journal are proven."""

import json
import zlib
from pathlib import Path

import pytest

from robustbo.trials.repair import lines as damaged
from robustbo.trials.repair import proof
from robustbo.trials.storage.line import header_line, line_of
from robustbo.trials.storage.log import Mark
from robustbo.trials.storage.reading import follow

HEADER = {"settings": {"seed": 3}}


def ask(trial):
    return {"event": "ask", "trial": trial, "params": {"x": trial / 64}, "origin": "model"}


def tell(trial):
    return {"event": "tell", "trial": trial, "value": float(trial), "sd": None}


EVENTS = [event for trial in range(5) for event in (ask(trial), tell(trial))]  # trial t: lines 2 t + 2, 2 t + 3


def lines_of(header, events):
    line, check = header_line(header)
    made = [line]
    for event in events:
        line, check = line_of(event, check)
        made.append(line)
    return [line.encode() for line in made]


class Found:
    """What is proven of `EVENTS` after damage to their lines."""

    def __init__(self, damage=lambda lines: lines, keep=()):
        lines = damage(lines_of(HEADER, EVENTS))
        links, left = proof.prove_lines(damaged.lines_in(b"\n".join([*lines, b""])), keep)
        self.events = [link.line.content for link in links[1:]]
        self.remarks = {link.line.number: link.remark for link in links if link.remark}
        self.left = {line: why for line, why, _ in left}
        self.texts = [text for _, _, text in left]


def but(*trials, kinds=("ask", "tell")):
    """All events but those of a kind of some trials."""
    return [event for event in EVENTS if event["trial"] not in trials or event["event"] not in kinds]


def changed(lines):
    """Damage: a value is another."""
    return [line.replace(b'"value": 2.0', b'"value": 2.5') for line in lines]


def lost(*numbers):
    """Damage: these lines cannot be read any more."""
    return lambda lines: [b"\0" * len(text) if n in numbers else text for n, text in enumerate(lines, start=1)]


@pytest.mark.parametrize("text", [b"", b"a", b"\xff\0" * 9, json.dumps(EVENTS[0]).encode()])
def test_a_checksum_can_be_run_backwards(text):
    assert all(damaged.predecessor_check(text, zlib.crc32(text, c)) == c for c in (0, 1, 0xDEADBEEF, 0xFFFFFFFF))


def test_of_a_whole_journal_all_is_proven():
    found = Found()
    assert (found.events, found.left, found.remarks) == (EVENTS, {}, {})


@pytest.mark.parametrize(
    "harmless",
    [
        lambda lines: [line + b"\r" for line in lines],
        lambda lines: [b"\xef\xbb\xbf" + lines[0], *lines[1:]],
        lambda lines: [json.dumps(json.loads(line), separators=(",", ":")).encode() for line in lines],
        lambda lines: [lines[0], lines[2], lines[1], *lines[3:]],
        lambda lines: [lines[0], *lines[:0:-1]],
        lambda lines: sorted(lines),
        lambda lines: [*lines[:3], b"", b"  ", *lines[3:]],
        lambda lines: [*lines[:3], lines[3] + lines[4], *lines[5:]],
        lambda lines: [*lines[:3], lines[3] + b"\0\0" + lines[4] + b"??", *lines[5:]],
    ],
    ids=["line ends", "mark", "spacing", "swapped", "backwards", "sorted", "empty lines", "joined", "joined badly"],
)
def test_what_does_not_change_a_content_is_put_right(harmless):
    found = Found(harmless)
    assert (found.events, found.left, found.remarks) == (EVENTS, {}, {})


@pytest.mark.parametrize("number", range(1, 11))
def test_a_damaged_checksum_is_computed_again(number):
    def damage(lines):
        digit = b"0" if lines[number - 1][-3:-2] != b"0" else b"1"
        return [*lines[: number - 1], lines[number - 1][:-3] + digit + lines[number - 1][-2:], *lines[number:]]

    found = Found(damage)
    assert (found.events, found.left, found.remarks) == (EVENTS, {}, {number: proof.BY_BOTH})


class TestBehindALineThatCannotBeRead:
    def test_a_line_is_kept_where_the_next_follows_it(self):
        found = Found(lost(5))
        assert (found.events, found.left) == (but(1, kinds=["tell"]), {5: proof.ILLEGIBLE})
        assert found.remarks == {6: proof.BY_THE_NEXT}

    def test_it_must_look_as_it_was_written(self):
        found = Found(lambda lines: [line.replace(b'"ask", ', b'"ask",') for line in lost(5)(lines)])
        assert found.left[6] == proof.NOT_PROVEN

    def test_it_is_proven_where_at_least_the_checksum_before_it_can_be_read(self):
        found = Found(lambda lines: [*lines[:4], b"\0" * 9 + lines[4][9:], *lines[5:]])
        assert (found.left, found.remarks) == ({5: proof.ILLEGIBLE}, {})

    def test_the_last_line_is_not_proven(self):
        found = Found(lost(10))
        assert found.left == {10: proof.ILLEGIBLE, 11: proof.NOT_PROVEN}
        assert '"value": 4.0' in found.texts[1]
        assert Found(lost(10), keep=[11]).events == but(4, kinds=["ask"])


def test_a_changed_value_is_left_out_and_shown():
    found = Found(changed)
    assert (found.events, found.left) == (but(2, kinds=["tell"]), {7: proof.CHANGED})
    assert '"value": 2.5' in found.texts[0]


def test_what_nothing_proves_is_kept_on_request():
    found = Found(changed, keep=[7])
    assert found.events == [{**event, "value": 2.5} if event == tell(2) else event for event in EVENTS]
    assert (found.left, found.remarks) == ({}, {7: proof.BY_REQUEST})
    assert Found(lambda lines: [*lines[:5], *lines[6:]]).left == {6: proof.CHANGED}


def test_a_copied_line_is_one_line():
    found = Found(lambda lines: [*lines[:3], lines[2], *lines[3:]])
    assert (found.events, found.left) == (EVENTS, {4: "is a copy of line 3"})
    assert Found(lambda lines: lines + lines).events == EVENTS


def test_another_journal_behind_it_is_left_out():
    more = lines_of({"settings": {"seed": 4}}, EVENTS)
    found = Found(lambda lines: lines + more)
    assert found.events == EVENTS
    assert set(found.left.values()) == {proof.FOREIGN.format(12)}
    assert len(found.left) == 11
    assert Found(lambda lines: [*lines, more[0], b"\0", *more[2:]]).events == EVENTS


def test_without_a_header_nothing_begins():
    lines = lines_of(HEADER, EVENTS)
    links, _ = proof.prove_lines(damaged.lines_in(b"\n".join(lines[1:])))
    assert not any(link.line.is_header for link in links)


def test_a_long_line_with_many_ends_is_read_once(monkeypatch):
    """Of 400 kB, whose every prefix was kept, it took 3.8 GiB."""
    read = []
    monkeypatch.setattr(damaged, "json_object", lambda text: read.append(len(text)))
    monkeypatch.setattr(damaged, "first_object", lambda text, ends: read.append(len(text)))
    text = b'{"event": "tell", "note": "' + b'"check": "00000000"}' * 2000
    assert damaged.lines_in(text)[0].content is None
    assert sum(read) <= 3 * len(text)


@pytest.mark.parametrize("rest", [b"garbage", b"\xff\xfe", b'{"event": "te', b' "check": "00000000"}'])
def test_what_follows_a_line_does_not_spoil_it(rest):
    lines = lines_of(HEADER, EVENTS)
    lines[3] += rest
    links, _ = proof.prove_lines(damaged.lines_in(b"\n".join([*lines, b""])))
    assert [link.line.content for link in links[1:]] == EVENTS


@pytest.mark.parametrize(
    ("old", "new"), [(b": ", b":"), (b'{"event"', b' {"event"'), (b"null", b"null "), (b'"far"', '"fär"'.encode())]
)
def test_what_reading_takes_is_proven(old, new):
    """Lines that were written in another way, each with the checksum of its very text."""
    texts = [b'{"schema": 1}', *(b'{"event": "fail", "trial": %d, "reason": "far", "retry": null}' % i for i in (0, 1))]
    check, lines = 0, []
    for text in [texts[0], texts[1].replace(old, new), texts[2]]:
        check = zlib.crc32(text, check)
        lines.append(text[:-1] + f', "check": "{check:08x}"}}'.encode())
    data = b"\n".join(lines) + b"\n"
    events = follow(Path("j.jsonl"), data, Mark(length=-1))[0]
    links, lost = proof.prove_lines(damaged.lines_in(data))
    assert [link.line.content for link in links] == events
    assert (len(events), lost) == (3, [])
