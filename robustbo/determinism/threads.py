"""One thread of linear algebra for a call: many small matrices are slower on several, and sums depend on their number.

What is whose, as found by measurement (benchmarks/speed/threads.py shows what it costs to leave it out):

- torch's number, MKL's and OpenMP's with it, is the thread's own: another that computes keeps its own. A thread that
  first uses torch begins with what was set last, by whichever thread; that is put back at once.
- OpenBLAS as NumPy and SciPy bring it has one number for the process (its ``openblas_set_num_threads_local`` too sets
  that). It is one while any thread is within such a call: what other threads compute by it meanwhile takes one thread.
  It is put back as the last of them leaves, unless somebody has set it since. Built upon OpenMP, as conda may bring it,
  its number is the thread's own.

OpenBLAS is also what matters: a fit calls LAPACK some ten thousand times, a thread of its pool waits for each, and two
that share a core wait for each other.
"""

import _thread
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

import scipy.linalg  # noqa: F401 - so that its library is loaded, and found below
import torch
from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
T = TypeVar("T")

_changing = threading.RLock()
_own: dict[int, tuple[int, list[int]]] = {}  # of each thread within a call: torch's number, and the libraries', before
_shared: list[int] = []  # the numbers of those that all threads share, as the first within a call found them


def on_one_thread(function: Callable[P, T]) -> Callable[P, T]:
    """A function whose linear algebra runs on the thread that calls it alone; after it all is as before.

    Also where an interrupt comes at any moment of it. Calls nest, and one within another costs less than a microsecond
    (the outermost some ten, and as much again for a thread of its own where torch had several); those of several
    threads run beside each other.

    Example:
        >>> on_one_thread(torch.get_num_threads)()
        1
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        if threading.get_ident() in _own:  # nearly always
            return function(*args, **kwargs)
        try:
            with one_thread():
                return function(*args, **kwargs)
        finally:  # once more: the interrupt may have come while it was being left
            _leave()

    call.is_on_one_thread = True  # type: ignore[attr-defined] # so that nobody does it twice
    return call


@contextmanager
def one_thread() -> Iterator[None]:
    """Run the block as `on_one_thread` does a function; that alone is safe from an interrupt as it begins or ends."""
    if threading.get_ident() in _own:
        yield
        return
    try:
        _enter()
        yield
    finally:
        _leave()


def _enter() -> None:
    threads, (own, shared) = torch.get_num_threads(), _libraries()
    with _changing:
        if not _own:
            _shared[:] = _numbers(shared)
        _own[threading.get_ident()] = threads, _numbers(own)
        _set(shared, [1] * len(shared))
        _set(own, [1] * len(own))
    if threads != 1:
        torch.set_num_threads(1)
        _set_for_others(threads)


def _set_for_others(threads: int) -> None:
    """Set torch's number for threads that have not used it yet: in one that ends at once, since its own is set too."""
    is_set = threading.Lock()

    def put() -> None:
        torch.set_num_threads(threads)
        is_set.release()

    is_set.acquire()
    _thread.start_new_thread(put, ())  # a `Thread` that an interrupt finds beginning is waited for at the end for ever
    is_set.acquire()


def _leave() -> None:
    """Put the numbers back; once more changes nothing."""
    thread, (own, shared) = threading.get_ident(), _libraries()
    if thread not in _own:
        return
    with _changing:
        threads, numbers = _own[thread]
        torch.set_num_threads(threads)
        _set(own, numbers)
        if len(_own) == 1:
            _set(shared, [n if now == 1 else now for n, now in zip(_shared, _numbers(shared), strict=True)])
        del _own[thread]  # at last: where an interrupt comes before it, all is done again


@cache
def _libraries() -> tuple[list[Any], list[Any]]:
    """Libraries of linear algebra that NumPy and SciPy bring: with a number for each thread, and for the process."""
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    own = [library for library in libraries if getattr(library, "threading_layer", None) == "openmp"]
    return own, [library for library in libraries if library not in own]


def _numbers(libraries: list[Any]) -> list[int]:
    return [library.num_threads for library in libraries]


def _set(libraries: list[Any], numbers: list[int]) -> None:
    """Set the libraries' numbers: threadpoolctl lets the first thread that sets one do so, until it has let go."""
    for library, number in zip(libraries, numbers, strict=True):
        if library.num_threads != number:
            let_go = getattr(library, "clear_controlling_thread", lambda **_: None)  # of OpenBLAS, in newer versions
            let_go(force=True)
            library.set_num_threads(number)
            let_go(force=True)


def _renew_after_fork() -> None:
    """Another thread of the parent's may have been within a call, and is not there any more to end it."""
    global _changing
    _changing = threading.RLock()
    if _own:
        mine = _own.setdefault(threading.get_ident(), (torch.get_num_threads(), _numbers(_libraries()[0])))
        _own.clear()
        _own[threading.get_ident()] = mine
        _leave()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_after_fork)
