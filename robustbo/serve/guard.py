"""The door: each request is looked at before anything else sees it, and each answer says what a browser may do."""

from __future__ import annotations

import asyncio
import logging
from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from robustbo.report.page.policy import EMBEDDED_NOWHERE
from robustbo.serve.access import Access, AccessDenied

log = logging.getLogger("robustbo")

BODY_BYTES = 2**20  # of a request: thousands of values
UPLOAD_BYTES = 8 * 2**20  # of a sheet
UPLOADS = ("/sheet", "/begin")
ARRIVAL_S = 20.0  # within which a body must have arrived
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'" + EMBEDDED_NOWHERE
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with none at all forms would be sent as from nowhere
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """An application behind a door.

    Args:
        app: It.
        access: Who may use it.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = Headers(scope=scope)
        answer = _with_headers(send)
        try:
            self._access.check(scope["method"], scope["path"], headers, _cookies(headers))
            limit = UPLOAD_BYTES if scope["path"].startswith(UPLOADS) else BODY_BYTES
            if not headers.get("content-length", "0").isdigit() or int(headers.get("content-length", "0")) > limit:
                raise AccessDenied(413, f"a request must have at most {limit} bytes")
        except AccessDenied as denied:
            await _refusal(denied, scope, headers)(scope, receive, answer)
            return
        scope["access"] = self._access
        await self._app(scope, _limit(receive, limit), answer)


def _cookies(headers: Headers) -> dict[str, str]:
    try:
        jar: SimpleCookie = SimpleCookie(headers.get("cookie", "")[:4096])
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in jar.items()}


def _refusal(denied: AccessDenied, scope: Scope, headers: Headers) -> Response:
    is_page = scope["method"] == "GET" and "text/html" in headers.get("accept", "")
    if denied.status == 401 and is_page:
        return RedirectResponse("/login", 303)
    more = {"WWW-Authenticate": "Bearer"} if denied.status == 401 else {}
    return JSONResponse({"error": denied.reason}, denied.status, more)


def _limit(receive: Receive, limit: int) -> Receive:
    """Messages of a request, which ends with an error where it is too long, or too slow to arrive."""
    size, is_whole = 0, False

    async def receive_within() -> Message:
        nonlocal size, is_whole
        if is_whole:
            return await receive()  # until the client goes
        try:
            message = await asyncio.wait_for(receive(), ARRIVAL_S)
        except TimeoutError:
            raise HTTPException(408, "the request did not arrive in time") from None
        size += len(message.get("body", b""))
        is_whole = not message.get("more_body", False)
        if size > limit:
            raise HTTPException(413, f"a request must have at most {limit} bytes")
        return message

    return receive_within


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers: Any = MutableHeaders(scope=message)
            headers.setdefault("Content-Security-Policy", POLICY)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers
