import math
from itertools import pairwise

import pytest
import torch

import robustbo as rb
from robustbo.loop.belief.judge import judge
from robustbo.loop.decide import step
from robustbo.loop.observations.table import Observations, observations
from robustbo.loop.surrogate import subset
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fit import fit
from robustbo.loop.surrogate.subset import RoughPrediction, rows_to_keep, spread_points, thin_evenly
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

SPACE = rb.Space(x=rb.Float(0.0, 1.0), y=rb.Float(0.0, 1.0))
MOST, STEP = 60, 20


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(subset, "MOST", MOST)
    monkeypatch.setattr(subset, "STEP", STEP)
    monkeypatch.setattr(subset, "GUESSED", 40)


def history(n, wrong=()):
    made = History()
    for i in range(n):
        params = SPACE.sobol(3, i)
        value = math.sin(4 * params["x"]) - params["y"] ** 2 + 50.0 * (i in wrong)
        made = made.apply({"event": "tell", "trial": i, "params": params, "value": value, "sd": None})
    return made


def made_of(rows):
    return Observations(tuple(range(len(rows))), tuple(rows), tuple(0.0 for _ in rows), None)


def believed(settings, made, fits=None):
    return judge(observations(settings, made), fit(settings, made, fits))


class TestAChoice:
    @pytest.mark.slow
    def test_none_is_made_of_few_and_between_two_of_them_all_that_is_new_joins(self):
        settings = Settings(SPACE)
        for n, kept in ((MOST, MOST), (MOST + STEP - 1, MOST + STEP - 1), (MOST + STEP, MOST - STEP), (85, 45)):
            found = fit(settings, history(n))
            assert (len(found.observations.values), len(found.appraisals)) == (kept, n - kept)
            assert max(found.observations.numbers) == n - 1

    def test_the_best_stay_and_others_far_from_each_other(self):
        X = torch.linspace(0, 1, 101, dtype=torch.float64)
        found = rows_to_keep(RoughPrediction(X, X.unsqueeze(-1)), made_of([(x,) for x in X.tolist()]), 10)
        stays = [i for i, each in enumerate(found) if each]
        assert len(stays) == 10
        assert stays[-5:] == [96, 97, 98, 99, 100]
        assert stays[0] == 0
        assert min(b - a for a, b in pairwise(stays[:6])) >= 12

    def test_values_at_one_point_stay_together_and_before_those_that_stand_alone(self):
        rows = [(0.1,), (0.5,), (0.9,), (0.5,), *((x / 100,) for x in range(60, 80))]
        best = torch.tensor([row[0] for row in rows])
        found = rows_to_keep(RoughPrediction(best, best.unsqueeze(-1)), made_of(rows), 8)
        assert found[:4] == [True, True, True, True]  # 0.1 lies the farthest from all others
        assert sum(found) == 8

    def test_points_replicated_long_ago_leave_room_for_the_best(self):
        singles, replicated = [(x / 1000,) for x in range(500, 900)], [(x / 1000,) for x in range(100)]
        rows = [*singles, *replicated, *replicated]
        best = torch.tensor([row[0] for row in rows])
        found = rows_to_keep(RoughPrediction(best, best.unsqueeze(-1)), made_of(rows), 100)
        assert sum(found[375:400]) == 25
        assert 24 <= sum(found[400:]) < 50

    def test_where_all_points_are_one_it_is_full(self):
        rows = [(0.5,)] * 9
        assert sum(rows_to_keep(RoughPrediction(torch.zeros(9), torch.zeros(9, 1)), made_of(rows), 4)) == 4

    def test_spread_points_are_each_the_farthest_from_all_before(self):
        Z = torch.tensor([[0.0], [1.0], [0.4], [0.5], [1.0]])
        assert spread_points(Z, torch.tensor([0]), 9) == [1, 3, 2]

    def test_a_sample_is_even(self):
        told = made_of([(i / 100,) for i in range(100)])
        assert thin_evenly(told.first(40)) == told.first(40)
        assert thin_evenly(told).numbers[:4] == (0, 2, 5, 7)


class TestTheOthers:
    @pytest.mark.slow
    def test_wrong_values_are_found_among_all(self):
        wrong = (3, 30, 31, 50, 77, 101)
        settings = Settings(SPACE)
        fitted = fit(settings, history(110, wrong))
        assert set(wrong) & {*fitted.appraisals}
        found = believed(settings, history(110, wrong))
        assert found.flagged == {*wrong}
        assert {o.trial.number for o in found} == {*range(110)}

    @pytest.mark.parametrize("surrogate", ["standard", "student-t", "conjugate", "student-t-process", "trimmed"])
    def test_every_exact_surrogate_has_a_word_on_them(self, surrogate):
        found = believed(Settings(SPACE, surrogate=surrogate), history(85, wrong=(4, 60)))
        assert {o.trial.number for o in found} == {*range(85)}
        assert all(map(math.isfinite, [number for o in found for number in (o.expected, o.sd, o.evidence)]))

    @pytest.mark.parametrize("surrogate", ["committee", "computation-aware"])
    def test_a_surrogate_for_many_values_takes_all(self, surrogate):
        fitted = fit(Settings(SPACE, surrogate=surrogate), history(85))
        assert (len(fitted.observations.values), fitted.appraisals) == (85, {})

    def test_a_study_tells_of_them(self):
        opt = rb.Optimizer(SPACE, direction="maximize", seed=1)
        for trial in history(85, wrong=(4,)):
            opt.tell(trial.params, trial.value)
        assert opt.frame()["weight"].between(0, 1).all()
        assert [o.trial.number for o in opt.outliers() if o.flagged] == [4]
        assert opt.best().trial.number == max(range(5, 85), key=lambda i: opt.history[i].value)


@pytest.mark.slow
def test_a_run_that_goes_on_and_one_that_is_resumed_ask_for_the_same(tmp_path):
    opt = rb.Optimizer(SPACE, direction="maximize", seed=5, journal=tmp_path / "a.jsonl")
    for trial in history(74, wrong=range(0, 70, 9)):
        opt.tell(trial.params, trial.value)
    for i in range(10):
        trial = opt.ask()
        opt.tell(trial, 0.0 if i % 4 else -30.0)
        opt.best()
    resumed = rb.Optimizer.resume(tmp_path / "a.jsonl")
    assert resumed.outliers() == opt.outliers()
    assert resumed.best() == opt.best()
    asked = [step(study.settings, study.history, 84, study.fits).decision for study in (opt, resumed)]
    assert asked[0] == asked[1]


def test_a_choice_does_not_depend_on_what_is_quarantined_since():
    settings, fits = Settings(SPACE, direction="maximize"), FitCache()
    made = history(82)
    before = fit(settings, made, fits)
    params = SPACE.sobol(9, 1)
    asked = {"event": "ask", "trial": 82, "params": params, "origin": "model", "expected": 0.0, "expected_sd": 0.01}
    made = made.apply(asked).apply({"event": "tell", "trial": 82, "value": -40.0, "sd": None})
    misses = fits.misses
    after = fit(settings, made, fits)
    assert after.quarantined == (82,)
    assert after.observations == before.observations
    assert fits.misses <= misses + 2
