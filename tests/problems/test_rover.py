import json
import math
import pickle
from collections import Counter
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import splev, splprep

from robustbo.tasks import corruption
from robustbo_problems import rover as module
from robustbo_problems.rover import load_field, rover

NUMBERS = json.loads(Path(module.__file__).with_name("rover.json").read_text())
VARIANTS = ("robot", "ebo_small", "ebo_large")
START, GOAL = (0.05, 0.05), (0.95, 0.95)


def params(variant, x):
    return dict(zip(load_field(variant).names, map(float, x), strict=True))


def random_inputs(variant, n, seed=0):
    space = rover(variant).space
    U = np.random.default_rng(seed).random((n, len(space)))
    return np.array([list(space.from_unit(u.tolist()).values()) for u in U])


def best_seen(variant):
    return np.array(list(rover(variant).best_seen_at.values()))


def slow_density(variant, x, y):
    d = NUMBERS[variant]
    is_inside = 0.0 <= x < 1.0 and 0.0 <= y < 1.0
    for a, b in d["obstacle_centers"]:
        w = d["obstacle_half_width"]
        if a - w <= x < a + w and b - w <= y < b + w:
            is_inside = False
    return 0.05 if is_inside else 20.05


def slow_points(variant, x):
    pairs = list(zip(x[::2], x[1::2], strict=True))
    if variant == "ebo_large":
        return pairs
    if variant == "ebo_small":
        return [START, *pairs, GOAL]
    points = [START]
    for dx, dy in pairs:
        points.append((points[-1][0] + dx, points[-1][1] + dy))
    return points


def slow_curve(variant, x):
    points = slow_points(variant, x)
    runs = [(point, len(list(repeats))) for point, repeats in groupby(points)]
    if len(runs) == 1:
        return [points[0]] * 1000
    P, counts = zip(*runs, strict=True)
    s = 0 if variant == "robot" else len(points) - math.sqrt(2 * len(points))
    w = None if max(counts) == 1 else [math.sqrt(count) for count in counts]
    tck, _ = splprep(np.transpose(P), w=w, k=min(3, len(P) - 1), s=s)
    if variant == "ebo_small":
        for i in (0, 1):
            tck[1][i][0], tck[1][i][-1] = START[i], GOAL[i]
    xs, ys = splev(np.linspace(0, 1, 1000), tck)
    return list(zip(xs.tolist(), ys.tolist(), strict=True))


def slow_path_cost(variant, curve):
    total = 0.0
    for a, b in pairwise(curve):
        total += math.dist(a, b) * (slow_density(variant, *a) + slow_density(variant, *b)) / 2
    return total


def miss(factor, a, b):
    return factor * (abs(a[0] - b[0]) + abs(a[1] - b[1]))


def slow_reward(variant, x, stop=999):
    curve = slow_curve(variant, x)
    penalty = miss(100.0 if variant == "robot" else 10.0, curve[stop], GOAL)
    if variant == "ebo_large":
        penalty += miss(10.0, curve[0], START)
    return 5 - slow_path_cost(variant, curve[: stop + 1]) - penalty


class Stop:
    """A generator that draws one integer, always the same, and remembers from how many."""

    def __init__(self, index):
        self.index = index

    def integers(self, high):
        self.high = high
        return self.index


def all_stops(variant, x):
    return np.array([rover(variant).failures["breakdown"](params(variant, x), Stop(i)) for i in range(1000)])


