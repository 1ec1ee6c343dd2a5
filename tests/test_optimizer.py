import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from botorch.models import SingleTaskGP

import robustbo as rb
from robustbo.errors import JournalError
from robustbo.loop.decide import step
from robustbo.loop.surrogate import fit
from robustbo.tasks.corruption import build
from robustbo.tasks.problem import Problem
from robustbo.trials.settings import Settings
from robustbo.trials.storage.reading import read

SPACE = rb.Space(x=rb.Float(-5.0, 10.0), y=rb.Float(0.0, 15.0))
MIXED = rb.Space(lr=rb.Float(1e-4, 1e-1, log=True), layers=rb.Int(1, 8), act=rb.Choice("relu", "tanh", True))


def branin(x, y):
    return (
        (y - 5.1 / (4 * math.pi**2) * x * x + 5 / math.pi * x - 6) ** 2
        + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x)
        + 10
    )


def optimizer(space=SPACE, **options):
    return rb.Optimizer(space, **{"direction": "minimize", "surrogate": "standard", "seed": 1, **options})


def go_on(opt, trials, wrong=()):
    while len(opt.history) < trials:
        trial = opt.ask()
        opt.tell(trial, -1e3 if trial.number in wrong else branin(**trial.params))
    return opt


def points(opt):
    return [trial.params for trial in opt.history]


class TestAsk:
    def test_the_first_points_are_sobol_and_the_next_are_the_models(self):
        opt = go_on(optimizer(), 8)
        assert [trial.origin for trial in opt.history] == ["sobol"] * 6 + ["model"] * 2

    @pytest.mark.parametrize(("options", "count"), [({}, 6), ({"num_initial": 3}, 3)])
    def test_how_many_are_sobol_is_an_option(self, options, count):
        opt = optimizer(**options)
        assert opt.settings.num_initial == count

    def test_one_dimension_still_gets_five(self):
        assert optimizer(rb.Space(x=rb.Float(0, 1))).settings.num_initial == 5

    def test_the_same_seed_gives_the_same_run_whatever_happens_outside(self):
        first = points(go_on(optimizer(), 8))
        torch.manual_seed(99)
        np.random.seed(99)  # noqa: NPY002
        opt = optimizer()
        while len(opt.history) < 8:
            trial = opt.ask()
            opt.tell(trial, branin(**trial.params))
            opt.best(), opt.outliers()  # looking changes nothing
        assert points(opt) == first
        assert points(go_on(optimizer(seed=2), 8)) != first

    def test_asking_leaves_the_global_generators_alone(self):
        opt = go_on(optimizer(), 7)
        torch.manual_seed(5)
        expected = torch.rand(3)
        torch.manual_seed(5)
        opt.ask()
        assert torch.equal(torch.rand(3), expected)

    def test_a_batch_accounts_for_its_own_pending_points_and_is_told_in_any_order(self):
        opt = go_on(optimizer(), 7)
        batch = opt.ask(3)
        rows = [SPACE.to_unit(trial.params) for trial in batch]
        assert min(math.dist(a, b) for a in rows for b in rows if a is not b) > 1e-3
        for trial in reversed(batch):
            opt.tell(trial, branin(**trial.params))
        assert len(opt.history.having("told")) == 10

    def test_many_pending_points_and_no_value_yet_are_answered_by_sobol(self):
        assert {trial.origin for trial in optimizer().ask(9)} == {"sobol"}

    @pytest.mark.parametrize("n", [0, -1, 1.5, True, "2"])
    def test_a_bad_count_is_refused(self, n):
        with pytest.raises(ValueError, match="n must be a whole number of at least 1"):
            optimizer().ask(n)

    def test_a_batch_that_fails_half_way_leaves_nothing_pending(self, monkeypatch):
        opt = go_on(optimizer(), 6)
        calls = iter(range(9))

        def fail(*arguments):
            if next(calls) == 2:
                raise rb.FitError("no luck")
            return step(*arguments)

        monkeypatch.setattr("robustbo.view.points.step", fail)
        with pytest.raises(rb.FitError, match="no luck"):
            opt.ask(3)
        assert not opt.history.having("pending")

    def test_the_sobol_acquisition_never_needs_a_model(self):
        opt = go_on(optimizer(acquisition="sobol"), 9)
        assert {trial.origin for trial in opt.history} == {"sobol"}

    @pytest.mark.few(1)
    @pytest.mark.parametrize("acquisition", ["qLogNEI", "qLogEI", "LogEI"])
    def test_every_acquisition_serves_a_mixed_space_with_pending_points(self, acquisition):
        opt = optimizer(MIXED, acquisition=acquisition, num_initial=4)
        for trial in opt.ask(4):
            opt.tell(trial, -math.log10(trial.params["lr"]) + trial.params["layers"])
        batch = opt.ask(2)
        assert all(trial.params == MIXED.validate(trial.params) for trial in batch)
        assert batch[0].params != batch[1].params

    def test_a_model_class_of_ones_own_will_do_and_survives_the_journal(self, tmp_path):
        opt = go_on(optimizer(surrogate=SingleTaskGP, journal=tmp_path / "j"), 7)
        expected = opt.ask()
        assert rb.Optimizer.resume(tmp_path / "j").history[7] == expected
        assert optimizer(surrogate=SingleTaskGP).settings == opt.settings

    def test_a_model_class_of_ones_own_has_a_best_point_too(self):
        """It answers by the contract's own words, having none of ours itself."""
        opt = go_on(optimizer(surrogate=SingleTaskGP), 7)
        best = opt.best()
        assert best.mean == pytest.approx(opt.predict(best.params).mean)
        assert not any(outlier.flagged for outlier in opt.outliers())


