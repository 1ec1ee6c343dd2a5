"""Several metrics in Ax: objectives in conflict and outcome constraints, through a real client; needs ax-platform."""

import math
import re
from pathlib import Path

import pytest
import torch
from ax.api.client import Client
from ax.api.configs import RangeParameterConfig
from ax.generators.torch.botorch_modular.acquisition import Acquisition
from ax.generators.torch.botorch_modular.generator import BoTorchGenerator
from botorch.acquisition.logei import qLogNoisyExpectedImprovement, qLogProbabilityOfFeasibility
from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement

from robustbo.ax import best, complete, failures, front, generation_strategy, next_replicate, outliers
from robustbo.ax.formula import goals_of as goals_of_models
from robustbo.ax.wanted import Bound, goals_of
from robustbo.loop.acquisition.log_nehvi import LogNEHVI
from robustbo.loop.acquisition.log_nei import LogNEI
from robustbo.loop.candidates.suggestion import Suggestion
from robustbo.numerics.improvement.goals import Goal

pytestmark = pytest.mark.filterwarnings("ignore")  # what Ax and its libraries say to their own developers
SQUARE = [RangeParameterConfig(name=name, parameter_type="float", bounds=(0.0, 1.0)) for name in "xy"]
GRID = [(x / 4, y / 3) for x in range(5) for y in range(4)]
WRONG = 9  # (0.5, 1 / 3)


def client(objective="-f, -g", constraints=None, seed=0, surrogate="relevance-pursuit"):
    made = Client(random_seed=seed)
    made.configure_experiment(SQUARE)
    made.configure_optimization(objective=objective, outcome_constraints=constraints)
    made.set_generation_strategy(generation_strategy(surrogate, seed=seed))
    return made


def measure(p):
    """Cost rises from (0.2, 0.5), and waste from (0.8, 0.5): each point between them is beaten by none."""
    f, g = ((p["x"] - at) ** 2 + (p["y"] - 0.5) ** 2 for at in (0.2, 0.8))
    return {"f": f, "g": g}


def at(i):
    return dict(zip("xy", GRID[i], strict=True))


def measured(objective="-f, -g", constraints=None, wrong=None, missing=(), surrogate="relevance-pursuit"):
    """A grid of arms, one of which has wrong values, and those missing lack a metric."""
    made = client(objective, constraints, surrogate=surrogate)
    for i in range(len(GRID)):
        values = measure(at(i)) | ((wrong or {}) if i == WRONG else {})
        for name in dict(missing).get(i, ""):
            values.pop(name)
        made.complete_trial(made.attach_trial(at(i)), values)
    return made


def go_on(made, trials, bad=None):
    for _ in range(trials):
        ((index, p),) = made.get_next_trials(max_trials=1).items()
        made.complete_trial(index, measure(p) | (bad or {}).get(index, {}))
    return made


class Seen(Exception):
    """An acquisition function has been seen, and need not be maximized."""


def acquisition(made):
    """The acquisition function of the next point."""
    seen = []
    instantiate = BoTorchGenerator._instantiate_acquisition

    def seeing(self, *args, **kwargs):
        seen.append(instantiate(self, *args, **kwargs))
        raise Seen

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BoTorchGenerator, "_instantiate_acquisition", seeing)
        with pytest.raises(Seen):
            made.get_next_trials(max_trials=1)
    return seen[-1]


def class_asked_for(acquisition):
    """What Ax is to maximize; of a single candidate it may be our closed form that is maximized."""
    ((asked_for, _),) = acquisition.botorch_acqf_classes_with_options
    return asked_for


