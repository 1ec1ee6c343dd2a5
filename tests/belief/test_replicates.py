"""Replicates that agree on the scale of the noise are believed, however far out they are; of two that do not, one."""

import numpy as np
import pytest

import robustbo as rb
from tests.belief.studies import flagged, line, noisy, probabilities, study


def replicated(num_points, repeats, level, noise, apart=0.0, seed=0):
    """The values of points measured several times, which hardly differ but by noise."""
    rng = np.random.default_rng(seed)
    levels = np.repeat(level + apart * rng.standard_normal(num_points), repeats)
    return levels + noise * rng.standard_normal(num_points * repeats)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("great", "others", "unit"),
    [
        ((78.4, 82.1, 79.0, 81.3), (24, 4, 5.0, 0.5), 1e3),
        ((83.0, 80.9, 82.2, 81.7), (24, 4, 5.0, 0.15, 0.1), -0.02),
        ((31.0, 29.8), (30, 2, 2.1, 0.2, 0.3, 1), 0.01),
    ],
)
def test_one_great_choice_measured_several_times_is_believed_and_best(great, others, unit):
    num_points, repeats = others[:2]
    values = replicated(*others)
    values[4 * repeats : 5 * repeats] = great
    names = [f"ligand {i}" for i in range(num_points)]
    points = [[name] for name in names for _ in range(repeats)]
    direction = "maximize" if unit > 0 else "minimize"
    opt = study(rb.Space(ligand=rb.Choice(*names)), points, unit * values, direction=direction)
    assert probabilities(opt)[4 * repeats : 5 * repeats].max() < 0.5
    assert opt.best().params == {"ligand": names[4]}


@pytest.mark.few(1)
@pytest.mark.parametrize(("d", "repeats"), [(1, 4), (2, 2)])
def test_a_great_point_of_a_continuous_space_is_believed(d, repeats):
    points = np.repeat(np.random.default_rng(3).random((15, d)), repeats, axis=0)
    values = replicated(15, repeats, 30.0, 3.0)
    values[4 * repeats : 5 * repeats] = (410.0, 428.0, 399.0, 405.0)[:repeats]
    opt = study(rb.Space(**{name: rb.Float(0, 1) for name in "ab"[:d]}), points, values)
    assert probabilities(opt)[4 * repeats : 5 * repeats].max() < 0.5
    assert list(opt.best().params.values()) == pytest.approx(list(points[4 * repeats]))


def test_a_great_triplicate_in_one_of_two_outcomes_is_believed_in_both():
    x = np.repeat(np.linspace(0, 1, 10), 3)
    gain, cost = replicated(10, 3, 12.0, 1.0), 3 + 2 * x + noisy(30, 0.05)
    gain[12:15] = 141.0, 128.5, 134.2
    opt = rb.Optimizer(line(), objectives={"gain": "maximize", "cost": "minimize"}, seed=0)
    for i in range(30):
        opt.tell({"x": float(x[i])}, {"gain": float(gain[i]), "cost": float(cost[i])})
    wrong = {(o.trial.number, o.outcome): o.probability_wrong for o in opt.outliers()}
    assert max(wrong[i, outcome] for i in range(12, 15) for outcome in ("gain", "cost")) < 0.5


def test_a_pair_that_differs_by_a_tenth_where_noise_is_a_tenth_is_believed():
    x = np.repeat(np.linspace(0, 1, 16), 2)
    values = np.exp(4 * x) * (1 + noisy(32, 0.1, 5))
    values[20:22] = 180.0, 219.0
    assert probabilities(study(line(), x, values))[20:22].max() < 0.5


def test_of_two_that_contradict_one_another_one_is_wrong():
    x = np.repeat(np.linspace(0, 10, 14), 2)
    values = 50 + 4 * np.sin(x) + noisy(28, 0.3)
    values[11] += 30
    p = probabilities(study(line(high=10.0), x, values))
    assert p[11] > 0.8
    assert p[10] < 0.2


def test_a_single_gross_value_among_pairs_is_flagged():
    x = np.append(np.repeat(np.linspace(0, 1, 12), 2), 0.5)
    values = np.append(7 + np.sin(5 * x[:-1]) + noisy(24, 0.05), 95.0)
    assert flagged(study(line(), x, values)) == [24]
