import random
import threading
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

import robustbo as rb
from robustbo.determinism.generator import no_draws
from robustbo.determinism.isolation import isolation, seed_everything
from robustbo.determinism.surroundings import pin_surroundings


def draws():
    return torch.rand(3).tolist(), np.random.rand(3).tolist(), [random.random() for _ in range(3)]  # noqa: NPY002


def state():
    numpy_state = np.random.get_state()  # noqa: NPY002
    return torch.get_rng_state().tolist(), [np.asarray(part).tolist() for part in numpy_state], random.getstate()


DRAWS = (
    lambda: torch.rand(64),
    lambda: torch.rand(64, generator=None),
    lambda: torch.randn(3, 4, dtype=torch.float64),
    lambda: torch.randint(0, 1000, (64,)),
    lambda: torch.randint(1000, size=(64,)),
    lambda: torch.randperm(64),
    lambda: torch.multinomial(torch.ones(64), 32),
    lambda: torch.ones(64).multinomial(32),
    lambda: torch.bernoulli(torch.full((64,), 0.5)),
    lambda: torch.normal(torch.zeros(64), torch.ones(64)),
    lambda: torch.poisson(torch.full((64,), 9.0)),
    lambda: torch.rand_like(torch.zeros(8, 8, dtype=torch.float64)),
    lambda: torch.randn_like(torch.zeros(64)),
    lambda: torch.empty(64).uniform_(),
    lambda: torch.empty(64).normal_(),
    lambda: torch.empty(64).exponential_(),
    lambda: torch.distributions.Normal(torch.zeros(64), 1.0).sample(),
    lambda: torch.quasirandom.SobolEngine(2, scramble=True).draw(8),
)


def threads():
    several = [each for each in threadpool_info() if each.get("threading_layer") != "disabled"]  # these have one
    libraries = [each["num_threads"] for each in several if each["user_api"] == "blas"]
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
    with seed_everything(seed):
        first = draws()
    draws()
    with seed_everything(seed):
        assert draws() == first
    with seed_everything(seed - 1 if seed else 1):
        assert all(other != mine for other, mine in zip(draws(), first, strict=True))


def test_the_outside_is_as_it_was(two_threads):
    before = state()
    with seed_everything(0):
        draws()
        assert threads() == {1}
    assert state() == before
    assert threads() == {2}


def test_the_outside_is_as_it_was_after_an_error(two_threads):
    before = state()
    with pytest.raises(ZeroDivisionError, match="division by zero"), seed_everything(0):
        draws()[0][0] / 0
    assert state() == before
    assert threads() == {2}


def test_no_device_is_seeded(monkeypatch):
    """Its state would not be put back; and asking each whether it is there takes longer than all the rest."""
    monkeypatch.setattr(torch.cuda, "manual_seed_all", lambda seed: pytest.fail("a device was seeded"))
    with isolation(0):
        pass


@pytest.mark.parametrize("draw", DRAWS, ids=range(len(DRAWS)))
def test_every_draw_of_torch_is_the_block_s_own(draw):
    before = torch.get_rng_state()
    with isolation(5):
        first = draw()
    assert torch.equal(torch.get_rng_state(), before)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        assert torch.equal(pin_surroundings(draw)(), first)  # the very numbers that the global generator would give
    with isolation(6):
        assert not torch.equal(draw(), first)


def test_a_module_is_initialized_by_the_block_s_own():
    before = torch.get_rng_state()
    with isolation(5):
        first = torch.nn.Linear(3, 3).weight.tolist()
    with isolation(5):
        assert torch.nn.Linear(3, 3).weight.tolist() == first
    assert torch.equal(torch.get_rng_state(), before)


def test_what_names_a_generator_draws_from_that():
    with isolation(5):
        drawn = torch.rand(3, generator=torch.Generator().manual_seed(1))
    assert torch.equal(drawn, pin_surroundings(torch.rand)(3, generator=torch.Generator().manual_seed(1)))


def test_where_nothing_is_drawn_the_rest_goes_on():
    with isolation(5):
        first = [torch.rand(1), torch.rand(1)]
    with isolation(5):
        again = [torch.rand(1)]
        with no_draws():
            before = torch.get_rng_state()
            with isolation(7):
                torch.rand(1)
            torch.zeros(3).exp()
            assert torch.equal(torch.get_rng_state(), before)
        again.append(torch.rand(1))
    assert again == first
    with no_draws():  # outside too
        pass


def test_blocks_nest():
    with seed_everything(1):
        expected = [draws(), draws()]
    with seed_everything(1):
        first = draws()
        with seed_everything(2):
            draws()
        assert [first, draws()] == expected


MIXED = {"c": rb.Choice("a", "b")}


class TestSurroundings:
    """An ask is a function of its arguments, whatever surrounds it."""

    @staticmethod
    def run(**others):
        opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1), **others or MIXED), direction="minimize", seed=3, num_initial=4)
        for _ in range(7):
            trial = opt.ask()
            opt.tell(trial, 9.0 if trial.number == 2 else trial.params["x"] ** 2)
        expected = opt.predict(opt.history[0].params)
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

    @pytest.fixture(scope="class")
    @classmethod
    def plain(cls):
        with cls.default_type(torch.float32):
            return cls.run()

    @pytest.mark.few(1)
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
    def test_they_change_nothing(self, surroundings, plain):
        with surroundings():
            assert self.run() == plain

    @pytest.mark.slow
    @pytest.mark.parametrize("others", [MIXED, {"y": rb.Float(0, 1)}], ids=["mixed", "continuous"])
    def test_nor_do_another_thread_s_random_numbers(self, others):
        def draw():
            while not is_over.is_set():
                drawn.append((torch.rand(1, dtype=torch.float64).item(), np.random.rand(), random.random()))  # noqa: NPY002

        plain, drawn, is_over = self.run(**others), [], threading.Event()
        before = state()
        torch.manual_seed(4)
        np.random.seed(4)  # noqa: NPY002
        random.seed(4)
        thread = threading.Thread(target=draw)
        thread.start()
        try:
            assert self.run(**others) == plain
        finally:
            is_over.set()
            thread.join()
        torch.manual_seed(4)
        np.random.seed(4)  # noqa: NPY002
        random.seed(4)
        assert len(drawn) > 100
        for numbers in drawn:  # nor are these disturbed
            assert numbers == (torch.rand(1, dtype=torch.float64).item(), np.random.rand(), random.random())  # noqa: NPY002
        torch.set_rng_state(torch.tensor(before[0], dtype=torch.uint8))

    @pytest.mark.slow
    def test_nor_where_a_choice_has_many_values(self):
        """BoTorch draws some of them by Python's own generator."""
        others = {"c": rb.Choice(*map(str, range(30)))}
        plain = self.run(**others)
        random.seed(77)
        before = random.getstate()
        assert self.run(**others) == plain
        assert random.getstate() == before