@pytest.mark.few(1)
@pytest.mark.parametrize("wrong", [{"f": -3.0}, {"g": -3.0}, {"f": -3.0, "g": 9.0}])
def test_a_wrong_value_of_one_metric_is_reported_for_it_and_its_arm_is_no_part_of_the_front(wrong):
    made = measured(wrong=wrong)
    found, report = front(made), outliers(made)
    flagged = report[report["flagged"]]
    assert {(row.trial_index, row.metric) for row in flagged.itertuples()} == {(WRONG, name) for name in wrong}
    assert len(report) == 2 * len(GRID)
    assert WRONG not in {arm.trial_index for arm in found}
    assert all(arm.parameters["y"] in (1 / 3, 2 / 3) and 0.2 <= arm.parameters["x"] <= 0.8 for arm in found)
    assert [arm.means["f"] for arm in found] == sorted(arm.means["f"] for arm in found)
    for arm in found:
        assert arm.arm_name == f"{arm.trial_index}_0"
        assert 0 < arm.probability <= arm.probability_feasible == 1
        for name, value in measure(arm.parameters).items():
            assert arm.means[name] == pytest.approx(value, abs=3 * arm.sds[name] + 1e-3)


def test_the_front_keeps_outcome_constraints_and_thresholds():
    everything, few, none = (
        {arm.trial_index for arm in front(measured(constraints=constraints, surrogate="standard"))}
        for constraints in (None, ["f <= 0.2"], ["f <= -5"])
    )
    assert few == {i for i in everything if measure(at(i))["f"] < 0.2}
    assert everything > few
    assert none == set()


def test_the_front_of_arms_with_some_values_fixed():
    found = front(measured(surrogate="standard"), fixed_parameters={"y": 0.5})
    assert found
    assert {arm.parameters["y"] for arm in found} == {0.5}
    with pytest.raises(ValueError, match="colour"):
        front(measured(), fixed_parameters={"colour": 1})


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("wrong", "is_flagged"),
    [({"f": -3.0}, "f"), ({"g": -3.0}, "g"), ({"g": 9.0}, "g"), ({}, None)],
)
def test_the_best_keeps_outcome_constraints_and_none_of_its_values_is_doubted(wrong, is_flagged):
    made = measured("-f", ["g <= 0.2"], wrong)
    found = best(made)
    kept = {i: measure(at(i))["f"] for i in range(len(GRID)) if i != WRONG or not wrong}
    kept = {i: f for i, f in kept.items() if measure(at(i))["g"] < 0.2}
    assert measure(found.parameters)["f"] == pytest.approx(min(kept.values()))
    assert found.trial_index in kept
    assert (found.mean, found.sd) == found.outcomes["f"]
    assert found.outcomes["g"][0] < 0.2
    assert found.probability_feasible > 0.5
    assert set(outliers(made).query("flagged")["metric"]) == ({is_flagged} - {None})


def test_where_no_arm_keeps_the_constraints_the_best_is_the_one_most_likely_to():
    made = measured("-f", ["g <= -0.5"], {"g": -3.0})
    found = best(made)
    assert found.probability_feasible < 0.5
    assert found.trial_index != WRONG


def test_one_objective_without_constraints_is_what_it_was():
    made = measured("-f", surrogate="standard")
    found = best(made)
    assert (found.outcomes, found.probability_feasible) == ({}, 1.0)
    with pytest.raises(ValueError, match="front must have several objectives"):
        front(made)


def decided(monkeypatch, repeats=None):
    """What our own loop is asked for a next trial, to which it answers with this repeat."""
    asked = []

    def step(settings, history, *rest):
        asked.append((settings, history))
        return Suggestion(history[WRONG].params, "model", repeats=repeats)

    monkeypatch.setattr("robustbo.view.points.step", step)
    return asked


def test_metrics_that_are_missing_are_missing_alone(monkeypatch):
    made = measured(missing={3: "f", 8: "g", 17: "g"})
    report = outliers(made).groupby("metric")["trial_index"].apply(set).to_dict()
    everyone = {*range(len(GRID))}
    assert report == {"f": everyone - {3}, "g": everyone - {8, 17}}
    assert failures(made).empty
    seen = acquisition(made)
    assert len(seen.X_observed) == len(GRID)  # Ax would leave three out
    assert class_asked_for(seen) is qLogNoisyExpectedHypervolumeImprovement
    asked = decided(monkeypatch)
    assert next_replicate(made) is None
    ((_, history),) = asked
    assert [{*trial.values} for trial in history][2:9] == [{*"fg"}, {"g"}, *[{*"fg"}] * 4, {"f"}]


