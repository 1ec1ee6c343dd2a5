"""Access to the page: names of this machine that it answers to, a token, and posts of its own pages alone."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from robustbo.errors import RobustBOError

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
COOKIE = "robustbo"
FREE = ("/login", "/static/")  # what needs no token: it shows nothing of the study
LEAST_TOKEN = 16  # characters


class AccessDenied(Exception):
    """A request that is not answered.

    Attributes:
        status: Of HTTP.
        reason: Why, for people.
    """

    def __init__(self, status: int, reason: str) -> None:
        self.status, self.reason = status, reason
        super().__init__(reason)


def new_token(own: str | None = None) -> str:
    """A token that nobody can guess, or one of the user's own.

    Raises:
        RobustBOError: If that is too short, or has characters that no header can have.
    """
    if own is None:
        return secrets.token_urlsafe(24)
    if len(own) < LEAST_TOKEN or not own.isascii() or not own.isprintable() or {*' ";,\\'} & {*own}:
        must = f"ROBUSTBO_SERVE_TOKEN must have at least {LEAST_TOKEN} letters, digits or signs, without spaces"
        raise RobustBOError(f"{must}, quotes, commas and semicolons, got {len(own)} characters")
    return own


@dataclass(frozen=True)
class Access:
    """The rules of who may use the page.

    Attributes:
        port: Where it is served.
        token: What whoever uses it must know; None where every account of this machine may.
        names: Names that it answers to beside those of this machine itself; a page of elsewhere whose name was turned
            to here gets nothing.
        is_remote: Whether other machines can reach it.
    """

    port: int
    token: str | None
    names: tuple[str, ...] = ()
    is_remote: bool = False

    def check(self, method: str, path: str, headers: Headers, cookies: dict[str, str]) -> None:
        """Raise unless a request may be answered.

        Raises:
            AccessDenied: If it may not.
        """
        host = headers.get("host", "")
        if len(headers.getlist("host")) != 1 or not self._is_own(host):
            raise AccessDenied(403, "this is no name of this server; --name NAME adds one")
        if method not in ("GET", "HEAD", "POST"):
            raise AccessDenied(405, "only GET and POST are answered")
        site = headers.get("sec-fetch-site", "none")
        if site not in ("same-origin", "none") and not (
            method == "GET" and headers.get("sec-fetch-mode") == "navigate"
        ):
            raise AccessDenied(403, "this request comes from another page")
        origin = headers.get("origin")
        if origin is not None and (urlsplit(origin).scheme != "http" or urlsplit(origin).netloc != host):
            raise AccessDenied(403, "this request comes from another page")
        if path == "/login" or path.startswith(FREE[1]):
            return
        is_bearer = self.knows(headers.get("authorization", "").removeprefix("Bearer ").strip())
        if self.token is not None and not is_bearer and not self.knows(cookies.get(self.cookie, "")):
            raise AccessDenied(401, "the token is needed that was printed where the server was started")
        if method == "POST" and origin is None and not is_bearer and self.token is not None:
            raise AccessDenied(403, "a program must send the token in a header: Authorization: Bearer TOKEN")

    def knows(self, text: str) -> bool:
        """Return whether somebody has the token."""
        return self.token is not None and hmac.compare_digest(text.encode(), self.token.encode())

    @property
    def cookie(self) -> str:
        """The name of the cookie: two servers of one machine share their cookies, whatever the port."""
        return f"{COOKIE}-{self.port}"

    def _is_own(self, host: str) -> bool:
        name, _, port = host.rpartition(":") if not host.endswith("]") and ":" in host else (host, "", "80")
        if port != str(self.port):
            return False
        if name in LOOPBACK or name.casefold() in {own.casefold() for own in self.names}:
            return True
        return self.is_remote and _is_address(name)  # a name can be turned to here by others, an address cannot


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def own_names() -> tuple[str, ...]:
    """The names by which other machines know this one."""
    return tuple({socket.gethostname(), socket.getfqdn()})


def is_loopback(host: str) -> bool:
    """Return whether an address to listen at is reached from this machine alone.

    Example:
        >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
        (True, True, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
