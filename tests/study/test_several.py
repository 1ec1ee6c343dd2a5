"""Several outcomes in the ask/tell loop, from the first ask to the front."""

import itertools
import math

import pandas as pd
import pytest

import robustbo as rb
from robustbo.errors import JournalError
from robustbo.study.recomputing import decisions
from robustbo.trials.codec import settings_of
from robustbo.trials.storage import places

SPACE = rb.Space(x=rb.Float(0, 1), y=rb.Float(0, 1))
WANTED = {"objectives": {"a": "maximize", "c": "minimize"}, "outcome_constraints": ["p >= 0.2"]}
WRONG = 7  # the trial whose first outcome is
COUNT = 11  # of which two are the models'


def outcomes(params, number=-1):
    x, y = params["x"], params["y"]
    return {"a": math.sin(3 * x) + y + 30 * (number == WRONG), "c": x * x + y * y, "p": x - y + 0.5}


def told(count=12, **given):
    opt = rb.Optimizer(SPACE, seed=0, **{**WANTED, **given})
    for _ in range(count):
        trial = opt.ask()
        opt.tell(trial, outcomes(trial.params, trial.number))
    return opt


@pytest.fixture(scope="module")
def journal(tmp_path_factory):
    return tmp_path_factory.mktemp("several") / "study.jsonl"


@pytest.fixture(scope="module")
def opt(journal):
    return told(COUNT, num_initial=COUNT - 2, journal=journal)


def test_the_front_holds_what_none_beats_and_leaves_the_wrong_value_out(opt):
    front = opt.front()
    assert {(o.trial.number, o.outcome) for o in opt.outliers() if o.flagged} == {(WRONG, "a")}
    assert len(front) >= 3
    means = [(point.means["a"], -point.means["c"]) for point in front]
    assert all(a > b and c < d for (a, c), (b, d) in itertools.pairwise(means))  # the best in "a" first
    for point in front:
        assert point.means == pytest.approx(outcomes(point.params), abs=0.1)
        assert 0 <= point.probability <= point.probability_feasible + 1e-3 <= 1 + 1e-3  # one is sampled
        assert point.probability_feasible > 0.5
        assert outcomes(point.params)["p"] > 0.15


@pytest.mark.slow
def test_the_hypervolume_is_beyond_the_reference_point_that_is_given():
    given = told(8, reference_point={"a": 0.0, "c": 2.0}).front()
    assert given.reference_point == {"a": 0.0, "c": 2.0}
    best_a, least_c = max(p.means["a"] for p in given), min(p.means["c"] for p in given)
    assert 0 < given.hypervolume <= best_a * (2 - least_c) + 1e-12


def test_a_wrong_value_moves_neither_the_reference_point_nor_the_hypervolume(opt):
    clean = told(0)
    for trial in opt.history:
        clean.tell(trial.params, outcomes(trial.params))
    a, b = opt.front(), clean.front()
    assert a.hypervolume == pytest.approx(b.hypervolume, rel=0.1)
    assert a.reference_point == pytest.approx(b.reference_point, abs=0.05)


def test_each_wrong_value_is_reported_with_its_outcome(opt):
    first, *rest = opt.outliers()
    assert (first.trial.number, first.outcome, first.flagged) == (WRONG, "a", True)
    assert first.probability_wrong > 0.5
    assert not any(o.flagged for o in rest)
    assert len(rest) == 3 * COUNT - 1


def test_a_resumed_study_asks_for_the_same_and_every_ask_is_recomputed_bit_for_bit(opt, journal):
    again = rb.Optimizer.resume(journal)
    contents = places.contents(journal)
    made = list(decisions(settings_of(journal, contents.header), contents.events))
    assert len(made) == COUNT
    assert made[-1].recorded["origin"] == "model"
    for each in made:
        known = {key: each.recorded[key] for key in each.recomputed if not key.endswith("_s")}
        assert known == {key: value for key, value in each.recomputed.items() if not key.endswith("_s")}
    assert {*made[-1].recorded["expected"]} == {"a", "c", "p"}
    assert (again.settings, again.history) == (opt.settings, opt.history)  # of which the next ask is a function


def test_the_frame_has_a_column_an_outcome_and_the_evidence_on_each(opt):
    frame = opt.frame()
    assert frame.loc[WRONG, "a.flagged"]
    assert not frame.loc[WRONG, "c.flagged"]
    assert frame.loc[0, ["a", "c", "p"]].to_dict() == opt.history[0].values
    assert {"x", "y", "a.sd", "p.expected", "c.weight", "state"} <= {*frame.columns}
    assert {"value", "sd"}.isdisjoint(frame.columns)


