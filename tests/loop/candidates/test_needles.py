"""One value that is far better than all others: wrong, or what is looked for; it is measured again before all else."""

import random

import pandas as pd
import pytest

import robustbo as rb

HEIGHT = 85.0


def study(seed, dim, sign=1.0, unit=1.0, pool=False, **options):
    """A study told 20 values of noise about 0 and one far better, in some order; its objective, and where that is."""
    draws = random.Random(seed)
    points = [{f"x{i}": draws.random() for i in range(dim)} for _ in range(60)]
    needle = points[(7 * seed) % 21]

    def objective(point):
        return unit * (draws.gauss(0, 1) + sign * (HEIGHT if point == needle else 0.0))

    space = rb.Pool(pd.DataFrame(points)) if pool else rb.Space(**{f"x{i}": rb.Float(0, 1) for i in range(dim)})
    opt = rb.Optimizer(space, direction="maximize" if sign > 0 else "minimize", seed=seed, **options)
    for point in points[:21]:
        opt.tell(point, objective(point))
    return opt, objective, needle


def trials_until(opt, objective, needle, most):
    """The number of asks until the needle is asked for; more than the most where it is not."""
    for count in range(1, most + 1):
        trial = opt.ask()
        opt.tell(trial, objective(trial.params))
        if trial.params == needle:
            assert trial.reason == "re-measure"
            return count
    return most + 1


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.few(3)
def test_it_is_measured_again_within_two_asks(seed):
    opt, *rest = study(seed, 1 + seed % 4, sign=(-1.0) ** seed, unit=(1.0, 1e-3, 250.0)[seed % 3])
    assert trials_until(opt, *rest, most=2) <= 2


@pytest.mark.few(1)
@pytest.mark.parametrize("options", [{"pool": True}, {"replicate": "any"}], ids=str)
def test_in_a_pool_and_where_any_value_may_be_measured_again(options):
    opt, *rest = study(1, 2, **options)
    assert trials_until(opt, *rest, most=2) <= 2


def test_never_is_never():
    opt, *rest = study(0, 2, replicate="never")
    assert trials_until(opt, *rest, most=2) == 3


def test_of_a_batch_it_takes_one_place():
    opt, _, needle = study(0, 2)
    assert [trial.params == needle for trial in opt.ask(3)].count(True) == 1


def test_one_that_was_wrong_is_left_alone_after_its_replicates():
    opt, objective, needle = study(0, 2, max_replicates=1)
    assert trials_until(opt, lambda point: 0.0 if point == needle else objective(point), needle, most=2) <= 2
    for _ in range(2):
        trial = opt.ask()
        assert trial.params != needle
        opt.tell(trial, objective(trial.params))


def test_with_several_objectives_too():
    draws = random.Random(3)
    space = rb.Space(x=rb.Float(0, 1), y=rb.Float(0, 1))
    reference = {"a": -5.0, "b": 5.0}
    opt = rb.Optimizer(space, objectives={"a": "maximize", "b": "minimize"}, reference_point=reference, seed=3)
    needle = None
    for i in range(21):
        point = {"x": draws.random(), "y": draws.random()}
        needle = point if i == 11 else needle
        opt.tell(point, {"a": draws.gauss(0, 1) + HEIGHT * (i == 11), "b": draws.gauss(0, 1)})
    points = []
    for _ in range(2):
        trial = opt.ask()
        points.append(trial.params)
        opt.tell(trial, {"a": draws.gauss(0, 1) + HEIGHT * (trial.params == needle), "b": draws.gauss(0, 1)})
    assert needle in points


def test_what_no_model_expected_is_measured_again_though_the_fit_believes_it():
    """A fit may adapt to a value that is far too good; the model that asked for it has not."""
    draws = random.Random(1)
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="maximize", seed=5, surrogate="conjugate", num_initial=19)
    for _ in range(20):
        trial = opt.ask()
        opt.tell(trial, draws.gauss(0, 1))
    while (trial := opt.ask()).repeats is not None:
        opt.tell(trial, draws.gauss(0, 1))
    opt.tell(trial, HEIGHT)
    assert opt.ask().params == trial.params
