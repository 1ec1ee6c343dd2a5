"""Libraries that need an environment of their own: a process there, spoken to in lines of JSON.

A line to the process is ``[NAME, ARGUMENTS]``, the name of a method of its peer ("begin" makes it), and the answer is a
line with what the method returns. What it prints besides must not go to its standard output, so `serve` keeps that.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self


class PeerProcess:
    """A peer in a process of another Python; see `benchmarks.quality.transfer_peers.Peer`.

    Args:
        command: What begins the process.
        arguments: What its peer is made of.

    Raises:
        RuntimeError: At any call, if the process has ended; its standard error is this one's.
    """

    def __init__(self, command: list[str], *arguments: Any) -> None:
        root = Path(__file__).parents[2]
        hidden = {"PYTHONPATH", "PYTHONHOME"}  # of this environment
        self._process = subprocess.Popen(
            command,
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={name: value for name, value in os.environ.items() if name not in hidden},
        )
        self.call("begin", *arguments)

    def ask(self) -> list[float]:
        """The next point."""
        return self.call("ask")

    def tell(self, x: list[float], y: float) -> None:
        """A value of the target."""
        self.call("tell", x, y)

    def best(self) -> list[float]:
        """The point recommended."""
        return self.call("best")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def call(self, name: str, *arguments: Any) -> Any:
        """Return the answer of a method of the peer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([name, arguments]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self._process.args} ended at {name!r}, with status {self._process.wait()}")
        return json.loads(answer)


def peer_in(python: Path, module: str, *arguments: Any) -> PeerProcess:
    """A peer that a module of this folder begins in another Python.

    Args:
        python: That of an environment with the library.
        module: The module, which calls `serve`.
        arguments: What its peer is made of, as JSON has it.
    """
    return PeerProcess([str(python), "-m", f"benchmarks.quality.{module}"], *arguments)


def serve(begin: Callable[..., Any]) -> None:
    """Answer calls from standard input until it ends; what is printed meanwhile goes to standard error."""
    answers, peer = sys.stdout, None
    with contextlib.redirect_stdout(sys.stderr):
        for line in sys.stdin:
            name, arguments = json.loads(line)
            answer = None
            if name == "begin":
                peer = begin(*arguments)
            else:
                answer = getattr(peer, name)(*arguments)
            answers.write(json.dumps(answer) + "\n")
            answers.flush()
