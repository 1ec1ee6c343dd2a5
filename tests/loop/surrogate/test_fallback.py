"""Whatever our own mathematics raises, a study goes on: every decision and every view, in Python and on the line."""

import json
import warnings

import pytest
import torch

import robustbo as rb
from robustbo.errors import JournalWriteError, SpaceExhausted
from robustbo.loop.surrogate.attempt import attempt, is_survivable
from robustbo.report.page import journal_page
from robustbo.report.summary.overview import overview
from robustbo.surrogates.common.closed_form import ClosedFormGP
from robustbo.surrogates.common.map_gp import MapGP
from robustbo.surrogates.common.model_averaging import ModelAveraging
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.registry import SURROGATES
from robustbo.view.view import View

MISTAKES = (AssertionError(), IndexError("no such row"), KeyError("x"), TypeError("None"), AttributeError("gone"))
# Of the first surrogate alone: the fit, the verdict, predictions; and of every surrogate of ours: the fit.
PLACES = (
    (RelevancePursuitGP, "search"),
    (RelevancePursuitGP, "probability_right"),
    (ModelAveraging, "marginals"),
    (ModelAveraging, "at_inputs"),
    (ClosedFormGP, "diagnose"),
    (MapGP, "custom_fit"),
)
BREAKS = [(*place, error) for place, error in zip(PLACES, [*MISTAKES, AssertionError("w > 0")], strict=True)]


def breaks(monkeypatch, owner, name, error):
    def broken(*_, **__):
        raise error

    monkeypatch.setattr(owner, name, broken)


def study_of(**more):
    opt = rb.Optimizer(
        rb.Space(x=rb.Float(0, 1), kind=rb.Choice("a", "b")),
        seed=0,
        num_initial=3,
        **({"direction": "minimize"} | more),
    )
    for i, x in enumerate((0.1, 0.3, 0.5, 0.7, 0.9, 0.2)):
        opt.tell({"x": x, "kind": "ab"[i % 2]}, x * x)
    opt.fail({"x": 0.95, "kind": "a"}, "it broke")
    return opt


def several_of():
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1)), seed=0, num_initial=3, objectives=dict(a="maximize", b="minimize"))
    for x in (0.1, 0.3, 0.5, 0.7, 0.9):
        opt.tell({"x": x}, {"a": x * (1.6 - x), "b": x})
    return opt


def said_by(look, name):
    """Whether a view is there, or an error of ours says why not."""
    try:
        return look() is not None
    except rb.FitError as failed:
        return name in str(failed)


def as_page(opt):
    return journal_page.page("study", View(opt.settings, opt.history))


def as_overview(opt):
    return overview(View(opt.settings, opt.history))


@pytest.mark.few(3)
@pytest.mark.parametrize(("owner", "name", "error"), BREAKS, ids=lambda part: getattr(part, "__name__", str(part)))
def test_a_mistake_of_ours_ends_no_study(monkeypatch, owner, name, error):
    opt = study_of()
    breaks(monkeypatch, owner, name, error)
    trial = opt.ask()
    assert trial.fallback is None or type(error).__name__ in trial.fallback
    assert opt.best().trial.number in range(6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.NumericsWarning)
        assert len(opt.frame()) == 8
    for look in (opt.outliers, lambda: opt.predict({"x": 0.4, "kind": "a"})):
        assert said_by(look, type(error).__name__)
    assert as_overview(opt)["trials"]["told"] == 6
    assert "The best recipe" in as_page(opt)
    assert View(opt.settings, opt.history).promise(trial).noise >= 0


def test_where_only_the_first_surrogate_breaks_the_plain_one_judges_and_predicts(monkeypatch):
    opt = study_of()
    breaks(monkeypatch, RelevancePursuitGP, "search", AssertionError("w > 0"))
    assert opt.ask().fallback.startswith(
        "by standard, since these failed: relevance-pursuit: AssertionError: w > 0; "
        "relevance-pursuit without the last value: AssertionError: w > 0"
    )
    assert len(opt.outliers()) == 6
    assert opt.predict({"x": 0.4, "kind": "a"}).sd > 0
    assert not opt.frame()["evidence"].dropna().empty
    assert "could not be computed" not in as_page(opt)


def test_where_every_surrogate_breaks_it_is_said_what_could_not_be_done(monkeypatch):
    opt = study_of()
    monkeypatch.setattr("robustbo.loop.surrogate.fallback.fit_to", lambda *_: [][1])
    assert opt.ask().fallback.startswith("by none, since these failed")
    assert opt.best().is_raw
    with pytest.raises(rb.FitError, match="no surrogate could judge these values"):
        opt.outliers()
    with pytest.raises(rb.FitError, match="no surrogate could predict"):
        opt.predict({"x": 0.4, "kind": "a"})
    with pytest.warns(rb.NumericsWarning, match="the frame has no evidence"):
        assert opt.frame()["evidence"].isna().all()
    said = as_overview(opt)
    assert "no surrogate could judge" in said["not_computed"]["outliers"]
    assert said["outliers"] == []
    page = as_page(opt)
    assert "This could not be computed" in page
    assert "No value looks wrong" not in page


