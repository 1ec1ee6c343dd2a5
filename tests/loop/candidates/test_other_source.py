"""Asks of other sources: of several outcomes, where a source alone fails, by level, beside a worker's error."""

import math
import warnings
from dataclasses import replace

import pandas as pd
import pytest

import robustbo as rb
from robustbo.loop.candidates.other_source import _is_due
from robustbo.loop.candidates.source_worth import points_to_compare, source_feasibility
from robustbo.loop.observations.table import observations
from robustbo.loop.sources.relations import relations
from robustbo.loop.surrogate.cache import FitCache

SPACE = rb.Space(x=rb.Float(0.0, 1.0))
SOURCES = {"lab": rb.Source(target=True), "simulator": rb.Source(cost=0.05)}
POINTS = [(i * 0.618) % 1 for i in range(16)]


def objective(x):
    return math.sin(6 * x)


def study(sources=SOURCES, **options):
    options = {"direction": "maximize", "seed": 3, "num_initial": 4, **options}
    return rb.Optimizer(SPACE, sources=sources, **options)


def test_of_several_outcomes_a_source_is_asked_by_what_it_is_worth_to_all_objectives():
    opt = study(direction=None, objectives={"a": "maximize", "b": "minimize"})
    for i, x in enumerate(POINTS[:8]):
        opt.tell({"x": x}, {"a": objective(x), "b": x}, source="lab" if i < 4 else "simulator")
    trial = opt.ask(source="simulator")
    assert (trial.source, trial.origin, trial.fallback) == ("simulator", "model", None)


def test_the_target_is_measured_where_a_source_that_is_right_says_the_best_is():
    """One of its points is recommended in the end: a cheap source alone would be asked for ever."""
    opt = study()
    for x in (0.55, 0.65, 0.75, 0.85, 0.95):  # the best is at 0.26
        opt.tell({"x": x}, objective(x), source="lab")
    for i, x in enumerate(POINTS):
        opt.tell({"x": x}, objective(x) + 0.1 * (-1) ** i, source="simulator")
    trial = opt.ask()
    assert trial.source == "lab"
    assert objective(trial.params["x"]) > 0.8


def test_a_source_that_fails_somewhere_is_asked_elsewhere_and_the_target_is_not_concerned():
    opt = study()
    for x in POINTS[:5]:
        opt.tell({"x": x}, objective(x), source="lab")
    for x in POINTS:
        if x > 0.5:
            opt.fail({"x": x}, source="simulator")
        else:
            opt.tell({"x": x}, objective(x), source="simulator")
    trials = [opt.ask(source="simulator") for _ in range(2)]
    assert all(trial.params["x"] < 0.6 for trial in trials)
    data = observations(opt.settings, opt.history)
    assert not data.failed
    own = data.trials_of_source("simulator")
    chances = source_feasibility(opt.settings, own, FitCache()).log_p([(0.1,), (0.9,)]).exp()
    assert chances[0] > 0.8 > 0.3 > chances[1]


def test_levels_share_their_first_rows_and_one_without_values_may_be_asked():
    sources = rb.fidelity_levels("epochs", [10, 30, 100])
    opt = study(sources=sources)
    for x in POINTS[:5]:
        opt.tell({"x": x}, objective(x), source="epochs=100")
    for x in POINTS[5:11]:
        opt.tell({"x": x}, objective(x) - 1.0 - x, source="epochs=10")
    trial = opt.ask(source="epochs=30")
    assert trial.origin == "model"
    opt.tell(trial, objective(trial.params["x"]) - 0.2)
    reports = {row["source"]: row for row in opt.sources().to_dict("records")}
    assert reports["epochs=10"]["relation"] == reports["epochs=30"]["relation"] != "unrelated"
    assert abs(reports["epochs=10"]["b"]) > abs(reports["epochs=30"]["b"])


