"""The space of a source: fewer parameters than the study's, and values of a choice that it alone had."""

import pytest

from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import Choice, Float
from robustbo.searchspace.space import Space
from robustbo.trials.declared import Source, sources_by_name
from robustbo.trials.extent import settings_at
from robustbo.trials.history import History
from robustbo.trials.settings import Settings
from robustbo.trials.source_space import check_values, own_values, with_own_values

SPACE = Space(x=Float(0.0, 1.0), solvent=Choice("water", "ethanol"), drop=Float(0, 1, when={"solvent": "water"}))


def declared(**options):
    return sources_by_name({"lab": Source(target=True), "old": Source(**options)})


def test_what_a_source_alone_had_is_modelled_and_not_asked_for():
    settings = Settings(SPACE, sources=declared(ask=False, had={"solvent": ["THF"]}))
    assert settings.space.measured_point({"x": 0.5, "solvent": "THF"}) == {"x": 0.5, "solvent": "THF"}
    with pytest.raises(SpaceError, match="must be one of"):
        settings.space.validate({"x": 0.5, "solvent": "THF"})
    again = Settings.from_dict(settings.to_dict())
    assert again == settings
    assert again.space.parameters[1][1].former == ("THF",)
    assert settings.to_dict()["space"] == SPACE.to_dict()


def test_what_a_source_had_stays_when_the_space_is_changed():
    settings = Settings(SPACE, sources=declared(ask=False, had={"solvent": ["THF"]}))
    wider = Space.from_dict(dict(SPACE.parameters) | {"x": Float(0.0, 2.0)})
    event = {"event": "change", "trial": 0, "space": wider.to_dict()}
    after = settings_at(settings, History().apply_all([event]))
    assert dict(after.space.parameters)["x"].high == 2.0
    assert dict(after.space.parameters)["solvent"].former == ("THF",)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"had": {"x": [1]}}, "had of source 'old' must be of a choice of the space, .'solvent'., got 'x'"),
        ({"had": {"solvnt": ["a"]}}, "did you mean 'solvent'"),
    ],
)
def test_only_a_choice_had_other_values(options, match):
    with pytest.raises(SpaceError, match=match):
        Settings(SPACE, sources=declared(**options))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"was": {"heat": 1}}, "was of source 'old' must be of parameters of the space"),
        ({"was": {"x": 2}}, r"was of source 'old': x: must lie in .*ask=False\) may have had others"),
        ({"was": {"x": "hot"}, "ask": False}, "was of source 'old': x: must be a finite number"),
    ],
)
def test_values_of_what_a_source_does_not_have_are_checked(options, match):
    with pytest.raises(SpaceError, match=match):
        check_values(SPACE, declared(**options))
    check_values(SPACE, declared(was={"x": 2}, ask=False))


def test_a_point_gets_the_values_of_its_source_and_no_others():
    sources = declared(was={"x": 0.25, "drop": 0.5})
    labels = {"source": "old"}
    assert with_own_values(SPACE, sources, labels, {"solvent": "water"}) == {"x": 0.25, "drop": 0.5, "solvent": "water"}
    assert with_own_values(SPACE, sources, labels, {"solvent": "ethanol"}) == {"x": 0.25, "solvent": "ethanol"}
    assert with_own_values(SPACE, sources, labels, {"x": 0.5, "solvent": "ethanol"})["x"] == 0.5
    assert with_own_values(SPACE, sources, {"source": "lab"}, {"x": 0.5}) == {"x": 0.5}
    assert own_values(sources, {}) == {}
