"""Replicates that agree on the scale of the noise are believed, however far out they are; of two that do not, one."""

import numpy as np
import pytest

import robustbo as rb
from tests.belief.studies import FAILS_TODAY, flagged, line, noisy, probabilities, study


def replicated(num_points, repeats, level, spread, seed=1):
    """The values of points measured several times: levels that differ by a tenth, and noise of a share of the value."""
    rng = np.random.default_rng(seed)
    levels = np.repeat(level * (1 + 0.1 * rng.standard_normal(num_points)), repeats)
    return levels * (1 + spread * rng.standard_normal(num_points * repeats))


@FAILS_TODAY
@pytest.mark.parametrize(
    ("great", "level"), [((3.1, 2.95, 3.22), 0.21), ((8.9e5, 9.3e5), 4.0e4), ((-61.0, -59.2, -62.4, -60.3), -4.2)]
)
def test_one_great_choice_measured_several_times_is_believed_and_best(great, level):
    repeats = len(great)
    values = replicated(18, repeats, level, 0.03)
    values[4 * repeats : 5 * repeats] = great
    names = [f"ligand {chr(ord('a') + i)}" for i in range(18)]
    space = rb.Space(ligand=rb.Choice(*names))
    direction = "maximize" if great[0] > 0 else "minimize"
    opt = study(space, [[name] for name in names for _ in range(repeats)], values, direction=direction)
    p = probabilities(opt)[4 * repeats : 5 * repeats]
    assert p.max() < 0.5
    assert opt.best().params == {"ligand": names[4]}


@FAILS_TODAY
def test_one_great_pair_in_two_dimensions_is_believed():
    points = np.repeat(np.random.default_rng(3).random((15, 2)), 2, axis=0)
    values = replicated(15, 2, 30.0, 0.02)
    values[8:10] = 410.0, 428.0
    opt = study(rb.Space(a=rb.Float(0, 1), b=rb.Float(0, 1)), points, values)
    assert probabilities(opt)[8:10].max() < 0.5
    assert opt.best().params == pytest.approx({"a": points[8, 0], "b": points[8, 1]})


@FAILS_TODAY
def test_a_great_triplicate_in_one_of_two_outcomes_is_believed_in_both():
    x = np.repeat(np.linspace(0, 1, 10), 3)
    gain, cost = replicated(10, 3, 12.0, 0.02), 3 + 2 * x + noisy(30, 0.05)
    gain[12:15] = 141.0, 135.5, 138.2
    opt = rb.Optimizer(line(), objectives={"gain": "maximize", "cost": "minimize"}, seed=0)
    for i in range(30):
        opt.tell({"x": float(x[i])}, {"gain": float(gain[i]), "cost": float(cost[i])})
    wrong = {(o.trial.number, o.outcome): o.probability_wrong for o in opt.outliers()}
    assert max(wrong[i, outcome] for i in range(12, 15) for outcome in ("gain", "cost")) < 0.5


@FAILS_TODAY
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