def test_an_error_of_a_worker_is_corrected_beside_an_old_study():
    old = pd.DataFrame({"x": [i / 15 for i in range(16)]})
    old["value"] = [objective(x) + 2.0 for x in old["x"]]
    sources = {"lab": rb.Source(target=True), "2025": rb.Source(ask=False)}
    opt = study(sources, prior_data={"2025": old})
    for i, x in enumerate(POINTS):
        shift, noise = (0.8 if i % 3 == 1 else 0.0), 0.02 * math.sin(50 * i)
        opt.tell({"x": x}, objective(x) + shift + noise, source={"source": "lab", "worker": "ABC"[i % 3]})
    with warnings.catch_warnings():
        warnings.simplefilter("error", rb.SourceWarning)
        with pytest.raises(rb.SourceWarning, match="worker B reads"):
            opt.ask()
    assert opt.pending() == []  # nothing is recorded, and it is said once
    assert opt.ask().origin == "model"
    (report,) = opt.sources().to_dict("records")[:1]
    assert report["relation"] == "offset"
    assert report["b"] == pytest.approx(2.0, abs=0.1)
    assert opt.predict([{"x": 0.42}])["mean"][0] == pytest.approx(objective(0.42), abs=0.1)


def test_noise_that_is_told_for_some_counts_beside_a_source():
    opt = study(num_initial=2)
    for i, x in enumerate(POINTS):
        wild = 1.5 * math.sin(40 * i) if i % 2 else 0.0
        opt.tell({"x": x}, objective(x) + wild, sd=1.5 if i % 2 else None, source="lab")
    for x in POINTS[:6]:
        opt.tell({"x": x + 0.01}, math.cos(11 * x), sd=0.05, source="simulator")
    prediction = opt.predict([{"x": x} for x in POINTS[::2]])
    assert prediction["mean"].tolist() == pytest.approx([objective(x) for x in POINTS[::2]], abs=0.25)


def of_whole_numbers(**options):
    opt = rb.Optimizer(
        rb.Space(x=rb.Int(0, 15)), direction="maximize", seed=0, num_initial=3, sources=SOURCES, **options
    )
    for x in (1, 6, 12):
        opt.tell({"x": x}, -((x - 7) ** 2) / 10, source="simulator")
    for x in (0, 5, 14):
        opt.tell({"x": x}, 1 - (x - 7) ** 2 / 10, source="lab")
    return opt


def test_a_source_is_not_asked_again_where_nobody_will_measure_or_it_fails_for_good():
    for failures, end in (
        ("learn", lambda opt, trial: opt.withdraw(trial)),
        ("ignore", lambda opt, trial: opt.fail(trial, "no", retry=False)),
    ):
        opt, asked_for = of_whole_numbers(failures=failures), []
        for _ in range(4):
            trial = opt.ask(source="simulator")
            asked_for.append(trial.params["x"])
            end(opt, trial)
        assert len(set(asked_for)) == 4


def test_a_source_has_no_two_open_trials_at_one_point_and_says_when_it_is_exhausted():
    for space in (rb.Space(x=rb.Int(0, 7)), rb.Pool(pd.DataFrame({"x": [float(x) for x in range(8)]}))):
        opt = rb.Optimizer(space, direction="maximize", seed=0, num_initial=4, sources=SOURCES)
        assert {trial.params["x"] for trial in opt.ask(8, source="simulator")} == set(range(8))
        with pytest.raises(rb.errors.SpaceExhausted):
            opt.ask(source="simulator")
        assert opt.ask().source == "lab"


def test_in_a_pool_a_source_is_asked_everywhere_before_it_is_asked_again():
    pool = rb.Pool(pd.DataFrame({"x": [float(x) for x in range(12)]}))
    opt = rb.Optimizer(pool, direction="maximize", seed=0, num_initial=3, sources=SOURCES)
    for x in (1.0, 6.0, 11.0):
        opt.tell({"x": x}, -((x - 7) ** 2) / 10, source="lab")
    places = []
    for _ in range(13):
        trial = opt.ask(source="simulator")
        places.append(trial.params["x"])
        opt.tell(trial, 1 - (trial.params["x"] - 7) ** 2 / 10)
    assert len({*places[:12]}) == 12
    assert places[12] in places[:12]


def test_rows_of_a_large_pool_are_compared_wherever_they_stand_in_its_table():
    opt = rb.Optimizer(
        rb.Pool(pd.DataFrame({"x": [float(x) for x in range(600)]})), direction="maximize", seed=0, sources=SOURCES
    )
    trial = opt.ask(source="simulator")
    own = observations(opt.settings, opt.history).trials_of_source("simulator")
    rows = [point["x"] for point in points_to_compare(own, 5)]
    assert len({*rows}) == len(rows) > 100
    assert trial.params["x"] not in rows
    assert min(rows) < 100 < 500 < max(rows)
    assert rows == [point["x"] for point in points_to_compare(own, 5)]


