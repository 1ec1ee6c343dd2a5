"""What is measured: its name, unit and possible range, and what settings keep of it."""

import json
import math

import pytest

from robustbo.searchspace.parameters import Float
from robustbo.searchspace.space import Space
from robustbo.trials.differences import differences
from robustbo.trials.outcome import Outcome
from robustbo.trials.settings import Settings

SPACE = Space(x=Float(0, 1))
YIELD = Outcome("yield", unit="%", low=0, high=100)
OBJECTIVES = {"yield": "maximize", "cost": "minimize"}


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("yield", Outcome("yield")),
        ("yield (%)", Outcome("yield", unit="%")),
        ("0 <= yield (%) <= 100", YIELD),
        ("100>=yield(%)>=0", YIELD),
        ("viscosity (mPa s) >= 0", Outcome("viscosity", unit="mPa s", low=0)),
        ("loss <= 1e3", Outcome("loss", high=1000)),
        ("(°C)", Outcome(unit="°C")),
        ("rate, initial (mol/(L s))", Outcome("rate, initial", unit="mol/(L s)")),
    ],
)
def test_a_text_says_all_of_it(text, outcome):
    assert Outcome.read(text) == outcome
    assert Outcome.from_dict(json.loads(json.dumps(outcome.to_dict()))) == outcome


@pytest.mark.parametrize("text", ["", "0 < yield < 100", "0 <= yield >= 1", "yield = 3", "-x", 7])
def test_what_says_nothing_that_can_be_read_is_refused(text):
    with pytest.raises((ValueError, TypeError), match="an outcome must"):
        Outcome.read(text)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"low": 100, "high": 0}, "low end below its high one, got .*100"),
        ({"low": 1, "high": 1}, "low end below its high one"),
        ({"low": math.nan}, "low end below its high one"),
        ({"low": "0"}, "low of the possible range must be a real number, got '0'"),
        ({"unit": 3}, "the unit must be text without .*, got 3"),
        ({"name": "a<b"}, "must have a name, .* got 'a<b'"),
        ({"name": None}, "must have a name, .* got None"),
    ],
)
def test_what_cannot_be_is_refused(given, said):
    with pytest.raises((ValueError, TypeError), match=said):
        Outcome(**given)


def test_it_writes_labels_amounts_and_ranges():
    assert (YIELD.label, YIELD.range, YIELD.number(8.2)) == ("yield (%)", "[0, 100] %", "8.2 %")
    assert YIELD.amount(8.25, 0.123) == "8.25 % (sd 0.12)"
    assert (Outcome().label, Outcome(unit="g").label, Outcome("a").label) == ("value", "value (g)", "a")
    assert Outcome().heading("measured value") == "measured value"
    assert (Outcome(low=0).range, Outcome(high=0.05, unit="g").range) == ("[0, inf)", "(-inf, 0.05] g")
    assert Outcome().amount(1 / 3) == "0.333333"


@pytest.mark.parametrize(("value", "is_possible", "nearest"), [(-0.1, False, 0), (0, True, 0), (820, False, 100)])
def test_it_tells_what_is_possible(value, is_possible, nearest):
    assert (YIELD.holds(value), YIELD.nearest(value)) == (is_possible, nearest)
    assert Outcome().holds(value)
    assert Outcome().nearest(value) == value


def test_settings_keep_it_and_write_nothing_where_nothing_is_said():
    settings = Settings(SPACE, outcome=YIELD)
    assert Settings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings
    assert settings.to_dict()["outcome"] == [{"name": "yield", "unit": "%", "low": 0, "high": 100}]
    assert "outcome" not in Settings(SPACE).to_dict()
    assert (settings.goal, settings.quantity, settings.quantities) == ("minimize yield", YIELD, {None: YIELD})
    assert "outcome: recorded nothing" in differences(settings, Settings(SPACE))[0]


