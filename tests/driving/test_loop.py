"""`Optimizer.optimize`: what it counts, how it ends, and that Ctrl-C may come at any moment."""

import contextlib
import io
import logging
import math
import multiprocessing
import os
import signal
import socket
import sys
import threading
from datetime import timedelta
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

import robustbo as rb
from robustbo.driving import drive, plan
from robustbo.driving.asking import MARK
from robustbo.driving.evaluators.outcome import Evaluation
from robustbo.driving.plan import Plan
from robustbo.driving.progress import Display
from robustbo.errors import JournalWriteError
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fitted_model import FittedSurrogate
from robustbo.numerics.sources.errors import SourceError
from robustbo.study.next_trials import hand_out
from robustbo.trials import worker
from tests.moments import interrupted_at

SPACE = rb.Space(x=rb.Float(-1.0, 1.0))
FEW = rb.Space(x=rb.Int(0, 3))
WITHIN = (str(Path(rb.__file__).parent), contextlib.__file__)
GONE = f"{socket.gethostname()}:4194305:abcdef"  # of a process number that no system gives


OBJECTIVES = """
import os
import signal
import time
from pathlib import Path


def together(folder, params):
    (Path(folder) / str(os.getpid())).touch()
    while len(pids := sorted(int(path.name) for path in Path(folder).iterdir())) < 2:
        time.sleep(0.01)
    return os.getpid() == pids[0]  # of two that run at once, one


def square(params):
    return params["x"] ** 2


def dying(folder, params):
    if together(folder, params):
        os.kill(os.getpid(), signal.SIGKILL)
    return square(params)


def raising(folder, params):
    if together(folder, params):
        raise ZeroDivisionError("mine")
    time.sleep(0.2)
    return square(params)


def interrupting(folder, parent, params):
    if together(folder, params):
        os.kill(parent, signal.SIGINT)
    time.sleep(1000)
"""


@pytest.fixture(scope="module")
def objectives(tmp_path_factory):
    """A module that other processes can import."""
    folder = tmp_path_factory.mktemp("objectives")
    (folder / "robustbo_objectives_of_driving.py").write_text(OBJECTIVES)
    sys.path.insert(0, str(folder))
    try:
        import robustbo_objectives_of_driving as module

        yield module
    finally:
        sys.path.remove(str(folder))


def square(params):
    return params["x"] ** 2


def optimizer(space=SPACE, **options):
    """A quick one: of space-filling points, whose values are all believed."""
    given = {"direction": "minimize", "seed": 1, "acquisition": "sobol", "surrogate": "standard"}
    return rb.Optimizer(space, **given | options)


def optimize(opt, num_trials, func=square, **options):
    return opt.optimize(func, num_trials, **{"progress": False, **options})


def states(opt):
    return [trial.state for trial in opt.history]


def raising(error, at):
    """A function that raises an error at its so manieth calls."""
    calls = []

    def func(params):
        calls.append(params)
        if len(calls) in at:
            raise error
        return square(params)

    return func


