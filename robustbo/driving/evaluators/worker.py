"""A process that evaluates one trial at a time, and what happens in it; it must be imported in no time.

It is the first of a process group of its own (on Windows there are none): Ctrl-C does not reach it, nor what it has
started itself, and all of that ends with it when it is ended. It ends with the process it works for, whatever ends
that.
"""

import math
import os
import pickle
import signal
import sys
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing import connection
from typing import Any

from threadpoolctl import threadpool_limits

from robustbo.determinism.worker_processes import (
    CONTEXT,
    IS_POSIX,
    THREADS,
    begin_server,
    begin_work,
    block_sigint,
)
from robustbo.driving.evaluators.outcome import Evaluation, attempt_elsewhere, outcome_of_exit, receive
from robustbo.trials.trial import Trial

GRACE_S = 3.0  # in which a process may end by itself
BEGIN_S = 60.0  # in which it may import what the function needs, beside the time of an evaluation
GUARD = 'a script must call optimize under `if __name__ == "__main__":`, since worker processes import it'


class Worker:
    """A worker process, as the process that it works for sees it.

    Args:
        func: The function, pickled.
        threads: How many it may have for linear algebra.
        place: Its number among those of this machine; one that takes its place has the same.

    Raises:
        RuntimeError: If no process can begin.
    """

    def __init__(self, func: bytes, threads: int, place: int = 1) -> None:
        self.trial: Trial | None = None
        self.place = place
        self._is_ready = False
        self._began_at = math.inf  # its trial, or the process itself
        self.connection, theirs = CONTEXT.Pipe()
        arguments = (theirs, func, threads, dict(os.environ))
        self._process = CONTEXT.Process(target=serve, args=arguments, name="robustbo-worker")
        try:
            with block_sigint():
                begin_server()
                self._process.start()
        except (EOFError, ConnectionError) as error:  # the process that it is forked from has imported the script
            raise RuntimeError(f"a worker process could not begin: {GUARD}") from error
        theirs.close()

    @property
    def waitables(self) -> list[Any]:
        """The handles that become ready when the worker has sent something, or has died."""
        return [self.connection, self._process.sentinel]

    @property
    def is_alive(self) -> bool:
        """Return whether it has not ended."""
        return self._process.is_alive()

    def give(self, trial: Trial) -> bool:
        """Let it evaluate a trial; False if it has ended, which is that trial's outcome then."""
        self.trial, self._began_at = trial, time.monotonic()
        try:
            self.connection.send(trial.params)
        except OSError:
            return False
        return True

    def outcome(self) -> Evaluation | None:
        """The outcome of its trial, if that has ended, with its process or without.

        Raises:
            TypeError: If it cannot import the function.
            RuntimeError: If it died before it could begin.
        """
        has_died = not self.is_alive  # looked at first: what it had to say is there by then
        try:
            while self.connection.poll():
                kind, content = self.connection.recv()
                if kind == "unfit":
                    raise TypeError(
                        "func must be one that worker processes can import: put it at the top of a module (in a "
                        f"notebook, of a file beside it), or use jobs=1; a worker said:\n{content}"
                    )
                if not self._is_ready:  # what it imports is not the function's time
                    self._is_ready, self._began_at = True, time.monotonic()
                if kind == "ended":
                    return receive(content)
        except (EOFError, OSError):
            has_died = True
        return self._post_mortem() if has_died else None

    def _post_mortem(self) -> Evaluation:
        self._process.join(GRACE_S)
        if IS_POSIX:
            with suppress(OSError):  # it has started nothing
                os.killpg(self._process.pid, signal.SIGTERM)
        how = _exit_in_words(self.end(is_at_once=True))
        if not self._is_ready:
            raise RuntimeError(f"worker processes must be able to begin, one ended with {how}; {GUARD}")
        return outcome_of_exit(how)

    def time_left_s(self, limit_s: float) -> float:
        """The time that its trial has left, of so much; that in which the process begins is not counted, in reason."""
        return self._began_at + limit_s + (0.0 if self._is_ready else BEGIN_S) - time.monotonic()

    def dismiss(self) -> None:
        """Let it end when it has nothing to do."""
        with suppress(OSError):
            self.connection.send(None)

    def end(self, *, is_at_once: bool) -> int:
        """See that it ends, with what it has started; its exit code."""
        if not is_at_once:
            self._process.join(GRACE_S)
        for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
            if self.is_alive:
                self._signal(number)
                self._process.join(GRACE_S)
        self.connection.close()
        return self._process.exitcode or 0

    def _signal(self, number: int) -> None:
        """Send a signal to it and to all that it has started."""
        with suppress(OSError):
            try:
                os.killpg(self._process.pid, number)
            except (OSError, AttributeError):  # it does not lead a group, yet or ever
                os.kill(self._process.pid, number)


def _exit_in_words(code: int) -> str:
    """A process's exit code in words.

    Example:
        >>> _exit_in_words(-9), _exit_in_words(3)
        ('signal 9 (SIGKILL)', 'exit code 3')
    """
    if code >= 0:
        return f"exit code {code}"
    names = {int(s): s.name for s in signal.Signals}
    return f"signal {-code} ({names.get(-code, 'unknown')})"


def serve(to: connection.Connection, func: bytes, threads: int, environment: Mapping[str, str]) -> None:
    """A worker process's life: evaluate what comes, until None does or nobody is there any more."""
    _begin(environment)
    with suppress(EOFError, OSError):  # the one that it works for is gone
        try:
            function = pickle.loads(func)
        except Exception:
            to.send(("unfit", traceback.format_exc()))
            return
        _limit(threads)
        to.send(("ready", None))
        while (params := to.recv()) is not None:
            to.send(("ended", attempt_elsewhere(function, params)))


def _begin(environment: Mapping[str, str]) -> None:
    """Set up a worker: its environment, a process group, and the watch over the process that it works for."""
    if IS_POSIX:
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # drops one that came in between
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, signal.default_int_handler)
    else:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    begin_work(environment, _end_group)  # of its own group by now


def _limit(threads: int) -> None:
    """Hold all that has been imported by now, or will be, to so many threads, unless the environment says how many."""
    if "OMP_NUM_THREADS" in os.environ:
        return
    os.environ.update(dict.fromkeys(THREADS, str(threads)))
    threadpool_limits(threads)
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(threads)


def _end_group() -> None:
    if IS_POSIX:
        os.killpg(0, signal.SIGTERM)
