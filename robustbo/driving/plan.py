"""The plan of a call of `Optimizer.optimize`, from its arguments."""

import inspect
import math
import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any, NamedTuple, TypeAlias, TypeVar

from robustbo.driving.evaluators.cluster import Cluster
from robustbo.driving.evaluators.evaluator import Evaluator, LocalEvaluator
from robustbo.driving.evaluators.outcome import Function, Types
from robustbo.driving.evaluators.processes import Processes
from robustbo.trials.history import Trial
from robustbo.validation import real, whole_number

T = TypeVar("T")
Several: TypeAlias = T | Iterable[T]
Callback: TypeAlias = Callable[[Any, Trial], object]


class Deadline(NamedTuple):
    """The end of a loop's time.

    Attributes:
        at: When, by the monotonic clock.
        is_strict: Whether evaluations are ended then, since they can be; else they are finished.
    """

    at: float
    is_strict: bool

    @property
    def is_over(self) -> bool:
        """Return whether nothing may begin any more."""
        return time.monotonic() >= self.at

    @property
    def is_overdue(self) -> bool:
        """Return whether evaluations that run are not waited for any more, but given back."""
        return self.is_strict and self.is_over

    @property
    def time_left_s(self) -> float | None:
        """The time to wait for evaluations; None where they are waited for however long they take."""
        return max(self.at - time.monotonic(), 0.0) if self.is_strict and self.at < math.inf else None


class Plan(NamedTuple):
    """The work of a call, where it is done, and when it stops.

    Attributes:
        func: The function.
        num_trials: How many trials are to have ended, whoever began them.
        timeout_s: After so many seconds no new one begins.
        jobs: How many evaluations at once.
        client: Of a Dask cluster, if it is to be there.
        catch: What the function may raise without ending the loop.
        callbacks: Called after each trial.
        evaluation_timeout_s: After so many seconds an evaluation is ended, and its trial has failed.
    """

    func: Function
    num_trials: int
    timeout_s: float = math.inf
    jobs: int = 1
    client: Any = None
    catch: Types = ()
    callbacks: tuple[Callback, ...] = ()
    evaluation_timeout_s: float = math.inf

    @property
    def has_limit(self) -> bool:
        """Return whether evaluations are ended that take too long."""
        return self.evaluation_timeout_s < math.inf

    def deadline(self) -> "Deadline":
        """The end of the time that begins now."""
        return Deadline(time.monotonic() + self.timeout_s, self.has_limit)

    def evaluator(self) -> Evaluator:
        """The evaluator of the function.

        Raises:
            TypeError: If it cannot be evaluated there; the message says what to do.
        """
        if self.client is not None:
            return Cluster(self.func, self.client, self.jobs, self.evaluation_timeout_s)
        is_here = self.jobs == 1 and not self.has_limit  # nothing ends a function in this process
        limit_s = self.evaluation_timeout_s
        return LocalEvaluator(self.func, self.catch) if is_here else Processes(self.func, self.jobs, limit_s)


def plan_of(
    func: Any,
    num_trials: Any,
    *,
    timeout: Any,
    jobs: Any,
    client: Any,
    catch: Any,
    callbacks: Any,
    evaluation_timeout: Any = None,
) -> Plan:
    """The plan.

    Raises:
        ValueError, TypeError: If an argument breaks its rule.

    Example:
        >>> plan_of(abs, 3, timeout=None, jobs=1, client=None, catch=OSError, callbacks=()).catch
        (<class 'OSError'>,)
    """
    if not callable(func):
        raise TypeError(f"func must be callable with a dict of parameters, got {func!r}")
    check_takes_a_dict(func)
    timeout_s, limit_s = _seconds("timeout", timeout), _seconds("evaluation_timeout", evaluation_timeout)
    if limit_s == 0:
        raise ValueError(f"evaluation_timeout must be more than 0 seconds, got {evaluation_timeout!r}")
    kinds = (catch,) if isinstance(catch, type) else _tuple_of("catch", catch)
    if wrong := [kind for kind in kinds if not (isinstance(kind, type) and issubclass(kind, BaseException))]:
        raise TypeError(f"catch must be exception types, got {wrong[0]!r}")
    calls = (callbacks,) if callable(callbacks) else _tuple_of("callbacks", callbacks)
    if wrong := [call for call in calls if not callable(call)]:
        raise TypeError(f"callbacks must be callable with the optimizer and a trial, got {wrong[0]!r}")
    count, num_jobs = whole_number("num_trials", num_trials, 1), whole_number("jobs", jobs, 1)
    return Plan(func, count, timeout_s, num_jobs, client, kinds, calls, limit_s)


def _seconds(name: str, duration: Any) -> float:
    """A duration in seconds; infinite where there is none."""
    seconds = duration.total_seconds() if isinstance(duration, timedelta) else duration
    if isinstance(duration, str):
        raise TypeError(f"{name} must be a number of seconds, or a timedelta, got {duration!r}")
    number = math.inf if seconds is None else real(name, seconds)
    if not number >= 0:
        raise ValueError(f"{name} must be at least 0 seconds, got {duration!r}")
    return number


def check_takes_a_dict(func: Any) -> None:
    """Raise a `TypeError` for a function that cannot be called with one dict, where its signature is known.

    Example:
        >>> check_takes_a_dict(lambda x, y: x + y)
        Traceback (most recent call last):
        TypeError: func must take one dict of parameters, got one that takes (x, y); write lambda params: func(**params)
    """
    try:
        signature = inspect.signature(func)
    except (TypeError, ValueError):  # of what is not written in Python
        return
    try:
        signature.bind({})
    except TypeError:
        advice = "; write lambda params: func(**params)" if signature.parameters else ""
        raise TypeError(f"func must take one dict of parameters, got one that takes {signature}{advice}") from None


def _tuple_of(name: str, argument: Any) -> tuple[Any, ...]:
    if isinstance(argument, str) or not isinstance(argument, Iterable):
        raise TypeError(f"{name} must be one or several, got {argument!r}")
    return tuple(argument)
