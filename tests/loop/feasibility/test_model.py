"""Where trials fail: what is believed of failures, and what the next asks make of it."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch

import robustbo as rb
from robustbo.errors import ExhaustedWarning, SpaceExhausted
from robustbo.loop.acquisition.feasibility_weight import CAUTION, FeasibilityWeighted
from robustbo.loop.candidates.initial_design import AWAY
from robustbo.loop.decide import step
from robustbo.loop.feasibility import model as viability_module
from robustbo.loop.feasibility.model import LEARNED, MODELLED, feasibility_model, fit_predictor
from robustbo.loop.feasibility.report import failures
from robustbo.loop.observations.groups import PointGroup
from robustbo.loop.observations.table import observations
from robustbo.loop.surrogate.cache import FitCache
from robustbo.numerics.failures import map_fit
from robustbo.replay.check.asks import verify_journal
from robustbo.searchspace.parameters import Choice, Float, Int
from robustbo.searchspace.space import Space
from robustbo.surrogates.registry import SURROGATES
from robustbo.trials.history import REMEASURE, RETRY
from robustbo.trials.settings import Settings
from robustbo.trials.trial import Trial

SQUARE = Space(x=Float(0.0, 1.0), y=Float(0.0, 1.0))


def fails(params):
    """Half of the square, with the minimum of `value` in it."""
    return params["x"] + params["y"] > 1.0


def value(params):
    return (params["x"] - 0.7) ** 2 + (params["y"] - 0.6) ** 2


def end(opt, trial):
    return opt.fail(trial, "out of memory") if fails(trial.params) else opt.tell(trial, value(trial.params))


def driven(n, **options):
    opt = rb.Optimizer(SQUARE, **{"direction": "minimize", "seed": 1, "surrogate": "standard", **options})
    for _ in range(n):
        end(opt, opt.ask())
    return opt


def filled(**options):
    """A study that knows the square well, told of a Sobol sequence."""
    opt = rb.Optimizer(SQUARE, **{"direction": "minimize", "seed": 0, "surrogate": "standard", **options})
    for i in range(30):
        params = SQUARE.sobol(5, i)
        opt.fail(params) if fails(params) else opt.tell(params, value(params))
    return opt


class TestWhatIsBelieved:
    @pytest.mark.parametrize("seed", range(2))
    def test_the_order_in_which_trials_ended_decides_nothing(self, seed):
        rng = np.random.default_rng(seed)
        points = [{"x": float(x), "y": float(y)} for x, y in rng.uniform(size=(24, 2))]
        is_flake = rng.uniform(size=24) < 0.1
        said = []
        for order in (range(24), rng.permutation(24)):
            opt = rb.Optimizer(SQUARE, direction="minimize", seed=0, surrogate="standard")
            for i in order:
                opt.fail(points[i]) if fails(points[i]) or is_flake[i] else opt.tell(points[i], value(points[i]))
            said.append([*opt.viability(points)])
        assert said[0] == said[1]

    def test_a_lone_failure_among_values_is_a_flake_and_those_of_a_region_are_not(self):
        opt = filled()
        flake = opt.fail({"x": 0.2, "y": 0.3})
        found = {failure.trial.number: failure for failure in opt.failures()}
        assert found[flake.number].looks_like == "flake"
        others = [failure for number, failure in found.items() if number != flake.number]
        assert sum(failure.looks_like == "region" for failure in others) >= len(others) - 1
        assert 0.5 < found[flake.number].probability_flake <= 1.0

    def test_of_few_trials_flakes_are_as_frequent_as_the_prior_expects(self):
        X = torch.tensor([[0.1, 0.1], [0.9, 0.2], [0.5, 0.9]], dtype=torch.float64)
        assert fit_predictor(X, [True, True, False], [False] * 3, 0).e1 == pytest.approx(0.08, abs=0.02)

    def test_the_users_own_word_counts(self):
        opt = filled()
        said = opt.fail({"x": 0.2, "y": 0.3}, retry=False), opt.fail({"x": 0.9, "y": 0.9}, retry=True)
        odds = {failure.trial.number: failure.log_odds for failure in opt.failures()}
        assert [odds[trial.number] for trial in said] == [-math.inf, math.inf]

    def test_what_asking_again_gave_is_said(self):
        opt = filled()
        for then in (lambda p: opt.tell(p, 0.0), lambda p: opt.fail(p), lambda p: opt.enqueue(p)):
            point = {"x": 0.1, "y": 0.1 + 0.2 * opt.history.counts()["failed"] / 30}
            opt.fail(point)
            then(point)
        assert {failure.again for failure in opt.failures()} == {None, "told", "failed", "pending"}

    def test_a_failure_whose_point_gave_values_too_is_a_flake(self):
        opt = filled()
        for point in ({"x": 0.3, "y": 0.2}, {"x": 0.48, "y": 0.48}):
            opt.fail(point)
            opt.tell(point, value(point))
        assert [failure.looks_like for failure in opt.failures()][-2:] == ["flake", "flake"]

    def test_probabilities_of_a_value_follow_the_region(self):
        opt = filled()
        assert opt.viability({"x": 0.1, "y": 0.2}) > 0.8
        assert opt.viability({"x": 0.9, "y": 0.9}) < 0.2
        points = [{"x": 0.1, "y": 0.2}, {"x": 0.9, "y": 0.9}]
        assert opt.viability(points).tolist() == pytest.approx([opt.viability(point) for point in points])

    def test_where_nothing_has_failed_all_is_well(self):
        opt = rb.Optimizer(SQUARE, direction="minimize", seed=0)
        opt.tell({"x": 0.1, "y": 0.1}, 1.0)
        assert opt.failures() == []
        assert opt.viability({"x": 0.9, "y": 0.9}) == 1.0
        assert feasibility_model(observations(opt.settings, opt.history), 0, FitCache()) is None

    def test_one_that_the_user_calls_a_flake_says_nothing_of_its_point(self):
        opt = filled()
        before = opt.viability({"x": 0.2, "y": 0.3})
        opt.fail({"x": 0.2, "y": 0.3}, retry=True)
        assert opt.viability({"x": 0.2, "y": 0.3}) == before

    def test_an_excluded_value_was_a_value(self):
        opt = filled()
        told = next(trial for trial in opt.history if trial.state == "told")
        before = opt.viability(told.params)
        opt.exclude(told)
        assert opt.viability(told.params) == before


class TestManyTrials:
    """Of which the model is made of a bounded number, whatever share of them has failed."""

    def ended(self, has_failed, n=300):
        """A model of so many trials along a Sobol sequence, their points, and how large each matrix of its fit was."""
        X = torch.tensor([SQUARE.to_unit(SQUARE.sobol(5, i)) for i in range(n)], dtype=torch.float64)
        is_ok = [not has_failed(i, x, y) for i, (x, y) in enumerate(X.tolist())]
        return X, is_ok, fit_predictor(X, is_ok, [False] * n, 0)

    @pytest.mark.few(1)
    @pytest.mark.parametrize("bound", [0.01, 0.5, 1.0])
    def test_a_fit_is_of_so_many_places_at_most(self, monkeypatch, bound):
        sizes, propagate = [], map_fit.propagate
        monkeypatch.setattr(map_fit, "propagate", lambda K, *rest: sizes.append(len(K)) or propagate(K, *rest))
        _, _, found = self.ended(lambda i, x, y: x <= bound)
        assert max(sizes) == len(found.X) <= MODELLED
        assert sum(size > LEARNED for size in sizes) == 1

    def test_where_nearly_all_failed_the_values_count(self):
        X, is_ok, found = self.ended(lambda i, x, y: x > 0.15)
        p = found.log_viable(X)[0].exp()
        assert p[is_ok].min() > 0.5
        assert p[~torch.tensor(is_ok)].mean() < 0.1

    def test_failures_that_the_model_is_not_made_of_are_judged(self):
        _, is_ok, found = self.ended(lambda i, x, y: x > 0.15)
        odds = torch.tensor(found.log_odds)[~torch.tensor(is_ok)]
        assert len(odds) > MODELLED  # so some are none of the model's
        assert odds.isfinite().all()
        assert (odds < 0).double().mean() > 0.95
        here = torch.tensor([[0.05, 0.5], [0.6, 0.5]], dtype=torch.float64)  # where trials give values, and where not
        flake, region = found.log_odds_at(here, np.ones(2))
        assert flake > 0 > region

    def test_where_the_larger_number_does_not_settle_the_smaller_says_all(self, monkeypatch):
        evaluate = map_fit.evaluate
        monkeypatch.setattr("robustbo.loop.feasibility.model.evaluate", lambda *at: evaluate(*at)._replace(F=-math.inf))
        _, _, found = self.ended(lambda i, x, y: x + y > 1.0)
        assert len(found.X) == LEARNED

    def test_a_resumed_study_begins_at_searches_alone(self, monkeypatch):
        opt, kept = filled(), FitCache()
        for i in range(30, 33):  # whose searches begin one after the other
            opt.fail(SQUARE.sobol(5, i))
            feasibility_model(observations(opt.settings, opt.history), 0, kept)
        models, predictor = [], viability_module.predictor_of
        monkeypatch.setattr(viability_module, "predictor_of", lambda *a: models.append(a) or predictor(*a))
        resumed = feasibility_model(observations(opt.settings, opt.history), 0, FitCache())
        assert len(models) == 1
        monkeypatch.undo()
        went_on = feasibility_model(observations(opt.settings, opt.history), 0, kept)
        assert resumed.predictor.x.tolist() == went_on.predictor.x.tolist()
        assert resumed.log_odds == went_on.log_odds


class TestAsks:
    @pytest.mark.slow
    def test_they_keep_away_from_where_trials_fail(self):
        studies = ([driven(24, seed=seed, failures=mode) for seed in (1, 2)] for mode in ("learn", "ignore"))
        learns, ignores = (sum(study.history.counts()["failed"] for study in each) for each in studies)
        assert learns <= 0.75 * ignores

    @pytest.mark.slow
    @pytest.mark.parametrize("surrogate", ["relevance-pursuit", "student-t"])
    def test_without_failures_nothing_changes_to_the_last_bit(self, surrogate):
        points = []
        for mode in ("learn", "ignore"):
            opt = rb.Optimizer(SQUARE, direction="minimize", seed=3, surrogate=surrogate, failures=mode)
            for _ in range(12):
                trial = opt.ask()
                opt.tell(trial, value(trial.params))
            points.append([trial.params for trial in opt.history])
        assert points[0] == points[1]

    def test_where_all_initial_points_failed_they_move_away_and_say_so(self):
        opt = rb.Optimizer(SQUARE, direction="minimize", seed=0)
        for i in range(6):
            opt.fail({**SQUARE.sobol(opt.seed, 6), "x": 0.5 + 0.02 * i})
        trial = opt.ask()
        assert (trial.origin, trial.reason) == ("sobol", AWAY)
        assert trial.params["x"] < 0.6

    def test_they_begin_with_a_model_where_most_initial_points_failed(self):
        opt = rb.Optimizer(SQUARE, direction="minimize", seed=0, num_initial=6, surrogate="standard")
        for i in range(5):
            opt.fail({"x": 0.9, "y": 0.5 + 0.1 * i})
        opt.tell({"x": 0.1, "y": 0.1}, 1.0)
        assert opt.ask().origin == "sobol"
        opt.tell({"x": 0.2, "y": 0.1}, 0.9)
        assert opt.ask().origin == "model"

    @pytest.mark.few(6)
    @pytest.mark.parametrize("surrogate", sorted(SURROGATES))
    def test_every_surrogate_has_them(self, surrogate):
        opt = rb.Optimizer(SQUARE, direction="minimize", seed=1, surrogate=surrogate)
        for i in range(12):
            params = SQUARE.sobol(5, i)
            opt.fail(params) if fails(params) else opt.tell(params, -params["x"] - params["y"])
        with_it, without = (step(replace(opt.settings, failures=m), opt.history, 12) for m in ("learn", "ignore"))
        assert with_it.fallback is None
        assert fails(without.params)  # where much is promised
        assert opt.viability(with_it.params) > max(0.3, opt.viability(without.params))

    def test_a_batch_is_of_different_points_that_may_well_give_values(self):
        opt = filled()
        batch = opt.ask(4)
        assert len({trial.point for trial in batch}) == 4
        assert min(opt.viability([trial.params for trial in batch])) > 0.2  # at the well's edge, from 32 samples

    @pytest.mark.slow
    def test_mixed_spaces_have_them(self):
        space = Space(n=Int(1, 6), kind=Choice("a", "b", "c"), x=Float(0.0, 1.0))
        opt = rb.Optimizer(space, direction="minimize", seed=2, surrogate="standard")
        for _ in range(25):
            trial = opt.ask()
            is_bad = trial.params["kind"] == "b" or trial.params["n"] > 4
            opt.fail(trial) if is_bad else opt.tell(trial, trial.params["x"] - trial.params["n"])
        late = [trial for trial in opt.history if trial.number >= 12]
        assert sum(trial.state == "failed" for trial in late) <= 6

    @pytest.mark.slow
    def test_a_resumed_study_goes_on_with_the_same_bits(self, tmp_path):
        opt = driven(14, journal=tmp_path / "study.jsonl", surrogate="relevance-pursuit")
        assert opt.history.having("failed")
        assert verify_journal(tmp_path / "study.jsonl").bits == 14
        assert driven(14, surrogate="relevance-pursuit").ask().params == opt.ask().params  # which was never kept

    def test_the_best_is_what_was_measured(self):
        opt = filled()
        assert opt.best().trial.state == "told"
        assert opt.best(raw=True).mean == min(t.value for t in opt.history if t.state == "told")


class TestRetries:
    def at_the_best(self, **word):
        """A study whose best point by far has just failed."""
        opt = rb.Optimizer(SQUARE, direction="minimize", seed=0, surrogate="standard", num_initial=5)
        for i in range(25):
            params = SQUARE.sobol(5, i)
            opt.tell(params, (params["x"] - 0.3) ** 2 + (params["y"] - 0.4) ** 2)
        trial = opt.ask()
        opt.fail(trial, **word)
        return opt, trial

    def test_a_flake_where_much_is_promised_is_asked_again_once(self):
        opt, trial = self.at_the_best()
        again = opt.ask()
        assert (again.repeats, again.reason, again.params) == (trial.number, RETRY, trial.params)
        opt.fail(again)
        assert opt.ask().repeats is None

    def test_what_the_user_wants_tried_again_is_at_once_and_as_often_as_it_flakes(self):
        opt = rb.Optimizer(SQUARE, direction="minimize", seed=0)
        trial = opt.ask()
        for _ in range(3):
            opt.fail(trial, "power cut", retry=True)
            again = opt.ask()
            assert (again.params, again.reason) == (trial.params, RETRY)
            trial = again
        opt.tell(trial, 1.0)
        assert opt.ask().params != trial.params

    def test_what_the_user_says_lies_in_the_point_is_not(self):
        opt, trial = self.at_the_best(retry=False)
        for _ in range(4):
            again = opt.ask()
            assert again.params != trial.params
            opt.tell(again, 1.0)

    def test_the_users_word_may_come_later_and_keeps_the_reason(self):
        opt = rb.Optimizer(SQUARE, direction="minimize", seed=0)
        trial = opt.ask()
        opt.fail(trial, "power cut")
        assert opt.fail(trial, retry=True).reason == "power cut"
        assert opt.ask().params == trial.params

    def test_a_point_that_the_user_has_barred_is_not_measured_again(self):
        told, pending = Trial(0, {"x": 0.5}, state="told", value=1.0), Trial(1, {"x": 0.5})
        barred, failed = (Trial(1, {"x": 0.5}, state="failed", retry=word) for word in (False, None))
        assert [PointGroup((told, other)).is_closed for other in (pending, barred, failed)] == [True, True, False]

    def test_a_retry_is_no_re_measurement(self):
        opt, trial = self.at_the_best()
        again = opt.ask()
        assert again.reason != REMEASURE
        told = opt.tell(again, 0.0)
        assert told.repeats == trial.number
        assert {failure.again for failure in opt.failures()} == {"told"}

    def test_while_it_is_pending_there_is_no_other(self):
        opt, _ = self.at_the_best()
        assert [trial.repeats is None for trial in opt.ask(3)] == [False, True, True]


class TestFiniteSpaces:
    def test_a_barred_point_is_never_asked_for_again(self):
        opt = rb.Optimizer(Space(n=Int(1, 4)), direction="minimize", seed=0, surrogate="standard", num_initial=2)
        barred = opt.fail({"n": 2}, retry=False)
        for _ in range(12):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ExhaustedWarning)
                trial = opt.ask()
            assert trial.params != barred.params
            opt.tell(trial, float(trial.params["n"]))

    def test_where_all_points_are_barred_there_is_an_error_that_says_so(self):
        opt = rb.Optimizer(Space(n=Int(1, 2)), direction="minimize", seed=0)
        for n in (1, 2):
            opt.fail({"n": n}, retry=False)
        with pytest.raises(SpaceExhausted, match="failed for good"):
            opt.ask()


def test_the_discount_has_the_slopes_that_it_should():
    opt = filled()
    found = feasibility_model(observations(opt.settings, opt.history), 0, FitCache())
    constant = lambda X: X.new_zeros(len(X))  # noqa: E731
    constant.model = None
    function = FeasibilityWeighted.__new__(FeasibilityWeighted)
    torch.nn.Module.__init__(function)
    function._function, function._predictor, function._transform = constant, found.predictor, None
    X = torch.rand(4, 1, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    values = function(X)
    assert values.tolist() == pytest.approx((CAUTION * found.log_p(X.detach().squeeze(1).tolist())).tolist())
    (slopes,) = torch.autograd.grad(values.sum(), X)
    step_ = 1e-6
    for j in range(2):
        unit = torch.zeros_like(X)
        unit[..., j] = step_
        numeric = (function(X + unit) - function(X - unit)) / (2 * step_)
        assert slopes[..., 0, j].tolist() == pytest.approx(numeric.tolist(), rel=1e-2, abs=1e-3)


def test_ignoring_is_as_it_was():
    opt = filled()
    ignoring = replace(opt.settings, failures="ignore")
    made = step(ignoring, opt.history, 30)
    assert made.repeats is None
    assert fails(made.params)
    assert len(failures(ignoring, opt.history)) == len(opt.history.having("failed"))  # but people can ask


def test_settings_know_two_ways():
    with pytest.raises(ValueError, match=r"failures must be one of \['learn', 'ignore'\], got 'avoid'"):
        Settings(SQUARE, failures="avoid")
