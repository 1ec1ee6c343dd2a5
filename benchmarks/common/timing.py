"""Time and memory that a benchmark's calls take."""

import resource
import time
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class TimedCall(NamedTuple, Generic[T]):
    """Result of an action, and seconds of the clock and of the processor."""

    result: T
    seconds: float
    cpu_s: float


def time_call(action: Callable[[], T]) -> TimedCall[T]:
    """Time an action."""
    started, of_cpu = time.perf_counter(), time.process_time()
    result = action()
    return TimedCall(result, time.perf_counter() - started, time.process_time() - of_cpu)


def peak_mib() -> int:
    """Peak memory of this process, so far."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
