"""The loop of `Optimizer.optimize`: ask, evaluate, tell, until the study has enough.

Ctrl-C is let in while it asks, waits for evaluations and calls back. What it has asked for is found again by the name
it asked under, and what has been measured is told before anything else, so it does not matter when it comes.
"""

import logging
from contextlib import suppress
from functools import partial

from robustbo.determinism.interrupted import release_frames
from robustbo.determinism.interrupts import Interrupts
from robustbo.driving.asking import Asking, Request, num_ended
from robustbo.driving.evaluators.evaluator import Evaluator
from robustbo.driving.evaluators.outcome import Evaluation, check_outcome
from robustbo.driving.plan import Plan
from robustbo.driving.progress import Display
from robustbo.errors import JournalError
from robustbo.loop.candidates.pending import NOTHING_NEW
from robustbo.study.recording import Recording
from robustbo.study.source_warning import warn_of_sources
from robustbo.trials.history import Trial
from robustbo.validation import plain_scalar

log = logging.getLogger("robustbo")


class Loop:
    """One call of `Optimizer.optimize`.

    Args:
        optimizer: Who tells.
        asking: Who asks.
        plan: What is to be done.
        evaluator: Where the function is.
        display: Where it is shown.
        interrupts: Ctrl-C, held back but where it may come.
    """

    def __init__(
        self,
        optimizer: Recording,
        asking: Asking,
        plan: Plan,
        evaluator: Evaluator,
        display: Display,
        interrupts: Interrupts,
    ) -> None:
        self._optimizer, self._asking, self._plan, self._evaluator = optimizer, asking, plan, evaluator
        self._display, self._interrupts = display, interrupts
        self._deadline = plan.deadline()
        self._callbacks, self._running = plan.callbacks, set[int]()
        self._error: BaseException | None = None
        self._stopped_by = ""

    def run(self) -> None:
        """Go on until there is enough.

        Raises:
            BaseException: What was raised, after the running evaluations; KeyboardInterrupt and SystemExit at once.
        """
        try:
            while self._go_on():
                pass
            self._interrupts.check()
        except BaseException:
            self._interrupts.hold_back()
            self._keep_what_came()
            self._clean_up(is_at_once=True)
            raise
        self._clean_up(is_at_once=self._deadline.is_overdue)
        if self._error is not None:
            raise self._error
        self._say_why()

    def _go_on(self) -> bool:
        """A trial more, if one may begin, and what has ended; False where there is nothing more to do."""
        if self._deadline.is_overdue:
            return False
        request = self._ask() if self._may_begin() else None
        if request is not None:
            self._begin(request)
        elif not self._running and not self._take_over():
            return False
        is_more_to_begin = request is not None and self._may_begin()
        with self._interrupts.let_in():
            self._evaluator.wait(0.0 if is_more_to_begin else self._deadline.time_left_s)
        self._record_all()
        return True

    def _is_open(self) -> bool:
        return not self._stopped_by and self._error is None and not self._deadline.is_over

    def _may_begin(self) -> bool:
        return self._is_open() and self._evaluator.has_room() and self._asking.is_wanted(self._optimizer.history)

    def _take_over(self) -> bool:
        """Return whether there is something to do after all: trials of processes that are gone by now."""
        is_wanting = self._is_open() and not self._asking.is_enough(self._optimizer.history)
        return is_wanting and bool(self._optimizer.requeue())

    def _ask(self) -> Request | None:
        try:
            with self._interrupts.let_in():
                request = self._asking.next()
                if request is not None and request.history is not None:
                    warn_of_sources(self._optimizer, self._optimizer.view)
                return request
        except Exception as error:
            self._interrupts.check()  # which may be what has led to it
            self._fail(error)
            return None
        except BaseException as error:
            release_frames(error)
            raise

    def _begin(self, request: Request) -> None:
        self._running.add(request.trial.number)
        self._evaluator.submit(request.trial)
        if request.history is not None:
            self._display.on_decision(request.history)
        self._display.show(self._optimizer.history, self._running)

    def _record_all(self) -> None:
        changed = []
        for trial, outcome in self._evaluator.take():
            self._running.discard(trial.number)
            if outcome.measured is not None or not self._interrupts.is_heard:  # which may be why there is no value
                changed += self._record(trial, outcome)
        if changed:
            self._display.show(self._optimizer.history, self._running)
        for trial in changed:
            self._call_back(trial)

    def _record(self, trial: Trial, outcome: Evaluation) -> list[Trial]:
        """Tell a value, or that there is none; the trial as it is then, unless somebody else has ended it."""
        outcome = check_outcome(outcome, self._optimizer.settings.outcomes)
        value, sd = outcome.measured or (None, None)
        if outcome.error is not None and not outcome.is_a(self._plan.catch):
            outcome.error.add_note(f"raised for trial {trial.number}, where func was called with {trial.params}")
            self._fail(outcome.error)
        came = f"trial {trial.number} came out as {outcome.line if value is None else value}"
        try:
            if value is None:
                result = self._optimizer.fail(trial, outcome.reason)
            else:
                result = self._optimizer.tell(trial, value, sd=sd, source=outcome.source, out_of_range="exclude")
        except ValueError as error:
            log.warning("%s, which is not recorded: %s", came, error)
            return []
        except JournalError as error:
            error.add_note(f"{came} at {trial.params}, which is not recorded")
            log.error("%s at %s, which is not recorded: %s", came, trial.params, error)
            self._fail(error)
            return []
        notes = (result.note, *(outcome_value.note for outcome_value in result.outcomes.values()))
        if excluded := [note for note in notes if note]:
            log.warning("%s, which is kept and excluded: %s", came, "; ".join(excluded))
        if result.state == "failed":
            log.warning("trial %d failed: %s", result.number, outcome.line or result.reason)
        return [result]

    def _fail(self, error: BaseException) -> None:
        """Begin nothing more, and raise an error when the running evaluations have ended."""
        if self._error is None:
            self._error = error
            if self._running:
                log.error("an error ends the loop after the running evaluations (%d): %s", len(self._running), error)

    def _call_back(self, trial: Trial) -> None:
        for callback in self._callbacks:
            try:
                with self._interrupts.let_in():
                    is_enough = plain_scalar(callback(self._optimizer, trial)) is True
            except Exception as error:
                self._interrupts.check()
                self._callbacks = ()
                return self._fail(error)
            except BaseException as error:
                release_frames(error)
                raise
            if is_enough:
                self._stopped_by = repr(callback)
        return None

    def _keep_what_came(self) -> None:
        """Values that came back in the last moment are told."""
        with suppress(Exception):  # an evaluator may say again what is being raised already
            for trial, outcome in self._evaluator.take():
                if outcome.measured is not None:
                    self._record(trial, outcome)

    def _clean_up(self, *, is_at_once: bool) -> None:
        """End what evaluates; what was asked for and has not ended waits for the next ask."""
        for act in (partial(self._evaluator.close, is_at_once=is_at_once), self._give_back):
            try:
                act()
            except Exception:  # it must not take the place of what is being raised
                log.exception("optimize could not clean up")

    def _give_back(self) -> None:
        self._asking.end()
        for trial in self._asking.open_trials(self._optimizer.history):
            with suppress(ValueError):  # it has ended after all
                self._optimizer.requeue([trial])

    def _say_why(self) -> None:
        history = self._optimizer.history
        so_far = f"{num_ended(history, self._asking.declared)} of {self._plan.num_trials} trials have ended"
        if self._asking.is_enough(history):
            log.info(so_far)
        elif self._stopped_by:
            log.info("%s: stopped by %s", so_far, self._stopped_by)
        elif self._asking.has_nothing_new(history):
            again = f"ask() gives them out again, with the reason {NOTHING_NEW!r}"
            log.warning("%s, and every point of the space has been asked for; %s", so_far, again)
        elif self._deadline.is_over:
            back = f", {len(self._running)} that ran wait for the next ask" if self._running else ""
            log.info("%s: the time is over%s", so_far, back)
        else:
            askers = sorted({trial.asked_by or "somebody" for trial in history.having("pending")})
            rest = "work on the rest; requeue(older_than=...) takes it back if they are gone"
            log.warning("%s: %s %s", so_far, ", ".join(askers), rest)