def test_predictions_are_by_outcome(opt):
    point = {"x": 0.4, "y": 0.5}
    one, many = opt.predict(point), opt.predict(pd.DataFrame([point]))
    assert one["a"].mean == pytest.approx(outcomes(point)["a"], abs=0.15)
    assert many.loc[0, "p.sd"] == one["p"].sd


def test_several_objectives_have_no_best(opt):
    for raw in (False, True):
        with pytest.raises(ValueError, match=r"several objectives \['a', 'c'\] have no single best point; front"):
            opt.best(raw=raw)
    with pytest.raises(ValueError, match="a front needs several objectives"):
        rb.Optimizer(SPACE, direction="minimize", seed=0).front()


def test_the_best_of_one_objective_keeps_the_bounds():
    one = {"objectives": {"a": "maximize"}, "outcome_constraints": ["c <= 0.5", "p >= 0.2"]}
    opt = told(12, acquisition="sobol", **one)
    best, raw = opt.best(), opt.best(raw=True)
    found = outcomes(best.params)
    assert found["c"] < 0.52
    assert found["p"] > 0.18
    assert best.trial.number != WRONG
    assert best.mean == best.outcomes["a"][0] == pytest.approx(found["a"], abs=0.1)
    assert 0.5 <= best.probability_feasible <= 1
    kept = [t for t in opt.history if t.values["c"] <= 0.5 and t.values["p"] >= 0.2]
    assert raw.mean == max(t.values["a"] for t in kept)
    assert opt.best(fixed={"y": 0.1}).params["y"] == 0.1


def test_missing_outcomes_are_missing_for_themselves_alone():
    opt = rb.Optimizer(SPACE, seed=0, surrogate="standard", **WANTED)
    trials = opt.ask(4)
    opt.tell(trials[0], {"a": 1.0, "p": math.nan})
    assert opt.history[0].values == {"a": 1.0}
    assert opt.tell(trials[1], {"a": math.inf, "c": None}).state == "failed"
    opt.tell(trials[2], outcomes(trials[2].params))
    assert opt.amend(0, {"c": 0.5}).values == {"a": 1.0, "c": 0.5}
    with pytest.raises(ValueError, match="must be finite to amend"):
        opt.amend(0, {"c": math.nan})
    with pytest.raises(ValueError, match="an outcome in value must be one of"):
        opt.tell(trials[3], {"A": 1.0})
    assert not opt.front().points or opt.front().hypervolume >= 0


def test_what_was_never_told_is_asked_for_by_space_filling_points():
    opt = rb.Optimizer(SPACE, seed=0, num_initial=2, **WANTED)
    for trial in opt.ask(3):
        opt.tell(trial, {"a": 1.0, "c": 2.0})
    asked = opt.ask()
    assert asked.origin == "sobol"
    assert asked.fallback == "space-filling, since no value of p has been told"
    with pytest.raises(ValueError, match=r"\['p'\] have none"):
        opt.front()


def test_an_outcome_is_excluded_by_itself(opt):
    other = told(0, surrogate="standard")
    for trial in opt.history:
        if trial.state == "told":
            other.tell(trial.params, trial.values)
    other.exclude(WRONG, outcome="a")
    assert {o.outcome for o in other.outliers() if o.trial.number == WRONG} == {"c", "p"}
    with pytest.raises(ValueError, match="outcome must be one of"):
        other.exclude(WRONG, outcome="b")
    assert other.include(WRONG, outcome="a").of("a").state == "told"


def test_frames_and_prior_data_have_a_column_an_outcome():
    frame = pd.DataFrame(
        {"x": [0.1, 0.2], "y": [0.3, 0.4], "a": [1.0, 2.0], "c": [3.0, None], "p": [1, 2], "c.sd": 0.1}
    )
    opt = rb.Optimizer(SPACE, seed=0, prior_data=frame, **WANTED)
    assert opt.history[1].values == {"a": 2.0, "p": 2.0}
    assert opt.history[0].outcomes["c"].sd == 0.1
    with pytest.warns(rb.SpaceWarning, match="2 of 2 rows are in this study already"):
        assert [t.values for t in opt.tell_frame(frame)] == [t.values for t in opt.history][:2]
    again = rb.Optimizer(SPACE, seed=1, prior_data=opt, **WANTED)
    assert [t.values for t in again.history] == [t.values for t in opt.history]
    with pytest.raises(ValueError, match="the same outcomes"):
        rb.Optimizer(SPACE, direction="minimize", seed=1, prior_data=opt)
    with pytest.raises(rb.SpaceError, match="there must be a column 'c'"):
        opt.tell_frame(frame.drop(columns="c"))