class TestTell:
    def test_a_number_a_trial_and_parameters_are_all_understood(self):
        opt = optimizer()
        opt.ask(2)
        assert opt.tell(np.int64(0), torch.tensor(1.0)).value == 1.0
        assert opt.tell(opt.history[1], np.float32(2.0)).state == "told"
        told = opt.tell({"x": 0, "y": np.float64(1.0)}, 3)
        assert (told.number, told.origin, told.params) == (2, "user", {"x": 0.0, "y": 1.0})

    @pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
    def test_a_value_that_is_not_finite_is_a_failed_trial_and_never_reaches_a_fit(self, value):
        opt = go_on(optimizer(), 6)
        trial = opt.tell(opt.ask(), value)
        assert trial.state == "failed"
        assert str(value) in trial.reason
        assert opt.tell({"x": 0.0, "y": 1.0}, value).state == "failed"
        assert len(opt.outliers()) == 6
        opt.ask()

    @pytest.mark.parametrize("value", ["0.9", None, True, [1, 2], 1j])
    def test_what_is_no_number_is_refused_and_changes_nothing(self, value):
        opt = optimizer()
        trial = opt.ask()
        with pytest.raises(TypeError, match="value must be a real number, got"):
            opt.tell(trial, value)
        assert opt.history[0].state == "pending"

    def test_telling_twice_advises_to_amend(self):
        opt = optimizer()
        opt.tell(opt.ask(), 1.0)
        with pytest.raises(ValueError, match="trial 0 must be pending or queued to tell it, it is told; use amend"):
            opt.tell(0, 2.0)

    def test_a_trial_of_another_optimization_is_refused(self):
        ours, theirs = optimizer(), optimizer(seed=2)
        ours.ask()
        with pytest.raises(ValueError, match="trial 0 must be one of this optimization"):
            ours.tell(theirs.ask(), 1.0)

    @pytest.mark.parametrize("sd", [1e-300, 1e200])
    def test_an_extreme_sd_will_do(self, sd):
        opt = optimizer()
        for i in range(6):
            opt.tell({"x": i, "y": 1}, float(i), sd=sd if i == 3 else 0.1)
        assert opt.ask().origin == "model"

    def test_a_trial_that_does_not_exist_is_named(self):
        with pytest.raises(ValueError, match=r"there is none yet, got 3"):
            optimizer().tell(3, 1.0)

    @pytest.mark.parametrize("sd", [-1.0, math.nan, math.inf])
    def test_a_bad_sd_is_refused(self, sd):
        with pytest.raises(ValueError, match="sd must be finite and at least 0"):
            optimizer().tell({"x": 0, "y": 0}, 1.0, sd=sd)

    def test_parameters_outside_the_space_are_named_and_kept(self):
        with pytest.warns(rb.SpaceWarning, match=r"x: must lie in \[-5.0, 10.0\], got 11.0"):
            assert optimizer().tell({"x": 11, "y": 0}, 1.0).params["x"] == 11.0

    def test_known_noise_is_used_where_it_is_always_known(self):
        opt = optimizer()
        for i in range(6):
            opt.tell({"x": i, "y": 1}, float(i % 2), sd=10.0)
        assert abs(opt.best().mean - 0.5) < 0.4  # so much noise leaves little but the mean
        opt.tell({"x": 7, "y": 1}, 0.0)
        assert math.isfinite(opt.best().mean)  # that of the last is learned beside it

    def test_a_noise_of_zero_will_do(self):
        opt = optimizer()
        for i in range(6):
            opt.tell({"x": i, "y": 1}, float(i), sd=0.0)
        assert opt.best().trial.number == 0

    def test_replicates_are_welcome_and_share_an_incumbent(self):
        opt = optimizer()
        for value in (1.0, 3.0, 5.0, 3.0, 3.0):
            opt.tell({"x": 1, "y": 1}, value)
        opt.tell({"x": 2, "y": 9}, 10.0)
        best = opt.best()
        assert best.trial.number == 0
        assert best.mean == pytest.approx(3.0, abs=1.5)


