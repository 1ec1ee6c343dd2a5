"""Cells of several outcomes: what is struck, told, excluded and recommended; they go on, and are verified."""

import pytest

from robustbo.errors import ReplayMismatch
from robustbo.replay.cells.engine import run as run_cell
from robustbo.replay.cells.optimization import OptimizationCell
from robustbo.replay.cells.own_loop import run
from robustbo.replay.cells.recommendation import trials_of
from robustbo.replay.kinds import OPTIMIZATION
from robustbo.replay.score.optimization import marks, rows
from robustbo.replay.spec.optimization import RunSpec
from robustbo.replay.verify import verify
from robustbo.trials.storage.reading import read
from robustbo_problems.several import branin_currin, gardner

pytestmark = pytest.mark.filterwarnings("ignore")  # what other libraries say to their own developers
FRONT = {
    "problem": "branin-currin",
    "corruption": {"kind": "random-point", "probability": 0.3, "strikes": "all"},
    "methods": ["standard", "informed", "oracle", "relevance-pursuit", "botorch", "optuna-gp", "ax-default"],
    "trials": 10,
    "num_initial": 6,
    "seed": 3,
    "replications": 1,
    "recommend_every": 5,
}
BOUNDED = FRONT | {"problem": "gardner", "problem_options": {"threshold": -0.5}}
ONE = {"kind": "constant", "value": -5.0, "probability": 0.3, "strikes": "height"}


def quietly(*_):
    pass


def cell(folder, method="standard", given=FRONT, **changes):
    return OptimizationCell.of(RunSpec.model_validate(given | changes), method, 0, folder)


def ran(folder, method, given=FRONT, **changes):
    made = cell(folder, method, given, **changes)
    run_cell(made, quietly)
    return made


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return ran(tmp_path_factory.mktemp("whole"), "standard")


def test_outcomes_are_by_name_and_a_front_is_recommended(whole):
    entries = whole.entries()
    assert len(entries) == 10
    for entry in entries:
        assert sorted(entry["clean"]) == sorted(entry["value"]) == ["branin", "currin"]
        assert entry["corrupted"] in ([], ["branin", "currin"])
        assert (entry["value"] == entry["clean"]) == (not entry["corrupted"])
    assert [entry["recommended"] is None for entry in entries] == [True] * 9 + [False]  # of 5 trials all are initial
    assert any(entry["corrupted"] for entry in entries)
    front = trials_of(entries[-1]["recommended"])
    assert front == sorted(set(front))
    assert 0 < len(front) <= 10


def test_settings_have_what_the_problem_wants(whole, tmp_path):
    settings = whole.settings
    assert dict(settings.objectives) == {"branin": "minimize", "currin": "minimize"}
    assert dict(settings.reference_point) == {"branin": 18.0, "currin": 6.0}
    bounded = cell(tmp_path, given=BOUNDED).settings
    assert bounded.outcome_constraints == ("slack >= 0.0",)
    assert bounded.reference_point == ()


def test_a_recorded_cell_is_the_same_when_it_is_computed_again(whole):
    assert verify(whole).bits == 10
    truth = whole.record
    before = truth.read_bytes()
    truth.write_text(truth.read_text().replace('"recommended": [', '"recommended": [0, '))
    with pytest.raises((ReplayMismatch, Exception), match=r"recommended|damaged|checksum"):
        verify(whole)
    truth.write_bytes(before)


def test_one_that_was_stopped_goes_on_to_the_same(whole, tmp_path):
    other = cell(tmp_path)
    other.journal.parent.mkdir()
    for mine, theirs in ((other.journal, whole.journal), (other.record, whole.record)):
        lines = theirs.read_bytes().splitlines(keepends=True)
        mine.write_bytes(b"".join(lines[: 8 if mine == other.record else 16]))
    run(other, quietly)
    assert other.entries() == whole.entries()
    assert other.flags() == whole.flags()


@pytest.mark.slow
def test_who_knows_the_errors_excludes_what_is_wrong(tmp_path):
    of_all = ran(tmp_path, "informed")
    assert verify(of_all).bits == 10
    wrong = [entry["trial"] for entry in of_all.entries() if entry["corrupted"]]
    out = [event for event in read(of_all.journal).events if event["event"] == "exclude"]
    assert [(event["trial"], event.get("outcome")) for event in out] == [(number, None) for number in wrong]
    of_one = ran(tmp_path / "one", "informed", BOUNDED, corruption=ONE)
    assert verify(of_one).bits == 10
    out = [event for event in read(of_one.journal).events if event["event"] == "exclude"]
    assert [(event["trial"], event["outcome"]) for event in out] == [
        (entry["trial"], "height") for entry in of_one.entries() if entry["corrupted"]
    ]
    assert out