def test_nor_one_of_several_outcomes(monkeypatch):
    opt = several_of()
    breaks(monkeypatch, RelevancePursuitGP, "search", AssertionError())
    assert "AssertionError" in opt.ask().fallback
    assert len(opt.front()) > 0
    assert len(opt.outliers()) == 10
    assert "The front" in as_page(opt)


def test_several_outcomes_without_any_surrogate_say_so(monkeypatch):
    opt = several_of()
    monkeypatch.setattr("robustbo.loop.surrogate.fallback.fit_to", lambda *_: [][1])
    assert opt.ask().origin == "sobol"
    with pytest.raises(rb.FitError, match="no surrogates could find the best points"):
        opt.front()
    said = as_overview(opt)
    assert {*said["not_computed"]} == {"outliers", "front"}
    assert "The posterior could not be computed" in as_page(opt)


def test_the_best_under_constraints_is_the_best_value_where_no_surrogate_can_say(monkeypatch):
    opt = rb.Optimizer(
        rb.Space(x=rb.Float(0, 1)),
        seed=0,
        objectives={"a": "maximize"},
        outcome_constraints=["b <= 0.6"],
    )
    for x in (0.1, 0.5, 0.9):
        opt.tell({"x": x}, {"a": x, "b": x})
    monkeypatch.setattr("robustbo.loop.surrogate.fallback.fit_to", lambda *_: [][1])
    best = opt.best()
    assert (best.is_raw, best.params) == (True, {"x": 0.5})


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "place", ["loop.feasibility.model.fit_predictor", "loop.feasibility.model.FeasibilityModel.log_p"]
)
def test_a_mistake_in_the_model_of_failures_ends_no_study(monkeypatch, place):
    opt, error = study_of(), AssertionError()

    def broken(*_, **__):
        raise error

    monkeypatch.setattr(f"robustbo.{place}", broken)
    assert opt.ask().fallback is None or "AssertionError" in opt.history[7].fallback
    assert [failure.trial.number for failure in opt.failures()] == [6]
    with pytest.raises(rb.FitError, match=type(error).__name__):
        opt.viability({"x": 0.4, "kind": "a"})
    assert as_overview(opt)["failures"]["count"] == 1
    assert "Where trials fail" in as_page(opt)


def test_an_interrupt_goes_through(monkeypatch):
    opt = study_of()
    breaks(monkeypatch, RelevancePursuitGP, "search", KeyboardInterrupt())
    for look in (opt.ask, opt.best, opt.outliers, opt.frame, lambda: as_overview(opt), lambda: as_page(opt)):
        with pytest.raises(KeyboardInterrupt):
            look()


class Theirs(SURROGATES["standard"]):
    """A model of somebody's own, with a mistake."""

    def custom_fit(self, *_, **__):
        raise AssertionError("theirs")


def test_a_mistake_in_somebody_elses_model_is_theirs_to_see():
    opt = study_of(surrogate=Theirs)
    for look in (opt.ask, opt.best, opt.outliers, opt.frame, lambda: as_overview(opt)):
        with pytest.raises(AssertionError, match="theirs"):
            look()


def test_what_is_said_on_purpose_is_no_mistake():
    assert not is_survivable(SpaceExhausted("all are being measured"), "standard")
    assert not is_survivable(JournalWriteError("the disk is full"), "standard")
    assert not is_survivable(UserWarning("made an error"), "standard")
    assert is_survivable(AssertionError(), "standard")
    assert is_survivable(torch.linalg.LinAlgError(), "somebody.Model")
    assert not is_survivable(AssertionError(), "standard", "somebody.Model")


def test_what_is_made_may_be_nothing():
    assert attempt(lambda: None) == (None, None)
    assert attempt(lambda: [][0]) == (None, "IndexError: list index out of range")


@pytest.fixture
def journal(tmp_path):
    study_of(journal=tmp_path / "study.jsonl")
    return tmp_path / "study.jsonl"


@pytest.mark.parametrize("place", ["RelevancePursuitGP", "fit_to"])
def test_nor_on_the_command_line(monkeypatch, capsys, journal, place):
    from robustbo.cli import main

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["robustbo", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, *capsys.readouterr()

    if place == "fit_to":
        monkeypatch.setattr("robustbo.loop.surrogate.fallback.fit_to", lambda *_: {}["nothing"])
    else:
        breaks(monkeypatch, RelevancePursuitGP, "search", AssertionError())
    code, out, _ = call("ask", journal)
    assert code == 0
    assert ("AssertionError" if place != "fit_to" else "KeyError") in rb.Study.resume(journal).history[7].fallback
    code, out, _ = call("best", journal)
    assert code == 0
    assert json.loads(out)["trial"] in range(6)
    code, out, _ = call("show", journal)
    assert code == 0
    assert ("could not be computed" in out) == (place == "fit_to")
    assert call("show", journal, "--html")[0] == 0
