"""Old studies and simulators with fewer parameters, other levels and other names, told and asked."""

import warnings

import pandas as pd
import pytest

import robustbo as rb
from robustbo.errors import SpaceError, SpaceWarning

SPACE = rb.Space(x=rb.Float(0.0, 1.0), stirring=rb.Float(100.0, 900.0), solvent=rb.Choice("water", "ethanol"))
LAB = {"lab": rb.Source(target=True)}
OLD = pd.DataFrame({"x": [0.1, 0.2], "solvent": ["water", "THF"], "value": [1.0, 2.0]})


def study(prior=None, simulator=None, **old):
    sources = LAB | {"simulator": simulator or rb.Source(was={"stirring": 300})}
    sources |= {"2025": rb.Source(**{"ask": False, "was": {"stirring": 300}, "had": {"solvent": ["THF"]}} | old)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpaceWarning)
        return rb.Optimizer(SPACE, direction="maximize", seed=0, sources=sources, prior_data=prior)


def test_an_old_table_without_a_parameter_and_with_another_level():
    first, second = study({"2025": OLD}).history
    assert first.params == {"x": 0.1, "stirring": 300.0, "solvent": "water"}
    assert second.params == {"x": 0.2, "stirring": 300.0, "solvent": "THF"}
    gap = study({"2025": OLD.assign(stirring=[None, 400.0])}).history
    assert [trial.params["stirring"] for trial in gap] == [300.0, 400.0]


def test_an_old_study_of_another_space():
    old = rb.Optimizer(rb.Space(x=rb.Float(0, 2), heat=rb.Float(0, 9)), direction="minimize", seed=0)
    old.tell({"x": 1.5, "heat": 3.0}, 7.0)
    old.fail({"x": 0.5, "heat": 4.0}, "burnt")
    told, failed = study({"2025": old}, was={"stirring": 300, "solvent": "water"}).history
    assert told.params == {"x": 1.5, "stirring": 300.0, "solvent": "water"}
    assert (told.source, told.value, told.labels) == ("2025", 7.0, {"heat": 3.0})
    assert (failed.source, failed.state) == ("2025", "failed")


@pytest.mark.parametrize(
    ("table", "old", "match"),
    [
        (OLD, {"was": {}}, "source '2025': stirring: there must be a column .*was={'stirring': ...}"),
        (OLD.rename(columns={"x": "X"}), {}, "source '2025': x: there must be a column .*did you mean 'X'"),
        (OLD, {"had": {}}, r"source '2025': solvent: must be one of .* had={'solvent': \['THF'\]}"),
    ],
)
def test_what_a_table_lacks_is_said_with_what_to_do(table, old, match):
    with pytest.raises(SpaceError, match=match):
        study({"2025": table}, **old)


def test_points_that_are_told_of_a_source_need_not_say_what_it_does_not_have():
    opt = study()
    assert opt.tell({"x": 0.5, "solvent": "water"}, 1.0, source="simulator").params["stirring"] == 300.0
    assert opt.fail({"x": 0.6, "solvent": "water"}, source="simulator").source == "simulator"
    with pytest.raises(SpaceError, match="stirring: every parameter must have a value"):
        opt.tell({"x": 0.5, "solvent": "water"}, 1.0, source="lab")
    with pytest.raises(ValueError, match="source must be one of those declared"):
        opt.fail({"x": 0.6, "solvent": "water"}, source="simulatr")
    rows = pd.DataFrame(
        {"x": [0.1, 0.2], "solvent": "water", "stirring": [None, 500.0], "value": 1.0, "who": ["2025", "lab"]}
    ).rename(columns={"who": "source"})
    assert [t.params["stirring"] for t in opt.tell_frame(rows, source="source")] == [300.0, 500.0]
    with pytest.raises(SpaceError, match="stirring"):
        opt.tell_frame(rows.assign(source="lab"), source="source")


def test_a_source_is_asked_with_its_own_values(tmp_path):
    opt = study()
    asked = opt.ask(3, source="simulator")
    assert {trial.params["stirring"] for trial in asked} == {300.0}
    assert len({trial.params["x"] for trial in asked}) == 3
    assert opt.ask(source="simulator", fixed={"stirring": 500}).params["stirring"] == 500.0
    assert opt.ask(source="lab").params["stirring"] != 300.0


