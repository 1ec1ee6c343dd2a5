"""Values outside the possible range of an outcome, wherever they are told, and what is shown of the others."""

import json
import math

import pandas as pd
import pytest

import robustbo as rb
from robustbo.trials.settings import Settings
from robustbo.view.view import View

SPACE = rb.Space(x=rb.Float(0, 1), y=rb.Float(0, 1))
YIELD = rb.Outcome("yield", unit="%", low=0, high=100)
WHY = "outside the possible range [0, 100] %"
REFUSED = r"yield must be in the possible range \[0, 100\] %, got 820 %; "
# seven values of a reaction, after which 820 was typed for 82.0 and believed
SEVEN = [12.1, 31.5, 38.0, 55.2, 47.3, 66.0, 71.6]


def points(count):
    return [{"x": (0.38 * i) % 1, "y": (0.71 * i) % 1} for i in range(count)]


def seven(**given):
    opt = rb.Optimizer(SPACE, direction="maximize", seed=0, outcome=YIELD, **given)
    for point, value in zip(points(7), SEVEN, strict=True):
        opt.tell(point, value)
    return opt


def test_without_a_range_few_values_cannot_tell_a_typing_error_from_a_discovery():
    """Which is why the range is asked for; with it the value does not come so far."""
    space = rb.Space(t=rb.Float(20, 90), m=rb.Float(5, 60), s=rb.Choice("water", "ethanol", "dmf"))
    plain, known = (rb.Optimizer(space, direction="maximize", seed=0, outcome=outcome) for outcome in ((), YIELD))
    for value in (5, 12, 30, 74):
        plain.tell(plain.ask(), value)
        known.tell(known.ask(), value)
    trial = plain.ask()
    plain.tell(trial, 820)
    assert plain.best().mean > 800
    assert not any(o.flagged for o in plain.outliers())
    with pytest.raises(ValueError, match=REFUSED):
        known.tell(known.ask(), 820)
    known.tell(trial.params, 820, out_of_range="exclude")
    assert known.best().mean <= 100


def test_an_impossible_value_is_refused_and_nothing_recorded():
    opt = seven()
    trial = opt.ask()
    with pytest.raises(ValueError, match=REFUSED + "correct it, or record it .* out_of_range='exclude'"):
        opt.tell(trial, 820)
    assert opt.history[trial.number].state == "pending"
    assert opt.tell(trial, 82.0).state == "told"
    with pytest.raises(ValueError, match=REFUSED + "amend takes the right value"):
        opt.amend(trial, 820)
    assert opt.history[trial.number].value == 82.0
    with pytest.raises(ValueError, match=r"out_of_range must be one of .*'raise', 'exclude'.*, got 'clip'"):
        opt.tell(points(9)[8], 50, out_of_range="clip")


def test_or_it_is_kept_as_it_came_and_excluded_with_the_reason(tmp_path):
    opt = seven(journal=tmp_path / "lab.jsonl")
    told = opt.tell({"x": 0.5, "y": 0.5}, 820, out_of_range="exclude")
    assert (told.state, told.value, told.note) == ("excluded", 820.0, WHY)
    events = [json.loads(line) for line in (tmp_path / "lab.jsonl").read_text().splitlines()[1:]]
    assert [(event["event"], event["trial"]) for event in events[-2:]] == [("tell", 7), ("exclude", 7)]
    assert (events[-2]["value"], events[-1]["reason"]) == (820.0, WHY)
    again = rb.Optimizer.resume(tmp_path / "lab.jsonl")
    assert again.settings.quantity == YIELD
    assert again.history[7] == told
    assert again.best(raw=True).mean == 71.6
    assert again.include(7).state == "told"  # the user's word is above the range


def test_a_value_of_nan_is_a_failure_as_ever_and_the_ends_are_possible():
    opt = seven()
    assert opt.tell({"x": 0.5, "y": 0.5}, math.inf).state == "failed"
    assert opt.tell({"x": 0.6, "y": 0.5}, 100).state == "told"
    assert opt.tell({"x": 0.7, "y": 0.5}, 0).state == "told"


