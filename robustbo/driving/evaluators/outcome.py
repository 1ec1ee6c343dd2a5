"""The end of an evaluation: a value, an exception, or the death of its process."""

import pickle
import reprlib
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from robustbo.censored import censored_value
from robustbo.trials import worker
from robustbo.trials.outcomes import OutcomeGoal
from robustbo.trials.sources import COMPUTER
from robustbo.trials.values import values_to_record
from robustbo.validation import noise_sd, real

REASON = 2000  # characters of a traceback that are kept: its end, where the error is
LINE = 200  # characters of a line about it

Function = Callable[[dict[str, Any]], Any]
Types = tuple[type[BaseException], ...]


class Evaluation(NamedTuple):
    """The end of an evaluation.

    Attributes:
        measured: The value and its noise's standard deviation (None where unknown), or those of several outcomes; None
            where there is no value.
        reason: Why there is none: the traceback, or how the process ended.
        line: The same in a line.
        error: What the function raised; None where its process ended.
        kinds: The names of that exception's classes.
        is_mistaken: Whether it gave other outcomes than there are, which `catch` must not catch: each trial would fail.
        computer: Where it was evaluated, if elsewhere: a node of a cluster, or one of several processes.
    """

    measured: tuple[Any, Any] | None = None
    reason: str = ""
    line: str = ""
    error: BaseException | None = None
    kinds: tuple[str, ...] = ()
    is_mistaken: bool = False
    computer: str | None = None

    @property
    def source(self) -> dict[str, str] | None:
        """The source that a value of it has; None where it was evaluated here."""
        return None if self.computer is None else {COMPUTER: self.computer}

    def is_a(self, types: Types) -> bool:
        """Return whether the function raised one of these; by name, where the exception itself could not be sent."""
        if self.is_mistaken:
            return False
        return isinstance(self.error, types) or bool({_name(kind) for kind in types} & set(self.kinds))


Message = tuple[Evaluation, bytes | None]  # an outcome without its exception, and that one pickled


def attempt(func: Function, params: dict[str, Any], also: Types = ()) -> Evaluation:
    """Evaluate a function at a point.

    Args:
        func: Gives a number, or a pair of a number and its noise's standard deviation.
        params: The point.
        also: Which exceptions are an outcome, besides any ``Exception``.

    Example:
        >>> attempt(lambda params: (params["x"] + 1, 0.5), {"x": 1.0}).measured
        (2.0, 0.5)
        >>> attempt(lambda params: None, {}).line
        'TypeError: func must return a number, a pair of a number and its sd, or a dict of outcomes, got None'
    """
    caught: Types = (Exception, *also)
    try:
        return Evaluation(_value_and_sd(func(dict(params))))
    except KeyboardInterrupt:
        raise
    except caught as error:
        return outcome_of_error(error)


def outcome_of_error(error: BaseException) -> Evaluation:
    """The outcome of an evaluation that has raised an exception, which was caught by whoever calls this."""
    told = traceback.TracebackException.from_exception(error)
    del told.stack[0]  # where it was caught
    line = "".join(told.format_exception_only()).splitlines()[0]
    kinds = tuple(_name(kind) for kind in type(error).__mro__)
    return Evaluation(None, _end_of("".join(told.format())), line[:LINE], error, kinds)


def check_outcome(outcome: Evaluation, outcomes: Sequence[OutcomeGoal]) -> Evaluation:
    """An outcome, or that func gave other numbers than there must be: of other outcomes, or without their names."""
    try:
        if outcome.measured is not None:
            values_to_record(outcomes, *outcome.measured)
    except (ValueError, TypeError) as error:
        error.add_note("func must return what tell takes: a number, or a dict of outcomes where there are several")
        mistake = outcome_of_error(error)
        reason = f"{mistake.reason}\nfunc returned {outcome.measured!r}"[-REASON:]
        return mistake._replace(is_mistaken=True, reason=reason)
    return outcome


def _value_and_sd(result: Any) -> tuple[Any, Any]:
    value, sd = result if isinstance(result, tuple | list) and len(result) == 2 else (result, None)
    if isinstance(value, Mapping) and (sd is None or isinstance(sd, Mapping)):  # several outcomes: `tell` looks at them
        return dict(value), None if sd is None else dict(sd)
    try:
        bound = censored_value(value)
        number = real("value", value) if bound is None else bound
    except TypeError:
        got = reprlib.repr(result)
        text = "func must return a number, a pair of a number and its sd, or a dict of outcomes"
        raise TypeError(f"{text}, got {got}") from None
    return number, noise_sd(sd)


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}".replace("__mp_main__.", "__main__.", 1)  # a worker's name for it


def _end_of(text: str) -> str:
    return text if len(text) <= REASON else f"...{text[3 - REASON :]}"


def outcome_of_exit(how: str) -> Evaluation:
    """The outcome where the process ended: nothing of the function's doing is known."""
    reason = f"the process that evaluated it ended with {how}"
    return Evaluation(None, reason, reason[:LINE])


def outcome_of_overdue(limit_s: float) -> Evaluation:
    """The outcome where an evaluation was ended, since it took too long."""
    reason = f"took longer than {limit_s:g} s (evaluation_timeout), and was ended"
    return Evaluation(None, reason, reason)


def attempt_elsewhere(func: Function, params: dict[str, Any]) -> Message:
    """`attempt` in a process that is to outlive a ``sys.exit``."""
    try:
        outcome = attempt(func, params)
    except SystemExit as error:
        return outcome_of_exit(f"exit code {error.code!r}"), None
    try:
        return outcome._replace(error=None), pickle.dumps(outcome.error)
    except Exception:  # whatever an exception of theirs does when it is pickled
        return outcome._replace(error=None), None


def attempt_on_node(func: Function, params: dict[str, Any]) -> Message:
    """`attempt_elsewhere` on a node of a cluster, whose name is in the outcome."""
    outcome, error = attempt_elsewhere(func, params)
    return outcome._replace(computer=worker.computer()), error


def receive(message: Message) -> Evaluation:
    """The outcome that was sent; an exception that cannot be unpickled is a RuntimeError with its traceback."""
    outcome, data = message
    if not outcome.kinds:
        return outcome
    try:
        error = None if data is None else pickle.loads(data)
    except Exception:  # or unpickled
        error = None
    if not isinstance(error, BaseException):
        return outcome._replace(error=RuntimeError(f"func raised in another process:\n{outcome.reason}"))
    error.add_note(f"raised in another process:\n{outcome.reason}")
    return outcome._replace(error=error)