def test_a_label_is_a_declared_source_whatever_other_kinds_there_are():
    opt = study()
    opt.tell(opt.ask(by={"reactor": "R3"}), 1.0)
    point = {"x": 0.5, "stirring": 200, "solvent": "water"}
    assert opt.tell(point, 1.0, source="lab").sources == {"source": "lab"}
    with pytest.raises(ValueError, match="source must be one of those declared"):
        opt.tell(point, 1.0, source="R3")


def test_a_changed_space_must_keep_what_sources_say():
    opt = study()
    with pytest.raises(SpaceError, match="was of source 'simulator': stirring"):
        opt.change(rb.Space.from_dict(dict(SPACE.parameters) | {"stirring": rb.Float(500.0, 900.0)}))


def test_a_study_with_sources_of_their_own_space_is_resumed(tmp_path):
    place = tmp_path / "study.jsonl"
    sources = LAB | {"2025": rb.Source(ask=False, was={"stirring": 300}, had={"solvent": ["THF"]})}
    options = {"direction": "maximize", "seed": 0, "sources": sources, "journal": place}
    with pytest.warns(SpaceWarning, match="THF"):
        opt = rb.Optimizer(SPACE, prior_data={"2025": OLD}, **options)
    wider = rb.Space.from_dict(dict(SPACE.parameters) | {"x": rb.Float(0.0, 2.0)})
    opt.change(wider)
    again = rb.Optimizer.resume(place)
    assert again.settings == opt.settings
    assert again.history == opt.history
    assert rb.Optimizer(wider, if_exists="resume", **options).settings == opt.settings


def test_the_possible_range_is_the_targets(tmp_path):
    outcome = rb.Outcome("yield", unit="%", low=0, high=100)
    sources = LAB | {"counts": rb.Source()}
    table = pd.DataFrame({"x": [0.1], "yield": [4000.0]})
    space = rb.Space(x=rb.Float(0, 1))
    options = {"direction": "maximize", "seed": 0, "outcome": outcome, "sources": sources}
    opt = rb.Optimizer(space, prior_data={"counts": table}, **options)
    assert opt.tell({"x": 0.2}, 5000.0, source="counts").state == "told"
    asked = opt.ask(source="counts")
    assert opt.tell(asked, 6000.0, out_of_range="exclude").state == "told"
    assert opt.amend(asked, 6500.0).value == 6500.0
    rows = table.assign(source=["counts"])
    assert [trial.state for trial in opt.tell_frame(rows.assign(x=0.3), source="source")] == ["told"]
    opt.write_sheet(tmp_path / "s.csv", source="counts")
    lines = (tmp_path / "s.csv").read_text().splitlines()
    (tmp_path / "s.csv").write_text("\n".join([lines[0], f"{lines[1]}7000", ""]))
    assert [trial.value for trial in opt.read_sheet(tmp_path / "s.csv")] == [7000.0]
    for call in (
        lambda: opt.tell({"x": 0.2}, 5000.0),
        lambda: opt.tell_frame(rows.assign(source=["lab"]), source="source"),
        lambda: rb.Optimizer(space, prior_data={"lab": table}, **options),
    ):
        with pytest.raises(ValueError, match="possible range"):
            call()
    assert opt.tell({"x": 0.9}, 5000.0, out_of_range="exclude").state == "excluded"


def test_sources_shows_other_kinds_of_source_after_those_declared():
    opt = rb.Optimizer(
        rb.Space(x=rb.Float(0, 1)), direction="maximize", seed=0, sources=LAB | {"2025": rb.Source(ask=False)}
    )
    for i in range(3):
        opt.tell({"x": 0.3 * i}, 1.0 * i, source={"reactor": f"R{i % 2}"})
    frame = opt.sources()
    assert frame["source"].tolist() == ["2025", "reactor", "reactor"]
    assert frame["level"].tolist()[1:] == ["R0", "R1"]
    assert str(frame).splitlines()[0] == "2025: nothing is known yet"
    assert len(str(frame).splitlines()) > 1