@pytest.mark.parametrize("column", ["yield (%)", "yield", "value"])
def test_rows_of_a_table_are_looked_at_and_its_column_may_bear_the_name(column):
    opt = rb.Optimizer(SPACE, direction="maximize", seed=0, outcome=YIELD)
    table = pd.DataFrame(points(4)).assign(**{column: [12.1, 820, 38.0, -5]})
    with pytest.raises(rb.SpaceError, match=f"2 of 4 rows break a rule:\nrow 1: {REFUSED}"):
        opt.tell_frame(table)
    assert len(opt.history) == 0
    told = opt.tell_frame(table, out_of_range="exclude")
    assert [(t.number, t.state, t.value) for t in told] == [
        (0, "told", 12.1),
        (1, "excluded", 820.0),
        (2, "told", 38.0),
        (3, "excluded", -5.0),
    ]


def test_a_column_that_is_not_there_or_twice_is_said():
    opt = rb.Optimizer(SPACE, direction="minimize", seed=0, outcome=YIELD)
    table = pd.DataFrame(points(2))
    with pytest.raises(rb.SpaceError, match=r"a column 'yield \(%\)' of .*; 'yield \(g\)' is in another unit than %"):
        opt.tell_frame(table.assign(**{"yield (g)": 1.0}))
    with pytest.raises(rb.SpaceError, match=r"; rename 'yeild' to 'yield \(%\)', .*, or say value='yeild'"):
        opt.tell_frame(table.assign(**{"yield (g)": 1.0, "yeild": 1.0}))
    with pytest.raises(rb.SpaceError, match=r"one column of its values, got \['yield', 'yield \(%\)'\]"):
        opt.tell_frame(table.assign(**{"yield (%)": 1.0, "yield": 2.0}))
    assert [t.value for t in opt.tell_frame(table.assign(result=[1, 2]), value="result")] == [1.0, 2.0]
    with pytest.raises(TypeError, match="frame must be a pandas DataFrame"):
        opt.tell_frame([1.0])


def test_the_frame_has_the_label_and_is_read_again():
    frame = seven().frame(evidence=False)
    assert frame["yield (%)"].tolist() == SEVEN
    assert "value" not in frame.columns
    again = rb.Optimizer(SPACE, direction="maximize", seed=0, outcome=YIELD, prior_data=frame)
    assert [t.value for t in again.history] == SEVEN


def test_prior_data_is_looked_at_too(tmp_path):
    table = pd.DataFrame(points(2)).assign(**{"yield (%)": [820, 3]})
    with pytest.raises(rb.SpaceError, match=REFUSED + "leave the row out"):
        rb.Optimizer(SPACE, direction="minimize", seed=0, outcome=YIELD, prior_data=table)
    old = rb.Optimizer(SPACE, direction="minimize", seed=0, journal=tmp_path / "old.jsonl")
    old.tell(points(2)[1], 820)
    with pytest.raises(rb.SpaceError, match=REFUSED + "it is that of its trial 0; exclude it there"):
        rb.Optimizer(SPACE, direction="minimize", seed=0, outcome=YIELD, prior_data=tmp_path / "old.jsonl")
    old.exclude(0)
    assert (
        len(rb.Optimizer(SPACE, direction="minimize", seed=0, outcome=YIELD, prior_data=tmp_path / "old.jsonl").history)
        == 0
    )


def test_a_loop_goes_on_and_says_so(caplog):
    opt = rb.Optimizer(SPACE, direction="maximize", seed=0, outcome=YIELD)
    opt.optimize(lambda params: 820 if params["x"] > 0.5 else 50, 4, progress=False)
    counts = opt.history.counts()
    assert counts["excluded"] + counts["told"] == 4
    assert counts["excluded"] > 0
    assert f"came out as 820.0, which is kept and excluded: {WHY}" in caplog.text