def test_an_oracle_is_told_the_truth_and_meets_the_same_strikes(whole, tmp_path):
    oracle = ran(tmp_path, "oracle")
    told = [event["value"] for event in read(oracle.journal).events if event["event"] == "tell"]
    assert told == [entry["clean"] for entry in oracle.entries()]
    assert [e["corrupted"] for e in oracle.entries()] == [e["corrupted"] for e in whole.entries()]


@pytest.mark.slow
def test_what_is_flagged_is_by_outcome(tmp_path):
    once = {"kind": "constant", "value": 1e4, "probability": 1.0, "trials": [7], "strikes": "currin"}
    made = ran(tmp_path, "relevance-pursuit", corruption=once)
    assert made.flags() == {"branin": [], "currin": [7]}
    flagged, corrupted = marks(rows([made]))
    assert len(flagged) == 20
    assert flagged.sum() == corrupted.sum() == 1
    assert verify(made).bits == 10


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["botorch", "optuna-gp", "ax-default"])
@pytest.mark.parametrize("given", [FRONT, BOUNDED], ids=["front", "bounded"])
def test_peers_meet_the_same_strikes_and_recommend(whole, engine, given, tmp_path):
    made = ran(tmp_path, engine, given, trials=8, recommend_every=4)
    entries = made.entries()
    assert [e["corrupted"] == [] for e in entries] == [e["corrupted"] == [] for e in whole.entries()][:8]
    assert verify(made).bits == 0
    last = trials_of(entries[-1]["recommended"])
    assert all(0 <= number < 8 for number in last)
    told = [event["value"] for event in read(made.journal).events if event["event"] == "tell"]
    assert told == [entry["value"] for entry in entries]
    assert made.flags() == []


def test_optuna_recommends_what_nothing_observed_beats(tmp_path):
    made = ran(tmp_path, "optuna-gp", trials=8, recommend_every=4)
    told = [tuple(entry["value"].values()) for entry in made.entries()]
    beaten = [any(all(a <= b for a, b in zip(o, t, strict=True)) and o != t for o in told) for t in told]
    assert made.entries()[-1]["recommended"] == [i for i, is_beaten in enumerate(beaten) if not is_beaten]


def test_botorch_begins_as_we_do(whole, tmp_path):
    made = ran(tmp_path, "botorch", trials=6)
    ours, theirs = (
        [event["params"] for event in read(each.journal).events if event["event"] == "ask"][:6]
        for each in (whole, made)
    )
    assert ours == theirs


def test_rows_and_the_summary_score_the_truth(whole):
    table = rows([whole])
    entries = whole.entries()
    front = [entries[n]["clean"] for n in entries[-1]["recommended"]]
    assert table["inference"].iloc[-1] == branin_currin.worth(front)
    assert table["oracle"].iloc[-1] == branin_currin.worth([entry["clean"] for entry in entries])
    assert table["oracle"].is_monotonic_increasing
    assert table["recommended"].iloc[-1] == " ".join(map(str, entries[-1]["recommended"]))
    assert {"branin.clean", "currin.value", "branin.corrupted", "currin.flagged"} <= set(table)
    found = OPTIMIZATION.tables(table, whole.spec)
    assert found.summary["final"].iloc[0] == table["inference"].iloc[-1]
    ((chart,),) = OPTIMIZATION.charts(whole.spec, found)
    assert "hypervolume" in chart.about


def test_what_a_recommendation_is_worth():
    problem = gardner(-0.5)
    good, better, bad = ({"height": h, "slack": s} for h, s in ((1.0, 0.1), (-1.0, 0.0), (-2.0, -0.1)))
    assert problem.worth([good]) == 1.0
    assert problem.worth([good, better, bad]) == -1.0
    assert problem.worth([bad]) == problem.worth([]) == 2.0
    one, beyond = {"branin": 8.0, "currin": 5.0}, {"branin": 19.0, "currin": 0.0}
    assert branin_currin.worth([one, beyond]) == pytest.approx(10.0)
    assert branin_currin.worth([]) == 0.0
    assert branin_currin.maximizes
    assert not problem.maximizes


def test_engines_are_for_one_outcome_or_several(tmp_path):
    with pytest.raises(ValueError, match="method 'botorch' must be for one outcome, got the engine 'botorch'"):
        RunSpec.model_validate(FRONT | {"problem": "branin", "corruption": None})
    with pytest.raises(ValueError, match="method 'ax-viability' must be for several outcomes, got the engine 'ax-via"):
        cell(tmp_path, methods=["ax-viability"])
    with pytest.raises(ValueError, match="strikes needs a problem of several outcomes, branin has one"):
        RunSpec.model_validate(FRONT | {"problem": "branin", "methods": ["standard"]})
