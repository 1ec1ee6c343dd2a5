"""Names of processes that ask, by which another can tell whether one is still there."""

import os
import secrets
import socket
from datetime import UTC, datetime

NAMESPACE = "/proc/self/ns/pid"  # containers may share a host's name, but number their processes apart
INITIAL = "pid:[4026531836]"

_token = secrets.token_hex(3)


def _renew() -> None:
    global _token
    _token = secrets.token_hex(3)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


def computer(worker: str | None = None) -> str:
    """The name of this machine, or of that of a worker; containers on it have the same.

    Example:
        >>> computer("node7/[4026531999]:1234:ab12cd")
        'node7'
    """
    return socket.gethostname() if worker is None else worker.partition(":")[0].partition("/")[0]


def name() -> str:
    """The name of this process: ``host:process:token``; the token tells it from a later one of the same number."""
    return f"{_host()}:{os.getpid()}:{_token}"


def _host() -> str:
    """The name of this machine, or of this container on it."""
    try:
        namespace = os.readlink(NAMESPACE)
    except OSError:
        namespace = INITIAL
    host = socket.gethostname()
    return host if namespace == INITIAL else f"{host}/{namespace.removeprefix('pid:')}"


def now() -> str:
    """The time, as a journal keeps it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def is_gone(worker: str) -> bool:
    """Return whether a process is known to have ended: one of this machine that is not there any more.

    Example:
        >>> is_gone(name()), is_gone("another-machine:1:ab12cd")
        (False, False)
    """
    host, _, rest = worker.partition(":")
    process, _, token = rest.partition(":")
    if host != _host() or not process.isdigit():
        return False
    if int(process) == os.getpid():
        return token.split("/")[0] != name().rsplit(":", 1)[-1]
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):  # it is there, and somebody else's; or that is no number of a process
        return False
    return False
