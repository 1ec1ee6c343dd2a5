"""The server: begins to listen, and prints the address to open, once."""

from __future__ import annotations

import math
import os
import socket
from collections.abc import Callable, Sequence

import uvicorn
from starlette.types import ASGIApp

from robustbo.errors import JournalMissing, JournalWarning, RobustBOError, warn
from robustbo.serve.access import Access, is_loopback, new_token, own_names
from robustbo.serve.app import application
from robustbo.serve.bench import Bench, study_name
from robustbo.serve.extras import NOTHING, Extras
from robustbo.serve.served import Served
from robustbo.study.study import Study
from robustbo.trials.storage.places import Place

MOST_CONNECTIONS = 200
BACKLOG = 128  # that wait to be connected
IDLE_S = 30
GRACE_S = 2  # for answers under way, at the end; what is decided on is recorded all the same
TOKEN = "ROBUSTBO_SERVE_TOKEN"


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        RobustBOError: If there can be none.
    """
    listener, family = None, socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)  # whoever comes before all is ready waits, and is not refused
    except (OSError, OverflowError) as error:
        if listener is not None:
            listener.close()
        raise RobustBOError(f"--host, --port: {host}:{port} cannot be served: {error}") from None
    return listener


def _bench_of(place: Place, extras: Extras = NOTHING) -> Bench | None:
    """The study of a journal; None where there is none, and a warning says that it is begun by a form."""
    try:
        return Bench(Served.resume(place), place, extras)
    except JournalMissing as error:
        warn(f"{error}; the page begins a new study there", JournalWarning)
        return None


def serve(
    place: Place,
    say: Callable[[str], None],
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    names: Sequence[str] = (),
    has_token: bool = True,
    beside: Sequence[Place] = (),
    budget: float = math.inf,
) -> None:
    """Serve a study until an interrupt, which ends it.

    Args:
        place: Of its journal.
        say: Prints the address to open, with the token behind #, which no browser sends anywhere.
        host: Where to listen.
        port: A free one if 0.
        names: Names that it answers to, beside its own.
        has_token: Whether whoever uses it must know a token; on other addresses than this machine's own it must be so.
        beside: Journals of other studies, whose progress is drawn beside its own.
        budget: What all measurements may cost together, each 1 unless its source has a cost of its own.

    Raises:
        RobustBOError: If a study cannot be resumed, or that cannot be served.
    """
    if not is_loopback(host) and not has_token:
        raise RobustBOError(f"--no-token: a page that others can reach must have a token, got --host {host}")
    if not budget > 0:
        raise RobustBOError(f"--budget must be a number above 0, got {budget}")
    extras = Extras([(study_name(other), Study.resume(other)) for other in beside], budget)
    bench = _bench_of(place, extras)
    token = new_token(os.environ.pop(TOKEN, None)) if has_token else None
    listener = listen(host, port)
    access = _access(host, listener.getsockname()[1], token, names)
    say(address(host, access))
    try:
        uvicorn.Server(_config(application(bench, access, place, extras))).run([listener])
    except KeyboardInterrupt:
        return
    finally:
        listener.close()


def _access(host: str, port: int, token: str | None, names: Sequence[str]) -> Access:
    is_remote = not is_loopback(host)
    return Access(port, token, (*own_names(), *names) if is_remote else tuple(names), is_remote)


def address(host: str, access: Access) -> str:
    """The address to open, with the token where there is one.

    Example:
        >>> address("::1", Access(8000, "secret"))
        'http://[::1]:8000/login#secret'
    """
    name = socket.gethostname() if host in ("0.0.0.0", "::") else host
    name = f"[{name}]" if ":" in name else name
    return f"http://{name}:{access.port}/" + (f"login#{access.token}" if access.token else "")


def _config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=GRACE_S,
        lifespan="on",
        ws="none",
    )
