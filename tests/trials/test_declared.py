"""Sources that are declared: checked, and in the journal's settings."""

import pytest

from robustbo.searchspace.parameters import Float
from robustbo.searchspace.space import Space
from robustbo.trials.declared import (
    Source,
    check_source_name,
    fidelity_levels,
    source_in,
    sources_by_name,
    target_of,
)
from robustbo.trials.differences import differences
from robustbo.trials.settings import Settings

SPACE = Space(x=Float(0.0, 1.0))
SOURCES = {"lab": Source(target=True), "simulator": Source(cost=0.05), "2025": Source(ask=False, trusted=True)}


def test_settings_keep_them_and_those_without_have_no_such_entry():
    settings = Settings(SPACE, sources=SOURCES)
    entries = settings.to_dict()
    assert entries["sources"] == {
        "lab": {"target": True},
        "simulator": {"cost": 0.05},
        "2025": {"ask": False, "trusted": True},
    }
    assert Settings.from_dict(entries) == settings
    assert hash(Settings.from_dict(entries)) == hash(settings)
    assert "sources" not in Settings(SPACE).to_dict()
    assert len(differences(settings, Settings(SPACE))) == 1


def test_names():
    declared = sources_by_name(SOURCES)
    assert target_of(declared) == "lab"
    assert target_of(()) is None
    assert source_in(declared, {"source": "2025"}) == "2025"
    assert source_in(declared, {"source": "lab", "reactor": "R1"}) is None
    check_source_name((), {"source": "anything"})
    check_source_name(declared, {"reactor": "R1"})
    with pytest.raises(ValueError, match="source must be one of those declared"):
        check_source_name(declared, {"source": "simulatr"})


@pytest.mark.parametrize(
    ("sources", "error", "match"),
    [
        ({"a": Source(), "b": Source()}, ValueError, "one of the sources must be the target"),
        ({"a": Source(target=True), "b": Source(target=True)}, ValueError, "one of the sources must be the target"),
        ({"a": {"target": True}}, TypeError, "sources must be such as"),
        (["a"], TypeError, "sources must be such as"),
        ({"": Source(target=True)}, ValueError, "a name each"),
        ({str(i): Source(target=i == 0) for i in range(12)}, ValueError, "at most 8 beside the target"),
    ],
)
def test_what_they_must_be(sources, error, match):
    with pytest.raises(error, match=match):
        sources_by_name(sources)


def test_a_source_of_its_own_space_is_kept_as_it_was_declared():
    source = Source(ask=False, was={"x": 1}, had={"solvent": ["THF", "DCM"]})
    assert source.to_dict() == {"ask": False, "was": {"x": 1}, "had": {"solvent": ["THF", "DCM"]}}
    assert Source(**source.to_dict()) == source
    assert hash(source) == hash(Source(**source.to_dict()))
    assert repr(source) == "Source(ask=False, was={'x': 1}, had={'solvent': ['THF', 'DCM']})"


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"was": 3}, TypeError, "was must be a mapping of parameters"),
        ({"was": {3: 1}}, TypeError, "was must be a mapping of parameters"),
        ({"had": {"solvent": "THF"}}, TypeError, "had must be lists of values"),
        ({"target": True, "was": {"x": 1}}, ValueError, "whose space is the study's own"),
    ],
)
def test_what_a_sources_own_space_must_be(options, error, match):
    with pytest.raises(error, match=match):
        Source(**options)


@pytest.mark.parametrize("options", [{"cost": 0.0}, {"cost": -1}, {"target": True, "ask": False}])
def test_what_a_source_must_be(options):
    with pytest.raises(ValueError, match=r"must (be|allow)"):
        Source(**options)
    with pytest.raises(ValueError, match="trusted is for other sources"):
        Source(target=True, trusted=True)


def test_levels_of_one_thing_are_sources_whose_last_is_the_target():
    sources = fidelity_levels("epochs", [10, 30, 100])
    assert [*sources] == ["epochs=10", "epochs=30", "epochs=100"]
    assert [source.cost for source in sources.values()] == pytest.approx([0.1, 0.3, 1.0])
    assert target_of(sources_by_name(sources)) == "epochs=100"
    assert [s.cost for s in fidelity_levels("mesh", [4, 1], cost=lambda width: width**-2).values()] == [1 / 16, 1.0]
    assert Settings.from_dict(Settings(SPACE, sources=sources).to_dict()).sources == sources_by_name(sources)
    assert [*fidelity_levels("rows", [1_000_000, 1_000_001])] == ["rows=1000000", "rows=1000001"]
    with pytest.raises(ValueError, match=r"levels must all be different, got \[10, 10, 100\]"):
        fidelity_levels("epochs", [10, 10, 100])
    with pytest.raises(ValueError, match="cost must have one number for each level"):
        fidelity_levels("epochs", [10, 100], cost=[1.0])
    with pytest.raises(ValueError, match="levels must have at least two entries"):
        fidelity_levels("epochs", [100])


@pytest.mark.parametrize(
    ("levels", "match"),
    [
        ((None, 10.0, 30.0), "the target must have a level"),
        ((30.0, 10.0, 100.0), "below the target's, 30, or all above"),
        ((100.0, 10.0, 10.0), "levels must all be different"),
    ],
)
def test_levels_are_different_and_on_one_side_of_the_targets(levels, match):
    sources = {str(i): Source(target=i == 0, level=level) for i, level in enumerate(levels)}
    with pytest.raises(ValueError, match=match):
        sources_by_name(sources)


@pytest.mark.parametrize("options", [{"level": 0.0}, {"level": float("nan")}, {"level": 10, "trusted": True}])
def test_what_a_level_must_be(options):
    with pytest.raises(ValueError, match="level"):
        Source(**options)
