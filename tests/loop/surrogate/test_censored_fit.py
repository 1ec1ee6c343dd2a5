"""What a study makes of values that were told as bounds."""

import math
import shutil

import numpy as np
import pandas as pd
import pytest

import robustbo as rb
from robustbo.errors import NumericsWarning

SPACE = rb.Space(x=rb.Float(0, 1), y=rb.Float(0, 1))
X = np.random.default_rng(3).random((30, 2))
NOISE = 0.05 * np.random.default_rng(4).standard_normal(30)


def truth(X):
    return 3 * X[:, 0] + X[:, 1] - 1.0


def study(value, unit=1.0, limit=0.5, **options):
    """A plane in which values are known above a limit alone; below, ``value(limit)`` is told."""
    values = unit * (truth(X) + NOISE)
    cells = [value(unit * limit) if v < unit * limit else v for v in values]
    opt = rb.Optimizer(SPACE, **({"direction": "minimize"} | options), seed=0)
    opt.tell_frame(pd.DataFrame(X, columns=["x", "y"]).assign(value=pd.Series(cells, dtype=object)))
    return opt


@pytest.mark.parametrize("surrogate", ["relevance-pursuit", "standard"])
def test_the_trend_goes_on_below_the_limit(surrogate):
    opt = study(rb.Below, surrogate=surrogate)
    below = truth(X) < 0.4
    assert below.sum() > 4
    points = pd.DataFrame(X[below], columns=["x", "y"])
    mean, sd = opt.predict(points).T.to_numpy()
    assert (mean < 0.6).all()
    assert (np.abs(mean - truth(X[below])) < 4 * np.maximum(sd, 0.05)).all()
    best = opt.best()
    assert repr(best.trial.value) == "<0.5"
    assert best.mean < 0.3
    assert truth(np.array([[best.params["x"], best.params["y"]]]))[0] < 0.2


def test_no_bound_that_keeps_its_promise_is_flagged_and_units_decide_nothing():
    reports = {unit: {o.trial.number: o for o in study(rb.Below, unit).outliers()} for unit in (1e-6, 40.0)}
    bounds = [number for number, o in reports[40.0].items() if repr(o.value)[0] == "<"]
    assert len(bounds) > 4
    assert not [o for by_trial in reports.values() for o in by_trial.values() if o.flagged]
    small, large = ([by_trial[number].probability_wrong for number in bounds] for by_trial in reports.values())
    assert small == pytest.approx(large, abs=1e-6)


def test_above_is_the_mirror_of_below():
    low, high = study(rb.Below), rb.Optimizer(SPACE, direction="maximize", seed=0)
    for trial in low.history:
        value = trial.value
        high.tell(trial.params, rb.Above(-0.5) if repr(value)[0] == "<" else -value)
    point = {"x": 0.1, "y": 0.4}
    assert high.predict(point).mean == pytest.approx(-low.predict(point).mean, rel=1e-3, abs=1e-3)


def test_a_bound_that_the_others_contradict_is_wrong_and_one_vouched_for_is_not():
    opt = study(rb.Below)
    trial = opt.tell({"x": 0.8, "y": 0.7}, rb.Below(-5))
    report = next(o for o in opt.outliers() if o.trial.number == trial.number)
    assert report.flagged
    assert report.probability_wrong > 0.99
    assert report.expected == pytest.approx(2.1, abs=0.2)
    assert str(report).startswith(f"trial {trial.number}: measured <-5, expected 2.")
    assert opt.predict({"x": 0.8, "y": 0.7}).mean == pytest.approx(2.1, abs=0.2)
    opt.include(trial)
    report = next(o for o in opt.outliers() if o.trial.number == trial.number)
    assert (report.probability_wrong, report.flagged) == (0.0, False)


def test_what_is_predicted_has_no_jump_as_a_limit_moves_away_from_the_values():
    rng, means = np.random.default_rng(3), list[float]()
    X = np.concatenate([np.linspace(0, 0.4, 7), np.linspace(0.75, 1, 5)])
    values = np.sin(6 * X) + 0.05 * rng.normal(size=12)
    for limit in (None, -0.13, -0.1):
        opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="maximize", seed=0)
        opt.tell_frame(pd.DataFrame({"x": X, "value": values}))
        if limit is not None:
            opt.tell({"x": 0.58}, rb.Above(limit))
        means.append(opt.predict({"x": 0.58}).mean)
    alone, nearer, farther = means
    assert min(nearer, farther) > alone + 0.15
    assert farther == pytest.approx(nearer, abs=0.05)


