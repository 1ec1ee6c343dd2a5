"""Which outcomes an optimization of several has, and what is told of them."""

import math
import re

import pytest

from robustbo.searchspace.parameters import Float
from robustbo.searchspace.space import Space
from robustbo.trials import schema
from robustbo.trials.differences import differences
from robustbo.trials.history import History
from robustbo.trials.outcome import Outcome
from robustbo.trials.outcomes import OutcomeGoal, outcomes_of
from robustbo.trials.settings import Settings
from robustbo.trials.values import values_to_record

SPACE = Space(x=Float(0, 1))
OBJECTIVES = (("yield", "maximize"), ("cost", "minimize"))
ASK = {"event": "ask", "trial": 0, "params": {"x": 0.5}, "origin": "model"}
EXPECTED = {"expected": {"yield": 0.4, "cost": 3.0}, "expected_sd": {"yield": 0.1, "cost": 0.2}}


def several(**given):
    return Settings(SPACE, objectives=OBJECTIVES, **given)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("p >= 0.95", 0.95, math.inf),
        ("p<=1e-3", -math.inf, 1e-3),
        ("6 <= p <= 8", 6, 8),
        ("8 >= p >= -6.5", -6.5, 8),
        (" 3 <= p", 3, math.inf),
        ("3 >= p", -math.inf, 3),
    ],
)
def test_a_constraint_is_a_bound_or_two(text, low, high):
    outcomes, texts = outcomes_of(OBJECTIVES, [text])
    assert outcomes[-1] == OutcomeGoal("p", None, low, high)
    assert outcomes_of(OBJECTIVES, texts) == (outcomes, texts)  # as it is written down


@pytest.mark.parametrize(
    "text",
    [
        "p",
        "p > 3",
        "p >= x",
        ">= 3",
        "p >= 3 <= 4",
        "3 <= p >= 2",
        "3 < p",
        "p => 3",
        "p == 3",
        "p >= nan",
        "p >= 1e999",
        7,
    ],
)
def test_what_is_no_constraint_is_refused(text):
    with pytest.raises((ValueError, TypeError), match="outcome constraint"):
        several(outcome_constraints=(text,))


def test_constraints_of_one_outcome_are_one_and_an_objective_may_have_one():
    found = several(outcome_constraints=("p >= 1", "cost <= 5", "p <= 2", "p >= 0.5")).outcomes
    assert found == (
        OutcomeGoal("yield", "maximize"),
        OutcomeGoal("cost", "minimize", high=5),
        OutcomeGoal("p", None, 1, 2),
    )
    assert [wanted.sign for wanted in found] == [1, -1, 1]
    with pytest.raises(ValueError, match="leave 'p' some value"):
        several(outcome_constraints=("p >= 1", "p <= 0"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"objectives": {"a": "maximise"}}, "did you mean 'maximize'"),
        ({"objectives": {name: "maximize" for name in "abcde"}}, "at most 4 objectives"),
        ({"objectives": {"a<b": "maximize"}}, "must have a name"),
        ({"objectives": "yield"}, "must be a mapping"),
        ({"objectives": ["yield", "cost"]}, "must be a mapping"),
        ({"objectives": OBJECTIVES, "reference_point": [0.2, 6]}, "must be a mapping"),
        ({"objectives": OBJECTIVES, "outcome_constraints": ("-p <= 1",)}, "begins with no sign"),
        ({"outcome_constraints": ("p >= 1",)}, "need objectives"),
        ({"objectives": OBJECTIVES, "outcome_constraints": "p >= 1"}, "must be a list"),
        ({"objectives": OBJECTIVES, "reference_point": {"yield": 1}}, "a finite number for each"),
        ({"objectives": {"a": "maximize"}, "reference_point": {"a": 1}}, "of several objectives"),
    ],
)
def test_bad_settings_say_what_must_hold(given, said):
    with pytest.raises((ValueError, TypeError), match=said):
        Settings(SPACE, **given)


