import pickle
import random
from collections import Counter
from dataclasses import replace

import pytest

from robustbo.trials.by_point import WIDTH, ByPoint, Numbers
from robustbo.trials.history import History
from robustbo.trials.tree import KINDS, OPENED, Node, Trials, tally_of
from robustbo.trials.trial import STATES, Measured, Trial


def trial(number, state="told", x=None):
    return Trial(number, {"x": number / 7 if x is None else x}, state=state)


def nodes(trials):
    """The nodes of a tree, by what they are."""
    below = [trials._root]
    for node in below:
        below += [part for part in node.parts if isinstance(part, Node)]
    return {id(node): node for node in below}


def leaves(by_point):
    """The leaves and branches of a map, likewise."""
    below = [by_point._root]
    for node in below:
        below += [part for part in node if isinstance(part, tuple | dict)] if isinstance(node, tuple) else []
    return {id(node): node for node in below}


def kinds(trial):
    return [
        trial.state,
        *([OPENED] if trial.is_open else []),
        *(["lost"] if trial.state == "told" and any(m.is_lost for m in trial.outcomes.values()) else []),
        *(["to be retried"] if trial.state == "failed" and trial.retry else []),
        *(["barred"] if trial.state == "failed" and trial.retry is False else []),
    ]


def anything(rng, number, x=None):
    made = trial(number, rng.choice(STATES), x)
    outcomes = {"a": Measured(1.0, is_lost=rng.random() < 0.3)} if rng.random() < 0.3 else {}
    return replace(made, retry=rng.choice([None, True, False]), outcomes=outcomes)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_a_tuple_whatever_is_changed_and_whoever_holds_an_older_one(seed):
    rng = random.Random(seed)
    held = [((), Trials())]
    for _ in range(50):
        plain, trials = held[rng.randrange(max(0, len(held) - 4), len(held))]  # now and then a fork
        assert rng.random() < 0.5 or trials.by_point is not None  # made at some time, and carried from then on
        old = rng.sample(range(len(plain)), min(len(plain), rng.randrange(3)))
        changes = {i: anything(rng, i, plain[i].params["x"]) for i in old}
        changes |= {
            i: anything(rng, i, rng.randrange(9)) for i in range(len(plain), len(plain) + rng.choice([0, 1, 40]))
        }
        after = tuple(changes.get(i, t) for i, t in enumerate(plain)) + tuple(
            t for i, t in sorted(changes.items()) if i >= len(plain)
        )
        held.append((after, trials.with_changes(changes)))
    for plain, trials in held:
        assert (trials, tuple(trials), len(trials)) == (plain, plain, len(plain))
        assert trials[3:-2:2] == plain[3:-2:2]
        assert all(trials[i] is plain[i] and trials[-i - 1] is plain[-i - 1] for i in range(len(plain)))
        for kind in KINDS:
            wanted = [t for t in plain if kind in kinds(t)]
            assert (list(trials.having(kind)), trials.num(kind)) == (wanted, len(wanted))
        for point in {t.point for t in plain[-40:]}:
            assert trials.at(point) == tuple(t for t in plain if t.point == point)
            assert trials.open_at(point) == [t for t in plain if t.point == point and t.is_open]
        assert set(trials.by_point) == {t.point for t in plain}
        assert len(trials.by_point) == len(set(trials.by_point))


def test_there_is_none_at_another_place_or_point():
    trials = Trials(map(trial, range(3)))
    for place in (3, -4):
        with pytest.raises(IndexError):
            trials[place]
    assert (trials.at((("x", False, 9.0),)), trials.open_at(trial(0).point)) == ((), [])
    assert trials != trials[:2]
    assert trials != list(trials)