def test_what_is_not_finite_is_missing_alone():
    made = client()
    for i, told in enumerate([{"f": math.nan, "g": 1.0}, {"f": 1.0, "g": math.inf}, {"f": math.inf, "g": math.nan}]):
        ((index, _),) = made.get_next_trials(max_trials=1).items()
        assert complete(made, index, told) == (i < 2)
    report = outliers(made)
    assert report[["trial_index", "metric", "value"]].to_numpy().tolist() == [[1, "f", 1.0], [0, "g", 1.0]]
    assert failures(made)["trial_index"].tolist() == [2]
    with pytest.raises(ValueError, match=r"\['f'\] have none"):
        front(only_one_metric())


def only_one_metric():
    made = client()
    made.complete_trial(made.attach_trial({"x": 0.1, "y": 0.2}), {"g": 1.0})
    return made


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("objective", "constraints", "function"),
    [
        ("-f, -g", None, qLogNoisyExpectedHypervolumeImprovement),
        ("-f, -g", ["h <= 0.5"], qLogNoisyExpectedHypervolumeImprovement),
        ("-f", ["g <= 0.2"], qLogNoisyExpectedImprovement),
        ("-f, -g", ["h <= -1"], qLogProbabilityOfFeasibility),
        ("-f", ["h <= -1"], qLogProbabilityOfFeasibility),
    ],
)
def test_what_is_maximized_follows_from_what_is_believed(objective, constraints, function):
    """A wrong value of h looks feasible where nothing is: by the values as told Ax would end in an error."""
    made = client(objective, constraints)
    for i in range(8):
        index = made.attach_trial(p := at(7 * i % len(GRID)))
        made.complete_trial(index, measure(p) | {"h": -50.0 if i == 3 else p["x"] * p["y"]})
    assert class_asked_for(acquisition(made)) is function


@pytest.mark.few(1)
@pytest.mark.parametrize("constraints", [["f <= -0.5"], ["f <= -0.5", "g <= 2"]])
def test_a_threshold_that_no_point_keeps_is_sought_though_another_is_not_given(constraints):
    made = measured(constraints=constraints, wrong={"f": -50.0}, surrogate="relevance-pursuit")
    seen = acquisition(made)
    assert class_asked_for(seen) is qLogProbabilityOfFeasibility
    given = seen._objective_thresholds.isnan().tolist()
    assert given == [False, len(constraints) < 2]
    assert (seen.objective_thresholds is None) == (len(constraints) < 2)  # Ax cannot note one that is unknown


def test_a_threshold_that_is_kept_stays_beside_one_that_is_inferred():
    seen = acquisition(measured(constraints=["f <= 0.2"], surrogate="standard"))
    alone = seen._user_thresholds
    assert class_asked_for(seen) is qLogNoisyExpectedHypervolumeImprovement
    assert seen._objective_thresholds[0] == alone[0]
    assert seen._objective_thresholds.isfinite().all()
    assert alone.isnan().tolist() == [False, True]


def test_a_single_candidate_of_several_objectives_needs_no_compiled_code(monkeypatch):
    def construct(self, *args, **kwargs):
        raise AssertionError("qLogNEHVI compiles C++")

    monkeypatch.setattr(qLogNoisyExpectedHypervolumeImprovement, "__init__", construct)
    assert isinstance(acquisition(measured()).acqf, LogNEHVI)


