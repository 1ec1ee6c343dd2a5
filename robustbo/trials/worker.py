"""Who asks: a name for each process, by which another can tell whether it is still there."""

import os
import secrets
import socket
from datetime import UTC, datetime

_token: tuple[int, str] = (0, "")


def name() -> str:
    """This process: ``host:process:token``; the token tells it from a later one of the same number."""
    global _token
    if _token[0] != os.getpid():  # not imported, or forked since
        _token = os.getpid(), secrets.token_hex(3)
    return f"{socket.gethostname()}:{_token[0]}:{_token[1]}"


def now() -> str:
    """The time, as a journal keeps it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def is_gone(worker: str) -> bool:
    """Whether a process is known to have ended: one of this machine that is not there any more.

    Example:
        >>> is_gone(name()), is_gone("another-machine:1:ab12cd")
        (False, False)
    """
    host, _, rest = worker.partition(":")
    process, _, token = rest.partition(":")
    if host != socket.gethostname() or not process.isdigit():
        return False
    if int(process) == os.getpid():
        return token.split("/")[0] != name().rsplit(":", 1)[-1]
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:  # it is there, and somebody else's
        return False
    return False