@pytest.mark.parametrize("variant", VARIANTS)
class TestAgainstPlainScipy:
    def test_the_rewards_agree_whether_obstacles_are_hit_or_not(self, variant):
        X = [*random_inputs(variant, 6), best_seen(variant)]
        for x in X:
            assert rover(variant)(params(variant, x)) == pytest.approx(slow_reward(variant, x), abs=1e-9)
        hits = [sum(slow_density(variant, *point) > 1 for point in slow_curve(variant, x)) for x in X]
        assert all(hit > 20 for hit in hits[:-1])
        assert hits[-1] == 0

    def test_repeated_control_points_count_as_one(self, variant):
        x, first, middle, last = random_inputs(variant, 1, seed=1).repeat(4, axis=0)
        if variant == "robot":
            first[:2], middle[6:10], last[-2:] = 0, 0, 0
        else:
            first[:2] = START if variant == "ebo_small" else x[2:4]
            middle[6:8], middle[8:10], last[-4:-2] = x[4:6], x[4:6], x[-2:]
        for x in (first, middle, last):
            assert any(a == b for a, b in pairwise(slow_points(variant, x)))
            assert rover(variant)(params(variant, x)) == pytest.approx(slow_reward(variant, x), abs=1e-9)

    @pytest.mark.parametrize("num_distinct", [1, 2, 3, 4])
    def test_few_distinct_control_points_lower_the_degree(self, variant, num_distinct):
        x = random_inputs(variant, 1, seed=2)[0].reshape(-1, 2)
        x[num_distinct - (variant == "robot") :] = 0 if variant == "robot" else x[num_distinct - 1]
        assert len(set(slow_points(variant, x.ravel()))) == num_distinct + 2 * (variant == "ebo_small")
        assert rover(variant)(params(variant, x.ravel())) == pytest.approx(slow_reward(variant, x.ravel()), abs=1e-9)

    def test_a_breakdown_costs_what_was_driven_and_what_was_left(self, variant):
        for x in (random_inputs(variant, 1, seed=3)[0], best_seen(variant)):
            for i in (0, 1, 500, 998, 999):
                found = rover(variant).failures["breakdown"](params(variant, x), Stop(i))
                assert found == pytest.approx(slow_reward(variant, x, stop=i), abs=1e-9)

    def test_the_density_changes_at_the_edges_exactly(self, variant):
        field = load_field(variant)
        x, y = (
            np.unique([edges, np.nextafter(edges, -9), np.nextafter(edges, 9)])[:: 1 if variant == "robot" else 5]
            for edges in field.edges
        )
        points = np.stack(np.meshgrid([*x, -0.1, 1.1], [*y, -0.1, 1.1]), axis=-1)
        expected = [slow_density(variant, *point) for point in points.reshape(-1, 2).tolist()]
        assert module.densities(field, points).ravel().tolist() == expected


