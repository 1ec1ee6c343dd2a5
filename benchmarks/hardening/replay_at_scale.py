"""Replay with many processes: how long it takes, what it keeps when it is killed, and how much memory it needs.

    python -m benchmarks.hardening.replay_at_scale --what time    # one process, two, and a Dask cluster of two workers
    python -m benchmarks.hardening.replay_at_scale --what kills   # twenty kills each, of processes, workers and clients
    python -m benchmarks.hardening.replay_at_scale --what memory  # peak memory by the number of cells

``kills`` compares every row but its seconds with those of an undisturbed run. Needs the extra ``dask``.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
from distributed import LocalCluster

from benchmarks.common.parsers import parser_of
from benchmarks.common.paths import RUNS
from robustbo.replay.kinds import read_cells, rows_of
from robustbo.report.summary.tables import render

RUN = RUNS / "figure-7-uniform.toml"
METHODS = ("standard", "relevance-pursuit", "student-t", "oracle")
SECONDS = ["fit_s", "acquisition_s"]
MIB = 2**20
JOBS = {"one process": ["--jobs", "1"], "two processes": ["--jobs", "2"]}


def command(out: Path, replications: int, trials: int, *rest: str, only: Sequence[str] = METHODS) -> list[str]:
    """A replay of some methods."""
    methods = [part for method in only for part in ("--method", method)]
    sizes = ["--replications", str(replications), "--trials", str(trials)]
    return [sys.executable, "-m", "robustbo.cli", "replay", str(RUN), *methods, *sizes, "--out", str(out), *rest]


def start_replay(arguments: list[str]) -> "subprocess.Popen[bytes]":
    """The replay, one thread a process, silent."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen(arguments, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Cluster:
    """A scheduler and two workers on this machine, of one thread each; `mend` begins those anew that were killed."""

    def __init__(self) -> None:
        self._local = LocalCluster(n_workers=0, dashboard_address=None)
        self.workers: list[subprocess.Popen[bytes]] = []
        self.mend()

    @property
    def address(self) -> str:
        """Address of the scheduler."""
        return self._local.scheduler_address

    def mend(self) -> None:
        """Two workers that are alive."""
        arguments = [sys.executable, "-m", "distributed.cli.dask_worker", self.address]
        alive = [worker for worker in self.workers if worker.poll() is None]
        new = [
            start_replay([*arguments, "--no-nanny", "--nthreads", "1", "--no-dashboard"]) for _ in range(2 - len(alive))
        ]
        self.workers = alive + new

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.terminate()
            worker.wait()
        self._local.close()


def seconds(arguments: list[str]) -> float:
    """Wall-clock time of a replay that must succeed."""
    start = time.perf_counter()
    if start_replay(arguments).wait() != 0:
        raise RuntimeError(f"must end well: {' '.join(arguments)}")
    return time.perf_counter() - start


def times(replications: int, trials: int, repetitions: int) -> list[dict[str, Any]]:
    """Each way in turn, several times, alone on the machine; ratios to one process of the same turn."""
    by_way: dict[str, list[float]] = {way: [] for way in (*JOBS, "cluster of two")}
    with tempfile.TemporaryDirectory() as folder:
        for turn, (way, all_seconds) in product(range(repetitions), by_way.items()):
            out = Path(folder) / f"{way}-{turn}"
            with nullcontext() if way in JOBS else Cluster() as cluster:
                rest = JOBS[way] if cluster is None else ["--cluster", cluster.address]
                all_seconds.append(seconds(command(out, replications, trials, *rest)))
            print(f"{way}: {all_seconds[-1]:.1f} s", file=sys.stderr)
    single = np.array(by_way["one process"])
    return [
        {
            "way": way,
            "seconds, median": f"{np.median(took):.1f}",
            "of one process": " ".join(f"{ratio:.2f}" for ratio in np.array(took) / single),
            "median": f"{np.median(np.array(took) / single):.2f}",
        }
        for way, took in by_way.items()
    ]


def record(out: Path) -> pd.DataFrame:
    """All rows but their seconds."""
    return rows_of(read_cells(out)).drop(columns=SECONDS)


