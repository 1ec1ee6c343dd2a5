"""What a computation changes of the process is as before, wherever Ctrl-C comes."""

import os
import random
import warnings
from contextlib import ExitStack
from functools import partial

import gpytorch
import numpy as np
import pytest
import torch
from threadpoolctl import ThreadpoolController, threadpool_limits

import robustbo as rb
from robustbo.determinism.generator import no_draws
from robustbo.determinism.isolation import isolation, seed_everything
from robustbo.determinism.surroundings import pin_surroundings
from robustbo.surrogates.common.contract import quiet
from tests.moments import interrupted_at

LIBRARIES = ThreadpoolController()  # looking for them takes longest: once; their threads are asked for each time


def surroundings():
    threads = sorted((each["filepath"], each["num_threads"]) for each in LIBRARIES.info())
    modes = torch.overrides._get_current_function_mode_stack()
    switches = (torch.get_default_dtype(), torch.is_grad_enabled(), torch.is_inference_mode_enabled())
    generators = (torch.get_rng_state().tolist(), random.getstate(), np.random.get_state()[1].tolist())  # noqa: NPY002
    return threads, modes, switches, np.geterr(), warnings.filters.copy(), generators


@pin_surroundings
def compute():
    with isolation(3), quiet():
        drawn = torch.rand(4)
        with no_draws(), torch.no_grad():
            drawn = drawn.split(2)
        return float(sum(part.sum() for part in drawn))


@pin_surroundings
def compute_with_others():
    with seed_everything(3), quiet():
        return torch.rand(1).item(), random.random(), np.random.rand()  # noqa: NPY002


@pytest.fixture(params=["plain", "set"])
def before(request):
    threads, default = torch.get_num_threads(), torch.get_default_dtype()
    with ExitStack() as stack:
        if request.param == "set":
            for each in (torch.inference_mode(), np.errstate(all="raise"), threadpool_limits(2)):
                stack.enter_context(each)
            torch.set_num_threads(2)
            torch.set_default_dtype(torch.float64)
        yield surroundings()
    torch.set_num_threads(threads)
    torch.set_default_dtype(default)


@pytest.mark.few(2)
@pytest.mark.parametrize("compute", [compute, compute_with_others])
def test_they_are_as_before(compute, before):
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
    @pin_surroundings
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
        with no_draws():
            pass
        assert surroundings() == before, moment


def test_what_another_thread_sets_meanwhile_stays(monkeypatch):
    def others():
        warnings.filterwarnings("ignore", message="mine")

    monkeypatch.setattr(warnings, "filters", warnings.filters.copy())
    default = torch.get_default_dtype()
    pin_surroundings(others)()
    try:
        pin_surroundings(partial(torch.set_default_dtype, torch.float64))()
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(default)
    assert "mine" in str(warnings.filters[0])


def test_gpytorchs_settings_change_nothing():
    def ask():
        opt.fits.clear()
        return opt.predict({"x": 0.4}), opt.best()

    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="minimize", seed=0, surrogate="student-t-process")
    for number in range(6):
        opt.tell({"x": number / 5}, (number / 5 - 0.3) ** 2)
    expected = ask()
    for setting in (gpytorch.settings.prior_mode(), gpytorch.settings.min_variance(0.1, 0.1, 0.1)):
        with setting, gpytorch.settings.skip_posterior_variances(), gpytorch.settings.max_cholesky_size(2):
            assert ask() == expected
            assert gpytorch.settings.skip_posterior_variances.on()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_process_that_is_forked_meanwhile_has_them_as_before(before):
    _, modes, (dtype, *_), *rest, _ = before
    expected = modes, dtype, rest

    @pin_surroundings
    def forked():
        with isolation(3), quiet(), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads
            child = os.fork()
            if child == 0:  # as a process that a library begins, which never returns from here
                _, modes, (dtype, *_), *rest, _ = surroundings()
                os._exit(0 if (modes, dtype, rest) == expected else 1)
            return child

    _, status = os.waitpid(forked(), 0)
    assert os.waitstatus_to_exitcode(status) == 0
