"""A server that is killed at any moment: what was acknowledged is on the disk.

Each server is a process of its own, a copy of one that has imported all: so a start takes no seconds, and of 200 kills
(``ROBUSTBO_SERVE_KILLS=200``) it is working that takes the time.
"""

import http.client
import json
import multiprocessing
import os
import random
import threading
import time
from contextlib import closing, suppress

import pytest

import robustbo as rb
from robustbo.serve.server import serve
from tests.serve.conftest import TOKEN

pytestmark = pytest.mark.slow
KILLS = int(os.environ.get("ROBUSTBO_SERVE_KILLS", "10"))
HANDS = 4
LONGEST_S = 1.0  # that a server works before it is killed


def post(connection, address, content):
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    connection.request("POST", address, json.dumps(content), headers)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def work(port, hand, number, acknowledged):
    """Tell values until the server is gone, and note each that was acknowledged."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    with closing(connection), suppress(OSError, http.client.HTTPException, json.JSONDecodeError):
        while True:
            number += 1
            value = hand + number / 1e4
            status, content = post(
                connection, "/measurements", {"params": {"x": (number % 1000) / 1000}, "value": value}
            )
            assert status == 200, content
            acknowledged.append((content["trial"], value))


def test_what_was_acknowledged_is_on_the_disk_whenever_the_server_is_killed(tmp_path, monkeypatch):
    place, rng, acknowledged = tmp_path / "lab.jsonl", random.Random(0), []
    rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", journal=place, seed=0)
    monkeypatch.setenv("ROBUSTBO_SERVE_TOKEN", TOKEN)  # which the processes inherit
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["robustbo.serve.server"])
    for kill in range(KILLS):
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=serve, args=(place, theirs.send))
        process.start()
        theirs.close()
        port = int(ours.recv().partition("/login")[0].rpartition(":")[2])
        threads = [
            threading.Thread(target=work, args=(port, hand, kill * 10**6, acknowledged)) for hand in range(HANDS)
        ]
        for thread in threads:
            thread.start()
        time.sleep(rng.uniform(0.05, LONGEST_S))
        process.kill()
        process.join()
        for thread in threads:
            thread.join()
        ours.close()
        history = rb.Study.resume(place).history
        lost = [(number, value) for number, value in acknowledged if history[number].value != value]
        assert lost == []
    assert len(acknowledged) > KILLS
    assert len({number for number, _ in acknowledged}) == len(acknowledged)