class TestVerdicts:
    def test_exclusion_is_taken_back_and_a_value_amended(self):
        opt = go_on(optimizer(), 6)
        before = opt.best()
        worst = opt.best(raw=True).trial
        opt.exclude(worst)
        assert opt.best(raw=True).trial != worst
        assert worst.number not in [o.trial.number for o in opt.outliers()]
        opt.include(worst)
        assert (opt.best().trial.params, opt.best().mean) == (before.trial.params, pytest.approx(before.mean))
        assert opt.amend(worst, 1e3).value == 1e3
        assert opt.best(raw=True).trial.number != worst.number

    def test_failed_trials_can_be_given_a_value_later(self):
        opt = optimizer()
        opt.fail(opt.ask(), "node died")
        assert opt.history[0].reason == "node died"
        assert opt.amend(0, 2.0).state == "told"

    def test_amending_to_nothing_is_refused(self):
        opt = optimizer()
        opt.tell(opt.ask(), 1.0)
        with pytest.raises(ValueError, match="use exclude"):
            opt.amend(0, math.nan)

    def test_excluded_trials_still_count_as_initial_points(self):
        opt = go_on(optimizer(), 6)
        opt.exclude(0)
        assert opt.ask().origin == "model"

    def test_failures_do_not_count_as_initial_points(self):
        opt = optimizer()
        for trial in opt.ask(8):
            opt.fail(trial)
        assert opt.ask().origin == "sobol"