def test_of_several_outcomes_each_has_its_own():
    settings = Settings(SPACE, objectives=OBJECTIVES, outcome_constraints=("purity >= 0.9",), outcome=[YIELD])
    assert Settings.from_dict(settings.to_dict()) == settings
    assert settings.quantities == {"yield": YIELD, "cost": Outcome("cost"), "purity": Outcome("purity")}
    assert settings.quantity == Outcome()
    assert settings.of(settings.outcomes[0]) == Settings(SPACE, "maximize")  # so that no decision knows of ranges


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"outcome": "yield"}, "outcome must be an Outcome, such as .*, got 'yield'"),
        ({"outcome": ["yield"]}, "each outcome must be an Outcome, .* got 'yield'"),
        ({"outcome": [YIELD, Outcome("cost")]}, "outcome must be a single outcome if there are no objectives"),
        ({"outcome": [YIELD, YIELD], "objectives": OBJECTIVES}, "a name of its own, got .'yield', 'yield'"),
        ({"outcome": Outcome("yeild"), "objectives": OBJECTIVES}, "'yeild'; did you mean 'yield'"),
        ({"outcome": Outcome(unit="%"), "objectives": OBJECTIVES}, "the name of an outcome must be one of"),
        (
            {"outcome": YIELD, "objectives": OBJECTIVES, "outcome_constraints": ("yield >= 101",)},
            r"leave 'yield' some value in the possible range \[0, 100\] %, got \['yield >= 101.0'\]",
        ),
    ],
)
def test_bad_settings_say_what_must_hold(given, said):
    with pytest.raises((ValueError, TypeError), match=said):
        Settings(SPACE, **given)


@pytest.mark.parametrize("forged", [[{"name": "y", "low": "0"}], [{"unit": []}], [{"kind": "%"}], ["yield"], {"a": 1}])
def test_a_header_with_something_else_there_is_refused(forged):
    with pytest.raises((ValueError, TypeError)):
        Settings.from_dict(Settings(SPACE).to_dict() | {"outcome": forged})


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome.read("yield % 0..100"),
        Outcome("yield (%)", unit="%"),
        Outcome("yield [%]"),
        Outcome("yield 0 to 100"),
        Outcome("yield(%)", unit="%"),
    ],
)
def test_a_name_holds_no_unit_and_no_range(outcome):
    said = r"must hold no unit and no range, got 'yield.*rb\.Outcome\('yield', unit='%', .*'0 <= yield \(%\) <= 100'"
    with pytest.raises(ValueError, match=said):
        Settings(SPACE, outcome=outcome)


@pytest.mark.parametrize("name", ["log(loss)", "CO2 to N2 ratio", "rate, initial", "pH at 25 °C"])
def test_other_names_do_as_they_are(name):
    assert Settings(SPACE, outcome=Outcome(name)).quantity.name == name
    assert (
        Settings(SPACE, objectives={"loss (%)": "minimize"}).outcomes[0].name == "loss (%)"
    )  # as old journals have it


@pytest.mark.parametrize("outcome", [Outcome(""), [Outcome("")]])
def test_an_outcome_says_something(outcome):
    with pytest.raises(ValueError, match=r"a range or a negligible_error, got none; write rb\.Outcome\('yield', unit="):
        Settings(SPACE, outcome=outcome)


@pytest.mark.parametrize(
    ("args", "given", "said"),
    [
        (("yield", "%"), {}, "Outcome takes name alone without a name, got 2 arguments; .* such as unit="),
        (("yield",), {"min": 0}, r"Outcome has no argument 'min'; write low=\.\.\."),
        (("yield",), {"max": 0}, r"write high=\.\.\."),
        (("yield",), {"range": (0, 100)}, r"no argument 'range'; write low=\.\.\., high=\.\.\."),
    ],
)
def test_a_call_that_does_not_fit_says_what_does(args, given, said):
    with pytest.raises(TypeError, match=said):
        Outcome(*args, **given)


def test_a_negligible_error_is_kept_where_it_is_said():
    said = Outcome("pH", negligible_error=0.05)
    assert Outcome.from_dict(said.to_dict()) == said
    assert said.least_noise == 0.025
    assert "negligible_error" not in Outcome("pH").to_dict()
    with pytest.raises(ValueError, match="negligible_error must be at least 0 and finite, got -1"):
        Outcome("pH", negligible_error=-1)


def test_the_settings_of_one_of_several_outcomes_have_its_negligible_error():
    objectives = (("pH", "maximize"), ("cost", "minimize"))
    settings = Settings(Space(x=Float(0, 1)), objectives=objectives, outcome=(Outcome("pH", negligible_error=0.05),))
    alone = [settings.of(outcome).quantity.least_noise for outcome in settings.outcomes]
    assert alone == [0.025, 0.0]
    assert Settings.from_dict(settings.to_dict()) == settings
