"""The interface of evaluators, and the plainest one: this process, one trial at a time."""

from collections.abc import Iterator
from typing import Protocol

from robustbo.driving.evaluators.outcome import Evaluation, Function, Types, attempt
from robustbo.trials.trial import Trial


class Evaluator(Protocol):
    """An evaluator of trials.

    A trial that is submitted is its own until it is taken back with its outcome. Only `wait` takes long; it may be
    interrupted at any moment, and nothing is lost.
    """

    def has_room(self) -> bool:
        """Return whether another trial would be evaluated at once."""

    def submit(self, trial: Trial) -> None:
        """Evaluate a trial."""

    def wait(self, timeout_s: float | None) -> None:
        """Wait for some that have ended, for so long at most; it may return before."""

    def take(self) -> Iterator[tuple[Trial, Evaluation]]:
        """Take the trials that have ended since the last call.

        Raises:
            TypeError, RuntimeError: If none can be evaluated here; the message says why.
        """

    def close(self, *, is_at_once: bool) -> None:
        """Leave nothing behind; with ``is_at_once`` what is being evaluated is given up."""


class LocalEvaluator:
    """An `Evaluator` in this process, one trial at a time: while it is waited for.

    Args:
        func: The function.
        also: Which exceptions of it are outcomes, besides any ``Exception``.

    Example:
        >>> here = LocalEvaluator(lambda params: 2 * params["x"])
        >>> here.submit(Trial(0, {"x": 1.0}))
        >>> here.wait(None)
        >>> [outcome.measured for _, outcome in here.take()]
        [(2.0, None)]
    """

    def __init__(self, func: Function, also: Types = ()) -> None:
        self._func, self._also = func, also
        self._trial: Trial | None = None
        self._outcome: Evaluation | None = None

    def has_room(self) -> bool:
        """Return whether there is no trial."""
        return self._trial is None

    def submit(self, trial: Trial) -> None:
        """Keep it until it is waited for."""
        self._trial = trial

    def wait(self, timeout_s: float | None) -> None:
        """Evaluate it, however long that takes."""
        if self._trial is not None and self._outcome is None:
            self._outcome = attempt(self._func, self._trial.params, self._also)

    def take(self) -> Iterator[tuple[Trial, Evaluation]]:
        """Take the trial, if it has been waited for."""
        if self._trial is not None and self._outcome is not None:
            pair = self._trial, self._outcome
            self._trial = self._outcome = None
            yield pair

    def close(self, *, is_at_once: bool) -> None:
        """Forget it."""
        self._trial = self._outcome = None