class TestHowMany:
    def test_it_is_the_loop_of_ask_and_tell(self):
        by_hand, opt = optimizer(acquisition="auto", num_initial=3), optimizer(acquisition="auto", num_initial=3)
        for _ in range(5):
            trial = by_hand.ask()
            by_hand.tell(trial, square(trial.params))
        assert optimize(opt, 5) == by_hand.best()
        assert opt.history == by_hand.history

    def test_what_has_ended_before_counts(self, tmp_path):
        def script():
            opt = optimizer(journal=tmp_path / "journal", if_exists="resume")
            calls = []
            optimize(
                opt, 6, lambda params: calls.append(params) or square(params), callbacks=lambda o, t: t.number == 3
            )
            return opt, len(calls)

        assert script()[1] == 4
        opt, calls = script()
        assert (calls, len(opt.history)) == (2, 6)
        assert script()[1] == 0
        unbroken = optimizer()
        optimize(unbroken, 6)
        assert opt.history == unbroken.history

    def test_failed_and_excluded_trials_count_and_those_asked_for_by_hand_do_not(self):
        opt = optimizer()
        opt.ask()
        opt.fail(opt.ask())
        opt.exclude(opt.tell({"x": 0.5}, 1.0))
        optimize(opt, 4)
        assert states(opt) == ["pending", "failed", "excluded", "told", "told"]

    def test_what_waits_comes_first(self):
        opt = optimizer()
        opt.enqueue([{"x": 0.25}, {"x": 0.75}])
        optimize(opt, 2)
        assert [(t.params["x"], t.value) for t in opt.history] == [(0.25, 0.0625), (0.75, 0.5625)]

    def test_trials_of_a_process_that_is_gone_are_taken_over(self):
        opt = optimizer()
        opt.ask_as(GONE)
        opt.ask_as(f"{GONE}{MARK}1")
        optimize(opt, 2)
        assert states(opt) == ["told", "told"]

    def test_and_those_of_one_that_goes_meanwhile(self, monkeypatch):
        opt, gone = optimizer(), []
        monkeypatch.setattr(worker, "is_gone", lambda by: by in gone)
        opt.ask_as(f"{GONE}{MARK}1")
        optimize(opt, 3, callbacks=lambda o, t: gone.append(f"{GONE}{MARK}1"))
        assert states(opt) == ["told"] * 3

    def test_and_those_that_an_earlier_call_of_this_process_could_not_give_back(self):
        opt = optimizer()
        opt.ask_as(f"{worker.name()}{MARK}1")
        optimize(opt, 1)
        assert states(opt) == ["told"]

    def test_those_that_others_work_on_are_left_to_them(self, caplog):
        caplog.set_level(logging.INFO, "robustbo")
        opt = optimizer()
        opt.ask_as(f"another-machine:1:abcdef{MARK}1")
        optimize(opt, 3)
        assert states(opt) == ["pending", "told", "told"]
        assert "2 of 3 trials have ended: another-machine:1:abcdef" in caplog.text

    def test_a_study_that_has_enough_says_so(self, caplog):
        opt = optimizer()
        optimize(opt, 2)
        caplog.clear()
        optimize(opt, 2)
        assert "the study has 2 trials already; num_trials counts all" in caplog.text
        assert len(opt.history) == 2

    @pytest.mark.few(1)
    @pytest.mark.parametrize("is_shared", [True, False])
    def test_calls_at_once_begin_no_more_than_is_wanted(self, tmp_path, is_shared):
        first = optimizer(journal=tmp_path / "journal")
        opts = [first, *(first if is_shared else rb.Optimizer.resume(tmp_path / "journal") for _ in range(3))]
        threads = [threading.Thread(target=optimize, args=(opt, 13)) for opt in opts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert states(first) == ["told"] * 13

    def test_others_may_ask_and_tell_meanwhile(self):
        opt, mine = optimizer(), []

        def func(params):
            if len(mine) < 5:
                trial = opt.ask()
                mine.append(opt.tell(trial, 1.0))
            return square(params)

        optimize(opt, 12, func)
        assert states(opt) == ["told"] * 12

    def test_without_a_value_there_is_no_best(self):
        assert optimize(optimizer(), 2, lambda params: math.nan) is None


class TestHowItEnds:
    def test_time(self, monkeypatch):
        now = [0.0]
        monkeypatch.setattr(plan.time, "monotonic", lambda: now[0])

        def func(params):
            now[0] += 60.0
            return square(params)

        opt = optimizer()
        optimize(opt, 10, func, timeout=timedelta(minutes=2.5))
        assert states(opt) == ["told"] * 3

    def test_no_time_at_all(self):
        opt = optimizer()
        assert optimize(opt, 10, timeout=0) is None
        assert len(opt.history) == 0

    def test_a_callback_that_says_so(self):
        opt, seen = optimizer(), []

        def callback(caller, trial):
            assert caller is opt
            seen.append(trial)
            return trial.number == 2

        optimize(opt, 10, raising(OSError, [2]), callbacks=[lambda o, t: "written", callback], catch=OSError)
        assert [trial.state for trial in seen] == ["told", "failed", "told"]
        assert seen == list(opt.history)

    def test_a_callback_that_raises(self):
        def callback(caller, trial):
            raise ZeroDivisionError("mine")

        opt = optimizer()
        with pytest.raises(ZeroDivisionError, match="mine"):
            optimize(opt, 10, callbacks=callback)
        assert states(opt) == ["told"]

    def test_a_finite_space_that_has_been_asked_for(self, caplog):
        opt = optimizer(FEW)
        opt.enqueue([{"x": 1}, {"x": 1}])
        assert optimize(opt, 10).params == {"x": 0}
        assert sorted(trial.params["x"] for trial in opt.history) == [0, 1, 1, 2, 3]
        (record,) = [record for record in caplog.records if record.levelno == logging.WARNING]
        assert "5 of 10 trials have ended, and every point of the space has been asked for" in record.getMessage()
        opt.enqueue({"x": 2})
        optimize(opt, 10)
        assert len(opt.history) == 6


class TestFailures:
    def test_those_that_are_caught_leave_their_traceback(self, caplog):
        opt = optimizer()
        optimize(opt, 3, raising(ValueError("no such temperature"), [1, 2]), catch=ValueError)
        assert states(opt) == ["failed", "failed", "told"]
        reason = opt.history[0].reason
        assert reason.startswith("Traceback")
        assert reason.endswith("ValueError: no such temperature\n")
        assert "raise error" in reason
        assert "robustbo" not in reason.split("test_loop.py")[1]
        assert "trial 0 failed: ValueError: no such temperature" in caplog.text

    def test_the_end_of_a_long_one_is_kept(self):
        opt = optimizer()
        optimize(opt, 1, raising(ValueError("long " * 1000 + "end"), [1]), catch=(OSError, ValueError))
        assert len(opt.history[0].reason) == 2000
        assert opt.history[0].reason.startswith("...")
        assert opt.history[0].reason.endswith("end\n")

    def test_any_other_is_recorded_and_raised(self):
        opt, error = optimizer(), ZeroDivisionError("mine")
        with pytest.raises(ZeroDivisionError) as caught:
            optimize(opt, 3, raising(error, [2]), catch=[ValueError])
        assert caught.value is error
        assert error.__notes__ == [f"raised for trial 1, where func was called with {opt.history[1].params}"]
        assert states(opt) == ["told", "failed"]
        assert opt.history[1].reason.endswith("ZeroDivisionError: mine\n")
        optimize(opt, 3)
        assert states(opt) == ["told", "failed", "told"]

    def test_it_is_raised_also_where_the_function_has_ended_the_trial_itself(self):
        opt = optimizer()

        def func(params):
            opt.fail(len(opt.history) - 1, "the pump broke")
            raise RuntimeError("mine")

        with pytest.raises(RuntimeError, match="mine"):
            optimize(opt, 3, func)
        assert [(trial.state, trial.reason) for trial in opt.history] == [("failed", "the pump broke")]

    @pytest.mark.parametrize("result", [None, "3", 1j, (1.0, 2.0, 3.0), [None], True])
    def test_what_is_no_number_is_an_error(self, result):
        opt = optimizer()
        with pytest.raises(TypeError, match="func must return a number, a pair of a number and its sd, or a dict of"):
            optimize(opt, 3, lambda params: result)
        assert states(opt) == ["failed"]
        optimize(opt, 2, lambda params: result, catch=TypeError)
        assert states(opt) == ["failed", "failed"]

    def test_a_negative_sd_too(self):
        with pytest.raises(ValueError, match=r"sd must be finite and at least 0, got -1\.0"):
            optimize(optimizer(), 3, lambda params: (1.0, -1.0))

    @pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
    def test_a_value_that_is_not_finite_is_a_failed_trial(self, value, caplog):
        opt = optimizer()
        optimize(opt, 2, lambda params: value if len(opt.history) == 1 else 1.0)
        assert states(opt) == ["failed", "told"]
        assert "trial 0 failed: the value told was not finite" in caplog.text

    def test_a_pair_is_a_value_and_its_noise(self):
        opt = optimizer()
        optimize(opt, 2, lambda params: (square(params), 0.5))
        assert [trial.sd for trial in opt.history] == [0.5, 0.5]

    def test_a_function_may_change_what_it_is_given(self):
        opt = optimizer()
        optimize(opt, 2, lambda params: params.pop("x"))
        assert all(set(trial.params) == {"x"} for trial in opt.history)

    def test_a_trial_that_somebody_ends_meanwhile_stays_as_they_said(self, caplog):
        opt = optimizer()
        optimize(opt, 2, lambda params: opt.fail(opt.pending()[0]) and 1.5 if len(opt.history) == 1 else 2.5)
        assert states(opt) == ["failed", "told"]
        assert "trial 0 came out as 1.5, which is not recorded: trial 0 must be" in caplog.text

    def test_a_value_that_cannot_be_written_is_at_least_said(self, tmp_path, caplog):
        opt = optimizer(journal=tmp_path / "journal")

        def func(params):
            (tmp_path / "journal").unlink()
            return 0.125

        with pytest.raises(JournalWriteError, match="is gone") as caught:
            optimize(opt, 3, func)
        assert "trial 0 came out as 0.125" in caught.value.__notes__[0]
        assert "trial 0 came out as 0.125" in caplog.text

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"num_trials": 0}, "num_trials must be a whole number of at least 1, got 0"),
            ({"jobs": 0}, "jobs must be a whole number of at least 1, got 0"),
            ({"timeout": -1.0}, "timeout must be at least 0 seconds, got -1.0"),
            ({"timeout": math.nan}, "timeout must be at least 0 seconds, got nan"),
            ({"timeout": "1h"}, "timeout must be a number of seconds, or a timedelta, got '1h'"),
            ({"catch": [3]}, "catch must be exception types, got 3"),
            ({"catch": int}, "catch must be exception types, got <class 'int'>"),
            ({"catch": "ValueError"}, "catch must be one or several, got 'ValueError'"),
            ({"callbacks": 3}, "callbacks must be one or several, got 3"),
            ({"callbacks": [3]}, "callbacks must be callable with the optimizer and a trial, got 3"),
            ({"func": 3}, "func must be callable with a dict of parameters, got 3"),
            ({"client": "localhost:8786"}, "client must be a dask.distributed.Client, got 'localhost:8786'"),
        ],
    )
    def test_bad_arguments_are_named(self, options, message):
        opt = optimizer()
        with pytest.raises((ValueError, TypeError)) as caught:
            opt.optimize(**{"func": square, "num_trials": 3, **options})
        assert message in str(caught.value)
        assert len(opt.history) == 0


