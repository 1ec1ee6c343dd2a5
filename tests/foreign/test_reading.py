"""Files of others: what is no regular file, too large, cut short or no text ends in one line."""

import gzip
import os
import socket

import pytest

import robustbo as rb
from robustbo.errors import FileError, JournalError
from robustbo.foreign import reading
from robustbo.trials.codec import open_journal

SPACE = rb.Space(x=rb.Float(0, 1))
MOST = 2**20


@pytest.fixture(params=["pipe", "socket", "device", "link to a pipe"])
def special(request, tmp_path):
    path = tmp_path / "j.jsonl"
    if request.param == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
            yield path
        return
    if request.param == "device":
        path.symlink_to("/dev/zero")
    elif request.param == "pipe":
        os.mkfifo(path)
    else:
        os.mkfifo(tmp_path / "pipe")
        path.symlink_to(tmp_path / "pipe")
    yield path


def test_what_is_no_regular_file_is_not_waited_for(special):
    with pytest.raises(FileError, match=r"j.jsonl: must be a regular file, is a (pipe|socket|device); name another"):
        reading.bytes_of(special, MOST)


@pytest.mark.parametrize("read", [open_journal, rb.Optimizer.resume, rb.Study.resume])
def test_nor_is_a_journal(special, read):
    with pytest.raises(JournalError, match="must be a regular file, is a"):
        read(special)


def test_a_journal_beyond_the_limit_is_not_read(tmp_path):
    path = tmp_path / "j.jsonl"
    with path.open("wb") as file:
        file.write(b'{"schema"')
        file.truncate(40 * 2**30)  # sparse
    for read in (open_journal, rb.Optimizer.resume):
        with pytest.raises(JournalError, match="must have at most 2048 MiB, and has more"):
            read(path)


def test_what_gzip_packed_is_bounded_and_whole(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n") + gzip.compress(b"1,2\n") + bytes(7))
    assert reading.text_of(path, MOST) == "a,b\n1,2\n"
    path.write_bytes(gzip.compress(bytes(64 * MOST)))
    with pytest.raises(FileError, match=r"t.csv.gz: must unpack to at most 1 MiB, and has more"):
        reading.text_of(path, MOST)
    whole = gzip.compress(os.urandom(10_000))
    for data, said in (
        (whole[:-9], "must be a whole gzip file"),
        (whole[:5], "must be a whole gzip file"),
        (b"a,b", "must be a gzip"),
        (whole + b"x", "gzip file"),
    ):
        path.write_bytes(data)
        with pytest.raises(FileError, match=said):
            reading.decompress_file(path, MOST)


def test_a_byte_order_mark_is_no_text_and_other_encodings_are_named(tmp_path):
    path = tmp_path / "t.toml"
    path.write_bytes(b"\xef\xbb\xbfx = 1")
    assert reading.text_of(path, MOST) == "x = 1"
    path.write_bytes("größe".encode("latin-1"))
    with pytest.raises(FileError, match="must be text in UTF-8, byte 2 is 0xf6; save it as UTF-8"):
        reading.text_of(path, MOST)


@pytest.mark.parametrize("read", [open_journal, rb.Optimizer.resume, rb.Study.resume])
@pytest.mark.parametrize("name", ["plain/j.jsonl", "plain/a/j.jsonl"])
def test_a_journal_below_a_plain_file(tmp_path, read, name):
    (tmp_path / "plain").write_text("")
    for act in (read, lambda path: rb.Optimizer(SPACE, direction="minimize", journal=path)):
        with pytest.raises(JournalError, match=r"must be in a folder, and .*plain is a file; name another place"):
            act(tmp_path / name)


@pytest.mark.parametrize("read", [open_journal, rb.Optimizer.resume, rb.Study.resume])
def test_a_link_to_nothing_is_named(tmp_path, read):
    (tmp_path / "j.jsonl").symlink_to("gone.jsonl")
    with pytest.raises(JournalError, match=r"is a link to what is not there, gone\.jsonl") as raised:
        read(tmp_path / "j.jsonl")
    assert "did you mean" not in str(raised.value)
    with pytest.raises(JournalError, match=r"a link to a missing file, gone\.jsonl"):
        rb.Optimizer(SPACE, direction="minimize", journal=tmp_path / "j.jsonl")


@pytest.mark.parametrize(("name", "said"), [("/", "is a folder"), (".", "is a folder"), ("a\0b", "no NUL character")])
def test_what_can_be_no_journals_name(name, said):
    with pytest.raises(JournalError, match=said):
        rb.Optimizer(SPACE, direction="minimize", journal=name)