class TestBest:
    def test_the_incumbent_is_the_models_and_the_raw_best_is_the_liar(self):
        opt = go_on(optimizer(surrogate="relevance-pursuit", acquisition="sobol"), 12, wrong={4})
        assert opt.best(raw=True).trial.number == 4
        best = opt.best()
        assert abs(best.mean - branin(**best.trial.params)) < 10  # its mean is near the truth even at the liar's point
        worst = opt.outliers()[0]
        assert (worst.trial.number, worst.flagged, worst.value) == (4, True, -1e3)
        assert worst.evidence > 10
        assert abs(worst.value - worst.expected) > 5 * worst.sd

    def test_maximizing_is_minimizing_upside_down(self):
        down, up = optimizer(), optimizer(direction="maximize")
        for x in range(8):
            down.tell({"x": x, "y": 3}, (x - 3.0) ** 2)
            up.tell({"x": x, "y": 3}, -((x - 3.0) ** 2))
        assert down.ask().params == up.ask().params
        assert (down.best().trial.number, down.best().mean) == (3, -up.best().mean)

    @pytest.mark.parametrize("raw", [True, False])
    def test_nothing_told_is_said(self, raw):
        with pytest.raises(ValueError, match="at least one told value"):
            optimizer().best(raw=raw)
        assert optimizer().outliers() == []

    @pytest.mark.few(5)
    @pytest.mark.parametrize("surrogate", ["standard", "relevance-pursuit"])
    @pytest.mark.parametrize(
        "values",
        [
            [1.0],
            [2.0] * 6,
            [1.0, 1e300, 2.0, 3.0, 2.5, 1.5],
            [1e-12, 2e-12, 4e-12, 3e-12, 0, 1e-12],
            [1e10, 1e10 + 1, 1e10 - 1],
        ],
        ids=["one", "equal", "huge", "tiny", "far"],
    )
    def test_awkward_values_leave_a_usable_optimizer(self, surrogate, values):
        opt = optimizer(surrogate=surrogate, num_initial=1)
        for i, value in enumerate(values):
            opt.tell({"x": i, "y": i * i % 7}, value)
        assert math.isfinite(opt.best().mean)
        assert len(opt.outliers()) == len(values)
        assert opt.ask().origin == ("model" if len({*values}) > 1 else "sobol")  # equal values say nothing yet

    @pytest.mark.few(2)
    @pytest.mark.parametrize("wrong", [-1e2, -1e6, -1e12, -1e300, 1e300])
    def test_one_wild_value_of_any_size_leaves_the_others_their_differences(self, wrong):
        opt = optimizer(surrogate="relevance-pursuit")
        for x in range(-5, 11):
            opt.tell({"x": x, "y": 3}, wrong if x == 7 else (x - 3.0) ** 2)
        assert opt.best().trial.params["x"] == 3.0
        assert abs(opt.best().mean) < 0.5
        (worst,) = [o for o in opt.outliers() if o.flagged]
        assert worst.value == wrong
        assert abs(worst.expected - 16.0) < 2.0

    def test_where_a_surrogate_cannot_take_a_value_a_simpler_one_decides_and_says_so(self, tmp_path):
        opt = optimizer(surrogate="botorch-relevance-pursuit", num_initial=1, journal=tmp_path / "j")
        for x in range(4):
            opt.tell({"x": x, "y": 3}, 1e300 if x == 1 else float(x))
        trial = opt.ask()
        assert trial.fallback.startswith("by standard, since these failed: botorch-relevance-pursuit: FitError")
        assert "cannot fit these values; exclude the most extreme" in trial.fallback
        assert rb.Optimizer.resume(tmp_path / "j").history[4] == trial
        assert math.isfinite(opt.best().mean)
        assert len(opt.outliers()) == 4

    def test_where_nothing_can_be_fitted_a_sobol_point_comes(self, monkeypatch):
        opt = go_on(optimizer(), 7)
        monkeypatch.setattr(
            "robustbo.loop.surrogate.fallback.fit_to", lambda *_: (_ for _ in ()).throw(ValueError("no numbers"))
        )
        assert (opt.ask().origin, opt.best().mean) == ("sobol", opt.best(raw=True).mean)
        with pytest.raises(rb.FitError, match="no surrogate could judge these values"):
            opt.outliers()

    def test_tiny_and_shifted_values_are_the_same_problem(self):
        def ask(scale, shift):
            opt = optimizer()
            for x in range(8):
                opt.tell({"x": x, "y": 3}, scale * (x - 3.0) ** 2 + shift)
            return opt.ask().params

        assert ask(2.0**-40, 0.0) == ask(1.0, 0.0) == ask(2.0**40, 2.0**40)


