"""Points are kept where they were measured: outside the space, off the steps, of a space that was changed since."""

import warnings

import pandas as pd
import pytest

import robustbo as rb
from robustbo.replay.verify import verdicts
from robustbo.searchspace.encoding import encode

SPACE = rb.Space(angle=rb.Float(0.0, 90.0), stage=rb.Int(1, 8))


def value(params):
    return (params["angle"] - 95.0) ** 2 / 100 + abs(params["stage"] - 3)


def study(path=None, space=SPACE, **options):
    options = {"surrogate": "standard", "seed": 0, "direction": "minimize"} | options
    return rb.Optimizer(space, journal=path, **options)


@pytest.fixture
def quietly():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.SpaceWarning)
        yield


@pytest.mark.parametrize(
    ("parameter", "measured", "unit"),
    [
        (rb.Float(0, 90), 90.9, 1.01),
        (rb.Float(1, 100, log=True), 1000.0, 1.5),
        (rb.Float(0, 1, step=0.25), 0.3, 0.34),
        (rb.Float(0, 1, step=0.25), 0.25, 0.3),
        (rb.Int(1, 8), 9.0, 1.0625),
        (rb.Int(1, 8), 3.5, 0.375),
    ],
)
def test_a_measured_value_has_its_place_on_the_scale(parameter, measured, unit):
    space = rb.Space(x=parameter)
    point = space.measured_point({"x": measured})
    assert point == {"x": measured}
    assert space.to_unit(point)[0] == pytest.approx(unit)


def test_a_number_that_an_ordinal_does_not_list_is_placed_between_its_neighbors():
    space = rb.Space(dose=rb.Ordinal(1, 2, 5))
    rows = [space.to_unit(space.measured_point({"dose": dose})) for dose in (1, 3, 5, 7)]
    assert encode(space, rows).flatten().tolist() == pytest.approx([0.0, 0.5, 1.0, 1.5])
    assert space.from_unit(rows[3]) == {"dose": 5}


@pytest.mark.parametrize(
    ("parameter", "measured", "message"),
    [
        (rb.Float(1, 100, log=True), -1.0, "must lie above 0 on a log scale"),
        (rb.Float(0, 1), 1e7, "at most 1000 times the range"),
        (rb.Float(0, 1), float("nan"), "must be a finite number"),
        (rb.Choice("a", "b"), "c", "must be one of"),
        (rb.Ordinal("a", "b"), "c", "must be one of"),
    ],
)
def test_what_cannot_be_modelled_is_refused(parameter, measured, message):
    with pytest.raises(rb.SpaceError, match=message):
        rb.Space(x=parameter).measured_point({"x": measured})


def test_a_readback_closes_its_trial_where_it_was_measured(tmp_path):
    opt = study(tmp_path / "j.jsonl")
    trial = opt.ask()
    with pytest.warns(rb.SpaceWarning, match=r"outside the space \(angle: must lie in \[0.0, 90.0\], got 90.03\)"):
        told = opt.tell(trial, 1.0, params={"angle": 90.03})
    assert told.params == {"angle": 90.03, "stage": trial.params["stage"]}
    assert told.target == trial.params
    assert opt.pending() == []
    resumed = rb.Optimizer.resume(tmp_path / "j.jsonl")
    assert resumed.history == opt.history
    assert resumed.frame(evidence=False)["asked.angle"][0] == trial.params["angle"]
    assert '"params"' in (tmp_path / "j.jsonl").read_text().splitlines()[-1]  # which an older version refuses


def test_where_it_was_asked_for_is_nothing_to_keep():
    opt = study()
    trial = opt.ask()
    assert opt.tell(trial, 1.0, params=trial.params).target is None


def test_asks_follow_the_space_and_the_best_is_one_that_it_allows(quietly, tmp_path):
    opt = study(tmp_path / "j.jsonl")
    for k in range(10):
        trial = opt.ask()
        assert SPACE.allows(trial.params)
        place = {"angle": trial.params["angle"] + 0.03 * (-1) ** k}
        opt.tell(trial, value(place | {"stage": trial.params["stage"]}), params=place)
    best = opt.best()
    assert SPACE.allows(best.params)
    assert best.trial.target is not None
    assert [row["agreement"] for row in verdicts([str(tmp_path / "j.jsonl")])] == ["bits"]