@pytest.mark.slow
def test_it_finds_a_front_with_wrong_values_and_pending_arms_and_goes_on_alike_when_loaded(tmp_path):
    made = go_on(client("-f, -g", ["f <= 0.3"]), 9, {4: {"f": -20.0}, 7: {"g": -20.0}})
    made.save_to_json_file(str(tmp_path / "client.json"))
    loaded = Client.load_from_json_file(str(tmp_path / "client.json"))
    asked = [one.get_next_trials(max_trials=2) for one in (made, loaded)]
    assert asked[0] == asked[1]
    assert len({tuple(p.values()) for p in asked[0].values()}) == 2
    go_on(made, 2)
    trials = {arm.trial_index for arm in front(made)}
    assert trials
    assert not trials & {4, 7, *asked[0]}


def relative(baseline, text="g <= 0.5 * baseline", wrong=None):
    made = client("-f", [text])
    index = made.attach_baseline(baseline)
    for i in range(len(GRID)):
        made.complete_trial(made.attach_trial(at(i)), measure(at(i)))
    made.complete_trial(index, measure(baseline) | (wrong or {}))
    return made


@pytest.mark.few(1)
@pytest.mark.parametrize("wrong", [{"g": 50.0}, None])
def test_a_bound_relative_to_a_baseline_is_relative_to_what_is_believed_of_it(wrong):
    baseline = {"x": 0.3, "y": 0.4}
    bound = measure(baseline)["g"] / 2
    made = relative(baseline, wrong=wrong)
    found = best(made)
    kept = [p for p in map(at, range(len(GRID))) if measure(p)["g"] < bound]
    assert measure(found.parameters)["f"] == pytest.approx(min(measure(p)["f"] for p in kept))
    acquisition(made)