class TestMeasuringAgain:
    """16 values of a sine, the eleventh too good by 3.0: flagged, and the best if it were true."""

    def optimizer(self, **options):
        opt = rb.Optimizer(
            rb.Space(x=rb.Float(0, 1)), **{"direction": "maximize", "seed": 1, "replicate": "flagged", **options}
        )
        for i in range(16):
            value = math.sin(3 * i / 15) + 0.1 * math.sin(40 * i) + (3.0 if i == 10 else 0.0)
            opt.tell({"x": i / 15}, value)
        return opt

    def test_it_is_asked_again_and_the_journal_says_why(self, tmp_path):
        opt = self.optimizer(journal=tmp_path / "j")
        trial = opt.ask()
        assert (trial.repeats, trial.reason, trial.origin) == (10, "re-measure", "model")
        assert trial.params == opt.history[10].params
        event = read(tmp_path / "j").events[-1]
        assert (event["repeats"], event["reason"]) == (10, "re-measure")
        assert rb.Optimizer.resume(tmp_path / "j").history == opt.history

    def test_what_came_out_is_reported(self):
        opt = self.optimizer()
        assert opt.outliers()[0].remeasured == "not yet"
        opt.tell(opt.ask(), 0.9)
        found = {o.trial.number: (o.flagged, o.remeasured) for o in opt.outliers()}
        assert (found[10], found[16]) == ((True, "refuted"), (False, "confirmed"))
        assert opt.ask().repeats is None

    def test_a_confirmed_value_is_believed_and_recommended(self):
        opt = self.optimizer()
        opt.tell(opt.ask(), opt.history[10].value)
        found = {o.trial.number: (o.flagged, o.remeasured) for o in opt.outliers()}
        assert found[10] == found[16] == (False, "confirmed")
        assert opt.best().trial.number == 10

    def test_a_repeat_takes_one_place_of_a_batch(self):
        batch = self.optimizer().ask(4)
        assert [trial.repeats for trial in batch] == [10, None, None, None]

    def test_a_pending_repeat_is_not_asked_twice(self):
        opt = self.optimizer()
        assert [opt.ask().repeats for _ in range(2)] == [10, None]

    def test_it_can_be_switched_off(self):
        assert self.optimizer(replicate="never").ask().repeats is None

    @pytest.mark.parametrize(
        ("option", "message"),
        [({"replicate": "always"}, "replicate must be one of"), ({"max_replicates": 0}, "max_replicates must be")],
    )
    def test_a_bad_option_is_refused(self, option, message):
        with pytest.raises(ValueError, match=message):
            optimizer(**option)

    def test_resuming_half_way_is_never_having_stopped(self, tmp_path):
        def go(opt, trials):
            while len(opt.history) < trials:
                trial = opt.ask()
                wrong = trial.number % 5 == 3
                opt.tell(trial, -2.0 if wrong else math.sin(3 * trial.params["x"]))
            return opt

        whole = go(self.optimizer(journal=tmp_path / "whole"), 21)
        go(self.optimizer(journal=tmp_path / "half"), 19)
        assert go(rb.Optimizer.resume(tmp_path / "half"), 21).history == whole.history
        assert any(trial.repeats is not None for trial in whole.history)

    @pytest.mark.slow
    @pytest.mark.parametrize("value", [0.0, -400.0, 1000.0])
    def test_a_region_where_every_value_is_wrong_does_not_trap_the_loop(self, value):
        problem = Problem("branin", SPACE, "minimize", lambda p: branin(**p))
        corruption = build("persistent", problem, probability=0.1, value=value)
        opt = rb.Optimizer(SPACE, direction="minimize", seed=1, replicate="any")
        for _ in range(30):
            trial = opt.ask()
            told, _ = corruption.apply(branin(**trial.params), trial.params, np.random.default_rng(0))
            opt.tell(trial, told)
        counts = [len(trials) for trials in opt.history.at_points().values()]
        assert max(counts) <= 3
        assert len({tuple(round(u, 1) for u in SPACE.to_unit(trial.params)) for trial in opt.history}) >= 12

    @pytest.mark.slow
    def test_what_is_quarantined_does_not_draw_the_next_points(self):
        """On clean Branin, seed 1, a model once quarantined every value of a corner that it went on to ask for."""
        opt = go_on(optimizer(surrogate="relevance-pursuit", replicate="flagged"), 30)
        assert len(fit.fit(opt.settings, opt.history).quarantined) <= 2
        assert branin(**opt.best().trial.params) < 0.6

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", [2, 3, 4])
    def test_a_cliff_is_no_corruption(self, seed):
        opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), direction="maximize", seed=seed)
        for _ in range(25):
            trial = opt.ask()
            opt.tell(trial, -5.0 if trial.params["x"] > 0.7 else 2 * trial.params["x"])
        assert opt.best().trial.params["x"] > 0.6
        assert len(fit.fit(opt.settings, opt.history).quarantined) <= 0.3 * 25

    @pytest.mark.slow
    def test_noise_in_a_discrete_space_is_no_corruption(self):
        space = rb.Space(n=rb.Int(1, 4), c=rb.Choice("a", "b"))
        opt, noise = rb.Optimizer(space, direction="maximize", seed=1), np.random.default_rng(1)
        for number in range(24):
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                trial = opt.ask()
            is_new_or_doubtful = number < 8 or trial.reason == "re-measure"
            assert any(each.category is rb.ExhaustedWarning for each in heard) != is_new_or_doubtful
            opt.tell(trial, trial.params["n"] + (trial.params["c"] == "b") + noise.normal())
        assert fit.fit(opt.settings, opt.history).quarantined == ()


