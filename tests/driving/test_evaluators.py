"""Where functions are evaluated: values, errors and deaths come back as what they are, and nothing is left behind."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial

import dask
import distributed
import pytest

from robustbo.driving.evaluators.cluster import Cluster
from robustbo.driving.evaluators.evaluator import LocalEvaluator
from robustbo.driving.evaluators.outcome import attempt, attempt_elsewhere, receive
from robustbo.driving.evaluators.processes import Processes
from robustbo.trials.trial import Trial

LONG_S = 60.0  # for what never takes so long
OBJECTIVES = """
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path


class Unpicklable(ValueError):
    def __init__(self, text):
        super().__init__(text)
        self.lock = threading.Lock()


class Unloadable(ValueError):
    def __init__(self, one, two):
        super().__init__(f"{one} {two}")


def fate(params):
    match params["how"]:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exit":
            os._exit(3)
        case "segfault":
            ctypes.string_at(0)
        case "sys.exit":
            sys.exit(4)
        case "raise":
            raise ValueError("no such temperature")
        case "unpicklable":
            raise Unpicklable("with a lock")
        case "unloadable":
            raise Unloadable("two", "arguments")
        case "nothing":
            return None
        case "process":
            return os.getpid()
    return 1.5


def together(folder, count, params):
    (Path(folder) / str(os.getpid())).touch()
    while len(list(Path(folder).iterdir())) < count:
        time.sleep(0.01)
    return os.getpid()


def forever(folder, params):
    child = subprocess.Popen(["sleep", "1000"])
    (Path(folder) / str(child.pid)).touch()
    (Path(folder) / str(os.getpid())).touch()
    child.wait()
    return 1.0


def parting(folder, params):
    child = os.fork()
    if child == 0:
        time.sleep(1000)
    (Path(folder) / str(child)).touch()
    os._exit(3)


def ask(question, params):
    return eval(question)
"""


@pytest.fixture(scope="module")
def objectives(tmp_path_factory):
    """A module that other processes can import."""
    folder = tmp_path_factory.mktemp("objectives")
    (folder / "robustbo_objectives.py").write_text(OBJECTIVES)
    sys.path.insert(0, str(folder))
    try:
        import robustbo_objectives

        yield robustbo_objectives
    finally:
        sys.path.remove(str(folder))


@pytest.fixture
def closing():
    """Evaluators that are closed afterwards."""
    opened = []
    yield lambda evaluator: opened.append(evaluator) or evaluator
    for evaluator in opened:
        evaluator.close(is_at_once=True)


def outcomes(evaluator, *hows):
    """How trials of these fates ended, in their order; as many at once as there is room for."""
    waiting = [Trial(i, {"how": how}) for i, how in enumerate(hows)]
    found, deadline = {}, time.monotonic() + LONG_S
    while len(found) < len(hows):
        assert time.monotonic() < deadline
        while waiting and evaluator.has_room():
            evaluator.submit(waiting.pop(0))
        evaluator.wait(1.0)
        found |= {trial.number: outcome for trial, outcome in evaluator.take()}
    return [found[i] for i in range(len(hows))]


def is_there(process):
    """Whether a process runs; one that has ended and that nobody has waited for does not."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # it may end while it is looked at
        return False


def until(condition):
    deadline = time.monotonic() + LONG_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class TestAttempt:
    @pytest.mark.parametrize("result", [2, 2.0, (2.0, None), [2, None]])
    def test_a_value(self, result):
        assert attempt(lambda params: result, {}).measured == (2.0, None)

    def test_an_error_keeps_its_traceback_from_the_function_on(self):
        outcome = attempt(lambda params: 1 / 0, {})
        assert outcome.measured is None
        assert outcome.line == "ZeroDivisionError: division by zero"
        assert isinstance(outcome.error, ZeroDivisionError)
        assert outcome.reason.count("File ") == 1
        assert "lambda params: 1 / 0" in outcome.reason

    def test_the_line_is_one(self):
        def func(params):
            raise ValueError("first\nsecond")

        assert attempt(func, {}).line == "ValueError: first"

    def test_only_exceptions_are_outcomes_and_what_else_is_named(self):
        def func(params):
            raise SystemExit(3)

        with pytest.raises(SystemExit):
            attempt(func, {})
        assert attempt(func, {}, (SystemExit,)).is_a((SystemExit,))

    def test_ctrl_c_is_never_one(self):
        def func(params):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            attempt(func, {}, (BaseException,))

    def test_what_is_sent_can_be_pickled_and_means_the_same(self):
        for func in (lambda params: (1.0, 0.5), lambda params: 1 / 0, lambda params: sys.exit("no licence")):
            outcome = receive(pickle.loads(pickle.dumps(attempt_elsewhere(func, {}))))
            assert (outcome.measured is None) == bool(outcome.reason)
        assert outcome.reason == "the process that evaluated it ended with exit code 'no licence'"
        assert outcome.error is None