def test_a_bound_that_says_nothing_changes_nothing():
    plain = study(lambda limit: limit - 0.2, limit=-9)  # nothing lies below
    point = {"x": 0.5, "y": 0.5}
    before = plain.predict(point)
    plain.tell(point, rb.Below(50))
    after = plain.predict(point)
    assert after.mean == pytest.approx(before.mean, abs=0.2 * before.sd + 0.01)


def test_known_noise_is_kept():
    opt = rb.Optimizer(SPACE, direction="minimize", seed=0)
    for row, value in zip(X, truth(X), strict=True):
        bound = value < 0.5
        opt.tell({"x": row[0], "y": row[1]}, rb.Below(0.5) if bound else value, sd=None if bound else 0.05)
    assert opt.predict({"x": 0.1, "y": 0.2}).mean < 0.45


def test_where_nothing_is_measured_the_limits_stand_for_values():
    opt = rb.Optimizer(SPACE, direction="minimize", seed=0)
    for row in X[:4]:
        opt.tell({"x": row[0], "y": row[1]}, rb.Below(0.5))
    assert opt.predict({"x": 0.5, "y": 0.5}).mean == pytest.approx(0.5, abs=0.01)


def test_a_surrogate_that_takes_none_says_so():
    with pytest.warns(NumericsWarning, match=r"huber takes no bounds: \d+ of them count as if measured"):
        study(rb.Below, surrogate="huber", surrogate_options={"max_iter": 5}).predict({"x": 0.5, "y": 0.5})


def test_an_ask_follows_and_a_replay_is_the_same(tmp_path):
    opt = study(rb.Below, journal=tmp_path / "study.jsonl")
    trial = opt.ask()
    assert trial.origin == "model"
    assert trial.fallback is None
    opt.tell(trial, rb.Below(0.5))
    shutil.copy(tmp_path / "study.jsonl", tmp_path / "copy.jsonl")
    assert rb.Optimizer.resume(tmp_path / "copy.jsonl").ask().params == opt.ask().params


def test_bounds_that_agree_at_a_point_are_no_surprise():
    opt = study(rb.Below)
    first = opt.tell({"x": 0.05, "y": 0.05}, rb.Below(0.5))
    again = opt.tell({"x": 0.05, "y": 0.05}, rb.Below(0.5))
    reports = {o.trial.number: o for o in opt.outliers()}
    assert [reports[t.number].status for t in (first, again)] == ["confirmed", "confirmed"]
    assert opt.predict(first.params).mean < 0.2


def test_few_values_beside_many_bounds_do_not_contradict_them():
    """By the scale of three values that are near one another, limits that most points keep were impossible."""
    opt = rb.Optimizer(SPACE, direction="maximize", seed=0)
    for row, value in zip(X, truth(X) + NOISE, strict=True):
        measured = rb.Below(1.3) if value < 1.3 else rb.Above(1.45) if value > 1.45 else value
        opt.tell({"x": row[0], "y": row[1]}, measured)
    assert sum(repr(trial.value)[0] not in "<>" for trial in opt.history) < 4
    assert not [o for o in opt.outliers() if o.flagged]
    assert truth(np.array([list(opt.best().params.values())]))[0] > 2
    assert opt.predict({"x": 0.05, "y": 0.05}).mean < 1.3 < 1.45 < opt.predict({"x": 0.95, "y": 0.95}).mean


@pytest.mark.parametrize("options", [{}, {"warp": "none"}])
def test_noise_told_for_some_values_counts_beside_a_bound(options):
    opt = rb.Optimizer(
        rb.Space(x=rb.Float(0, 1)),
        direction="maximize",
        seed=0,
        surrogate="relevance-pursuit",
        surrogate_options=options,
    )
    for i in range(40):
        noise = 0.02 * math.sin(91 * i)
        opt.tell({"x": i / 39}, rb.Above(0.0) if i == 39 else math.sin(7 * i / 39) + noise, sd=0.02 if i == 0 else None)
    predicted = opt.predict([{"x": 0.3}, {"x": 0.65}])
    assert predicted["mean"].tolist() == pytest.approx([math.sin(2.1), math.sin(4.55)], abs=0.04)
    assert max(predicted["sd"]) < 0.03
    assert opt.ask().fallback is None


def test_a_gross_value_is_found_beside_a_bound_sources_and_noise_told_for_some():
    sources = {"real": rb.Source(target=True), "sim": rb.Source(cost=0.1)}
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="maximize", seed=0, sources=sources)
    for i in range(18):
        value = rb.Below(0.9) if i == 4 else 40.0 if i == 6 else math.sin(6 * (i * 0.37 % 1))
        opt.tell({"x": i * 0.37 % 1}, value, source="sim" if i % 2 else "real", sd=0.01 if i % 3 == 0 else None)
    assert [one.trial.number for one in opt.outliers() if one.flagged] == [6]
    assert opt.best().trial.number != 6