class TestManyValues:
    @pytest.mark.slow
    def test_auto_becomes_a_committee_and_goes_on_alike_after_a_break(self, tmp_path):
        opt = go_on(
            rb.Optimizer(SPACE, direction="minimize", seed=0, committee_from=12, journal=tmp_path / "a.jsonl"), 15
        )
        fitted = fit.fit(opt.settings, opt.history)
        assert type(fitted.model).__name__ == "CommitteeGP"
        assert opt.settings.surrogate == "relevance-pursuit"
        resumed = rb.Optimizer.resume(tmp_path / "a.jsonl")
        assert resumed.settings == opt.settings
        assert resumed.best() == opt.best()

    def test_auto_does_not_unless_said_and_a_journal_that_says_so_is_resumed_without_saying_it(self, tmp_path):
        assert (
            rb.Optimizer(SPACE, direction="minimize", seed=0, journal=tmp_path / "new.jsonl").settings.committee_from
            is None
        )
        assert "committee_from" not in (tmp_path / "new.jsonl").read_text()
        rb.Optimizer(SPACE, direction="minimize", seed=0, committee_from=2000, journal=tmp_path / "old.jsonl")
        resumed = rb.Optimizer(SPACE, direction="minimize", journal=tmp_path / "old.jsonl", if_exists="resume")
        assert resumed.settings.committee_from == 2000

    def test_a_surrogate_that_was_named_stays(self):
        opt = go_on(rb.Optimizer(SPACE, direction="minimize", surrogate="standard", seed=0, committee_from=5), 8)
        assert type(fit.fit(opt.settings, opt.history).model).__name__ == "StandardGP"


