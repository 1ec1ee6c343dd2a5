"""A study that is served, and a client that has its token."""

import os
import shutil
import subprocess
import sys

import pytest
from starlette.testclient import TestClient

import robustbo as rb
from robustbo.serve.access import Access
from robustbo.serve.app import application
from robustbo.serve.bench import Bench
from robustbo.serve.served import Served

PORT, TOKEN = 8000, "a token that nobody can guess".replace(" ", "-")
HOST = f"127.0.0.1:{PORT}"
JSON = {"Accept": "application/json"}
FORM = {
    "p0.name": "heat", "p0.unit": "°C", "p0.low": "20", "p0.high": "80,5",
    "p1.name": "stages", "p1.kind": "int", "p1.low": "1", "p1.high": "8",
    "p3.name": "solvent", "p3.kind": "choice", "p3.values": "DMF; THF",
    "p4.name": "dose", "p4.kind": "ordinal", "p4.values": "0,1; 0,5; 2", "p4.unit": "mL",
    "constraints": "stages + stages <= 14\n\n",
    "o0.name": "yield", "o0.unit": "%", "o0.goal": "maximize", "o0.low": "0", "o0.high": "100",
    "seed": "7",
}  # fmt: skip


def begun(place, **options):
    """A study of four recorded values, and two trials that are to be measured."""
    space = rb.Space(**{"heat (°C)": rb.Float(20, 80), "acid": rb.Choice("A", "B")})
    settings = {"surrogate": "standard", "seed": 0, "outcome": rb.Outcome("yield", unit="%", low=0, high=100)}
    opt = rb.Optimizer(space, direction="maximize", journal=place, **(settings | options))
    for trial in opt.ask(4):
        opt.tell(trial, round(trial.params["heat (°C)"] / 2, 1))
    opt.ask_as("Ana", 2)
    return place


@pytest.fixture(scope="session")
def journal(tmp_path_factory):
    """The journal of such a study, to be copied."""
    return begun(tmp_path_factory.mktemp("serve") / "study.jsonl")


@pytest.fixture
def place(journal, tmp_path):
    (tmp_path / "lab.jsonl").write_bytes(journal.read_bytes())
    return tmp_path / "lab.jsonl"


@pytest.fixture
def bench(place):
    bench = Bench(Served.resume(place), str(place))
    yield bench
    bench.close()


@pytest.fixture
def client(bench, place):
    """A program with the token, which is told of refusals and not sent elsewhere."""
    client = TestClient(application(bench, Access(PORT, TOKEN), place), f"http://{HOST}", follow_redirects=False)
    client.headers["Authorization"] = f"Bearer {TOKEN}"
    return client


@pytest.fixture
def new_place(tmp_path):
    """The place of a study that is not begun yet."""
    return tmp_path / "new.jsonl"


@pytest.fixture
def new_client(new_place):
    """A browser at the form that begins it."""
    app = application(None, Access(80, None), new_place)
    with TestClient(app, "http://127.0.0.1:80", follow_redirects=False) as client:
        yield client


@pytest.fixture
def server_options():
    """Options of a server's command line."""
    return []


@pytest.fixture
def server(tmp_path, server_options):
    """A server of a study that may not be begun yet; its address and its journal."""
    place = tmp_path / "suzuki.jsonl"
    command = [sys.executable, "-m", "robustbo", "serve", str(place), *server_options]
    environment = os.environ | {"ROBUSTBO_SERVE_TOKEN": TOKEN}
    with subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip(), place
        finally:
            process.terminate()


@pytest.fixture
def browser(tmp_path):
    """Debian's Chromium, whose console is kept."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("no Chromium here, or no chromedriver")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    from tests.serve.browsing import SIZES, resize

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        f"--user-data-dir={tmp_path}/profile",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    instance = webdriver.Chrome(options=options, service=Service(driver))
    resize(instance, *SIZES[0])
    yield instance
    instance.quit()
