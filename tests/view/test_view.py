import copy
import pickle

import pytest

import robustbo as rb
from robustbo.trials.history import History
from robustbo.view import view as module
from robustbo.view.frame import failure_frame, outlier_frame
from robustbo.view.view import View


@pytest.fixture
def opt():
    made = rb.Optimizer(rb.Space(x=rb.Float(0.0, 1.0)), direction="minimize", seed=0)
    for i in range(7):
        made.tell({"x": i / 6}, 9.0 if i == 3 else (i / 6 - 0.4) ** 2)
    made.fail({"x": 0.9}, "lost")
    return made


def test_outliers_are_judged_once_for_a_history(opt, monkeypatch):
    judged = []
    outliers = module.outliers
    monkeypatch.setattr(module, "outliers", lambda *args: judged.append(len(args[1])) or outliers(*args))
    first = opt.outliers()
    assert first == opt.outliers() == opt.view.outliers()
    assert "flagged" in opt.frame()
    assert judged == [8]
    first.clear()  # a list of one's own
    assert len(opt.outliers()) == 7
    opt.tell({"x": 0.95}, 0.3)
    assert len(opt.outliers()) == 8
    assert judged == [8, 9]


def test_a_view_is_the_same_until_something_happens(opt):
    view = opt.view
    assert opt.view is view
    assert view.at(view.settings, History().apply_all([])) is not view
    assert view.at(view.settings, pickle.loads(pickle.dumps(view.history))) is view
    opt.exclude(0)
    assert opt.view is not view
    assert opt.view.fits is view.fits


def test_a_copy_computes_its_own(opt):
    best = opt.best()
    again = pickle.loads(pickle.dumps(opt))
    assert again._view is None
    assert again.best() == best
    assert copy.copy(opt).best() == best


def test_stand_ins_are_learned_from_and_are_neither_best_nor_listed(opt):
    best = opt.best().trial.number
    view = View(opt.settings, opt.history, opt.fits, {best})
    assert view.best().trial.number != best
    assert best not in {outlier.trial.number for outlier in view.outliers()}
    assert len(view.outliers()) == 6


def test_a_frame_is_ones_own(opt):
    frame = opt.frame()
    frame["state"] = "mine"
    assert {*opt.frame()["state"]} == {"told", "failed"}


def test_frames_of_nothing_have_their_columns():
    assert outlier_frame([]).dtypes["flagged"] == "bool"
    assert [*failure_frame([])] == ["reason", "looks_like", "log_odds", "again"]