def test_of_several_outcomes_each_by_itself():
    wanted = {"objectives": {"yield": "maximize", "cost": "minimize"}, "outcome_constraints": ["purity >= 0.9"]}
    known = [YIELD, rb.Outcome("purity", low=0, high=1)]
    opt = rb.Optimizer(SPACE, seed=0, outcome=known, **wanted)
    with pytest.raises(ValueError, match=r"purity must be in the possible range \[0, 1\], got 97; correct it"):
        opt.tell(points(1)[0], {"yield": 50, "cost": 3, "purity": 97})
    told = opt.tell(points(1)[0], {"yield": 50, "cost": 3, "purity": 97}, out_of_range="exclude")
    assert told.state == "told"
    assert [name for name, each in told.outcomes.items() if each.is_excluded] == ["purity"]
    assert told.outcomes["purity"].note == "outside the possible range [0, 1]"
    with pytest.raises(ValueError, match=r"purity must be in the possible range \[0, 1\], got 97; amend"):
        opt.amend(0, {"purity": 97})
    table = pd.DataFrame(points(3)[1:]).assign(**{"yield (%)": [3.0, 820.0], "cost": [1.0, 2.0], "purity": 0.95})
    with pytest.raises(rb.SpaceError, match=f"row 1: {REFUSED}"):
        opt.tell_frame(table)
    assert opt.tell_frame(table, out_of_range="exclude")[1].outcomes["yield"].note == WHY
    frame = opt.frame(evidence=False)
    assert frame["yield (%)"].tolist() == [50.0, 3.0, 820.0]
    assert frame["yield.excluded"].tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (rb.Outcome("x"), "another name than a parameter, got 'x'"),
        (rb.Outcome("expected"), "another name than a column of `frame`, got 'expected'"),
        (rb.Outcome("state"), "another name than a column of `frame`, got 'state'"),
    ],
)
def test_a_name_that_is_taken_is_refused(outcome, said):
    with pytest.raises(ValueError, match=said):
        rb.Optimizer(SPACE, direction="minimize", seed=0, outcome=outcome)


@pytest.fixture(scope="module")
def steep():
    """Yields that rise to 99 % at the edge of what was measured, of a range that ends at 99.5."""
    opt = rb.Optimizer(
        rb.Space(x=rb.Float(0, 1)),
        direction="maximize",
        seed=0,
        surrogate="standard",
        outcome=rb.Outcome("yield", unit="%", low=0, high=99.5),
    )
    for i in range(8):
        opt.tell({"x": i / 10}, 99 - 60 * (0.7 - i / 10) - 40 * (0.7 - i / 10) ** 2)
    return opt


def test_predictions_are_possible_though_the_surrogate_knows_nothing_of_it(steep):
    plain = rb.Optimizer(steep.settings.space, direction="maximize", seed=0, surrogate="standard")
    for trial in steep.history:
        plain.tell(trial.params, trial.value)
    at = pd.DataFrame({"x": [0.05, 0.75, 0.8]})
    free, kept = plain.predict(at), steep.predict(at)
    assert free["mean"].max() > 99.5
    assert kept["mean"].tolist() == [min(mean, 99.5) for mean in free["mean"]]
    assert kept["sd"].tolist() == free["sd"].tolist()
    assert steep.predict({"x": 0.8}).mean == 99.5
    assert plain.ask().params == steep.ask().params  # decisions are the same, bit for bit
    last = steep.history[8]
    assert last.expectation == plain.history[8].expectation
    seen = [View(opt.settings, opt.history).promise(last) for opt in (plain, steep)]
    assert seen[0] == seen[1]


def test_sentences_have_name_and_unit(steep):
    assert str(steep.best()).startswith("trial 7, x=0.7: yield measured 99 %, believed ")
    assert str(steep.best()).endswith(" %")
    assert str(steep.best(raw=True)) == "trial 7, x=0.7: yield measured 99 %"
    for o in steep.outliers():
        assert str(o).startswith(f"trial {o.trial.number}, yield: measured {o.value:.4g} %, expected ")
        assert 0 <= o.expected <= 99.5
    assert repr(steep).startswith("Optimizer(maximize yield, standard, ")


def test_without_an_outcome_sentences_are_as_they_were():
    opt = rb.Optimizer(SPACE, direction="maximize", seed=0)
    opt.tell(points(2)[1], 820)
    assert str(opt.best(raw=True)) == "trial 0, x=0.38, y=0.71: measured 820"
    assert "value" in opt.frame(evidence=False).columns
    assert "outcome" not in Settings(SPACE).to_dict()