MOMENTS = int(os.environ.get("ROBUSTBO_MOMENTS", "40"))  # of one run that are interrupted, each in a run of its own


def values(path):
    return [(trial.params, trial.value) for trial in rb.Study.resume(path).history]


class TestCtrlC:
    def run(self, path, acknowledged):
        opt = rb.Optimizer(SPACE, direction="minimize", seed=1, acquisition="sobol", journal=path, if_exists="resume")

        def acknowledge(_, trial):
            acknowledged.append((trial.number, trial.value))

        opt.optimize(square, 3, callbacks=acknowledge, progress=False)

    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Python loses one in a deletion
    def test_at_any_moment_loses_nothing(self, tmp_path):
        self.run(tmp_path / "unbroken", [])
        unbroken = values(tmp_path / "unbroken")
        moments, _ = interrupted_at(None, lambda: self.run(tmp_path / "counted", []), WITHIN)
        assert moments > 1000
        for moment in range(1, moments, max(1, moments // MOMENTS)):
            path, acknowledged = tmp_path / str(moment), []
            act = partial(self.run, path, acknowledged)
            count, is_interrupted = interrupted_at(moment, act, WITHIN)
            assert is_interrupted == (count >= moment)  # a run that waits less has fewer
            if path.exists():
                study = rb.Study.resume(path)
                assert [(t.number, t.value) for t in study.history.having("told")][: len(acknowledged)] == acknowledged
                assert study.pending() == []
            self.run(path, acknowledged)
            assert values(path) == unbroken
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def test_in_the_function_gives_its_trial_back(self):
        def func(params):
            if len(opt.history) == 2:
                raise KeyboardInterrupt
            return square(params)

        opt = optimizer()
        with pytest.raises(KeyboardInterrupt):
            optimize(opt, 3, func, catch=BaseException)
        assert states(opt) == ["told", "queued"]
        optimize(opt, 3)
        assert states(opt) == ["told"] * 3

    def test_so_does_an_exit(self):
        opt = optimizer()
        with pytest.raises(SystemExit):
            optimize(opt, 3, raising(SystemExit(3), [2]))
        assert states(opt) == ["told", "queued"]
        optimize(opt, 3, raising(SystemExit(3), [1]), catch=SystemExit)
        assert states(opt) == ["told", "failed", "told"]

    def test_that_the_function_catches_ends_the_loop_with_its_value(self):
        def func(params):
            with contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            return 0.5

        opt = optimizer()
        with pytest.raises(KeyboardInterrupt):
            optimize(opt, 3, func)
        assert states(opt) == ["told"]

    def test_that_the_function_makes_an_error_of_gives_its_trial_back(self):
        def func(params):
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt as error:
                raise RuntimeError("the simulator was stopped") from error

        opt = optimizer()
        with pytest.raises(KeyboardInterrupt):
            optimize(opt, 3, func, catch=RuntimeError)
        assert states(opt) == ["queued"]

    def test_while_it_is_recorded_waits_until_that_is_done(self, monkeypatch):
        opt = optimizer()
        tell = opt.tell

        def slowly(*args, **options):
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            return tell(*args, **options)

        monkeypatch.setattr(opt, "tell", slowly)
        with pytest.raises(KeyboardInterrupt):
            optimize(opt, 3)
        assert states(opt) == ["told"]

    def test_pressed_three_times_is_let_in_anywhere(self, monkeypatch):
        opt = optimizer()

        def hangs(*args, **options):
            for _ in range(3):
                signal.raise_signal(signal.SIGINT)
            raise AssertionError("it goes on hanging")

        monkeypatch.setattr(opt, "tell", hangs)
        with pytest.raises(KeyboardInterrupt):
            optimize(opt, 3)
        assert states(opt) == ["queued"]

    def test_in_a_callback(self):
        opt = optimizer()
        with pytest.raises(KeyboardInterrupt):
            optimize(opt, 3, callbacks=lambda o, t: signal.raise_signal(signal.SIGINT))
        assert states(opt) == ["told"]

    def test_within_another_loop_ends_both(self):
        outer, inner = optimizer(), optimizer()

        def func(params):
            signal.raise_signal(signal.SIGINT)

        with pytest.raises(KeyboardInterrupt):
            optimize(outer, 3, lambda params: optimize(inner, 3, func).mean)
        assert (states(outer), states(inner)) == (["queued"], ["queued"])
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def test_of_another_meaning_keeps_it(self):
        heard, opt = [], optimizer()
        before = signal.signal(signal.SIGINT, lambda *_: heard.append(True))
        try:
            optimize(opt, 2, lambda params: signal.raise_signal(signal.SIGINT) or 1.0)
        finally:
            signal.signal(signal.SIGINT, before)
        assert heard == [True, True]
        assert states(opt) == ["told", "told"]


def test_a_source_in_doubt_is_said_once_while_it_goes_on(monkeypatch):
    opt = optimizer(acquisition="auto", num_initial=3, surrogate="relevance-pursuit")
    for i in range(4):
        opt.tell({"x": i / 4}, (i / 4) ** 2, source={"reactor": f"R{i % 2}"})

    def errors(fitted):
        row = fitted.observations.numbers.index(3)
        return (SourceError("reactor", "R1", "step", row, 1.5, 0.25, 8.0, 0.9, (row,), True),)

    monkeypatch.setattr(FittedSurrogate, "source_errors", property(errors))
    with pytest.warns(rb.SourceWarning, match="reactor R1 reads 1.5") as heard:
        optimize(opt, 6)
    assert len(heard) == 1


class TestProcesses:
    def test_the_values_are_those_of_one(self, objectives):
        alone, opt = optimizer(), optimizer()
        optimize(alone, 6)
        optimize(opt, 6, objectives.square, jobs=3)
        assert [(t.params, t.value) for t in opt.history] == [(t.params, t.value) for t in alone.history]

    def test_each_is_a_source_without_being_told(self, objectives, tmp_path):
        opt = optimizer()
        optimize(opt, 4, partial(objectives.raising, str(tmp_path)), jobs=2, catch=ArithmeticError)
        computers = {f"{socket.gethostname()}/{place}" for place in (1, 2)}
        labels = [trial.sources for trial in opt.history.having("told")]
        assert labels
        assert all(label.keys() == {"computer"} and label["computer"] in computers for label in labels)

    def test_no_two_are_at_one_point_and_a_model_knows_what_is_pending(self, objectives):
        opt = optimizer(acquisition="auto", num_initial=3, surrogate="standard")
        optimize(opt, 7, objectives.square, jobs=2)
        assert len({trial.params["x"] for trial in opt.history}) == 7

    def test_one_that_dies_fails_its_trial_only(self, objectives, tmp_path):
        opt = optimizer()
        optimize(opt, 5, partial(objectives.dying, str(tmp_path)), jobs=2)
        assert sorted(states(opt)) == ["failed", *["told"] * 4]
        (failed,) = opt.history.having("failed")
        assert failed.reason == "the process that evaluated it ended with signal 9 (SIGKILL)"

    def test_after_an_error_those_that_run_are_finished(self, objectives, tmp_path):
        opt = optimizer()
        with pytest.raises(ZeroDivisionError, match="mine") as caught:
            optimize(opt, 5, partial(objectives.raising, str(tmp_path)), jobs=2)
        assert set(states(opt)) == {"failed", "told"}
        assert "raise ZeroDivisionError" in "".join(caught.value.__notes__)

    def test_an_error_that_is_caught_goes_on(self, objectives, tmp_path):
        opt = optimizer()
        optimize(opt, 3, partial(objectives.raising, str(tmp_path)), jobs=2, catch=ArithmeticError)
        assert states(opt).count("told") >= 1
        assert len(opt.history) == 3

    def test_ctrl_c_ends_them_and_gives_their_trials_back(self, objectives, tmp_path):
        opt = optimizer()
        with pytest.raises(KeyboardInterrupt):
            optimize(opt, 5, partial(objectives.interrupting, str(tmp_path), os.getpid()), jobs=2)
        assert states(opt) == ["queued", "queued"]
        assert not [child for child in multiprocessing.active_children() if child.name == "robustbo-worker"]
        assert not any(Path(f"/proc/{path.name}/cmdline").exists() for path in tmp_path.iterdir())
        optimize(opt, 3)
        assert states(opt) == ["told"] * 3

    def test_a_function_that_cannot_be_sent_asks_for_nothing(self):
        opt = optimizer()
        with pytest.raises(TypeError, match="func must be picklable for jobs=2"):
            optimize(opt, 5, lambda params: 1.0, jobs=2)
        assert len(opt.history) == 0


class Scripted:
    """An evaluator of two trials at once whose waits go as is said: who ends, or what is raised."""

    def __init__(self, *waits):
        self.waits, self.running, self.ended, self.is_closed = list(waits), [], [], None

    def has_room(self):
        return len(self.running) < 2

    def submit(self, trial):
        self.running.append(trial)

    def wait(self, timeout_s):
        if timeout_s == 0.0:
            return
        for end in self.waits.pop(0):
            if isinstance(end, type):
                raise end
            self.ended += [trial for trial in self.running if trial.number == end]

    def take(self):
        while self.ended:
            trial = self.ended.pop(0)
            self.running.remove(trial)
            yield trial, Evaluation((float(trial.number), None))

    def close(self, *, is_at_once):
        self.is_closed = is_at_once


@pytest.fixture
def scripted(monkeypatch):
    """Optimize with an evaluator that follows a script."""

    def optimize_by(opt, num_trials, evaluator, **options):
        monkeypatch.setattr(Plan, "evaluator", lambda plan: evaluator)
        return optimize(opt, num_trials, **options)

    return optimize_by


class TestSeveralAtOnce:
    def test_a_place_that_is_free_is_filled_at_once(self, scripted):
        opt, evaluator = optimizer(), Scripted([1], [2], [3, 0])
        seen = []
        scripted(
            opt, 4, evaluator, callbacks=lambda o, t: seen.append((t.number, [r.number for r in evaluator.running]))
        )
        assert seen == [(1, [0]), (2, [0]), (3, []), (0, [])]
        assert evaluator.is_closed is False

    def test_stopping_waits_for_those_that_run(self, scripted):
        opt = optimizer()
        scripted(opt, 9, Scripted([1], [0]), callbacks=lambda o, t: True)
        assert states(opt) == ["told", "told"]

    def test_so_does_a_callback_that_raises_and_is_not_called_again(self, scripted):
        def callback(caller, trial):
            called.append(trial.number)
            raise ZeroDivisionError("mine")

        opt, called = optimizer(), []
        with pytest.raises(ZeroDivisionError, match="mine"):
            scripted(opt, 9, Scripted([1], [0]), callbacks=callback)
        assert states(opt) == ["told", "told"]
        assert called == [1]

    def test_so_does_an_ask_that_fails(self, scripted, monkeypatch):
        opt = optimizer()

        def third_fails(view, *args, **options):
            if len(view.history) == 2:
                raise RuntimeError("no decision")
            return hand_out(view, *args, **options)

        monkeypatch.setattr("robustbo.driving.asking.hand_out", third_fails)
        with pytest.raises(RuntimeError, match="no decision"):
            scripted(opt, 9, Scripted([1], [0]))
        assert states(opt) == ["told", "told"]

    def test_what_ends_with_ctrl_c_is_told_first(self, scripted):
        opt, evaluator = optimizer(), Scripted([1, KeyboardInterrupt])
        with pytest.raises(KeyboardInterrupt):
            scripted(opt, 9, evaluator)
        assert states(opt) == ["queued", "told"]
        assert evaluator.is_closed is True

    def test_what_cannot_be_cleaned_up_does_not_hide_why(self, scripted, monkeypatch, caplog):
        opt, evaluator = optimizer(), Scripted([KeyboardInterrupt])

        def close(*, is_at_once):
            raise OSError("no such process")

        monkeypatch.setattr(evaluator, "close", close)
        with pytest.raises(KeyboardInterrupt):
            scripted(opt, 9, evaluator)
        assert states(opt) == ["queued", "queued"]
        assert "optimize could not clean up" in caplog.text


class TestProgress:
    def lines(self, act):
        console = Console(file=io.StringIO(), force_terminal=True, width=200)
        settings = optimizer(surrogate="relevance-pursuit").settings
        with Display(settings, FitCache(), 9, is_wanted=True, console=console) as display:
            act(display)
        return console.file.getvalue()

    def test_it_shows_how_far_what_is_best_what_failed_and_what_runs(self):
        opt = optimizer(surrogate="relevance-pursuit")
        optimize(opt, 7, lambda params: 100.0 if len(opt.history) == 3 else square(params))
        opt.fail(opt.ask())
        history = opt.history
        before = self.lines(lambda display: display.show(history, [8, 11]))
        assert "8/9" in before
        assert f"best value {opt.best(raw=True).mean:.6g}, 1 failed, running 8, 11" in before
        after = self.lines(lambda display: (display.on_decision(history), display.show(history, range(10))))
        assert f"best {opt.best().mean:.6g} (sd" in after
        assert "1 flagged" in after
        assert "running 0, 1, 2, 3, 4, 5, 6, 7 and 2 more" in after

    @pytest.mark.slow
    def test_it_makes_no_fit_of_its_own(self, monkeypatch):
        console = Console(file=io.StringIO(), force_terminal=True)
        monkeypatch.setattr(drive, "Display", partial(Display, console=console))
        fits = []
        for progress in (True, False):
            opt = optimizer(acquisition="auto", num_initial=3)
            optimize(opt, 7, progress=progress)
            fits.append(opt.fits.misses)
        assert fits[0] == fits[1]
        assert "best" in console.file.getvalue()

    def test_it_is_silent_without_a_terminal(self, capfd):
        optimize(optimizer(), 3, progress=True)
        assert capfd.readouterr() == ("", "")

    def test_an_error_in_it_is_logged_once_and_it_is_off(self, caplog):
        class Broken(io.StringIO):
            def write(self, text):
                raise OSError("the terminal is gone")

        def act(display):
            for _ in range(3):
                display.show(optimizer().history, [1])
                display.on_decision(optimizer().history)

        with Display(
            optimizer().settings, FitCache(), 9, is_wanted=True, console=Console(file=Broken(), force_terminal=True)
        ) as display:
            act(display)
        assert caplog.text.count("the progress display failed and is now off") == 1


def test_only_trials_of_the_target_are_counted():
    sources = {"lab": rb.Source(target=True), "2025": rb.Source(ask=False)}
    table = pd.DataFrame({"x": [0.1, 0.2, 0.3], "value": 1.0})
    opt = rb.Optimizer(
        rb.Space(x=rb.Float(0, 1)), direction="minimize", seed=0, sources=sources, prior_data={"2025": table}
    )
    opt.optimize(lambda params: params["x"], 2, progress=False)
    assert [trial.source for trial in opt.history] == ["2025"] * 3 + ["lab"] * 2