@pytest.mark.parametrize("size", [40, 5000, 40_000])
def test_a_change_makes_a_few_nodes_anew_whatever_the_size(size):
    before = Trials(trial(i, "pending") for i in range(size))
    assert len(before.by_point) == size
    for after in (before.with_changes({size // 2: trial(size // 2)}), before.with_changes({size: trial(size)})):
        new = nodes(after).keys() - nodes(before).keys()
        assert len(new) <= 5
        maps = leaves(after.by_point)
        anew = maps.keys() - leaves(before.by_point).keys()
        assert len(anew) <= 5 + WIDTH * (len(maps) < 2 * WIDTH)  # a leaf may become a branch
        assert sum(len(maps[key]) for key in anew) <= 6 * WIDTH


def test_few_among_many_are_at_hand(monkeypatch):
    """Of 32,000 trials only those in the leaves of the two that wait are looked at."""
    states = {700: "queued", 31_000: "queued"}
    trials = Trials(trial(i, states.get(i, "told")) for i in range(32_000))
    looked_at = Counter()
    monkeypatch.setattr("robustbo.trials.tree.tally_of", lambda t: looked_at.update([t.number]) or tally_of(t))
    assert [t.number for t in trials.having("queued")] == [*states]
    assert trials.num("told") == 31_998
    assert len(looked_at) == 64


def test_points_of_one_hash_are_told_apart():
    class Same(float):
        def __hash__(self):
            return 7

    points = [(("x", False, Same(i)),) for i in range(3 * WIDTH)]
    by_point = ByPoint.of(points)
    for number, point in enumerate(points, start=len(points)):
        by_point = by_point.with_trial(number, point)
    assert all([*by_point.at(point)] == [len(points) + i, i] for i, point in enumerate(points))
    assert len(by_point) == len(points)


def test_very_many_trials_at_one_point_are_a_chain_that_nothing_walks_through():
    numbers = None
    for i in range(200_000):
        numbers = Numbers(i + 1, i, numbers)
    assert (numbers.count, next(iter(numbers))) == (200_000, 199_999)
    del numbers  # without a recursion


def test_a_copy_from_another_process_has_its_own_map():
    history = History(Trials(map(trial, range(100))))
    assert len(history.trials.by_point) == 100
    assert pickle.loads(pickle.dumps(history)) == history
    assert b"ByPoint" not in pickle.dumps(history)


def test_two_extensions_of_one_history_know_nothing_of_each_other():
    begin = History().apply_all({"event": "ask", "trial": i, "params": {"x": i}, "origin": "sobol"} for i in range(40))
    assert begin.trials.at(trial(3, x=3).point)  # the map is made
    left = begin.apply({"event": "tell", "trial": 3, "value": 1.0, "sd": None})
    right = begin.apply_all(
        [{"event": "fail", "trial": 3, "reason": "x"}, {"event": "enqueue", "trial": 40, "params": {"x": 99}}]
    )
    assert [h[3].state for h in (begin, left, right)] == ["pending", "told", "failed"]
    assert [h.counts()["pending"] for h in (begin, left, right)] == [40, 39, 39]
    assert [len(h.trials.at(trial(0, x=99).point)) for h in (begin, left, right)] == [0, 0, 1]
    assert left.apply({"event": "enqueue", "trial": 40, "params": {"x": -1}}).trials.at(trial(0, x=99).point) == ()


def test_who_holds_the_map_and_who_makes_it_anew_find_the_same_trials_however_these_were_moved():
    asked, elsewhere, at_last = {"x": 0.5}, {"x": 0.6}, {"x": 0.7}
    here = Trials([trial(0)])
    assert here.by_point.at(trial(0).point)
    moved = Trial(1, elsewhere, state="failed", retry=True, target=asked)
    for changes in ({1: moved}, {1: replace(moved, params=at_last)}):  # new, asked and measured at once; then again
        here = here.with_changes(changes)
        anew = Trials(here).by_point
        for params in (asked, elsewhere, at_last):
            point = Trial(1, params).point
            assert {*here.by_point.at(point)} == {*anew.at(point)}, params
