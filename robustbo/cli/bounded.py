"""A server for browsers of this machine that nobody can hold up for long, and that only who knows its address can read.

It has a bounded number of connections; a request that does not arrive, or is not taken, in time is ended. Every other
account of the machine can connect to it too, so all that it serves is below a path that nobody can guess.
"""

import hmac
import secrets
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore
from typing import Any

from robustbo.cli import terminal
from robustbo.errors import RobustBOError
from robustbo.printable import printable
from robustbo.report.page.policy import EMBEDDED_NOWHERE, POLICY

LOOPBACK = "127.0.0.1"
MOST = 32  # connections at a time; a browser has six
REQUEST_S = 5.0  # within which a request must have arrived
ANSWER_S = 30.0  # within which an answer must have been taken
BUSY = b"HTTP/1.0 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
HEADERS = {
    "Content-Security-Policy": POLICY + EMBEDDED_NOWHERE,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
Answer = tuple[Callable[[], str], str]  # what makes the text, and its type


class BoundedServer(ThreadingHTTPServer):
    """Serves texts to this machine alone.

    Args:
        answers: What makes each text, and its type, by its name behind the secret part of the address.
        port: Where; a free one if 0.

    Raises:
        RobustBOError: If that cannot be served.
    """

    daemon_threads = True

    def __init__(self, answers: Mapping[str, Answer], port: int = 0) -> None:
        self.answers, self._token = answers, secrets.token_urlsafe(24)
        self._free, self._begun = BoundedSemaphore(MOST), dict[socket.socket, float]()
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except (OSError, OverflowError) as error:
            raise RobustBOError(f"--port: {LOOPBACK}:{port} cannot be served: {error}") from None

    @property
    def address(self) -> str:
        """The address to open in a browser; whoever knows it may read all."""
        return f"http://{LOOPBACK}:{self.server_port}/{self._token}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names under which it answers; a page of elsewhere whose name was turned to here gets nothing."""
        return f"{LOOPBACK}:{self.server_port}", f"localhost:{self.server_port}"

    def answer(self, path: str) -> Answer | None:
        """The answer at a path; None where there is none, or where the secret part is another."""
        _, token, *rest = [*path.partition("?")[0].split("/", 2), ""]
        is_known = hmac.compare_digest(token.encode(), self._token.encode())
        return self.answers.get(rest[0]) if is_known and len(rest) > 1 else None

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread of its own, while there are not too many."""
        if not self._free.acquire(blocking=False):
            with suppress(OSError):
                request.sendall(BUSY)
            self.shutdown_request(request)
            return
        self._begun[request] = time.monotonic()
        try:
            super().process_request(request, client_address)
        except BaseException:  # no thread is available
            self._release(request)
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and let the next one in."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._release(request)

    def on_request(self, request: Any) -> None:
        """A request is there as a whole: making its answer may take longer."""
        self._begun.pop(request, None)

    def _release(self, request: Any) -> None:
        self.on_request(request)
        self._free.release()

    def service_actions(self) -> None:
        """Twice a second: end the connections whose requests do not arrive, however slowly they send."""
        latest = time.monotonic() - REQUEST_S
        for request, begin in list(self._begun.items()):
            if begin < latest:
                with suppress(OSError):
                    request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore the error: a client that has gone is no fault of the user's, and other errors are in the answer."""


class _Handler(BaseHTTPRequestHandler):
    server: BoundedServer
    timeout = ANSWER_S
    server_version, sys_version = "robustbo", ""

    def do_GET(self) -> None:
        self.server.on_request(self.connection)
        if self.headers.get("Host") not in self.server.hosts:
            self.send_error(403)
            return
        answer = self.server.answer(self.path)
        if answer is None:
            self.send_error(404)
            return
        make, kind = answer
        try:
            body = make().encode(errors="backslashreplace")
        except (RobustBOError, OSError) as error:
            terminal.log(f"error: {error}")
            self.send_error(500, explain=printable(str(error)))
            return
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def end_headers(self) -> None:
        """Add the headers of every answer, of errors too."""
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: each open page asks once in a while."""


def serve(server: BoundedServer) -> None:
    """Serve until an interrupt, which ends it."""
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        return
    finally:
        server.server_close()