def test_pending_points_are_not_asked_for_again():
    opt = told(6, surrogate="standard")
    asked = opt.ask(2)
    assert {trial.origin for trial in asked} == {"model"}
    assert len({trial.point for trial in asked}) == 2


@pytest.mark.slow
def test_a_pool_a_mixed_space_and_constraints_of_the_space_will_do():
    space = rb.Space(x=rb.Float(0, 1), n=rb.Int(0, 3), k=rb.Choice("u", "v"))
    opt = rb.Optimizer(space, objectives={"a": "maximize", "c": "minimize"}, seed=0, num_initial=5)
    for _ in range(8):
        trial = opt.ask()
        p = trial.params
        opt.tell(trial, {"a": p["x"] + p["n"], "c": (p["x"] - 0.3) ** 2 + p["n"] * (p["k"] == "u")})
    assert opt.history[7].origin == "model"
    rows = pd.DataFrame({"x": [i / 20 for i in range(20)], "y": [(i * 7 % 20) / 20 for i in range(20)]})
    pool = rb.Optimizer(rb.Pool(rows), seed=0, num_initial=5, **WANTED)
    for _ in range(8):
        trial = pool.ask()
        pool.tell(trial, outcomes(trial.params))
    assert len({t.point for t in pool.history}) == 8


@pytest.mark.slow
def test_failures_are_learned_from_as_with_one_outcome():
    opt = rb.Optimizer(SPACE, seed=0, **WANTED)
    for _ in range(12):
        trial = opt.ask()
        if trial.params["x"] > 0.7:
            opt.fail(trial, "burst")
        else:
            opt.tell(trial, outcomes(trial.params))
    assert opt.viability({"x": 0.95, "y": 0.5}) < 0.5
    assert opt.history[11].params["x"] < 0.75


def test_optimize_takes_a_function_of_several_outcomes():
    cheap = {"surrogate": "standard", "acquisition": "sobol"}
    opt = rb.Optimizer(SPACE, seed=0, objectives={"a": "maximize"}, outcome_constraints=["c <= 0.5"], **cheap)
    best = opt.optimize(lambda p: ({"a": outcomes(p)["a"], "c": outcomes(p)["c"]}, {"a": 0.01}), 7, progress=False)
    assert best.outcomes["c"][0] <= 0.55
    assert opt.history[0].outcomes["a"].sd == 0.01


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"objectives": {"state": "maximize"}}, "another name than a column of `frame`, got 'state'"),
        ({"objectives": {"a": "maximize"}, "outcome_constraints": ["a.sd <= 3"]}, "got 'a.sd'"),
        ({"objectives": {"a": "minimize"}, "direction": "maximize"}, "direction is for one value without a name"),
    ],
)
def test_names_and_directions_that_contradict_others_are_refused(given, says):
    with pytest.raises(ValueError, match=says):
        rb.Optimizer(SPACE, seed=0, **given)


class TestMeasuredBefore:
    def test_of_another_number_of_outcomes_is_an_error_that_says_so(self, opt, journal):
        with pytest.raises(ValueError, match=r"same outcomes, one value without a name, got one of \['a', 'c', 'p'\]"):
            rb.Optimizer(SPACE, direction="minimize", seed=0, prior_data=journal)
        single = rb.Optimizer(SPACE, direction="minimize", seed=0)
        single.tell({"x": 0.5, "y": 0.5}, 1.0)
        with pytest.raises(ValueError, match=r"same outcomes, \['a', 'c', 'p'\], got one of one value without a name"):
            rb.Optimizer(SPACE, seed=0, **WANTED, prior_data=single)

    def test_a_journal_of_several_outcomes_is_no_journal_of_one(self, journal):
        with pytest.raises(JournalError, match=r"objectives: recorded .*'a': 'maximize'.*, given nothing"):
            rb.Optimizer(SPACE, direction="minimize", seed=0, journal=journal, if_exists="resume")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"objectives": {}}, "at least one"),
        ({"objectives": {"a": "maximize", "x": "minimize"}}, "another name than a parameter, got 'x'"),
        ({"objectives": {"a": "maximize"}, "outcome_constraints": ["y <= 0.5"]}, r"Space\(constraints"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_the_beginning(given, said):
    with pytest.raises(ValueError, match=said):
        rb.Optimizer(SPACE, **given)


@pytest.mark.slow
def test_a_front_is_printed_a_line_a_point():
    front = told().front()
    lines = str(front).splitlines()
    assert len(lines) == len(front)
    assert all(line.startswith("trial ") and "a " in line and "±" in line for line in lines)
