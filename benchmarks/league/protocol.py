"""The near end of the pipe to a peer: its process, and one question after another.

The far end is `benchmarks.league.server.serve`, which says how messages look.
"""

import json
import os
import select
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LIMIT_S = 900.0  # of the clock, for an answer
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


class PeerError(Exception):
    """Answer of a peer that failed at what it was asked."""


class CannotSearch(Exception):
    """Answer of a peer that cannot search a space, and why."""


class PeerProcess:
    """A peer in a process of its own.

    Args:
        python: The interpreter of its environment.
        name: Of the peer.
        log: The file of what it prints; nowhere unless said.

    Attributes:
        seconds: Of its processor, so far.
    """

    def __init__(self, python: str | Path, name: str, log: Path | None = None) -> None:
        self.seconds = 0.0
        self._log = open(os.devnull if log is None else log, "ab")  # noqa: SIM115 (closed in `close`)
        environment = os.environ | ONE_THREAD | {"PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            [str(python), "-m", "benchmarks.league.server.serve", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=environment,
        )

    def call(self, do: str, **message: Any) -> dict[str, Any]:
        """Send a message, and return the answer to it.

        Raises:
            PeerError: If the peer failed, ended or took too long; of the last two it cannot be asked again.
            CannotSearch: If it says so.
        """
        reading, writing = self._process.stdout, self._process.stdin
        assert reading is not None
        assert writing is not None
        try:
            writing.write(json.dumps({"do": do, **message}).encode() + b"\n")
            writing.flush()
        except (OSError, ValueError):  # a pipe that broke, or was closed here
            raise PeerError(f"the peer ended before {do!r}") from None
        if not select.select([reading], [], [], LIMIT_S)[0]:
            self._process.kill()
            raise PeerError(f"{do!r} took longer than {LIMIT_S:g} s")
        line = reading.readline()
        if not line:
            raise PeerError(f"the peer ended at {do!r}, with the exit code {self._process.wait()}")
        answer = json.loads(line)
        self.seconds += answer["seconds"]
        if "cannot" in answer:
            raise CannotSearch(answer["cannot"])
        if "error" in answer:
            raise PeerError(answer["error"])
        return answer

    @property
    def is_alive(self) -> bool:
        """True if it can be asked."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process; a second time does nothing."""
        if self._log.closed:
            return
        self._process.kill()
        self._process.communicate()
        self._log.close()