def test_the_best_of_old_data_outside_is_the_nearest_point_of_the_space(quietly):
    opt = study()
    for angle in (80.0, 85.0, 94.0):
        opt.tell({"angle": angle, "stage": 3}, value({"angle": angle, "stage": 3}))
    best = opt.best()
    assert best.params == {"angle": 90.0, "stage": 3}
    assert best.trial.number == 2
    assert opt.best(raw=True).params["angle"] == 85.0


def test_of_several_outcomes_too(quietly):
    opt = rb.Optimizer(SPACE, objectives={"f": "minimize", "g": "maximize"}, seed=0, surrogate="standard")
    for angle in (10.0, 50.0, 85.0, 94.0):
        opt.tell({"angle": angle, "stage": 3}, {"f": value({"angle": angle, "stage": 3}), "g": -angle})
    assert all(SPACE.allows(point.params) for point in opt.front())


def test_a_failure_is_where_it_happened_and_a_retry_where_it_may_be_asked_for(quietly):
    opt = study(num_initial=2)
    opt.tell({"angle": 1.0, "stage": 1}, 1.0)
    opt.tell({"angle": 50.0, "stage": 1}, 1.0)
    trial = opt.ask()
    failed = opt.fail(trial, "overheated", params={"angle": 91.0}, retry=True)
    assert failed.params["angle"] == 91.0
    again = opt.ask()
    assert again.params == trial.params
    assert again.repeats == trial.number


@pytest.mark.slow
def test_readings_of_replicates_do_not_go_on_for_ever(quietly):
    opt = study(replicate="any", max_replicates=1, num_initial=3, surrogate="relevance-pursuit")
    for k in range(8):
        trial = opt.ask()
        angle = trial.params["angle"] + 0.01 * k
        opt.tell(trial, 100.0 if k == 2 else value(trial.params), params={"angle": angle})
    repeats = [trial.repeats for trial in opt.history if trial.repeats is not None]
    assert len(repeats) == len({*repeats})


def test_rows_of_a_table_are_of_the_trials_that_they_name(quietly):
    opt = study()
    first, second = opt.ask(2)
    rows = [{"trial": t.number, **t.params, "value": 1.0} for t in (first, second)] + [{"angle": 5.0, "stage": 2}]
    rows[1]["angle"], rows[2]["value"] = 90.5, 3.0
    told = opt.tell_frame(pd.DataFrame(rows), trial="trial")
    assert [trial.number for trial in told] == [0, 1, 2]
    assert opt.pending() == []
    assert (told[0].target, told[1].target) == (None, second.params)
    assert told[1].params["angle"] == 90.5


def test_a_pool_keeps_readings_beside_its_rows_and_recommends_rows(quietly):
    pool = rb.Pool(pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "y": [1.0, 0.0, 1.0, 0.0]}))
    opt = study(space=pool, num_initial=2)
    for _ in range(4):
        trial = opt.ask()
        opt.tell(trial, trial.params["x"], params={"x": trial.params["x"] + 0.01})
    assert opt.best().params == {"x": 0.0, "y": 1.0}


BRANCHES = rb.Space(x=rb.Float(0, 1), s=rb.Choice("a", "b"), h=rb.Float(0, 1, when={"s": ["b"]}))


@pytest.mark.parametrize("params", [{"s": "a"}, {"x": 0.5, "s": "a"}])
def test_a_trial_is_measured_at_another_branch_of_a_condition(params):
    opt = study(space=BRANCHES)
    opt.enqueue({"x": 0.5, "s": "b", "h": 0.5})
    trial = opt.tell(opt.ask(), 5.0, params=params)
    assert (trial.params, trial.target) == ({"x": 0.5, "s": "a"}, {"x": 0.5, "s": "b", "h": 0.5})


def test_what_exists_at_the_measured_branch_alone_is_to_be_said():
    opt = study(space=BRANCHES)
    opt.enqueue({"x": 0.5, "s": "a"})
    trial = opt.ask()
    with pytest.raises(rb.SpaceError, match="h: every parameter must have a value"):
        opt.tell(trial, 5.0, params={"s": "b"})
    assert opt.tell(trial, 5.0, params={"s": "b", "h": 0.25}).params == {"x": 0.5, "s": "b", "h": 0.25}
