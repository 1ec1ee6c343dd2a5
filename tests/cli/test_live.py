"""A journal that is looked at while others write to it."""

import base64
import hashlib
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from threading import Thread

import pytest

import robustbo as rb
from robustbo.cli import bounded, live

SPACE = ""  # of the fixture `cli`
MADE = re.compile(r"This page was made at \d{4}-\d\d-\d\d \d\d:\d\d UTC\.")


@pytest.fixture
def opt(cli, tmp_path):
    opt = rb.Optimizer(
        rb.Space(x=rb.Float(0, 1)), direction="minimize", journal=tmp_path / "j.jsonl", seed=0, surrogate="standard"
    )
    for i in range(4):
        opt.tell({"x": i / 3}, (i / 3 - 0.4) ** 2)
    return opt


@pytest.fixture
def server(opt):
    server = live.Server("j.jsonl", "j.jsonl")
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def get(server, path="", **headers):
    return urllib.request.urlopen(urllib.request.Request(server.address + path, headers=headers)).read().decode()


def test_a_served_page_is_another_after_the_journal_has_changed(opt, server):
    assert server.server_address[0] == "127.0.0.1"
    before, page = get(server, "version"), get(server)
    assert "4 told" in page
    assert f'data-version="{before}"' in page
    opt.tell({"x": 0.5}, 0.01)
    assert get(server, "version") != before
    assert "5 told" in get(server)


@pytest.mark.parametrize(("path", "host", "code"), [("", "elsewhere.example", 403), ("journal", None, 404)])
def test_nothing_else_is_served(server, path, host, code):
    with pytest.raises(urllib.error.HTTPError, match=str(code)):
        get(server, path, **({} if host is None else {"Host": host}))


def test_whoever_does_not_know_the_address_gets_nothing(server):
    root = f"http://127.0.0.1:{server.server_port}/"
    assert len(server.address.removeprefix(root)) > 30
    for path in ("", "version", "guess/", f"{server.address.removeprefix(root)[:-1]}", "guess/version"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(root + path)
    with live.Server("j.jsonl", "j.jsonl") as another:
        assert another.address.rpartition("/")[0][-32:] not in server.address


@pytest.mark.parametrize("path", ["", "version", "nothing"])
def test_every_answer_says_what_a_browser_may_do(server, path):
    try:
        headers = urllib.request.urlopen(server.address + path).headers
    except urllib.error.HTTPError as error:
        headers = error.headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'sha256-")
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "Python" not in headers["Server"]


def connected(server):
    return socket.create_connection(server.server_address, timeout=60)


def test_half_a_request_is_ended_however_slowly_it_goes_on(server, monkeypatch):
    monkeypatch.setattr(bounded, "REQUEST_S", 0.5)
    with connected(server) as slow:
        slow.sendall(b"GET / HTTP/1.0\r\n")
        slow.settimeout(0.05)
        while not is_ended(slow):
            pass  # or the test hangs


def is_ended(connection):
    """Send one more line of a request; whether the other end has had enough."""
    try:
        connection.sendall(b"X: y\r\n")
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


@pytest.mark.slow
def test_there_are_never_more_connections_than_it_bears(server, monkeypatch):
    monkeypatch.setattr(bounded, "REQUEST_S", 1e9)
    held = [connected(server) for _ in range(bounded.MOST)]
    with connected(server) as more:
        assert more.recv(100).startswith(b"HTTP/1.0 503")
    for each in held:
        each.close()
    while not is_served(server):  # until those who are gone have been missed
        time.sleep(0.05)


def is_served(server):
    try:
        return "4 told" in get(server)
    except (urllib.error.URLError, ConnectionError):  # a reset may come before the answer
        return False


def test_a_client_that_resets_its_connection_is_no_traceback(server, capsys):
    for _ in range(5):
        with connected(server) as gone:
            gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")  # a reset at its end
            gone.sendall(f"GET {server.address[server.address.index('/', 8) :]} HTTP/1.0\r\n".encode())
    get(server)
    assert capsys.readouterr() == ("", "")


@pytest.mark.slow
@pytest.mark.parametrize(("option", "first"), [("--watch", "4 told"), ("--serve", "http://127.0.0.1:")])
def test_an_interrupt_ends_it_cleanly(opt, tmp_path, option, first):
    command = [sys.executable, "-u", "-m", "robustbo.cli", "show", "j.jsonl", option]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    said = ""
    while first not in said:
        said += started.stdout.readline()
        assert started.poll() is None
    if option == "--watch":
        opt.tell({"x": 0.5}, 0.01)
        while "5 told" not in said:
            said += started.stdout.readline()
    time.sleep(0.2)  # it waits for the next change
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=60)
    assert (started.returncode, err) == (0, "")
    assert "\x1b" not in said  # what is no terminal is not cleared


def test_a_page_says_which_scripts_are_its_own(opt, server):
    """Each script that is in it, and no other."""
    page = get(server)
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)[1]
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert len(scripts) == 2
    assert sorted(re.findall(r"'sha256-([^']*)'", policy)) == sorted(digests)
    assert page.index(policy) < page.index("<script")
    assert not re.search(r"<[^>]* on\w+=", page)  # which no digest allows


def test_one_thing_at_a_time(cli, opt):
    assert cli("show", "j.jsonl", "--watch", "--serve")[::2] == (
        2,
        "error: show takes only one of --html (or --out), --watch and --serve\n",
    )


def test_report_and_show_write_the_same_page_and_several_make_one(cli, opt, tmp_path):
    assert cli("show", "j.jsonl", "--html", "--out", "a.html")[1] == "a.html\n"
    assert cli("report", "j.jsonl", "--out", "b.html")[1] == "b.html\n"
    a, b = (re.sub(MADE, "", (tmp_path / f"{name}.html").read_text(), count=1) for name in "ab")
    assert a == b
    assert MADE.search((tmp_path / "a.html").read_text())
    assert "robustbo ask j.jsonl</pre>" in a
    (tmp_path / "k.jsonl").write_bytes((tmp_path / "j.jsonl").read_bytes())
    assert cli("report", "j.jsonl", "k.jsonl")[1] == "report.html\n"
    assert re.findall(r"<h2>(\w)</h2>", (tmp_path / "report.html").read_text()) == ["j", "k"]
    (tmp_path / "runs").mkdir(exist_ok=True)
    code, _, err = cli("report", "j.jsonl", "runs")
    assert code == 2
    assert "a page shows either recorded runs or journals, got both: runs is a run, j.jsonl a journal" in err
    code, _, err = cli("report", "j.jsonl", "x.csv")
    assert (code, err) == (
        2,
        "error: x.csv: must be a recorded run or a journal, but no such file exists\n",
    )


def test_options_that_would_do_nothing_are_refused(cli, opt):
    assert cli("show", "j.jsonl", "--port", "80")[::2] == (
        2,
        "error: --port needs --serve, got 80\n",
    )
    assert cli("show", "j.jsonl", "--html", "--out", "a.png")[::2] == (
        2,
        "error: --html writes a page, got --out a.png; a picture needs no --html\n",
    )