def kills(replications: int, trials: int, count: int, *, on_cluster: bool, seed: int = 0) -> dict[str, Any]:
    """Kill a process at random again and again, begin anew what has ended, and compare with an undisturbed run."""
    moments, dead = random.Random(seed), {"clients": 0, "workers": 0}
    with tempfile.TemporaryDirectory() as folder, Cluster() as cluster:
        calm, disturbed = Path(folder) / "calm", Path(folder) / "disturbed"
        seconds(command(calm, replications, trials, "--jobs", "2"))
        rest = ("--cluster", cluster.address) if on_cluster else ("--jobs", "2")
        again, client, number_begun = command(disturbed, replications, trials, *rest), None, 0
        while sum(dead.values()) < count or client is None or client.poll() is None:
            if client is None or client.poll() is not None:
                client, number_begun = start_replay(again), number_begun + 1
            cluster.mend()
            time.sleep(moments.uniform(0.5, 4.0))
            if sum(dead.values()) < count and (victim := _victim(client, cluster, moments, on_cluster=on_cluster)):
                kind, process = victim
                process.send_signal(signal.SIGKILL)
                dead[kind] += 1
                print(f"killed a {kind.removesuffix('s')}, {sum(dead.values())} of {count}", file=sys.stderr)
        is_same = record(disturbed).equals(record(calm))
        undone = client.returncode != 0 and start_replay(again).wait()
        is_same = is_same or (not undone and record(disturbed).equals(record(calm)))
    return {"way": "cluster" if on_cluster else "processes", **dead, "begun": number_begun, "the same record": is_same}


def _victim(
    client: "subprocess.Popen[bytes]", cluster: Cluster, moments: random.Random, *, on_cluster: bool
) -> "tuple[str, psutil.Process] | None":
    """Mostly a worker, now and then the client; None where there is none just now."""
    try:
        if moments.random() < 0.3:
            return ("clients", psutil.Process(client.pid)) if client.poll() is None else None
        if on_cluster:
            workers = [psutil.Process(worker.pid) for worker in cluster.workers]
        else:  # what the client's own child has forked
            workers = [child for server in psutil.Process(client.pid).children() for child in server.children()]
    except psutil.NoSuchProcess:
        return None
    return ("workers", moments.choice(workers)) if workers else None


def memory(trials: int) -> list[dict[str, Any]]:
    """Peak memory of the client and of its largest worker, by the number of cells."""
    rows = []
    for replications in (4, 16, 64):
        with tempfile.TemporaryDirectory() as folder:
            client = start_replay(
                command(Path(folder), replications, trials, "--jobs", "2", only=("standard", "oracle"))
            )
            peaks = {"client": 0, "worker": 0}
            watch = threading.Thread(target=_watch, args=(client, peaks))
            watch.start()
            client.wait()
            watch.join()
        shown = {f"{process}, MiB": round(peak / MIB) for process, peak in peaks.items()}
        rows.append({"cells": 2 * replications, **shown})
    return rows


def _watch(client: "subprocess.Popen[bytes]", peaks: dict[str, int]) -> None:
    while client.poll() is None:
        try:
            process = psutil.Process(client.pid)
            peaks["client"] = max(peaks["client"], process.memory_info().rss)
            children = [child.memory_info().rss for child in process.children(recursive=True)]
            peaks["worker"] = max([peaks["worker"], *children])
        except psutil.NoSuchProcess:
            pass
        time.sleep(0.1)


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--what", choices=("time", "kills", "memory"), required=True)
    parser.add_argument("--replications", type=int, default=4)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--out", type=Path, help="CSV of the result.")
    options = parser.parse_args()
    if options.what == "time":
        rows = times(options.replications, options.trials, options.repetitions)
    elif options.what == "kills":
        rows = []
        for way in (False, True):
            rows.append(kills(options.replications, options.trials, options.kills, on_cluster=way))
            print(rows[-1], file=sys.stderr)
    else:
        rows = memory(options.trials)
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(render(rows, "csv"), encoding="utf-8")
    print(render(rows, "table"))


if __name__ == "__main__":
    main()