def test_settings_come_back_from_their_journal_and_the_short_form_is_written_as_before():
    settings = several(outcome_constraints=("p >= 1",), reference_point={"cost": 9, "yield": 0})
    assert Settings.from_dict(settings.to_dict()) == settings
    assert settings.reference_point == (("yield", 0.0), ("cost", 9.0))
    assert settings.direction == "maximize"
    assert not {"objectives", "outcome_constraints", "reference_point"} & {*Settings(SPACE).to_dict()}
    assert any("outcome_constraints" in line for line in differences(several(), settings))


def test_of_one_outcome_the_settings_are_those_of_the_short_form():
    of = several(outcome_constraints=("p >= 1",), seed=3).of(OutcomeGoal("cost", "minimize"))
    assert of == Settings(SPACE, direction="minimize", seed=3)


def test_what_is_measured_may_lack_outcomes_and_is_finite():
    outcomes = several(outcome_constraints=("p >= 1",)).outcomes
    assert values_to_record(outcomes, {"p": 2, "yield": math.nan, "cost": None}, {"p": 0.5}) == (
        {"p": 2.0},
        {"p": 0.5},
        ["yield"],
    )
    assert values_to_record((), 1, None) == (1.0, None, [])
    for value, sd, said in [
        (1.0, None, "must be a mapping"),
        ({"yeild": 1}, None, "did you mean 'yield'"),
        ({"yield": "a"}, None, "real number"),
        ({"yield": 1}, 0.1, "sd must be a mapping"),
        ({"yield": 1}, {"yield": -1}, "at least 0"),
    ]:
        with pytest.raises((ValueError, TypeError), match=said):
            values_to_record(outcomes, value, sd)
    with pytest.raises(TypeError, match="several outcomes need objectives"):
        values_to_record((), {"yield": 1}, None)


def history(*events):
    return History().apply_all([{**ASK, **EXPECTED}, *({"trial": 0, **event} for event in events)])


def test_a_trial_is_seen_by_each_outcome_alone():
    trial = history({"event": "tell", "value": {"yield": 0.8}, "sd": {"yield": 0.1}})[0]
    of = trial.of("yield")
    assert (of.state, of.value, of.sd, of.expectation, of.outcomes) == ("told", 0.8, 0.1, (0.4, 0.1), {})
    assert (trial.of("cost").state, trial.of("cost").value, trial.of("p").state) == ("failed", None, "failed")
    assert (trial.value, trial.values) == (None, {"yield": 0.8})
    assert trial.expectations == {"yield": (0.4, 0.1), "cost": (3.0, 0.2)}


def test_an_outcome_is_amended_excluded_and_included_by_itself():
    told = {"event": "tell", "value": {"yield": 0.8, "cost": 3.0}, "sd": {"yield": None, "cost": None}}
    excluded = history(told, {"event": "exclude", "outcome": "cost"})
    assert [excluded[0].of(name).state for name in ("yield", "cost")] == ["told", "excluded"]
    assert excluded[0].state == "told"
    amended = excluded.apply({"event": "amend", "trial": 0, "value": {"cost": 2.0}, "sd": {"cost": 0.1}})[0]
    assert (amended.values, amended.of("cost").state) == ({"yield": 0.8, "cost": 2.0}, "excluded")
    assert amended.of("cost").expectation is None  # vouched for
    assert amended.of("yield").expectation == (0.4, 0.1)
    included = excluded.apply({"event": "include", "trial": 0, "outcome": "cost"})[0].of("cost")
    assert (included.state, included.expectation) == ("told", None)
    with pytest.raises(ValueError, match="excluded already"):
        excluded.apply({"event": "exclude", "trial": 0, "outcome": "cost"})
    with pytest.raises(ValueError, match="it is missing"):
        excluded.apply({"event": "exclude", "trial": 0, "outcome": "p"})
    with pytest.raises(ValueError, match="not excluded"):
        excluded.apply({"event": "include", "trial": 0, "outcome": "yield"})


