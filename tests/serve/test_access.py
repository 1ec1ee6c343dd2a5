"""Nobody uses the page but who has the token, by its own pages, under its own name."""

import asyncio
import itertools

import pytest

from robustbo.errors import RobustBOError
from robustbo.serve import guard
from robustbo.serve.access import Access, is_loopback, new_token
from robustbo.serve.guard import Guard
from robustbo.serve.server import serve
from tests.serve.conftest import HOST, PORT, TOKEN

ACCESS = Access(PORT, TOKEN)
HOSTS = [HOST, "localhost:8000", "elsewhere.example:8000", "127.0.0.1:8001", "127.0.0.1", "", "10.0.0.7:8000"]
ORIGINS = [None, f"http://{HOST}", "http://elsewhere.example", "null", f"http://{HOST}.example"]
SITES = [None, "same-origin", "cross-site"]
BEARERS = [None, TOKEN, TOKEN[:-1]]
COOKIES = [None, TOKEN, "wrong"]
METHODS = ["GET", "POST", "DELETE"]


def status_of(app, method, path, headers, body=b""):
    """The status of an answer, and its headers, without a server."""
    messages, pieces = [], [{"type": "http.request", "body": body}]

    async def receive():
        return pieces.pop() if pieces else {"type": "http.disconnect"}

    async def send(message):
        messages.append(message)

    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b""}
    scope |= {"headers": [(name.encode(), value.encode()) for name, value in headers], "scheme": "http"}
    coroutine = app(scope, receive, send)
    try:
        coroutine.send(None)
        asyncio.run(coroutine)
    except StopIteration:
        pass  # nothing had to be waited for
    return messages[0]["status"], {name.decode(): value.decode() for name, value in messages[0]["headers"]}


async def inside(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def may(method, host, origin, site, bearer, cookie):
    """Return whether a request should come in, as the documentation has it."""
    is_ours = host in HOSTS[:2] and origin in (None, f"http://{host}") and site in (None, "same-origin")
    has_token = bearer == TOKEN or cookie == TOKEN
    is_page = bearer == TOKEN or origin is not None
    return is_ours and has_token and method != "DELETE" and (method == "GET" or is_page)


def test_forged_requests_are_refused_and_others_are_not():
    cases = [*itertools.product(METHODS, HOSTS, ORIGINS, SITES, BEARERS, COOKIES)]
    app, wrong = Guard(inside, ACCESS), []
    for method, host, origin, site, bearer, cookie in cases:
        fields = {"host": host, "origin": origin, "sec-fetch-site": site}
        fields |= {"authorization": None if bearer is None else f"Bearer {bearer}"}
        fields |= {"cookie": None if cookie is None else f"{ACCESS.cookie}={cookie}"}
        headers = [(name, value) for name, value in fields.items() if value is not None]
        status, sent = status_of(app, method, "/trials/7/tell", headers)
        if (status == 200) != may(method, host, origin, site, bearer, cookie) or "content-security-policy" not in sent:
            wrong.append((status, method, host, origin, site, bearer, cookie))
    assert len(cases) > 1000
    assert not wrong


def test_what_needs_no_token_shows_nothing_of_the_study_and_no_other_page_may_post_there():
    app = Guard(inside, ACCESS)
    for path in ("/login", "/static/page.js"):
        assert status_of(app, "GET", path, [("host", HOST)])[0] == 200
    forged = [("host", HOST), ("origin", "http://elsewhere.example")]
    assert status_of(app, "POST", "/login", forged)[0] == 403
    assert status_of(app, "GET", "/static", [("host", HOST)])[0] == 401
    assert status_of(app, "GET", "/loginx", [("host", HOST)])[0] == 401


def test_two_host_headers_are_none():
    assert status_of(Guard(inside, Access(PORT, None)), "GET", "/", [("host", HOST), ("host", HOST)])[0] == 403


def test_a_link_from_elsewhere_leads_here_but_nothing_is_embedded_there():
    app, token = Guard(inside, ACCESS), ("authorization", f"Bearer {TOKEN}")
    link = [("host", HOST), token, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]
    assert status_of(app, "GET", "/", link)[0] == 200
    assert status_of(app, "POST", "/ask", link)[0] == 403
    _, headers = status_of(app, "GET", "/", link)
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize(
    ("host", "is_answered"),
    [("10.0.0.7:8000", True), ("lab-pc:8000", True), ("LAB-PC:8000", True), ("evil.example:8000", False)],
)
def test_others_reach_it_by_its_address_or_a_name_that_it_knows(host, is_answered):
    app = Guard(inside, Access(PORT, TOKEN, ("lab-pc",), is_remote=True))
    headers = [("host", host), ("authorization", f"Bearer {TOKEN}")]
    assert (status_of(app, "GET", "/", headers)[0] == 200) == is_answered


@pytest.mark.parametrize("length", ["9999999999", "-1", "many", "1048577"])
def test_what_is_too_long_is_refused_before_it_is_read(length):
    headers = [("host", HOST), ("authorization", f"Bearer {TOKEN}"), ("content-length", length)]
    assert status_of(Guard(inside, ACCESS), "POST", "/trials/1/tell", headers)[0] == 413


def test_a_body_that_is_longer_than_it_says_is_ended(client, monkeypatch):
    monkeypatch.setattr(guard, "BODY_BYTES", 100)
    body = (b"x" * 60 for _ in range(3))  # of no length that is said
    answer = client.post("/trials/4/tell", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 413


def test_a_page_that_others_can_reach_has_a_token(place):
    with pytest.raises(RobustBOError, match="must have a token"):
        serve(place, print, host="0.0.0.0", has_token=False)
    assert [is_loopback(host) for host in ("127.0.0.1", "::1", "0.0.0.0", "lab-pc")] == [True, True, False, False]
    assert len(new_token()) > 30
    for chosen in ("short", "has a space and is long", 'quote"quote"quote"'):
        with pytest.raises(RobustBOError, match="ROBUSTBO_SERVE_TOKEN"):
            new_token(chosen)


def test_signing_in_gives_a_cookie_that_no_script_and_no_other_page_has(client):
    del client.headers["Authorization"]
    page = {"Accept": "text/html", "Origin": f"http://{HOST}"}
    assert client.get("/", headers=page).headers["location"] == "/login"
    assert client.post("/login", data={"token": "wrong"}, headers=page).status_code == 403
    answer = client.post("/login", data={"token": TOKEN}, headers=page)
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=strict" in answer.headers["set-cookie"]
    assert client.get("/", headers=page).status_code == 200
    assert client.post("/trials/4/tell", data={"value.0": "3"}, headers=page).status_code == 303
