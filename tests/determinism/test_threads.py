"""What is limited is this thread's, where the libraries let it be; and what is the process's is put back."""

import threading

import pytest
import torch
from threadpoolctl import ThreadpoolController, threadpool_limits

from robustbo.determinism import threads
from robustbo.determinism.threads import on_one_thread, one_thread
from tests.moments import interrupted_at

LIBRARIES = [  # of which other packages may bring some that are built without threads: those have one for ever
    library
    for library in ThreadpoolController().select(user_api="blas").lib_controllers
    if library.threading_layer != "disabled"
]


def numbers():
    return torch.get_num_threads(), *(library.num_threads for library in LIBRARIES)


TWO = (2,) * (1 + len(LIBRARIES))
ONE = (1,) * len(TWO)


@pytest.fixture(autouse=True)
def two_threads():
    before = torch.get_num_threads()
    with threadpool_limits(2):
        torch.set_num_threads(2)
        yield
    torch.set_num_threads(before)


def in_another_thread(act):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(act()))
    thread.start()
    thread.join()
    return answers[0]


def test_calls_nest():
    inner = on_one_thread(numbers)
    assert on_one_thread(lambda: [inner(), numbers()])() == [ONE, ONE]
    with one_thread(), one_thread():
        assert inner() == numbers() == ONE
    assert numbers() == TWO


def test_torchs_number_is_the_threads_own():
    begun, is_limited, is_told = threading.Event(), threading.Event(), []

    def other():
        is_told.append(torch.get_num_threads())
        begun.set()
        is_limited.wait(60)
        is_told.append(torch.get_num_threads())

    thread = threading.Thread(target=other)
    thread.start()
    begun.wait(60)
    with one_thread():
        is_limited.set()
        thread.join()
        new = in_another_thread(torch.get_num_threads)  # which would keep one thread for ever
    assert is_told == [2, 2]
    assert new == 2
    assert numbers() == TWO


def test_the_libraries_are_put_back_by_the_last_to_leave():
    entered, may_leave = threading.Event(), threading.Event()

    def other():
        with one_thread():
            entered.set()
            may_leave.wait(60)

    thread = threading.Thread(target=other)
    with one_thread():
        thread.start()
        entered.wait(60)
    assert numbers() == (2, *ONE[1:])  # torch's is this thread's own
    may_leave.set()
    thread.join()
    assert numbers() == TWO


def test_a_thread_beside_the_main_one_is_limited_too():
    """Though threadpoolctl lets the first thread that has set a number be the only one to do so."""
    LIBRARIES[0].set_num_threads(2)
    assert in_another_thread(on_one_thread(numbers)) == ONE
    assert numbers() == TWO
    with threadpool_limits(1, "blas"):  # which still work, here and elsewhere
        assert numbers() == (2, *ONE[1:])
    assert numbers() == TWO


def test_what_has_a_number_for_each_thread_is_put_back_by_each(monkeypatch):
    class PerThread(threading.local):
        threading_layer = "openmp"
        num_threads = 2

        def set_num_threads(self, number):
            self.num_threads = number

    def other():
        with one_thread():
            return library.num_threads, entered.set(), may_leave.wait(60)

    library, entered, may_leave = PerThread(), threading.Event(), threading.Event()
    monkeypatch.setattr(threads, "_libraries", lambda: ([library], LIBRARIES))
    thread = threading.Thread(target=other)
    with one_thread():
        thread.start()
        entered.wait(60)
        assert library.num_threads == 1
    assert library.num_threads == 2
    may_leave.set()
    thread.join()


def test_what_somebody_sets_meanwhile_stays():
    with one_thread():
        LIBRARIES[0].set_num_threads(3)
    assert numbers() == (2, 3, *TWO[2:])
    LIBRARIES[0].clear_controlling_thread()


def test_an_interrupt_or_an_error_leaves_all_as_before():
    def act():
        with one_thread():
            torch.zeros(3).sum()

    limited = on_one_thread(act)
    moments, _ = interrupted_at(None, limited)
    assert moments > 20
    for moment in range(1, moments + 1):
        interrupted_at(moment, limited)
        assert numbers() == TWO, moment
    with pytest.raises(ZeroDivisionError, match="division"):
        on_one_thread(lambda: 1 / 0)()
    assert numbers() == TWO
