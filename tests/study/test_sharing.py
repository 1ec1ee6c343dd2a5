"""One study, many hands: threads, copies, several optimizers on one journal, and trials that wait."""

import io
import os
import pickle
import signal
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

import robustbo as rb
from robustbo import seeds
from robustbo.determinism.surroundings import pin_surroundings
from robustbo.loop.decide import step
from robustbo.trials import worker
from robustbo.trials.storage import disk
from robustbo.trials.storage.reading import read

SPACE = rb.Space(x=rb.Float(-5.0, 10.0), y=rb.Float(0.0, 15.0))


def optimizer(journal=None, **options):
    return rb.Optimizer(
        SPACE, **{"direction": "minimize", "acquisition": "sobol", "seed": 1, "journal": journal, **options}
    )


@pytest.fixture(params=["memory", "file"])
def journal(request, tmp_path):
    return None if request.param == "memory" else tmp_path / "j.jsonl"


def together(count, act):
    """Run ``act`` in so many threads that begin at once; what they return."""
    barrier = threading.Barrier(count)

    def begin(number):
        barrier.wait()
        return act(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


class TestThreads:
    def test_every_value_told_by_eight_threads_is_there(self, journal):
        opt = optimizer(journal)
        trials = opt.ask(200)
        together(8, lambda k: [opt.tell(trial, float(trial.number)) for trial in trials[k::8]])
        assert [t.value for t in opt.history] == list(map(float, range(200)))
        if journal is not None:
            assert rb.Optimizer.resume(journal).history == opt.history

    def test_no_trial_is_given_to_two_threads(self, journal):
        opt = optimizer(journal)
        given = together(8, lambda _: [opt.ask().number for _ in range(10)])
        assert sorted(number for numbers in given for number in numbers) == list(range(80))
        assert len({t.point for t in opt.history}) == 80

    @pytest.mark.filterwarnings("ignore:Optimization failed")  # Python's filters belong to all threads, not to each
    def test_all_is_done_at_once_and_each_thread_sees_its_own(self, tmp_path):
        opt = rb.Optimizer(
            SPACE, direction="minimize", seed=1, num_initial=4, journal=tmp_path / "j", surrogate="standard"
        )

        def live(number):
            for _ in range(3):
                trial = opt.ask()
                assert opt.tell(trial, trial.params["x"] ** 2).state == "told"
                opt.best(), opt.outliers(), opt.frame(), opt.predict(trial.params)
            opt.fail(opt.ask(), "done")

        together(4, live)
        assert (len(opt.history.having("told")), len(opt.history.having("failed"))) == (12, 4)
        assert rb.Optimizer.resume(tmp_path / "j").history == opt.history

    def test_two_optimizers_in_two_threads_ask_as_each_would_alone(self):
        def run(seed):
            opt = rb.Optimizer(SPACE, direction="minimize", surrogate="standard", seed=seed, num_initial=3)
            for _ in range(6):
                trial = opt.ask()
                opt.tell(trial, trial.params["x"] ** 2 + trial.params["y"])
            return [t.params for t in opt.history]

        alone = [run(seed) for seed in range(2)]
        assert together(2, run) == alone


class TestSharedJournal:
    def test_each_sees_what_the_other_wrote(self, tmp_path):
        first = optimizer(tmp_path / "j")
        second = rb.Optimizer.resume(tmp_path / "j")
        first.tell(first.ask(), 1.0)
        assert second.history[0].value == 1.0
        second.tell(second.ask(), 2.0)
        assert [t.value for t in first.history] == [1.0, 2.0]
        assert first.ask().number == 2
        with pytest.raises(ValueError, match="trial 0 must be pending or queued to tell it, it is told"):
            second.tell(0, 3.0)

    def test_what_a_decision_has_not_seen_is_kept_with_it(self, tmp_path, monkeypatch):
        ours = optimizer(tmp_path / "j")
        theirs = rb.Optimizer.resume(tmp_path / "j")
        trial = theirs.ask()

        def slow(*arguments):
            if theirs.history[0].is_open:
                theirs.tell(trial, 1.0)  # while ours decides
            return step(*arguments)

        monkeypatch.setattr("robustbo.view.points.step", slow)
        ours.ask(2)
        events = read(tmp_path / "j").events
        assert [e["event"] for e in events] == ["ask", "tell", "ask", "ask"]
        assert [e.get("unseen") for e in events] == [None, None, [1, 2], [1, 2]]

    def test_a_trial_that_begins_meanwhile_makes_the_decision_anew(self, tmp_path, monkeypatch):
        ours = optimizer(tmp_path / "j")
        theirs = rb.Optimizer.resume(tmp_path / "j")

        def slow(*arguments):
            if not theirs.history:
                theirs.tell({"x": 0.0, "y": 0.0}, 1.0)
            return step(*arguments)

        monkeypatch.setattr("robustbo.view.points.step", slow)
        trial = ours.ask()
        assert trial.number == 1
        assert trial.params == SPACE.sobol(seeds.derive(1, 0, "sobol"), 1)
        assert "unseen" not in read(tmp_path / "j").events[-1]

    def test_a_copy_goes_on_with_the_same_journal(self, tmp_path):
        opt = optimizer(tmp_path / "j")
        copy = pickle.loads(pickle.dumps(opt))
        opt.tell(opt.ask(), 1.0)
        assert copy.history == opt.history
        copy.tell(copy.ask(), 2.0)
        assert len(opt.history) == 2

    def test_a_copy_without_a_journal_is_on_its_own(self):
        opt = optimizer()
        opt.tell(opt.ask(), 1.0)
        copy = pickle.loads(pickle.dumps(opt))
        copy.ask()
        assert (len(opt.history), len(copy.history)) == (1, 2)

    def test_a_study_only_looks(self, tmp_path):
        opt = optimizer(tmp_path / "j")
        study = rb.Study.resume(tmp_path / "j")
        opt.tell(opt.ask(), 1.0)
        assert (study.history, study.best(raw=True).params) == (opt.history, opt.history[0].params)
        assert not hasattr(study, "tell")

    def test_a_journal_that_is_gone_says_so_and_loses_nothing_in_memory(self, tmp_path):
        opt = optimizer(tmp_path / "j")
        trial = opt.tell(opt.ask(), 1.0)
        (tmp_path / "j").unlink()
        with pytest.raises(rb.JournalWriteError, match=r"is gone .* and the event was not recorded"):
            opt.ask()
        assert opt.history.trials == (trial,)
        assert not (tmp_path / "j").exists()

    def test_a_journal_that_was_cut_short_is_refused(self, tmp_path):
        opt = optimizer(tmp_path / "j")
        opt.ask(3)
        data = (tmp_path / "j").read_bytes()
        (tmp_path / "j").write_bytes(data[:-200])
        with pytest.raises(rb.JournalError, match=r"must begin with the \d+ events .* cut short; .* or resume"):
            opt.tell(0, 1.0)

    def test_one_that_was_edited_and_appended_to_names_the_line_that_was_edited(self, tmp_path):
        opt = optimizer(tmp_path / "j")
        opt.tell(opt.ask(), 1.0)
        data = (tmp_path / "j").read_bytes()
        (tmp_path / "j").write_bytes(data.replace(b'"value": 1.0', b'"value": 1.55'))
        with pytest.raises(rb.JournalError, match="line 3: damaged"):
            opt.ask()

    def test_another_journal_in_its_place_is_told_as_such(self, tmp_path):
        opt, other = optimizer(tmp_path / "j"), optimizer(tmp_path / "k", seed=2)
        opt.tell(opt.ask(), 1.0)
        other.ask(5)
        (tmp_path / "k").replace(tmp_path / "j")
        with pytest.raises(rb.JournalError, match=r"begin with the 2 events .* \(it has 5\): it was replaced"):
            opt.ask()

    def test_a_newline_that_is_lost_is_put_back(self, tmp_path):
        opt = optimizer(tmp_path / "j")
        opt.tell(opt.ask(), 1.0)
        (tmp_path / "j").write_bytes((tmp_path / "j").read_bytes()[:-1])
        opt.ask()
        assert len(rb.Optimizer.resume(tmp_path / "j").history) == 2


def test_warnings_name_the_line_that_called(tmp_path):
    opt = rb.Optimizer(rb.Space(x=rb.Choice("a", "b")), direction="minimize", seed=0)
    opt.ask(2)
    for trial in opt.pending():
        opt.tell(trial, 1.0)
    with pytest.warns(rb.ExhaustedWarning) as caught:
        opt.ask()
    assert caught[0].filename == __file__


class TestInterrupts:
    @pytest.mark.parametrize("where", ["robustbo.view.points.step", "robustbo.trials.storage.disk.write_at"])
    def test_an_interrupted_ask_lets_go_of_its_locks_though_its_traceback_lives(self, where, tmp_path, monkeypatch):
        opt = optimizer(tmp_path / "j")

        def interrupt(*_):
            raise KeyboardInterrupt

        with monkeypatch.context() as pressed:
            pressed.setattr(where, interrupt)
            with pytest.raises(KeyboardInterrupt) as caught:
                opt.ask()
        assert together(1, lambda _: opt.ask().number) == [0]  # in another thread, which would wait
        assert rb.Optimizer.resume(tmp_path / "j").ask().number == 1
        assert caught.tb is not None

    def test_a_lock_is_left_in_one_step(self):
        assert disk.Locked.__exit__ is io.FileIO.__exit__  # no code of Python's, between whose lines Ctrl-C could come


class TestCreateOrResume:
    def test_the_second_run_of_a_script_goes_on(self, tmp_path):
        for count in (1, 2):
            opt = optimizer(tmp_path / "j", if_exists="resume")
            opt.tell(opt.ask(), 1.0)
            assert len(opt.history) == count

    def test_a_seed_that_is_not_given_is_the_recorded_one(self, tmp_path):
        drawn = optimizer(tmp_path / "j", seed=None, if_exists="resume").seed
        assert optimizer(tmp_path / "j", seed=None, if_exists="resume").seed == drawn

    def test_settings_that_differ_are_each_named(self, tmp_path):
        optimizer(tmp_path / "j")
        space = rb.Space(x=rb.Float(-5.0, 11.0), y=rb.Float(0.0, 15.0))
        with pytest.raises(rb.JournalError, match="direction: recorded 'minimize', given 'maximize'") as caught:
            rb.Optimizer(
                space, direction="maximize", seed=2, acquisition="sobol", journal=tmp_path / "j", if_exists="resume"
            )
        for part in ("parameter 'x': recorded Float(low=-5.0, high=10.0", "seed: recorded 1, given 2"):
            assert part in str(caught.value)
        assert "replicate" not in str(caught.value)

    def test_eight_threads_that_begin_one_study_share_it(self, tmp_path):
        def begin(_):
            return optimizer(tmp_path / "j", seed=None, if_exists="resume").ask().number

        assert sorted(together(8, begin)) == list(range(8))

    def test_an_unknown_word_is_refused(self, tmp_path):
        with pytest.raises(ValueError, match=r"if_exists must be one of \['error', 'resume'\].*did you mean 'resume'"):
            optimizer(tmp_path / "j", if_exists="resum")
        assert not (tmp_path / "j").exists()


class TestWhatWaits:
    def test_pending_lists_who_asked_when(self):
        opt = optimizer()
        before = datetime.now(UTC)
        opt.ask(2)
        assert [t.number for t in opt.pending()] == [0, 1]
        assert opt.pending()[0].asked_by == worker.name()
        assert before - timedelta(seconds=1) < opt.pending()[0].asked_at <= datetime.now(UTC)

    def test_what_is_taken_back_is_given_out_again_first(self, journal):
        opt = optimizer(journal)
        asked = opt.ask(3)
        assert [t.state for t in opt.requeue([1])] == ["queued"]
        again = opt.ask()
        assert (again.number, again.params, again.state) == (1, asked[1].params, "pending")
        assert opt.ask().number == 3
        if journal is not None:
            assert rb.Optimizer.resume(journal).history == opt.history

    def test_only_the_old_ones_are_taken_back(self):
        opt = optimizer()
        opt.ask(2)
        assert opt.requeue(older_than=3600) == []
        assert len(opt.requeue(older_than=timedelta(0))) == 2

    def test_those_of_a_process_that_is_gone_are_taken_back(self, monkeypatch):
        opt = optimizer()
        opt.ask()
        opt.ask_as("elsewhere:1:ab")
        monkeypatch.setattr("robustbo.trials.worker.is_gone", lambda by: by == worker.name())
        assert [t.number for t in opt.requeue()] == [0]

    def test_a_late_value_of_a_trial_that_waits_or_is_given_out_again_is_its_value(self):
        opt = optimizer()
        opt.ask(2)
        opt.requeue([0, 1])
        assert opt.tell(0, 1.0).state == "told"
        assert opt.ask().number == 1
        assert opt.tell(1, 2.0).value == 2.0

    def test_of_a_trial_given_out_twice_both_values_are_kept(self, journal):
        opt = optimizer(journal)
        trial = opt.ask()
        opt.requeue([trial])
        opt.ask()
        opt.tell(trial, 1.0)
        late = opt.tell(trial, 1.5)
        assert (late.number, late.value, late.repeats, late.origin, late.params) == (1, 1.5, 0, "late", trial.params)
        assert opt.tell(trial, 2.0).repeats == 0  # whoever it comes from, it may be another measurement

    def test_points_of_ones_own_come_first(self):
        opt = optimizer()
        given = [{"x": 0.0, "y": 1.0}, {"x": 2.0, "y": 3.0}]
        assert [t.state for t in opt.enqueue(given)] == ["queued", "queued"]
        batch = opt.ask(3)
        assert [t.params for t in batch[:2]] == given
        assert [t.origin for t in batch] == ["user", "user", "sobol"]

    def test_the_parameters_of_an_open_trial_mean_that_trial(self):
        opt = optimizer()
        for _ in range(12):
            trial = opt.ask()
            assert opt.tell(trial.params, 1.0).number == trial.number
        assert opt.history.counts()["pending"] == 0
        assert opt.tell(trial.params, 2.0).number == 12  # no open one is there any more
        opt.enqueue({"x": 0.0, "y": 0.0})
        assert opt.fail({"x": 0.0, "y": 0.0}).number == 13

    def test_a_point_that_is_enqueued_twice_is_measured_twice(self):
        opt = optimizer()
        first, second = opt.enqueue([{"x": 0.0, "y": 1.0}] * 2)
        assert (first.repeats, second.repeats) == (None, 0)
        assert opt.enqueue(opt.ask().params)[0].repeats == 0

    def test_one_trial_alone_is_taken_back_and_ages_are_checked(self):
        opt = optimizer()
        assert opt.requeue(opt.ask())[0].state == "queued"
        for age in (-1, float("nan"), 1e13):
            with pytest.raises(ValueError, match="older_than must be at least 0 seconds"):
                opt.requeue(older_than=age)
        with pytest.raises(ValueError, match="got both"):
            opt.requeue([0], older_than=3)

    def test_true_and_one_are_different_points(self):
        opt = rb.Optimizer(rb.Space(c=rb.Choice(1, True, "a")), direction="minimize", seed=0, acquisition="sobol")
        asked = {repr(t.params["c"]): t.number for t in opt.ask(3)}
        assert set(asked) == {"1", "True", "'a'"}
        assert opt.tell({"c": True}, 5.0).number == asked["True"]

    def test_an_ask_ends_though_trials_begin_all_the_time(self, tmp_path, monkeypatch):
        ours = optimizer(tmp_path / "j")
        theirs = rb.Optimizer.resume(tmp_path / "j")

        def slow(*arguments):
            if ours._store._owner is None:
                theirs.tell({"x": 0.0, "y": 0.0}, 1.0)  # a trial begins beside each decision
            return step(*arguments)

        monkeypatch.setattr("robustbo.view.points.step", slow)
        assert ours.ask().number == 3

    def test_a_call_within_a_call_is_refused_rather_than_waited_for(self, tmp_path, monkeypatch):
        opt = optimizer(tmp_path / "j")
        write_at = disk.write_at

        def handled(*arguments):
            with pytest.raises(RuntimeError, match="during another call"):
                opt.tell({"x": 0.0, "y": 0.0}, 1.0)
            return write_at(*arguments)

        monkeypatch.setattr(disk, "write_at", handled)
        assert opt.ask().number == 0


class TestDistinct:
    @pytest.mark.slow
    def test_a_batch_at_a_corner_is_of_different_points(self):
        opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1), y=rb.Float(0, 1)), direction="minimize", seed=0)
        for _ in range(12):
            trial = opt.ask()
            opt.tell(trial, trial.params["x"] + 0.3 * trial.params["y"])
        batch = opt.ask(4)
        assert len({t.point for t in batch if t.repeats is None}) == sum(t.repeats is None for t in batch)

    @pytest.mark.parametrize("acquisition", ["sobol", "auto"])
    def test_a_finite_space_is_asked_for_as_a_whole_and_then_says_so(self, acquisition):
        space = rb.Space(n=rb.Int(1, 3), c=rb.Choice("a", "b"))
        opt = rb.Optimizer(
            space, direction="minimize", seed=0, surrogate="standard", acquisition=acquisition, num_initial=4
        )
        batch = opt.ask(4)
        for trial in batch:
            opt.tell(trial, trial.params["n"])
        batch += opt.ask(2)
        assert len({t.point for t in batch}) == 6 or acquisition == "auto"
        with pytest.warns(rb.ExhaustedWarning, match="nothing new left: each of the 6 points"):
            again = [opt.ask() for _ in range(8 - len({t.point for t in batch}))]
        assert again[-1].reason == "nothing new left"

    def test_where_every_point_is_being_measured_there_is_none_to_ask_for(self):
        opt = rb.Optimizer(rb.Space(n=rb.Int(1, 4)), direction="minimize", seed=0)
        assert len({t.point for t in opt.ask(4)}) == 4
        with pytest.raises(rb.SpaceExhausted, match="all 4 of the space are pending; tell, fail or requeue some first"):
            opt.ask()

    def test_a_large_finite_space_has_no_end(self):
        opt = rb.Optimizer(
            rb.Space(n=rb.Int(1, 10**6), m=rb.Int(1, 10**6)), direction="minimize", seed=0, acquisition="sobol"
        )
        assert len({t.point for t in opt.ask(64)}) == 64


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_process_goes_on_though_a_thread_of_its_parents_held_the_locks(tmp_path):
    opt = optimizer(tmp_path / "j")
    opt.ask()
    held, go = threading.Event(), threading.Event()

    def hold():
        with opt._store._turn, opt._store._decision:
            held.set()
            pin_surroundings(go.wait)()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads, which is what is tested
        child = os.fork()
    if child == 0:
        signal.alarm(20)  # rather than for ever
        opt.tell(0, 2.5)
        os._exit(0 if opt.predict([]).empty else 1)
    _, status = os.waitpid(child, 0)
    go.set()
    thread.join()
    assert status == 0
    assert opt.history[0].value == 2.5