class TestJournal:
    def test_a_journal_from_before_there_were_doubts_has_none(self):
        given = optimizer().settings.to_dict()
        later = ("remeasure", "max_repeats", "set_aside", "failures")
        settings = Settings.from_dict({key: value for key, value in given.items() if key not in later})
        assert (settings.replicate, settings.quarantine, settings.failures) == ("never", False, "ignore")
        assert Settings.from_dict(given) == optimizer().settings

    def test_a_journal_from_before_is_joined_by_the_script_that_began_it(self, tmp_path):
        place = tmp_path / "study.jsonl"
        begun = rb.Optimizer(
            rb.Space(x=rb.Float(0.0, 1.0)), direction="minimize", seed=0, journal=place, failures="ignore"
        )
        again = rb.Optimizer(
            rb.Space(x=rb.Float(0.0, 1.0)), direction="minimize", seed=0, journal=place, if_exists="resume"
        )
        assert again.settings == begun.settings
        with pytest.raises(JournalError, match="failures: recorded 'ignore', given 'learn'"):
            rb.Optimizer(
                rb.Space(x=rb.Float(0.0, 1.0)),
                direction="minimize",
                seed=0,
                journal=place,
                if_exists="resume",
                failures="learn",
            )

    def test_resuming_half_way_is_never_having_stopped(self, tmp_path):
        whole = go_on(optimizer(journal=tmp_path / "whole.jsonl"), 14)
        go_on(optimizer(journal=tmp_path / "half.jsonl"), 10)
        resumed = go_on(rb.Optimizer.resume(tmp_path / "half.jsonl"), 14)
        assert resumed.history == whole.history
        assert rb.Optimizer.resume(tmp_path / "half.jsonl").history == whole.history

    def test_a_told_value_is_in_the_file_when_tell_returns(self, tmp_path):
        opt = optimizer(journal=tmp_path / "j")
        opt.tell(opt.ask(), 0.1 + 0.2)
        event = read(tmp_path / "j").events[-1]
        assert {"event": "tell", "trial": 0, "value": 0.1 + 0.2, "sd": None}.items() <= event.items()

    def test_every_verdict_survives(self, tmp_path):
        opt = go_on(optimizer(journal=tmp_path / "j"), 6)
        opt.exclude(0), opt.exclude(1), opt.include(1), opt.amend(2, 5.0), opt.fail(opt.ask(), "gone")
        opt.tell({"x": 1, "y": 2}, math.nan)
        assert rb.Optimizer.resume(tmp_path / "j").history == opt.history

    def test_a_refused_event_is_not_written(self, tmp_path):
        opt = optimizer(journal=tmp_path / "j")
        with pytest.raises(ValueError, match="there is none yet, got 0"):
            opt.exclude(0)
        assert read(tmp_path / "j").events == []

    def test_an_existing_journal_is_not_overwritten(self, tmp_path):
        optimizer(journal=tmp_path / "j")
        with pytest.raises(rb.JournalError, match="exists; resume it"):
            optimizer(journal=tmp_path / "j")

    def test_other_library_versions_are_told_of(self, tmp_path, monkeypatch):
        optimizer(journal=tmp_path / "j")
        monkeypatch.setattr("robustbo.trials.codec.versions", lambda: dict.fromkeys(("torch", "numpy"), "0"))
        with pytest.warns(rb.JournalWarning, match=r"torch .* -> 0, numpy .* -> 0"):
            rb.Optimizer.resume(tmp_path / "j")

    def test_a_seed_that_was_not_given_is_drawn_shown_and_kept(self, tmp_path):
        opt = optimizer(seed=None, journal=tmp_path / "j")
        assert f"seed={opt.seed}" in repr(opt)
        assert rb.Optimizer.resume(tmp_path / "j").seed == opt.seed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"direction": "up"}, "direction must be one of .*, got 'up'"),
        ({"surrogate": "gp"}, "surrogate must be one of"),
        ({"acquisition": "EI"}, r"acquisition must be one of .*got 'EI'"),
        ({"num_initial": 0}, "num_initial must be a whole number of at least 1"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"surrogate_options": {"depth": 2}}, "has the options"),
        (
            {"surrogate": "relevance-pursuit", "surrogate_options": {"levels": {1}}},
            "must be JSON values",
        ),
        ({"space": {"x": (0, 1)}}, r"space must be a robustbo\.Space, or robustbo\.Pool\(table\), got dict"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        optimizer(**options)


@pytest.mark.parametrize("evidence", [True, False])
def test_a_frame_without_a_trial_has_the_parameters_columns(evidence):
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1), value=rb.Int(0, 3)), direction="minimize", seed=1)
    empty = opt.frame(evidence=evidence)
    opt.tell(opt.ask(), 1.0)
    assert len(empty) == 0
    assert list(empty.columns) == list(opt.frame(evidence=evidence).columns)


def test_frame_has_one_row_a_trial():
    opt = go_on(optimizer(), 3)
    opt.ask()
    frame = opt.frame()
    asked = ["value", "sd", "state", "origin", "reason", "repeats", "asked_by", "asked_at"]
    said = ["expected", "expected_sd", "evidence", "probability_wrong", "status", "flagged", "weight"]
    assert list(frame.columns) == ["x", "y", *asked, *said]
    assert list(opt.frame(evidence=False).columns) == ["x", "y", *asked]
    assert frame["flagged"].tolist()[:3] == [False] * 3
    assert frame["state"].tolist() == ["told"] * 3 + ["pending"]
    assert pd.isna(frame["value"][3])


def test_changing_a_trial_in_hand_does_not_change_the_history():
    opt = optimizer()
    trial = opt.ask()
    trial.params["x"] = 1e9
    assert opt.history[0].params["x"] != 1e9
    assert pickle.loads(pickle.dumps(opt.history)) == opt.history
