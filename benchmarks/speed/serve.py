r"""The time that a tell takes at `robustbo serve` while it decides on a point, with many clients.

Each client tells the values of trials of its own, one after the other with a pause, over one connection; an ask runs
all the while. (A measurement that nobody has asked for begins a trial, so that a decision that runs is made once more,
and the third time tells wait for it.)

    python -m benchmarks.speed.serve --clients 20 --seconds 30
"""

import http.client
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import robustbo as rb
from benchmarks.common.parsers import parser_of

TRIALS = 6  # trials of a client
MEASURED = 40  # values before, so that an ask takes its time


def post(connection: http.client.HTTPConnection, token: str, address: str, content: object) -> None:
    """Post JSON, and wait for the answer, which must be that it is done."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request("POST", address, json.dumps(content), headers)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{address}: {answer.status} {text!r}")


def tell_values(port: int, token: str, trials: Sequence[int], seconds: float, times: list[float]) -> None:
    """Tell the values of trials within so many seconds, and note how long each took."""
    connection, rng = http.client.HTTPConnection("127.0.0.1", port, timeout=600), np.random.default_rng(trials[0])
    for trial in trials:
        time.sleep(2 * rng.random() * seconds / len(trials))
        begin = time.monotonic()
        post(connection, token, f"/trials/{trial}/tell", {"value": float(rng.random())})
        times.append(time.monotonic() - begin)


def ask_points(port: int, token: str, end: float, times: list[float]) -> None:
    """Ask for one point after the other until a moment."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    while time.monotonic() < end:
        begin = time.monotonic()
        post(connection, token, "/ask", {"n": 1})
        times.append(time.monotonic() - begin)


def main() -> None:
    """Measure, and print quantiles of tells and of asks in seconds."""
    parser = parser_of(__doc__)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=30.0)
    options = parser.parse_args()
    token, tells, asks = secrets.token_urlsafe(24), list[float](), list[float]()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "load.jsonl"
        space = rb.Space(**{name: rb.Float(0, 1) for name in "xyzu"})
        opt, rng = rb.Optimizer(space, direction="maximize", journal=place, seed=0), np.random.default_rng(0)
        for _ in range(MEASURED):
            opt.tell({name: float(rng.random()) for name in "xyzu"}, float(rng.random()))
        opt.enqueue([{name: float(rng.random()) for name in "xyzu"} for _ in range(TRIALS * options.clients)])
        numbers = [trial.number for trial in opt.ask_as("clients", TRIALS * options.clients)]
        environment = os.environ | {"ROBUSTBO_SERVE_TOKEN": token}
        command = [sys.executable, "-m", "robustbo", "serve", str(place)]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            port = int(process.stdout.readline().partition("/login")[0].rpartition(":")[2])
            end = time.monotonic() + options.seconds
            threads = [
                threading.Thread(target=tell_values, args=(port, token, trials, options.seconds, tells))
                for trials in (numbers[client :: options.clients] for client in range(options.clients))
            ]
            threads.append(threading.Thread(target=ask_points, args=(port, token, end, asks)))
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            process.terminate()
    for name, times in {"tell": tells, "ask": asks}.items():
        middle, high, most = np.quantile(times, [0.5, 0.95, 1.0])
        print(f"{name}: {len(times)} times, median {middle:.3f} s, p95 {high:.3f} s, longest {most:.3f} s")


if __name__ == "__main__":
    main()
