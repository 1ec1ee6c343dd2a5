"""Files of others: only regular ones, opened without waiting, and of a bounded size, also where they are compressed."""

import os
import stat
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO

from robustbo import limits
from robustbo.errors import FileError, RobustBOError

Kind = Callable[[str], RobustBOError]  # of error: what the reader's own callers know
Opener = Callable[[str, int], int]
CHUNK = 2**20
GZIP = 16 + zlib.MAX_WBITS


def open_regular(path: str | os.PathLike[str], flags: int, *, follows_links: bool = True) -> int:
    """Open a file for `open` or `io.FileIO` (their ``opener``), without waiting for anybody at the other end of a pipe.

    Args:
        path: The file.
        flags: Of `os.open`.
        follows_links: Whether it may be a link, to a file.

    Raises:
        NotRegularError: If it is a pipe, a device, a socket or a folder, or a link where none is followed.
    """
    _check_kind(path, flags, follows_links)
    more = ("O_NONBLOCK", "O_CLOEXEC", *(() if follows_links else ("O_NOFOLLOW",)))  # some systems have not all
    handle = os.open(path, flags | sum(getattr(os, name, 0) for name in more), 0o666)
    if not stat.S_ISREG(mode := os.fstat(handle).st_mode):  # put in its place meanwhile
        os.close(handle)
        raise NotRegularError(path, mode)
    return handle


def open_no_link(path: str | os.PathLike[str], flags: int) -> int:
    """Open a file as `open_regular` does, and no link."""
    return open_regular(path, flags, follows_links=False)


def _check_kind(path: str | os.PathLike[str], flags: int, follows_links: bool) -> None:
    """Look before opening: of some devices that alone does something."""
    try:
        mode = os.stat(path, follow_symlinks=follows_links).st_mode
    except FileNotFoundError:
        if flags & os.O_CREAT:
            return
        raise
    if not stat.S_ISREG(mode):
        raise NotRegularError(path, mode)


class NotRegularError(OSError):
    """A path is no regular file."""

    def __init__(self, path: str | os.PathLike[str], mode: int) -> None:
        kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFLNK: "a link"}
        super().__init__(None, f"must be a regular file, is {kinds.get(stat.S_IFMT(mode), 'a device')}", str(path))


def bytes_of(
    path: str | os.PathLike[str], most: int, error: Kind = FileError, *, opener: Opener = open_regular
) -> bytes:
    """All bytes of a file.

    Args:
        path: The file.
        most: How many bytes are taken.
        error: What is raised: made of the message, which begins with the path.
        opener: `open_regular`, or `open_no_link`.

    Raises:
        FileNotFoundError, NotADirectoryError: If there is none.
        RobustBOError: As `error` makes it, where it cannot be read.
    """
    try:
        with open(path, "rb", opener=opener) as file:
            size = os.fstat(file.fileno()).st_size
            data = b"" if size > most else file.read(size + 1)
            while size < len(data) <= most and (part := file.read(CHUNK)):  # it is longer than it says, as in /proc
                data += part
    except (FileNotFoundError, NotADirectoryError):
        raise
    except NotRegularError as reason:
        raise error(f"{path}: {reason.strerror}; name another") from None
    except (OSError, ValueError) as reason:  # the latter of a NUL in the name
        raise error(f"{_printable_path(path)}: cannot be read: {why(reason)}") from None
    if max(size, len(data)) > most:
        raise error(too_large(path, most))
    return data


def text_in(file: IO[bytes], most: int) -> str:
    """The text in an open file, such as the standard input, UTF-8 with or without a byte-order mark.

    Raises:
        FileError: If it is none, or longer than ``most`` bytes.
    """
    return decode_text(bytes_in(file, most), file.name)


def bytes_in(file: IO[bytes], most: int) -> bytes:
    """All bytes of an open file; a `FileError` if it cannot be read, or is longer than ``most`` bytes."""
    try:
        data = file.read(most + 1)
    except OSError as reason:
        raise FileError(f"{file.name}: cannot be read: {why(reason)}") from None
    if len(data) > most:
        raise FileError(too_large(file.name, most))
    return data


def decompress_file(path: str | os.PathLike[str], most: int, error: Kind = FileError) -> bytes:
    """The bytes of a file, of one that ends in .gz those that it unpacks to; raises as `bytes_of`."""
    data = bytes_of(path, most, error)
    return _decompress(path, data, most, error) if Path(path).suffix == ".gz" else data


def text_of(path: str | os.PathLike[str], most: int, error: Kind = FileError) -> str:
    """A file's text, packed or not, UTF-8 with or without a byte-order mark; raises as `bytes_of`."""
    return decode_text(decompress_file(path, most, error), str(path), error)


def decode_text(data: bytes, name: str, error: Kind = FileError) -> str:
    """The text that bytes are, UTF-8 with or without a byte-order mark.

    Raises:
        RobustBOError: As `error` makes it, where they are none.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        detail = f"byte {reason.start} is {data[reason.start]:#04x}"
        raise error(f"{name}: must be text in UTF-8, {detail}; save it as UTF-8") from None


def _decompress(path: str | os.PathLike[str], data: bytes, most: int, error: Kind) -> bytes:
    """The contents of gzip data, member by member, never more of it in memory than is read."""
    parts, size = [], 0
    try:
        while data:
            member = zlib.decompressobj(GZIP)
            while not member.eof:
                part = member.decompress(data, CHUNK)
                data = member.unconsumed_tail or member.unused_data
                if not (part or data or member.eof):
                    raise error(f"{path}: must be a whole gzip file, but ends in the middle; get another copy")
                parts.append(part)
                size += len(part)
                if size > most:
                    raise error(too_large(path, most, "must unpack to"))
            data = data.lstrip(b"\0")  # what tapes add
    except zlib.error as reason:
        raise error(f"{path}: must be a gzip file, as its name says: {reason}; get another copy") from None
    return b"".join(parts)


def too_large(path: str | os.PathLike[str], most: int, must: str = "must have") -> str:
    """The error for a file beyond a limit."""
    return f"{path}: {must} at most {most // limits.MIB} MiB, and has more; see docs/security.md for the limits"


def _printable_path(path: str | os.PathLike[str]) -> str:
    return os.fsdecode(path).replace("\0", "\\0")


def why(error: Exception) -> str:
    """The reason why a file could not be opened, in words."""
    return getattr(error, "strerror", None) or str(error)