def test_baselines_that_will_not_do():
    with pytest.raises(ValueError, match="g is bounded relative to a baseline, got none"):
        best(measured("-f", ["g <= 0.5 * baseline"]))
    made = measured("-f", ["g <= 0.5 * baseline"])
    made.attach_baseline({"x": 0.1, "y": 0.1})
    with pytest.raises(ValueError, match="the baseline must have a value of g"):
        best(made)
    fresh = client("-f", ["g <= 0.5 * baseline"])
    assert next_replicate(fresh) is None


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("objective", "constraints", "missing"),
    [
        ("-f, -2 * g", None, {}),
        ("-f, -g", ["f <= 0.3", "h >= 0.4"], {2: "g"}),
        ("h, -f, -g", ["g <= 0.5"], {}),
        ("-f", ["g <= 0.2", "h >= 0.1", "h <= 0.9"], {2: "f", 5: "h"}),
        ("h", ["f <= 0.2"], {}),
        ("-f", None, {4: "g"}),  # beside metrics that are only tracked
    ],
)
def test_a_single_candidate_is_found_by_the_closed_form_of_what_ax_would_maximize(objective, constraints, missing):
    """By one process an outcome, on a linear scale: theirs takes a mixture for one process, and unwarps it."""
    made = client(objective, constraints, surrogate="scaled-clip")
    for i in range(10):
        index = made.attach_trial(p := at(7 * i % len(GRID)))
        values = measure(p) | {"h": math.sin(3 * p["x"]) * p["y"]}
        values.pop(missing.get(i), None)
        made.complete_trial(index, values)
    of = acquisition(made)
    theirs = Acquisition._construct_botorch_acquisition(of, class_asked_for(of), {}, of._model)
    X = torch.rand(300, 1, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert isinstance(of.acqf, LogNEHVI if constraints or "," in objective else LogNEI)
    with torch.no_grad():
        ours, theirs = of.acqf(X), theirs(X)
    near = ours > ours.max() - 3
    assert theirs[ours.argmax()] > theirs.max() - 0.3  # theirs samples the new point's values too
    assert torch.corrcoef(torch.stack([ours[near], theirs[near]]))[0, 1] > 0.5


def test_what_has_no_closed_form_is_left_to_ax():
    made = client("f + 2 * g", ["h <= 0.5"], surrogate="standard")
    for i in range(7):
        index = made.attach_trial(p := at(7 * i % len(GRID)))
        made.complete_trial(index, measure(p) | {"h": p["x"] * p["y"]})
    assert type(acquisition(made).acqf) is qLogNoisyExpectedImprovement


def test_goals_in_the_units_of_models():
    weights = torch.tensor([[0.0, -2.0, 0.0], [1.0, 0.0, 0.0]], dtype=torch.float64)
    A = torch.tensor([[0.0, 0.0, 2.0], [0.0, 0.0, -1.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]], dtype=torch.float64)
    b = torch.tensor([[3.0], [1.0], [2.0], [7.0]], dtype=torch.float64)
    assert goals_of_models(weights, torch.tensor([4.0, 5.0]), (A, b)) == [
        (Goal(True, reference=5.0), 1.0),
        (Goal(True, high=7.0, reference=-2.0), -1.0),
        (Goal(False, -1.0, 1.5), 1.0),
    ]
    assert goals_of_models(weights[:1], None, None) == [(Goal(False), 1.0), (Goal(True), -1.0), (Goal(False), 1.0)]
    assert goals_of_models(weights.sum(0, keepdim=True), None, None) is None
    assert goals_of_models(weights, None, (A.sum(0, keepdim=True), b[:1])) is None


def test_goals_in_our_words():
    made = client("-f, 2 * g", ["f <= 3", "-2 * g <= 4", "h >= 0.9 * baseline", "i >= -1e-7"])
    goals = goals_of(made._experiment)
    assert goals.objectives == (("f", "minimize"), ("g", "maximize"))
    assert {each.metric: each for each in goals.bounds} == {
        "f": Bound("f", False, 3.0, False),
        "g": Bound("g", True, -2.0, False),
        "h": Bound("h", True, pytest.approx(-10.0), True),
        "i": Bound("i", True, -1e-7, False),
    }
    absolute = goals.absolute({"h": -20.0}.__getitem__)
    assert {each.metric: each.number for each in absolute.bounds}["h"] == pytest.approx(-22.0)
    assert absolute.reference_point == (("f", 3.0), ("g", -2.0))
    assert goals_of(client("-f, -g", ["f <= 3"])._experiment).reference_point == ()


@pytest.mark.parametrize(
    ("objective", "constraints", "message"),
    [
        ("f + 2 * g", None, "each objective must be one metric"),
        ("f + g, h", None, "each objective must be one metric"),
        ("f", ["g + h <= 1"], "each outcome constraint must be on one metric"),
    ],
)
def test_weighted_sums_are_refused(objective, constraints, message):
    made = client(objective, constraints)
    made.complete_trial(made.attach_trial({"x": 0.1, "y": 0.2}), {"f": 1.0, "g": 1.0, "h": 1.0})
    for ask in (best, front, next_replicate):
        with pytest.raises(ValueError, match=message):
            ask(made)
    assert len(outliers(made)) == 3


def test_a_repeat_is_decided_as_by_our_own_loop_and_measures_all_metrics(monkeypatch):
    made, asked = measured("-f, -g", ["f <= 3", "g <= 2"]), decided(monkeypatch, WRONG)
    assert next_replicate(made) == at(WRONG)
    ((settings, history),) = asked
    assert settings.objectives == (("f", "minimize"), ("g", "minimize"))
    assert settings.outcome_constraints == ("f <= 3.0", "g <= 2.0")
    assert settings.reference_point == (("f", 3.0), ("g", 2.0))
    assert history[WRONG].values == pytest.approx(measure(at(WRONG)))


@pytest.mark.slow
def test_the_page_runs(capsys):
    page = (Path(__file__).parents[2] / "docs" / "howto" / "ax.md").read_text(encoding="utf-8")
    _, block, _ = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names = {}
    exec(block, names)
    arms = names["arms"]
    assert len(arms) > 2
    assert 6 not in {arm.trial_index for arm in arms}
    assert all(arm.parameters["feed"] < 0.55 for arm in arms)
    report = names["outliers"](names["client"])
    assert report.query("flagged")[["trial_index", "metric"]].to_numpy().tolist() == [[6, "cost"]]
    assert report.query("flagged")["value"].tolist() == [-40.0]
    assert "6_0" in capsys.readouterr().out
