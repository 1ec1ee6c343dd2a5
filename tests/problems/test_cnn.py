import numpy as np
import pytest
import torch

from robustbo import seeds
from robustbo.tasks import problem
from robustbo.tasks.corruption import build
from robustbo_problems import cnn as module
from robustbo_problems.cnn import cnn, digits, network

GOOD = {"learning_rate": 0.05, "momentum": 0.5, "weight_decay": 0.001, "step_size": 50, "gamma": 0.9}
POOR = GOOD | {"weight_decay": 1.0}


@pytest.mark.usefixtures("real_data")
class TestOnRealData:
    def test_values(self):
        made = cnn()
        good = made(GOOD)
        assert 0.85 < good < 0.95
        assert 0.05 < made(POOR) < 0.2
        assert made(GOOD | {"momentum": 1.0, "learning_rate": 0.1}) < 0.5  # it diverges, and guesses

    def test_the_same_seed_gives_the_same_value_whatever_else_is_drawn(self):
        first = cnn()(GOOD)
        torch.manual_seed(99)
        before = torch.random.get_rng_state()
        assert cnn()(GOOD) == first
        assert torch.equal(torch.random.get_rng_state(), before)
        assert cnn(seed=1)(GOOD) != first

    def test_threads_do_not_change_it(self):
        first, threads = cnn()(GOOD), torch.get_num_threads()
        torch.set_num_threads(2)
        try:
            assert cnn()(GOOD) == first
        finally:
            torch.set_num_threads(threads)

    def test_the_best_seen_is_the_value_there(self):
        made = cnn()
        assert made(made.best_seen_at) == pytest.approx(made.best_seen, abs=0.01)  # other processors round otherwise
        assert made.best_seen > 0.9

    def test_a_failure_trains_on_fewer_batches(self):
        made, seen = cnn(), []

        def count(net, data, order, params):
            seen.append(len(order))

        failure = made.failures["io-failure"]
        failed = failure(GOOD, np.random.default_rng(0))
        assert failure(GOOD, np.random.default_rng(0)) == failed
        assert failed < made(GOOD)
        data = module.digits(module.PRESETS["small"])
        few = data._replace(X_test=data.X_test[:1], y_test=data.y_test[:1])  # what is counted is not what is tested on
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "digits", lambda preset: few)
            patch.setattr(module, "train", count)
            for i in range(200):
                failure(GOOD, np.random.default_rng(i))
        assert 7 <= min(seen) < 10  # 100 of 1875, of 128
        assert 65 < max(seen) <= 68  # 1000 of 1875

    def test_the_corruption_hits_the_trials_that_its_mask_says(self):
        made = cnn()
        corruption = build("io-failure", made, probability=0.5)
        clean = made(GOOD)
        for trial in range(6):
            value, is_corrupted = corruption.apply(clean, GOOD, seeds.generator(3, trial, "corruption"))
            assert is_corrupted == (seeds.generator(3, trial, "corruption").random() < 0.5)
            assert (value != clean) == is_corrupted

    def test_digits_are_standardized(self):
        data = digits(module.PRESETS["small"])
        assert data.X.shape == (4096, 1, 28, 28)
        assert data.X_test.shape == (2000, 1, 28, 28)
        assert abs(data.X.mean().item()) < 0.02
        assert abs(data.X.std().item() - 1) < 0.02


def test_the_schedule_multiplies_the_rate(monkeypatch):
    """Ten images in five batches, a step of two: the rate falls after the second and the fourth."""
    rates = []

    class Recording(torch.optim.SGD):
        def step(self, *args, **kwargs):
            rates.append(self.param_groups[0]["lr"])
            return super().step(*args, **kwargs)

    monkeypatch.setattr(torch.optim, "SGD", Recording)
    X = torch.zeros(10, 1, 28, 28, dtype=torch.float32)
    data = module.Digits(X, torch.zeros(10, dtype=torch.long), X, torch.zeros(10, dtype=torch.long))
    module.train(network((2, 2)), data, torch.arange(10).view(5, 2), GOOD | {"step_size": 2, "gamma": 0.5})
    assert rates == pytest.approx([0.05, 0.05, 0.025, 0.025, 0.0125])


def test_it_is_registered_with_its_options():
    made = problem.load("cnn", preset="paper", seed=3)
    assert made.direction == "maximize"
    assert made.best_seen is None
    p = dict(made.space.parameters)
    ranges = {name: (p[name].low, p[name].high) for name in made.space.names}
    assert ranges == {
        "learning_rate": (1e-4, 1e-1),
        "momentum": (0.0, 1.0),
        "weight_decay": (0.0, 1.0),
        "step_size": (1, 100),
        "gamma": (0.0, 1.0),
    }


def test_bad_options_are_refused():
    with pytest.raises(ValueError, match=r"preset must be one of \['paper', 'small'\], got 'big'"):
        cnn("big")
    with pytest.raises(ValueError, match="seed must be"):
        cnn(seed=-1)
