"""Pictures of a study: what is believed today, in Optuna's own style."""

import math
from pathlib import Path

import optuna
import pytest

import robustbo as rb
import robustbo.optuna
from robustbo.optuna import RobustSampler, amend, best, exclude, visualization
from robustbo.optuna.believed import beliefs_of

WRONG, LOW, HIGH, AMENDED = 14, 16, 17, 3


def objective(trial):
    value = (trial.suggest_float("x", -1, 1) - 0.3) ** 2
    if trial.number == 9:
        trial.set_constraint("heat", 1.0)
    return {WRONG: -0.5, LOW: -1000.0, HIGH: 2e5}.get(trial.number, value)


@pytest.fixture(scope="module")
def study():
    made = optuna.create_study(sampler=RobustSampler(seed=1, replicate="never"))
    made.optimize(objective, n_trials=20)
    exclude(made, 2)
    amend(made, AMENDED, 0.066)
    return made


def traces(figure):
    return {trace.name: trace for trace in figure.data}


@pytest.mark.slow
def test_each_value_is_drawn_once_by_what_is_believed_of_it(study):
    found = traces(visualization.plot_optimization_history(study))
    assert list(found["Looks Wrong"].x) == [WRONG]
    assert list(found["Excluded"].x) == [2]
    assert list(found["Infeasible Trial"].x) == [9]
    drawn = [x for trace in found.values() if trace.mode != "lines" for x in trace.x]
    assert sorted(drawn) == [*range(20)]


def test_a_wild_value_is_at_the_edge_and_says_what_it_is(study):
    figure = visualization.plot_optimization_history(study)
    beyond, (low, high) = traces(figure)["Beyond the Frame"], figure.layout.yaxis.range
    assert dict(zip(beyond.x, beyond.text, strict=True)) == {LOW: "-1000", HIGH: "2e+05"}
    assert dict(zip(beyond.x, beyond.y, strict=True)) == {LOW: low, HIGH: high}
    assert dict(zip(beyond.x, beyond.marker.symbol, strict=True)) == {LOW: "triangle-down", HIGH: "triangle-up"}
    assert -2 < low < -0.5
    assert 0.7 < high < 2


def test_the_line_ends_at_the_best_and_never_follows_a_wrong_value(study):
    line = traces(visualization.plot_optimization_history(study))["Best Believed Value"]
    assert line.y[-1] == pytest.approx(best(study).mean, abs=1e-4)  # which also counts the value measured there
    assert line.y[-1] <= best(study).mean
    assert min(line.y) > -0.1
    assert list(line.y) == sorted(line.y, reverse=True)
    assert len(line.x) == 20


def test_it_takes_no_fit_that_the_sampler_has_made(study):
    best(study)
    made = study.sampler.fits.misses
    visualization.plot_optimization_history(study)
    visualization.plot_outliers(study)
    assert study.sampler.fits.misses == made


def test_outliers_lie_off_the_line_and_say_why(study):
    found = traces(visualization.plot_outliers(study))
    (text,) = found["Looks Wrong"].hovertext
    assert "evidence" in text
    assert "expected" in text
    assert "looks wrong" in text
    assert "x: " in text
    believed = found["Believed"]
    inside = [abs(x - y) <= 2 * bar for x, y, bar in zip(believed.x, believed.y, believed.error_x.array, strict=True)]
    assert sum(inside) >= 0.8 * len(inside)
    (text,) = (text for text in believed.hovertext if "amended" in text)
    assert "0.066<br>believed<br>amended, was " in text
    was = float(text.partition("amended, was ")[2].partition("<")[0])
    assert was == pytest.approx(study.trials[AMENDED].value, rel=0.05)


def test_maximizing_it_goes_up():
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", -1, 1), n_trials=10)
    line = traces(visualization.plot_optimization_history(study))["Best Believed Value"]
    assert list(line.y) == sorted(line.y)


def test_several_studies_have_a_color_each(study):
    other = optuna.create_study(study_name="other", sampler=optuna.samplers.RandomSampler(seed=0))
    other.optimize(lambda trial: trial.suggest_float("x", -1, 1), n_trials=6)
    figure = visualization.plot_optimization_history([study, other], target_name="Loss")
    assert figure.layout.yaxis.title.text == "Loss"
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert [line.name for line in lines] == [f"Best Believed Value of {s.study_name}" for s in (study, other)]
    assert len({line.line.color for line in lines}) == 2


def test_nothing_measured_is_an_empty_picture(caplog):
    study = optuna.create_study(study_name="empty")
    assert not visualization.plot_optimization_history(study).data
    assert not visualization.plot_outliers(study).data
    assert "no value to draw in the study 'empty'" in caplog.text


def test_values_that_nobody_judged_are_drawn_as_that():
    study = optuna.create_study(sampler=RobustSampler(seed=0))
    study.optimize(lambda trial: 1.0 / (1 + trial.number), n_trials=6)
    found = traces(visualization.plot_optimization_history(study))
    assert list(found["Not Judged"].x) == [*range(6)]
    assert not visualization.plot_outliers(study).data


def test_values_that_are_all_excluded_draw_no_line():
    study = optuna.create_study(sampler=RobustSampler(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=3)
    for number in range(3):
        exclude(study, number)
    found = beliefs_of(study)
    assert [value.fate for value in found.values] == ["excluded"] * 3
    assert all(map(math.isnan, found.best))
    assert list(traces(visualization.plot_optimization_history(study))["Excluded"].x) == [0, 1, 2]


def test_huge_values_make_a_picture():
    study = optuna.create_study(sampler=RobustSampler(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", -1, 1) * 1.7e308, n_trials=4)
    low, high = visualization.plot_optimization_history(study).layout.yaxis.range
    assert math.isfinite(high - low)


def test_several_objectives_are_refused():
    study = optuna.create_study(directions=["minimize", "minimize"])
    study.optimize(lambda trial: (trial.suggest_float("x", 0, 1), 1.0), n_trials=2)
    with pytest.raises(ValueError, match="one objective"):
        visualization.plot_outliers(study)


def test_the_sampler_needs_no_plotly():
    importing = [path for path in Path(robustbo.optuna.__file__).parent.glob("*.py") if "plotly" in path.read_text()]
    assert [path.name for path in importing] == ["visualization.py"]
    assert "visualization" not in Path(robustbo.optuna.__file__).read_text()


def test_values_that_are_all_infinite_are_an_empty_picture():
    study = optuna.create_study()
    study.add_trials(
        optuna.trial.create_trial(
            params={"x": 0.1 * i}, distributions={"x": optuna.distributions.FloatDistribution(0, 1)}, value=math.inf
        )
        for i in range(4)
    )
    assert not visualization.plot_optimization_history(study).data


def test_beside_values_at_levels_a_study_s_own_values_are_judged():
    levels = rb.fidelity_levels("epochs", [1, 9])
    study = optuna.create_study(sampler=RobustSampler(seed=0, sources=levels, replicate="never"))

    def learn(trial):
        error = (trial.suggest_float("x", 0, 1) - 0.3) ** 2
        for step in (1, 9):
            trial.report(error + 0.1 / step, step)
        return error

    study.optimize(learn, n_trials=8)
    believed = beliefs_of(study)
    assert {value.fate for value in believed.values} == {"believed"}
    assert believed.best[-1] == pytest.approx(best(study).mean, abs=0.02)