@pytest.mark.parametrize("variant", VARIANTS)
class TestEveryVariant:
    def test_the_best_seen_is_the_value_there_and_less_than_five(self, variant):
        problem = rover(variant)
        assert problem(problem.best_seen_at) == pytest.approx(problem.best_seen, abs=1e-12)
        assert module.rewards(load_field(variant), random_inputs(variant, 500)).max() < problem.best_seen < 5
        assert (problem.optimum, problem.direction) == (None, "maximize")

    def test_a_batch_is_a_loop_and_its_order_does_not_matter(self, variant):
        X = random_inputs(variant, 2 * module.CHUNK + 1)
        X[1::5, 2:4] = 0 if variant == "robot" else X[1::5, :2]
        found = module.rewards(load_field(variant), X)
        np.testing.assert_allclose(found, [rover(variant)(params(variant, x)) for x in X], rtol=0, atol=1e-11)
        np.testing.assert_allclose(found[::-1], module.rewards(load_field(variant), X[::-1]), rtol=0, atol=1e-11)

    def test_it_is_deterministic_and_can_be_sent_to_another_process(self, variant):
        x = params(variant, random_inputs(variant, 1)[0])
        assert rover(variant)(x) == rover(variant)(x) == pickle.loads(pickle.dumps(rover(variant)))(x)

    def test_the_same_generator_breaks_down_at_the_same_place(self, variant):
        problem, x = rover(variant), params(variant, random_inputs(variant, 1)[0])
        one, two, other = (problem.failures["breakdown"](x, np.random.default_rng(seed)) for seed in (5, 5, 6))
        assert one == two != other

    @pytest.mark.slow
    def test_every_point_of_the_curve_is_as_likely(self, variant):
        stop, x = Stop(7), best_seen(variant)
        rover(variant).failures["breakdown"](params(variant, x), stop)
        assert stop.high == 1000
        place = {value: i for i, value in enumerate(all_stops(variant, x).tolist())}
        assert len(place) == 1000
        generator, breakdown = np.random.default_rng(0), rover(variant).failures["breakdown"]
        tenths = Counter(place[breakdown(params(variant, x), generator)] // 100 for _ in range(1000))
        assert sum((tenths[i] - 100) ** 2 / 100 for i in range(10)) < 27.9  # chi square of 9: one in a thousand

    @pytest.mark.slow
    def test_breaking_down_at_the_last_point_is_the_full_reward_and_earlier_is_worse(self, variant):
        for x in (best_seen(variant), random_inputs(variant, 1, seed=4)[0]):
            assert all_stops(variant, x)[-1] == rover(variant)(params(variant, x))
        stops = all_stops(variant, best_seen(variant))
        assert stops[:-1].max() < stops[-1]

    @pytest.mark.few(1)
    def test_the_cost_of_the_path_only_grows(self, variant):
        x = random_inputs(variant, 1, seed=4)[0]
        left = [miss(100.0 if variant == "robot" else 10.0, end, GOAL) for end in slow_curve(variant, x)]
        assert (np.diff(5 - all_stops(variant, x) - left) > 0).all()


@pytest.mark.parametrize("m", [4, 5, 11, 31])
def test_the_interpolating_spline_is_scipys(m):
    P = np.random.default_rng(m).random((20, m, 2))
    for points, curve in zip(P, module.interpolate(P), strict=True):
        expected = np.transpose(splev(np.linspace(0, 1, 1000), splprep(points.T, s=0, k=3)[0]))
        np.testing.assert_allclose(curve, expected, rtol=0, atol=1e-11)
        np.testing.assert_allclose(curve[[0, -1]], points[[0, -1]], rtol=0, atol=1e-14)


def test_a_rover_that_goes_nowhere_pays_for_all_it_missed():
    assert rover()(params("robot", np.zeros(20))) == pytest.approx(5 - 100 * 1.8, abs=1e-12)
    assert rover("ebo_large")(params("ebo_large", np.full(60, 0.5))) == pytest.approx(5 - 10 * 1.8, abs=1e-12)


def test_one_step_is_a_straight_line():
    x = np.zeros(20)
    x[6] = 0.04  # to (0.09, 0.05), on free ground
    assert rover()(params("robot", x)) == pytest.approx(5 - 0.05 * 0.04 - 100 * (0.86 + 0.9), abs=1e-9)


def test_every_curve_of_ebo_large_is_one_cubic():
    extreme = np.tile([-0.1, -0.1, 1.1, 1.1], 15)
    curves = module.trajectories(load_field("ebo_large"), np.array([extreme, *random_inputs("ebo_large", 9)]))
    assert np.abs(np.diff(curves[:, ::111], n=4, axis=1)).max() < 1e-12


def test_repeated_points_are_the_limit_of_points_that_meet():
    field, generator = load_field("ebo_large"), np.random.default_rng(0)
    X = np.repeat(random_inputs("ebo_large", 1).reshape(1, 30, 2)[:, ::3], 3, axis=1).reshape(1, 60)
    for size in (1e-4, 1e-7):
        near = module.trajectories(field, X + size * generator.standard_normal(X.shape))
        np.testing.assert_allclose(near, module.trajectories(field, X), rtol=0, atol=20 * size)


def test_the_spaces_are_those_of_the_papers():
    robot, large = rover(), rover("ebo_large")
    assert robot.space.names[:4] + robot.space.names[-1:] == ["dx1", "dy1", "dx2", "dy2", "dy10"]
    assert large.space.names[:2] + large.space.names[-1:] == ["x1", "y1", "y30"]
    assert [len(rover(variant).space) for variant in VARIANTS] == [20, 20, 60]
    for problem, low, high in ((robot, -0.1, 0.2), (rover("ebo_small"), -0.1, 1.1), (large, -0.1, 1.1)):
        assert {(p.low, p.high) for _, p in problem.space.parameters} == {(low, high)}


def test_a_breakdown_is_a_corruption_of_its_own_kind():
    always = corruption.build("breakdown", rover(), probability=1.0)
    value, is_corrupted = always.apply(4.9, rover().best_seen_at, np.random.default_rng(0))
    assert is_corrupted
    assert value in all_stops("robot", best_seen("robot"))[:-1]


def test_an_unknown_variant_is_refused():
    with pytest.raises(ValueError, match=r"variant must be one of \['robot', 'ebo_small', 'ebo_large'\], got 'robto'"):
        rover("robto")
