import random
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

import robustbo as rb
from robustbo import fitting
from robustbo.isolation import isolated


def draws():
    return torch.rand(3).tolist(), np.random.rand(3).tolist(), [random.random() for _ in range(3)]  # noqa: NPY002


def state():
    numpy_state = np.random.get_state()  # noqa: NPY002
    return torch.get_rng_state().tolist(), [np.asarray(part).tolist() for part in numpy_state], random.getstate()


def threads():
    libraries = [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]
    assert libraries
    return {torch.get_num_threads(), *libraries}


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    with threadpool_limits(2):
        yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("seed", [0, 2**32 + 5, 2**63 - 1])
def test_draws_inside_depend_on_the_seed_alone(seed):
    with isolated(seed):
        first = draws()
    draws()
    with isolated(seed):
        assert draws() == first
    with isolated(seed - 1 if seed else 1):
        assert all(other != mine for other, mine in zip(draws(), first, strict=True))


def test_the_outside_is_as_it_was(two_threads):
    before = state()
    with isolated(0):
        draws()
        assert threads() == {1}
    assert state() == before
    assert threads() == {2}


def test_the_outside_is_as_it_was_after_an_error(two_threads):
    before = state()
    with pytest.raises(ZeroDivisionError, match="division by zero"), isolated(0):
        draws()[0][0] / 0
    assert state() == before
    assert threads() == {2}


def test_no_device_is_seeded(monkeypatch):
    """Its state would not be put back; and asking each whether it is there takes longer than all the rest."""
    monkeypatch.setattr(torch.cuda, "manual_seed_all", lambda seed: pytest.fail("a device was seeded"))
    with isolated(0):
        pass


def test_blocks_nest():
    with isolated(1):
        expected = [draws(), draws()]
    with isolated(1):
        first = draws()
        with isolated(2):
            draws()
        assert [first, draws()] == expected


class TestSurroundings:
    """An ask is a function of its arguments, whatever surrounds it."""

    @staticmethod
    def run():
        fitting._fit.cache_clear()
        opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1), c=rb.Choice("a", "b")), seed=3, num_initial=4)
        for _ in range(7):
            trial = opt.ask()
            opt.tell(trial, 9.0 if trial.number == 2 else trial.params["x"] ** 2)
        expected = opt.predict({"x": 0.25, "c": "a"})
        return [t.params for t in opt.history], opt.best(), [o.evidence for o in opt.outliers()], expected

    @staticmethod
    @contextmanager
    def default_type(dtype):
        before = torch.get_default_dtype()
        torch.set_default_dtype(dtype)
        try:
            yield
        finally:
            assert torch.get_default_dtype() == dtype
            torch.set_default_dtype(before)

    @pytest.mark.parametrize(
        "surroundings",
        [
            torch.no_grad,
            torch.inference_mode,
            partial(np.errstate, all="raise"),
            partial(torch.device, "meta"),
            partial(default_type, torch.float16),
            partial(default_type, torch.float64),
            partial(threadpool_limits, 2),
        ],
        ids=["no_grad", "inference_mode", "errstate", "meta", "float16", "float64", "threads"],
    )
    def test_they_change_nothing(self, surroundings):
        with self.default_type(torch.float32):
            plain = self.run()
        with surroundings():
            assert self.run() == plain
