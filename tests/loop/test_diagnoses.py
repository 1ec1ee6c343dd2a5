"""Diagnoses on schedule: made by a surrogate, kept by the journal, shown and drawn."""

import json

import matplotlib.image
import pytest

import robustbo as rb
from robustbo.loop.belief.outliers import outliers
from robustbo.report.charts.marks import by_fate
from robustbo.report.charts.timeline import draw
from robustbo.trials.codec import fold
from robustbo.trials.history import Diagnosis, History
from robustbo.trials.storage.reading import read
from robustbo.view.view import View

OPTIONS = {"tail": 0.005, "start": 10, "every": 5, "leave_one_out": True}
SPACE = rb.Space(x=rb.Float(0, 1))


def objective(x):
    return (x - 0.3) ** 2


def optimization(path, direction="minimize", wrong=(3, 12), trials=21, **options):
    opt = rb.Optimizer(
        SPACE,
        direction=direction,
        surrogate="filtered",
        surrogate_options=OPTIONS | options,
        num_initial=8,
        replicate="never",
        seed=0,
        journal=path,
    )
    sign = 1 if direction == "minimize" else -1
    for _ in range(trials):
        trial = opt.ask()
        opt.tell(trial, sign * (50.0 if trial.number in wrong else objective(trial.params["x"])))
    return opt


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    made = tmp_path_factory.mktemp("diagnoses") / "run.jsonl"
    optimization(made)
    return made


def test_each_is_an_event_before_the_ask_that_it_was_made_for(path):
    events = read(path).events
    made = [(i, event) for i, event in enumerate(events) if event["event"] == "diagnose"]
    assert [event["observations"] for _, event in made] == [10, 15, 20]
    assert [event["trial"] for _, event in made] == [10, 15, 20]
    assert all(events[i + 1]["event"] == "ask" and events[i + 1]["trial"] == event["trial"] for i, event in made)
    assert [event["outliers"] for _, event in made] == [[3], [3, 12], [3, 12]]
    assert not any(event["void"] for _, event in made)


@pytest.mark.few(1)
@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_percentiles_are_of_the_values_as_they_were_told(tmp_path, direction):
    opt = optimization(tmp_path / "j.jsonl", direction)
    found = opt.history.diagnoses[-1].percentiles
    assert all(u > 0.995 if direction == "minimize" else u < 0.005 for u in found)
    assert len(found) == 2


@pytest.mark.slow
def test_a_resumed_run_goes_on_as_if_it_had_never_stopped(path, tmp_path):
    """Whatever the trial at which it stops, the verdict that it stands on is the same."""
    part = tmp_path / "part.jsonl"
    optimization(part, trials=13)
    opt = rb.Optimizer.resume(part)
    for _ in range(13, 21):
        trial = opt.ask()
        opt.tell(trial, 50.0 if trial.number == 12 else objective(trial.params["x"]))
    whole, resumed = (fold(p, read(p))[1] for p in (path, part))
    assert resumed == whole


def test_a_void_one_says_so_and_all_data_are_used(tmp_path):
    opt = optimization(tmp_path / "j.jsonl", wrong=(), trials=11, tail=0.4999)
    (made,) = opt.history.diagnoses
    assert made.void
    assert len(made.outliers) > 5
    assert not any(outlier.flagged for outlier in opt.outliers())


def test_a_revised_one_clears_again(tmp_path):
    """A lone peak is an outlier until its flanks have been measured."""
    opt = rb.Optimizer(SPACE, direction="maximize", surrogate="filtered", surrogate_options=OPTIONS, seed=0)
    for i in range(20):
        opt.tell({"x": i / 19}, 9.0 if i == 10 else objective(i / 19))
    opt.ask()
    for i in range(10):
        opt.tell({"x": 0.44 + 0.02 * i + 0.005}, 9.0 - 20 * abs(0.44 + 0.02 * i + 0.005 - 10 / 19))
    opt.ask()
    first, last = opt.history.diagnoses
    assert first.outliers == (10,)
    assert 10 not in last.outliers
    assert [t.number for t in by_fate(opt.history, outliers(opt.settings, opt.history))["cleared again"]] == [10]


def test_an_event_changes_no_trial():
    event = {"event": "diagnose", "trial": 0, "observations": 3, "outliers": [1], "percentiles": [0.999], "void": False}
    history = History().apply(event)
    assert history.trials == ()
    assert history.diagnoses == (Diagnosis(0, 3, (1,), (0.999,), False),)


def test_show_prints_the_verdicts(path, capsys):
    from robustbo.cli.app import app

    app(["show", str(path)], standalone_mode=False)
    out = capsys.readouterr().out
    assert "diagnoses on schedule" in out
    assert "3 (100 %), 12 (100 %)" in out
    app(["show", str(path), "--format", "json"], standalone_mode=False)
    found = json.loads(capsys.readouterr().out)
    assert [d["observations"] for d in found["diagnoses"]] == [10, 15, 20]


class TestTimeline:
    def test_a_report_is_a_picture_where_that_is_asked_for(self, path, capsys):
        from robustbo.cli.app import app

        written = path.with_suffix(".png")
        app(["report", str(path), "--out", str(written)], standalone_mode=False)
        assert capsys.readouterr().out.strip() == str(written)
        picture = matplotlib.image.imread(written)
        assert picture.shape[0] > 400
        assert picture[..., :3].std() > 0.02

    def test_a_surrogate_without_diagnoses_has_a_timeline_too(self, tmp_path):
        opt = rb.Optimizer(SPACE, direction="minimize", surrogate="standard", seed=0)
        for i in range(6):
            opt.tell({"x": i / 5}, objective(i / 5))
        draw(View(opt.settings, opt.history), tmp_path / "t.png")
        assert (tmp_path / "t.png").stat().st_size > 1000

    def test_a_value_beyond_all_bounds_is_drawn_at_the_edge(self, tmp_path):
        opt = optimization(tmp_path / "j.jsonl", trials=12, wrong=())
        opt.amend(3, 1e300)
        draw(View(opt.settings, opt.history), tmp_path / "t.png")
        assert matplotlib.image.imread(tmp_path / "t.png")[..., :3].std() > 0.02

    def test_another_format_is_an_error(self, path, tmp_path):
        with pytest.raises(rb.RobustBOError, match=r"must end in one of .png, .pdf, .svg, got 't.foo'"):
            draw(View(*fold(path, read(path))), tmp_path / "t.foo")

    def test_nothing_told_is_an_error(self, tmp_path):
        opt = rb.Optimizer(SPACE, direction="minimize", seed=0)
        with pytest.raises(rb.RobustBOError, match="at least one told value, got none"):
            draw(View(opt.settings, opt.history), tmp_path / "t.png")

    def test_without_matplotlib_it_says_what_to_install(self, path, tmp_path, monkeypatch):
        monkeypatch.setattr("robustbo.report.charts.matplotlib_canvas.plt", None)
        with pytest.raises(rb.RobustBOError, match=r"install robustbo\[report\]"):
            draw(View(*fold(path, read(path))), tmp_path / "t.png")