def test_a_prediction_that_waits_for_the_store_keeps_nobody_from_computing(tmp_path):
    """An ask that is decided under the store's lock computes, and would wait for it for ever."""
    opt = optimizer(tmp_path / "j")
    opt.tell(opt.ask(), 1.0)
    point = {name: 0.5 for name in opt.settings.space.names}
    rb.Optimizer.resume(tmp_path / "j").ask()  # so that there is something to read
    with opt._store._turn:
        predicting = threading.Thread(target=opt.predict, args=(point,))
        predicting.start()
        predicting.join(0.2)
        computing = threading.Thread(target=pin_surroundings(int))
        computing.start()
        computing.join(20)
        assert predicting.is_alive()
        assert not computing.is_alive()
    predicting.join(20)
    assert not predicting.is_alive()


def test_an_ask_in_the_middle_of_another_is_refused():
    """As a handler of a signal may make it: nobody could ever end it."""
    opt = optimizer()

    def within(_):
        with pytest.raises(RuntimeError, match="during another call"):
            opt.ask()
        seen.append(len(opt.history))

    seen = []
    assert opt._store.decide(within, lambda *_: None) is None
    assert seen == [0]
    assert opt.ask().number == 0


def test_who_only_looks_writes_nothing(tmp_path):
    path = tmp_path / "j"
    opt = optimizer(path)
    opt.tell(opt.ask(), 1.0)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"event": "as')  # torn
    with pytest.warns(rb.JournalWarning, match="torn"):
        study = rb.Study.resume(path)
    assert len(study.history) == 1
    assert study.best().trial.number == 0
    assert path.read_bytes() == whole + b'{"event": "as'
    with pytest.warns(rb.JournalWarning, match="torn"):
        opt = rb.Optimizer.resume(path)
    assert path.read_bytes() == whole
    opt.tell(opt.ask(), 2.0)
    assert [t.value for t in study.history] == [1.0, 2.0]
