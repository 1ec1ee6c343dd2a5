"""Asks and beliefs take their time beside the server: what is told meanwhile is recorded at once, and all see it."""

import asyncio
import json
import threading
import time

import pytest

from robustbo.errors import RobustBOError
from robustbo.serve import bench as benches
from robustbo.serve.bench import TooBusyError
from robustbo.serve.served import Served
from tests.serve.conftest import JSON


@pytest.fixture
def slow(monkeypatch):
    """An ask that waits until it may go on; it says that it has begun."""
    begun, go_on = threading.Event(), threading.Event()
    ask = Served.ask_as

    def ask_slowly(self, *args, **options):
        begun.set()
        assert go_on.wait(30)
        return ask(self, *args, **options)

    monkeypatch.setattr(Served, "ask_as", ask_slowly)
    yield begun, go_on
    go_on.set()


def test_a_tell_is_answered_while_points_are_decided_on(client, bench, slow):
    begun, go_on = slow
    client.post("/ask", data={"n": "2", "who": "Ana"})
    assert begun.wait(30)
    assert client.post("/trials/4/tell", json={"value": 50}).status_code == 200
    assert client.get("/", headers=JSON).json()["asks"][0]["n"] == 2
    assert "Deciding on 2 points" in client.get("/", headers={"Accept": "text/html"}).text
    go_on.set()
    bench._decisions.shutdown()
    trials = client.get("/", headers=JSON).json()["open"]
    assert [trial["asked_by"] for trial in trials if trial["trial"] > 5] == ["Ana", "Ana"]


def test_a_program_gets_the_points_that_it_asks_for(client):
    content = {"n": 2, "fixed": {"acid": "B"}, "measured_by": "robot"}
    trials = client.post("/ask", json=content).json()["trials"]
    assert [(trial["params"]["acid"], trial["asked_by"]) for trial in trials] == [("B", "robot")] * 2
    sourced = client.post("/ask", json={"n": 1, "source": "reactor=R3"}).json()["trials"]
    assert sourced[0]["source"] == {"reactor": "R3"}


def test_what_is_fixed_is_typed_as_people_write_it(client, bench):
    client.post("/ask", data={"n": "1", "fixed.heat (°C)": "41,5", "fixed.acid": "B"})
    bench._decisions.shutdown()
    assert bench.opt.history[6].params == {"heat (°C)": 41.5, "acid": "B"}


def test_an_ask_that_comes_to_nothing_is_said_on_the_page(client, bench, monkeypatch):
    def fail(*_, **__):
        raise RobustBOError("nothing <b>is</b> left")

    monkeypatch.setattr(Served, "ask_as", fail)
    assert client.post("/ask", data={"n": "1"}).status_code == 303
    bench._decisions.shutdown()
    assert "nothing &lt;b&gt;is&lt;/b&gt; left" in client.get("/", headers={"Accept": "text/html"}).text
    assert bench.asks == []


def test_not_too_many_wait(bench, slow, monkeypatch):
    monkeypatch.setattr(benches, "MOST_ASKS", 2)
    for _ in range(2):
        bench.ask(1, fixed={}, by="Ana", source={})
    with pytest.raises(TooBusyError):
        bench.ask(1, fixed={}, by="Ana", source={})


def test_a_second_window_sees_what_the_first_records_and_what_others_write(bench, place):
    other = Served.resume(place)

    async def watch():
        task = asyncio.create_task(bench.watch())
        stream = bench.events()
        first = await anext(stream)
        await asyncio.to_thread(other.tell, 4, 50.0)
        second = first
        while json.loads(second.partition("data: ")[2])["trials"]["told"] == 4:
            second = await asyncio.wait_for(anext(stream), 30)
        task.cancel()
        await stream.aclose()
        return first, second

    first, second = (json.loads(text.partition("data: ")[2]) for text in asyncio.run(watch()))
    assert first["version"] != second["version"]
    assert second["trials"]["told"] == 5
    assert not bench._queues


def test_a_belief_is_of_the_study_as_it_is_or_says_that_it_is_older(bench):
    def count(view):
        return view.history.counts()["told"]

    assert bench.latest("count", count) == (None, False)
    assert bench.wait_for("count", count) == 4
    assert bench.latest("count", count) == (4, True)
    bench.opt.tell(4, 50.0)
    assert bench.latest("count", count) == (4, False)
    deadline = time.monotonic() + 30
    while bench.latest("count", count) != (5, True):
        assert time.monotonic() < deadline


def test_what_cannot_be_computed_is_said(bench):
    def fail(view):
        raise RobustBOError("no matrix")

    bench.latest("fail", fail)
    bench._decisions.shutdown()
    assert bench.latest("fail", fail) == ("RobustBOError: no matrix", True)