class TestHere:
    def test_an_interrupted_evaluation_is_still_its_own(self):
        values = [KeyboardInterrupt, 1.0]

        def func(params):
            value = values.pop(0)
            if value is KeyboardInterrupt:
                raise KeyboardInterrupt
            return value

        here = LocalEvaluator(func)
        here.submit(Trial(0, {}))
        assert not here.has_room()
        with pytest.raises(KeyboardInterrupt):
            here.wait(None)
        assert list(here.take()) == []
        here.wait(None)
        assert [outcome.measured for _, outcome in here.take()] == [(1.0, None)]
        assert here.has_room()


class TestProcesses:
    def test_they_work_at_once(self, objectives, tmp_path, closing):
        found = outcomes(closing(Processes(partial(objectives.together, str(tmp_path), 3), 3)), 0, 1, 2)
        assert len({outcome.measured for outcome in found} - {(float(os.getpid()), None)}) == 3

    def test_one_after_the_other_is_one_process(self, objectives, closing):
        processes = closing(Processes(objectives.fate, 2))
        first, second = (outcomes(processes, "process")[0] for _ in range(2))
        assert first == second

    @pytest.mark.parametrize(
        ("how", "said"),
        [
            ("kill", "signal 9 (SIGKILL)"),
            ("exit", "exit code 3"),
            ("segfault", "signal 11 (SIGSEGV)"),
            ("sys.exit", "exit code 4"),
        ],
    )
    def test_one_that_dies_fails_its_trial_only(self, objectives, closing, how, said):
        processes = closing(Processes(objectives.fate, 2))
        found = outcomes(processes, "fine", how, "fine", how, "fine", "fine")
        assert [outcome.measured for outcome in found[::2]] == [(1.5, None)] * 3
        assert found[5].measured == (1.5, None)
        for outcome in (found[1], found[3]):
            assert outcome.reason == f"the process that evaluated it ended with {said}"
            assert outcome.error is None

    def test_an_idle_one_that_dies_is_replaced(self, objectives, closing):
        processes = closing(Processes(objectives.fate, 1))
        process = int(outcomes(processes, "process")[0].measured[0])
        os.kill(process, signal.SIGKILL)
        until(lambda: not processes._workers[0].is_alive)
        assert outcomes(processes, "process")[0].measured[0] != process

    def test_a_child_that_it_leaves_behind_does_not_hide_its_death(self, objectives, tmp_path, closing):
        (outcome,) = outcomes(closing(Processes(partial(objectives.parting, str(tmp_path)), 1)), 0)
        assert outcome.reason.endswith("exit code 3")
        (child,) = tmp_path.iterdir()
        until(lambda: not is_there(int(child.name)))

    def test_an_error_comes_back_as_itself(self, objectives, closing):
        (outcome,) = outcomes(closing(Processes(objectives.fate, 2)), "raise")
        assert type(outcome.error) is ValueError
        assert outcome.line == "ValueError: no such temperature"
        assert 'raise ValueError("no such temperature")' in outcome.reason
        assert outcome.reason in outcome.error.__notes__[0]

    @pytest.mark.parametrize(
        ("how", "line"),
        [
            ("unpicklable", "robustbo_objectives.Unpicklable: with a lock"),
            ("unloadable", "robustbo_objectives.Unloadable: two arguments"),
        ],
    )
    def test_one_that_cannot_be_sent_is_told_of_and_known_by_name(self, objectives, closing, how, line):
        (outcome,) = outcomes(closing(Processes(objectives.fate, 2)), how)
        assert type(outcome.error) is RuntimeError
        assert outcome.reason in str(outcome.error)
        assert outcome.line == line
        assert outcome.is_a((ValueError,))
        assert outcome.is_a((getattr(objectives, how.capitalize()),))
        assert not outcome.is_a((OSError,))

    def test_what_is_no_number_is_an_error(self, objectives, closing):
        (outcome,) = outcomes(closing(Processes(objectives.fate, 2)), "nothing")
        assert isinstance(outcome.error, TypeError)
        assert "got None" in outcome.line

    def test_a_function_that_cannot_be_pickled_is_refused(self):
        with pytest.raises(TypeError, match=r"func must be picklable for jobs=2, got <function .*top of a module"):
            Processes(lambda params: 1.0, 2)

    def test_so_is_one_that_they_cannot_import(self, objectives, closing, monkeypatch):
        processes = closing(Processes(objectives.fate, 2))
        processes._func = processes._func.replace(b"robustbo_objectives", b"robustbo_objectiveS")
        processes._workers[0].end(is_at_once=True)
        with pytest.raises(TypeError, match=r"func must be one that worker processes can import.*\n.*Traceback"):
            outcomes(processes, "fine")

    @pytest.mark.few(1)
    @pytest.mark.parametrize(("said", "threads"), [(None, 1.0), ("2", 2.0)])
    def test_they_share_the_cores_unless_told_otherwise(self, objectives, closing, monkeypatch, said, threads):
        monkeypatch.setattr("robustbo.driving.evaluators.processes._cores", lambda: 2)
        for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            monkeypatch.delenv(name, raising=False)
        if said is not None:
            monkeypatch.setenv("OMP_NUM_THREADS", said)
        ask = partial(objectives.ask, "__import__('torch').get_num_threads()")
        assert outcomes(closing(Processes(ask, 2)), 0)[0].measured == (threads, None)

    def test_ctrl_c_does_not_reach_them_and_they_hear_it_all_the_same(self, objectives, closing):
        question = "int(os.getpgid(0) == os.getpid() and not signal.pthread_sigmask(signal.SIG_BLOCK, []))"
        (outcome,) = outcomes(closing(Processes(partial(objectives.ask, question), 2)), 0)
        assert outcome.measured == (1.0, None)

    def test_what_they_have_started_is_ended_with_them(self, objectives, tmp_path):
        processes = Processes(partial(objectives.forever, str(tmp_path)), 2)
        for number in range(2):
            processes.submit(Trial(number, {}))
        until(lambda: len(list(tmp_path.iterdir())) == 4)
        started = [int(path.name) for path in tmp_path.iterdir()]
        assert all(map(is_there, started))
        processes.close(is_at_once=True)
        until(lambda: not any(map(is_there, started)))

    def test_and_with_the_process_that_they_work_for(self, objectives, tmp_path):
        code = f"""
            import sys, time
            sys.path.insert(0, {os.path.dirname(objectives.__file__)!r})
            from functools import partial
            from robustbo.driving.evaluators.processes import Processes
            from robustbo.trials.trial import Trial
            import robustbo_objectives
            processes = Processes(partial(robustbo_objectives.forever, {str(tmp_path)!r}), 2)
            for number in range(2):
                processes.submit(Trial(number, {{}}))
            time.sleep(1000)
            """
        parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)])
        until(lambda: len(list(tmp_path.iterdir())) == 4)
        parent.kill()
        parent.wait()
        until(lambda: not any(is_there(int(path.name)) for path in tmp_path.iterdir()))

    @pytest.mark.slow
    def test_a_script_without_a_guard_is_told_of_it(self, tmp_path):
        script = """
            import robustbo as rb
            space = rb.Space(x=rb.Float(0, 1))
            opt = rb.Optimizer(space, direction="minimize", seed=0, journal="journal", if_exists="resume")
            opt.optimize(abs, 3, jobs=2, progress=False)
            """
        (tmp_path / "script.py").write_text(textwrap.dedent(script))
        found = subprocess.run(
            [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=LONG_S, check=False
        )
        assert found.returncode == 1
        last = found.stderr.strip().splitlines()[-1]
        assert last.startswith("RuntimeError: ")
        assert '`if __name__ == "__main__":`' in last
        assert '"told"' not in (tmp_path / "journal").read_text()


class FakeFuture:
    """A task of a cluster that ends when it is told to."""

    def __init__(self, status="finished", result=None, error=None):
        self.status, self._result, self._error = status, result, error

    def add_done_callback(self, callback):
        self._callback = callback

    def end(self):
        self._callback(self)

    def exception(self):
        return self._error

    def result(self):
        if self._error is not None:
            raise self._error
        return self._result


class FakeClient:
    """A cluster of so many threads."""

    def __init__(self, threads, **future):
        self.threads, self.futures, self.cancelled = threads, [], []
        self._future = future

    def nthreads(self):
        return {f"worker {i}": 1 for i in range(self.threads)}

    def submit(self, func, *args, pure):
        assert not pure
        given = {"result": func(*args)} if not self._future else self._future
        self.futures.append(FakeFuture(**given))
        return self.futures[-1]

    def cancel(self, futures):
        self.cancelled += futures


class KilledWorker(Exception):
    """Of the same name as Dask's."""


class TestCluster:
    def fill(self, cluster):
        count = 0
        while cluster.has_room():
            cluster.submit(Trial(count, {"x": 1.0}))
            count += 1
        return count

    @pytest.mark.parametrize(("threads", "jobs", "room"), [(3, 1, 3), (3, 2, 2), (1, 4, 4), (0, 1, 1)])
    def test_as_many_at_once_as_it_has_threads_or_as_is_said(self, threads, jobs, room):
        assert self.fill(Cluster(abs, FakeClient(threads), jobs)) == room

    def test_it_may_grow(self):
        client = FakeClient(1)
        cluster = Cluster(abs, client, 1)
        self.fill(cluster)
        client.threads = 2
        assert not cluster.has_room()
        cluster.wait(0.0)
        assert cluster.has_room()

    def test_what_ends_is_taken_back_and_the_rest_cancelled(self):
        client = FakeClient(2)
        cluster = Cluster(lambda params: params["x"] + 1, client, 1)
        self.fill(cluster)
        client.futures[1].end()
        ((trial, outcome),) = cluster.take()
        assert (trial.number, outcome.measured) == (1, (2.0, None))
        assert cluster.has_room()
        cluster.close(is_at_once=True)
        assert cluster.close(is_at_once=True) is None
        assert client.cancelled == client.futures[:1]

    def test_a_task_whose_workers_die_fails_its_trial(self):
        client = FakeClient(1, status="error", error=KilledWorker("Attempted to run task on 4 workers"))
        cluster = Cluster(abs, client, 1)
        self.fill(cluster)
        client.futures[0].end()
        ((_, outcome),) = cluster.take()
        assert "Attempted to run task on 4 workers" in outcome.reason
        assert outcome.error is None

    def test_what_is_not_the_functions_doing_is_raised(self):
        client = FakeClient(1, status="error", error=ModuleNotFoundError("No module named 'mine'"))
        cluster = Cluster(abs, client, 1)
        self.fill(cluster)
        client.futures[0].end()
        with pytest.raises(RuntimeError, match="the cluster must be able to evaluate func, it says: No module named"):
            list(cluster.take())

    def test_an_asynchronous_client_is_refused(self):
        client = FakeClient(1)
        client.asynchronous = True
        with pytest.raises(TypeError, match="client must not be asynchronous"):
            Cluster(abs, client, 1)

    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore")
    def test_a_real_one(self, objectives):
        options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
        with (
            dask.config.set({"distributed.scheduler.allowed-failures": 0}),
            distributed.LocalCluster(**options) as local,
            distributed.Client(local, set_as_default=False) as client,
        ):
            client.upload_file(objectives.__file__)  # to workers that are yet to come, too
            fates = "fine", "kill", "raise", "sys.exit"
            fine, killed, raised, left = outcomes(Cluster(objectives.fate, client, 1), *fates)
        assert fine.measured == (1.5, None)
        assert killed.reason.startswith("the process that evaluated it ended with its Dask worker: ")
        assert type(raised.error) is ValueError
        assert left.reason == "the process that evaluated it ended with exit code 4"