@pytest.mark.slow
def test_a_source_is_not_worth_its_cost_for_points_that_it_may_not_be_asked_at():
    opt = of_whole_numbers()
    for x in range(16):
        opt.withdraw(opt.ask(fixed={"x": x}, source="simulator"))
    assert opt.ask().source == "lab"


def test_a_flake_of_a_source_is_tried_again():
    opt = of_whole_numbers()
    for ask in (lambda: opt.ask(source="simulator"), opt.ask):
        failed = opt.ask(source="simulator")
        opt.fail(failed, "flake", retry=True)
        again = ask()
        assert (again.params, again.source, again.reason) == (failed.params, "simulator", "retry")
        opt.tell(again, 0.5)


def test_in_a_pool_the_target_is_asked_where_a_source_has_measured():
    pool = rb.Pool(pd.DataFrame({"x": [float(x) for x in range(20)]}))
    sources = {"lab": rb.Source(target=True), "old": rb.Source(ask=False, trusted=True)}
    opt = rb.Optimizer(pool, direction="maximize", seed=0, num_initial=3, sources=sources)
    for x in (5.0, 6.0, 7.0, 8.0, 9.0):
        opt.tell({"x": x}, -((x - 7) ** 2), source="old")
    for x in (0.0, 12.0, 19.0):
        opt.tell({"x": x}, -((x - 7) ** 2), source="lab")
    assert opt.ask().params["x"] == 7.0


def test_a_failure_of_the_target_does_not_end_its_first_points_where_an_old_study_has_many():
    sources = {"lab": rb.Source(target=True), "old": rb.Source(ask=False)}
    opt = rb.Optimizer(SPACE, direction="maximize", seed=0, num_initial=6, sources=sources)
    for x in POINTS:
        opt.tell({"x": x}, objective(x), source="old")
    for i in range(5):
        trial = opt.ask()
        assert trial.origin == "sobol"
        if i == 2:
            opt.fail(trial, "boom")
        else:
            opt.tell(trial, objective(trial.params["x"]))


def test_a_mean_of_many_values_of_a_source_says_more_than_one():
    sources = {"lab": rb.Source(target=True), "old": rb.Source(ask=False, trusted=True)}
    sds = []
    for n in (1, 600):
        opt = rb.Optimizer(SPACE, direction="maximize", seed=0, num_initial=5, sources=sources)
        for i in range(16):
            odd = i % 2 == 1
            noise = (0.02 if odd else 0.5) * math.sin(37 * i)
            opt.tell({"x": (i + 0.5) / 16}, objective((i + 0.5) / 16) + noise, source="old", n=n if odd else 1)
        for x in POINTS[:4]:
            opt.tell({"x": x}, objective(x))
        sds.append(opt.predict([{"x": 0.3}])["sd"].iloc[0])
    assert sds[1] < 0.3 * sds[0]


def test_an_excluded_value_of_the_target_was_paid_for():
    opt = study()
    for _ in range(8):
        trial = opt.ask(source="lab")
        opt.tell(trial, objective(trial.params["x"]))
    sources = dict(opt.settings.sources) | {"simulator": rb.Source(cost=0.3)}
    settings = replace(opt.settings, sources=tuple(sources.items()))
    assert _is_due(settings, observations(settings, opt.history), "simulator")
    for number in range(6):
        opt.exclude(number)
    assert _is_due(settings, observations(settings, opt.history), "simulator")


@pytest.mark.parametrize("center", [0.0, 1e3, 1e6])
def test_how_much_higher_a_scaled_source_reads_is_known_as_well_as_its_factor(center):
    sources = {"lab": rb.Source(target=True), "old": rb.Source(ask=False)}
    opt = rb.Optimizer(SPACE, direction="maximize", seed=0, num_initial=5, sources=sources)
    for i in range(16):
        x = (i + 0.5) / 16
        opt.tell({"x": x}, 1.3 * objective(x) + 2 + center + 0.02 * math.sin(91 * i), source="old")
    for i, x in enumerate(POINTS[:12]):
        opt.tell({"x": x}, objective(x) + center + 0.02 * math.sin(57 * i))
    (relation,) = relations(opt.settings, opt.history)
    assert abs(relation.b - (2 - 0.3 * center)) < 3 * relation.b_sd
