"""What is said before a look that takes long."""

import pytest

import robustbo as rb
from robustbo.errors import RobustBOError
from robustbo.report.summary import overview, progress
from robustbo.report.summary.progress import LONG, SECONDS
from robustbo.view.view import View


def study(count, journal=None, **more):
    space = rb.Space(x=rb.Float(0.0, 1.0))
    opt = rb.Optimizer(space, direction="minimize", seed=0, journal=journal, **more)
    for i in range(count):
        opt.tell({"x": i / count}, (i - 2.0) ** 2)
    opt.fail({"x": 0.99}, "broke")
    return opt


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(progress, "LONG", 5)
    monkeypatch.setattr(progress, "SECONDS", ((5, 2, 10), (7, 5, 40)))


def test_it_has_what_needs_no_fit_and_about_how_long_that_takes(few, monkeypatch):
    monkeypatch.setattr(View, "outliers", None)  # no surrogate is asked
    opt = study(5)
    lines = progress.ahead("lab", View(opt.settings, opt.history))
    assert lines[1:] == [
        "5 told, 0 pending, 0 queued, 1 failed, 0 excluded",
        "best raw value: trial 2, 0, at x=0.4",
        "fitting the surrogate to 5 values, to say what is best and what looks wrong: about 2 to 10 s",
    ]
    assert lines[0].startswith("lab: minimize with")
    opt = study(9)
    assert progress.ahead("lab", View(opt.settings, opt.history))[-1].endswith(
        "9 values, to say what is best and what looks wrong: about 5 to 40 s"
    )


def test_of_few_values_nothing_is_said():
    opt = study(3)
    assert progress.ahead("lab", View(opt.settings, opt.history)) == []
    assert [row[0] for row in SECONDS] == sorted(row[0] for row in SECONDS)
    assert SECONDS[0][0] == LONG


def test_an_overview_has_the_same_before_and_after_the_fit():
    opt = study(6)
    before, after = (
        overview.at_once(View(opt.settings, opt.history)),
        overview.overview(View(opt.settings, opt.history)),
    )
    fitted = {"incumbent", "outliers", "failed"}  # with what failures look like
    assert {key for key in before if before[key] != after[key]} <= fitted
    assert after["incumbent"] is not None
    assert list(after)[: len(before)] == list(before)


def stopped(*_, **__):
    raise RobustBOError("nobody has waited for it")


@pytest.mark.parametrize(
    ("command", "made"),
    [
        (["show"], "robustbo.report.summary.overview.overview"),
        (["show", "--format", "json"], "robustbo.report.summary.overview.overview"),
        (["best"], "robustbo.view.view.View.best"),
        (["report"], "robustbo.report.page.journals.write"),
        (["show", "--html"], "robustbo.report.page.journals.write"),
    ],
)
def test_commands_say_it_on_stderr_before_they_fit(command, made, few, call, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    study(5, tmp_path / "lab.jsonl")
    monkeypatch.setattr(made, stopped)
    code, out, err = call(command[0], tmp_path / "lab.jsonl", *command[1:])
    assert (code, out) == (2, "")
    lines = err.splitlines()
    assert "about 2 to 10 s" in lines[-2]
    assert lines[-1].endswith("nobody has waited for it")
    assert "best raw value: trial 2, 0, at x=0.4" in lines


def test_what_needs_no_fit_is_asked_for_without_a_word(few, call, tmp_path):
    study(5, tmp_path / "lab.jsonl")
    assert call("best", tmp_path / "lab.jsonl", "--raw")[2] == ""