def test_the_whole_trial_is_excluded_and_included_too():
    told = {"event": "tell", "value": {"yield": 0.8}, "sd": {"yield": None}}
    excluded = history(told, {"event": "exclude"})
    assert excluded[0].of("yield").state == "excluded"
    assert excluded[0].of("cost").state == "failed"
    assert excluded.apply({"event": "include", "trial": 0})[0].of("yield").expectation is None


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"event": "tell", "trial": 0, "value": 1.0, "sd": None}, "value must be by outcome"),
        ({"event": "tell", "trial": 0, "value": {"x": 1.0}, "sd": {}}, "value must be by outcome"),
        ({"event": "tell", "trial": 0, "value": {}, "sd": {}}, "at least one outcome"),
        ({"event": "tell", "trial": 0, "value": {"yield": "1"}, "sd": {}}, "value: Input should be a valid number"),
        ({"event": "exclude", "trial": 0, "outcome": "p"}, "outcome must be one of"),
        ({**ASK, "expected": 1.0, "expected_sd": 1.0}, "expected must be by outcome"),
        ({**ASK, "expected": {"yield": 1.0}, "expected_sd": {}}, "for each outcome"),
    ],
)
def test_a_line_with_other_outcomes_is_refused(event, said):
    with pytest.raises(ValueError, match=said):
        schema.check(event, several())


def test_a_short_form_line_with_outcomes_is_refused():
    schema.check({**ASK, **EXPECTED}, several())
    with pytest.raises(ValueError, match="value must be a number"):
        schema.check({"event": "tell", "trial": 0, "value": {"yield": 1.0}, "sd": None}, Settings(SPACE))


def test_what_came_to_nothing_is_known_from_what_was_not_measured():
    outcomes = several(outcome_constraints=("p >= 1",)).outcomes
    value, sd, lost = values_to_record(outcomes, {"yield": math.nan, "p": 2}, None)
    assert lost == ["yield"]
    event = {"event": "tell", "value": value, "sd": sd, "lost": lost, "reasons": {"yield": "no balance"}}
    schema.check({**event, "trial": 0}, several(outcome_constraints=("p >= 1",)))
    trial = history(event)[0]
    assert [trial.outcomes[name].is_lost for name in ("yield", "cost")] == [True, False]
    amended = history(event, {"event": "amend", "value": {"yield": 1.0}, "sd": {"yield": None}})[0]
    assert (trial.outcomes["yield"].reason, amended.outcomes["yield"].reason) == ("no balance", None)
    assert not amended.outcomes["yield"].is_lost
    with pytest.raises(ValueError, match="lost must be other outcomes"):
        schema.check({**event, "trial": 0, "lost": ["p"]}, several(outcome_constraints=("p >= 1",)))


@pytest.mark.parametrize("text", ["a+b<=1", "2*a <= 3", "1 <= a - b", "a / b >= 2", "a^2 <= 1"])
def test_a_bound_on_an_expression_is_refused_unless_that_is_a_name(text):
    with pytest.raises(ValueError, match=r"must bound one outcome by its name, got .*bound that by its name"):
        several(outcome_constraints=(text,))
    parts = [part.strip() for part in re.split("<=|>=", text)]
    named = next(part for part in parts if not part.isdigit())
    assert several(outcome_constraints=(text,), outcome=(Outcome(named),)).outcomes[-1].name == named


@pytest.mark.parametrize("name", ["log-loss", "C/N", "yield (%)", "pH 7", "T_max"])
def test_a_name_may_look_like_some_expressions(name):
    assert several(outcome_constraints=(f"{name} <= 1",)).outcomes[-1].name == name


@pytest.mark.parametrize("text", [" " * 1_000_000 + "<", " " * 499 + "<", "<=" * 200, "1<=" * 160, "a " * 240 + "<"])
def test_a_constraint_is_read_in_one_pass(text):
    with pytest.raises(ValueError, match="outcome constraint"):
        several(outcome_constraints=(text,))


@pytest.mark.parametrize("given", [None, 3, "p <= 1"])
def test_constraints_that_are_no_list(given):
    with pytest.raises(TypeError, match="outcome_constraints must be a list of texts, such as"):
        several(outcome_constraints=given)
