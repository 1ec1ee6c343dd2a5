"""What a computation changes of the process is as before, wherever Ctrl-C comes."""

import warnings
from contextlib import ExitStack

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits
from torch.overrides import TorchFunctionMode

from robustbo.isolation import drawing_nothing, isolated
from robustbo.surrogates.base import quiet
from robustbo.surroundings import pinned
from tests.moments import interrupted_at


class Users(TorchFunctionMode):
    """A mode that a user is in."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def surroundings():
    threads = sorted((each["filepath"], each["num_threads"]) for each in threadpool_info())
    modes = torch.overrides._get_current_function_mode_stack()
    switches = (torch.get_default_dtype(), torch.is_grad_enabled(), torch.is_inference_mode_enabled())
    return threads, modes, switches, np.geterr(), warnings.filters.copy(), torch.get_rng_state().tolist()


@pinned
def compute():
    with isolated(3), quiet():
        drawn = torch.rand(4)
        with drawing_nothing(), torch.no_grad():
            drawn = drawn.split(2)
        return float(sum(part.sum() for part in drawn))


@pytest.fixture(params=["plain", "set"])
def before(request):
    threads = torch.get_num_threads()
    with ExitStack() as stack:
        if request.param == "set":
            for each in (torch.inference_mode(), np.errstate(all="raise"), threadpool_limits(2), Users()):
                stack.enter_context(each)
            torch.set_num_threads(2)
        else:
            torch.set_default_dtype(torch.float32)
        yield surroundings()
    torch.set_num_threads(threads)
    torch.set_default_dtype(torch.float64)


def test_they_are_as_before(before):
    expected = compute()
    assert surroundings() == before
    moments, _ = interrupted_at(None, compute)
    assert moments > 100
    for moment in range(1, moments + 1):
        count, is_interrupted = interrupted_at(moment, compute)
        assert surroundings() == before, moment
        assert is_interrupted == (count >= moment)  # there are a few less when it has been interrupted
        assert compute() == expected


def test_an_interrupt_that_torch_makes_an_error_of_is_heard(before):
    @pinned
    def masked():
        try:
            raise KeyboardInterrupt
        finally:
            torch.zeros(2) @ torch.zeros(3)

    with pytest.raises(KeyboardInterrupt):
        masked()
    assert surroundings() == before


def test_nothing_of_it_is_left_for_the_next(before):
    """Whatever an interrupted call has left, numbers drawn afterwards are the caller's own."""
    moments, _ = interrupted_at(None, compute)
    for moment in range(1, moments + 1):
        interrupted_at(moment, compute)
        with drawing_nothing():
            pass
        assert surroundings() == before, moment
