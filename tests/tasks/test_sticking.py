from robustbo import seeds
from robustbo.tasks.corruption import build
from robustbo_problems.hartmann6 import hartmann6

CLEAN = [float(trial) for trial in range(300)]


def told(probability):
    """What a sensor reports of a series, and where it was stuck."""
    corruption, last, found = build("sticks", hartmann6, probability=probability), None, []
    for trial, clean in enumerate(CLEAN):
        drawn = seeds.generator(0, trial, "corruption")
        last, is_stuck = corruption.after(last).apply(clean, {}, drawn)
        found.append((last, is_stuck))
    return found


def test_it_repeats_what_the_trial_before_reported():
    found = told(0.4)
    stuck = [trial for trial, (_, is_stuck) in enumerate(found) if is_stuck]
    assert 80 < len(stuck) < 160
    assert all(found[trial][0] == found[trial - 1][0] for trial in stuck)
    assert any(found[trial - 1][1] for trial in stuck)  # stuck for longer than a trial
    assert [value for value, is_stuck in found if not is_stuck] == [
        clean for clean, (_, is_stuck) in zip(CLEAN, found, strict=True) if not is_stuck
    ]


def test_the_first_trial_has_nothing_to_repeat():
    assert told(1.0)[:2] == [(CLEAN[0], False), (CLEAN[0], True)]


def test_it_strikes_the_trials_that_another_kind_strikes():
    constant = build("constant", hartmann6, probability=0.3)
    others = [constant.apply(0.0, {}, seeds.generator(0, trial, "corruption"))[1] for trial in range(1, 300)]
    assert [is_stuck for _, is_stuck in told(0.3)[1:]] == others
