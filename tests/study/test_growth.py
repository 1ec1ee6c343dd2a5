"""What an ask of the initial design and a tell do does not depend on how many trials there are."""

import sys
import tracemalloc

import pytest

import robustbo as rb
from robustbo.trials.storage import disk


def study(count, journal=None):
    space = rb.Space(x=rb.Float(0.0, 1.0), y=rb.Float(0.0, 1.0))
    opt = rb.Optimizer(space, direction="minimize", seed=0, num_initial=10**6, journal=journal)
    events = [
        {"event": "tell", "trial": i, "value": i % 7, "sd": None, "params": {"x": i / count, "y": (i * 0.37) % 1}}
        for i in range(count)
    ]
    opt._store.commit(lambda _: events)
    opt.tell(opt.ask(), 1.0)  # what is made once a process
    opt.tell({"x": 0.123, "y": 0.456}, 2.0)
    return opt


def calls(action):
    """How many functions are called, those of C too."""
    count = 0

    def counted(frame, event, _):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def taken(action):
    """Bytes that are allocated at most at once: what copies all trials takes eight of each."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def actions(opt):
    return {
        "ask": opt.ask,
        "tell": lambda: opt.tell(opt.history.having("pending")[0], 0.5),
        "tell of a point": lambda: opt.tell({"x": 0.77, "y": 0.88}, 0.5),
        "fail": lambda: opt.fail({"x": 0.78, "y": 0.88}, "broke"),
        "enqueue": lambda: opt.enqueue({"x": 0.79, "y": 0.88}),
        "exclude": lambda: opt.exclude(3),
        "counts": lambda: opt.history.counts(),
    }


@pytest.mark.parametrize("measure", [calls, taken])
def test_asking_and_telling_cost_what_they_cost(measure, tmp_path):
    few, many = (
        {name: measure(action) for name, action in actions(study(n, tmp_path / f"{n}.jsonl")).items()}
        for n in (1000, 8000)
    )
    assert few.keys() == many.keys()
    for name in few:
        assert many[name] < 1.25 * few[name] + 500 * (1 if measure is calls else 40), (name, few[name], many[name])


def test_a_tell_reads_what_others_have_written_and_no_more(tmp_path, monkeypatch):
    opt = study(2000, tmp_path / "study.jsonl")
    other = rb.Optimizer.resume(tmp_path / "study.jsonl")
    other.tell({"x": 0.5, "y": 0.25}, 3.0)
    read, sizes = disk.read_from, []

    def counted(file, start):
        sizes.append(len(data := read(file, start)))
        return data

    monkeypatch.setattr(disk, "read_from", counted)
    opt.tell({"x": 0.25, "y": 0.5}, 1.0)
    assert 0 < sum(sizes) < 400
    assert opt.history[-2 + len(opt.history)].params == {"x": 0.5, "y": 0.25}


def test_of_others_trials_only_the_new_are_looked_for_in_a_pool(tmp_path, monkeypatch):
    import pandas as pd

    pool = rb.Pool(pd.DataFrame({"x": [i / 50 for i in range(50)]}))
    opt = rb.Optimizer(pool, direction="minimize", seed=0, journal=tmp_path / "study.jsonl")
    other = rb.Optimizer.resume(tmp_path / "study.jsonl")
    for i in range(20):
        other.tell({"x": i / 50}, 1.0)
    opt.history  # noqa: B018 - which reads
    other.tell({"x": 30 / 50}, 1.0)
    seen, validate = [], type(pool).validate
    monkeypatch.setattr(type(pool), "validate", lambda self, params: seen.append(params) or validate(self, params))
    assert len(opt.history) == 21
    assert seen == [{"x": 30 / 50}]
