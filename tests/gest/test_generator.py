"""What gest-api asks of a generator, and what copies and journals change: nothing."""

import copy
import pickle

import gest_api
import pytest
from gest_api.vocs import VOCS

import robustbo as rb
from robustbo.errors import JournalError, SpaceWarning
from robustbo.gest import RobustGenerator

X = VOCS(variables={"x": [0, 1]}, objectives={"f": "MINIMIZE"})
FULL = VOCS(
    variables={"x": [-1, 1], "n": {1, 2, 3}, "mode": {"a", "b"}},
    objectives={"f": "MAXIMIZE"},
    constants={"charge": 0.5, "label": "run 7"},
    observables=["temperature"],
)


def evaluated(points):
    return [point | {"f": (point["x"] - 0.3) ** 2} for point in points]


def run(generator, steps, n=1):
    found = []
    for _ in range(steps):
        points = generator.suggest(n)
        generator.ingest(evaluated(points))
        found += points
    return found


def test_it_is_a_generator_that_gives_identifiers():
    generator = RobustGenerator(X, seed=0)
    assert isinstance(generator, gest_api.Generator)
    assert generator.returns_id is RobustGenerator.returns_id is True
    assert generator.vocs is X
    assert repr(generator).startswith("RobustGenerator('f', Optimizer(minimize, relevance-pursuit, seed=0")


@pytest.mark.parametrize("n", [0, 1, 4])
def test_it_suggests_exactly_so_many(n):
    assert len(RobustGenerator(X, seed=0).suggest(n)) == n


def test_it_suggests_a_batch_where_the_loop_does_not_say():
    assert len(RobustGenerator(X, seed=0).suggest()) == 1
    assert len(RobustGenerator(X, seed=0, batch_size=3).suggest(None)) == 3
    with pytest.raises(ValueError, match="batch_size must be a whole number of at least 1"):
        RobustGenerator(X, batch_size=0)


def test_a_point_has_variables_constants_and_an_identifier():
    points = RobustGenerator(FULL, seed=0).suggest(12)
    assert all(list(point) == ["x", "n", "mode", "charge", "label", "_id"] for point in points)
    assert all((point["charge"], point["label"]) == (0.5, "run 7") for point in points)
    assert [point["_id"] for point in points] == list(range(12))
    assert {type(point["n"]) for point in points} == {int}
    assert {point["mode"] for point in points} == {"a", "b"}
    assert all(-1 <= point["x"] <= 1 for point in points)


def test_a_variable_on_a_log_scale():
    vocs = VOCS(variables={"x": [1e-6, 1]}, objectives={"f": "MINIMIZE"})
    points = RobustGenerator(vocs, seed=0, log=["x"]).suggest(8)
    assert sum(point["x"] < 1e-3 for point in points) == 4


def test_it_says_so_where_there_are_not_so_many_points():
    vocs = VOCS(variables={"n": {1, 2, 3}}, objectives={"f": "MINIMIZE"})
    generator = RobustGenerator(vocs, seed=0)
    with pytest.raises(ValueError, match="4 points cannot be suggested"):
        generator.suggest(4)
    assert sorted(point["n"] for point in generator.suggest(3)) == [1, 2, 3]


@pytest.mark.parametrize("n", [-1, 1.5, "two"])
def test_how_many_must_be_a_whole_number(n):
    with pytest.raises(ValueError, match="num_points must be a whole number of at least 0"):
        RobustGenerator(X, seed=0).suggest(n)


def test_the_same_seed_suggests_the_same_points():
    first, second = (run(RobustGenerator(X, seed=3, surrogate="standard"), 7) for _ in range(2))
    assert first == second
    assert run(RobustGenerator(X, seed=3), 1) != run(RobustGenerator(X, seed=4), 1)


def test_options_are_those_of_the_optimizer():
    generator = RobustGenerator(
        X,
        surrogate="standard",
        num_initial=2,
        replicate="never",
        max_replicates=4,
        failures="ignore",
        seed=5,
        quarantine=False,
    )
    found = generator.optimizer.settings
    assert (found.surrogate, found.num_initial, found.replicate, found.seed) == ("standard", 2, "never", 5)
    assert (found.max_replicates, found.failures, found.quarantine) == (4, "ignore", False)
    with pytest.raises(ValueError, match="surrogate"):
        RobustGenerator(X, surrogate="nonsense")


def test_it_may_be_asked_again_before_results_are_there_and_told_in_any_order():
    generator = RobustGenerator(X, seed=0, num_initial=3)
    first = generator.suggest(4)
    second = generator.suggest(3)
    points = [*first, *second]
    assert len({point["x"] for point in points}) == 7
    generator.ingest(evaluated([second[1], first[2]]))
    third = generator.suggest(2)
    assert not {point["x"] for point in third} & {point["x"] for point in points}
    generator.ingest(evaluated([*third, *first[:2], first[3], second[0], second[2]]))
    assert generator.optimizer.pending() == []
    assert len(generator.outliers()) == 9


def test_a_doubtful_value_is_measured_again_under_an_identifier_of_its_own():
    generator = RobustGenerator(X, seed=0)
    run(generator, 7)
    (point,) = generator.suggest(1)
    generator.ingest([point | {"f": -50.0}])
    (again,) = generator.suggest(1)
    assert again["x"] == point["x"]
    assert again["_id"] == point["_id"] + 1
    generator.ingest(evaluated([again]))
    report = generator.outliers()
    assert report.index[report["flagged"]].tolist() == [point["_id"]]
    assert report.loc[point["_id"], "remeasured"] == "refuted"


@pytest.mark.few(1)
@pytest.mark.parametrize("clone", [copy.deepcopy, lambda generator: pickle.loads(pickle.dumps(generator))])
def test_a_copy_goes_on_as_the_original_would(clone):
    generator = RobustGenerator(FULL, seed=0, log=["n"], surrogate="standard")
    run(generator, 9)
    points = generator.suggest(2)
    other = clone(generator)
    for each in (generator, other):
        each.ingest(evaluated(points))
    assert run(other, 2) == run(generator, 2)


@pytest.mark.slow
def test_a_resumed_journal_goes_on_as_if_it_had_never_stopped(tmp_path):
    unbroken = run(RobustGenerator(X, seed=0), 9)
    first = run(RobustGenerator(X, seed=0, journal=tmp_path / "j.jsonl"), 6)
    generator = RobustGenerator(X, journal=tmp_path / "j.jsonl", if_exists="resume")
    assert [*first, *run(generator, 3)] == unbroken
    with pytest.raises(JournalError, match="exists"):
        RobustGenerator(X, journal=tmp_path / "j.jsonl")


def test_what_a_process_that_is_gone_was_evaluating_is_suggested_again(tmp_path, monkeypatch):
    before = RobustGenerator(X, seed=0, journal=tmp_path / "j.jsonl")
    with monkeypatch.context() as patch:
        patch.setattr("robustbo.trials.worker._token", "gone00")
        points = before.suggest(2)
    generator = RobustGenerator(X, journal=tmp_path / "j.jsonl", if_exists="resume")
    assert generator.suggest(2) == points
    generator.ingest(evaluated(points))
    assert generator.suggest(1)[0]["_id"] == 2


def test_copies_share_a_journal(tmp_path):
    generator = RobustGenerator(X, seed=0, journal=tmp_path / "j.jsonl")
    run(pickle.loads(pickle.dumps(generator)), 5)
    assert len(generator.outliers()) == 5


def test_there_is_nothing_left_to_finalize():
    generator = RobustGenerator(X, seed=0)
    run(generator, 3)
    generator.finalize()
    assert generator.best().trial.state == "told"
    assert generator.best(raw=True).mean == min(trial.value for trial in generator.optimizer.history)
    assert len(generator.suggest(2)) == 2


def test_keys_of_results_say_what_measured_them(tmp_path):
    generator = RobustGenerator(X, seed=0, sources=["sim_worker"], blocks=["sim_worker"], journal=tmp_path / "j.jsonl")
    points = generator.suggest(3)
    rows = [row | {"sim_worker": worker} for row, worker in zip(evaluated(points), (1.0, 2, None), strict=True)]
    generator.ingest(rows)
    generator.ingest(rows)  # which is nothing new
    labels = [trial.sources for trial in generator.optimizer.history]
    assert labels == [{"sim_worker": "1"}, {"sim_worker": "2"}, {}]
    assert generator.optimizer.settings.blocks == ("sim_worker",)
    assert [*generator.sources().columns][:2] == ["source", "level"]
    with pytest.raises(TypeError, match="sources must be a list of kinds"):
        RobustGenerator(X, seed=0, sources="sim_worker")
    with pytest.raises(ValueError, match="result 0: the label of source 'sim_worker' must be"):
        generator.ingest([{"x": 0.5, "f": 1.0, "sim_worker": "a\nb"}])


def test_what_a_value_may_be_off_is_told():
    generator = RobustGenerator(X, seed=0, negligible_error=0.25)
    assert generator.optimizer.settings.quantity.negligible_error == 0.25


OLD = [{"x": 0.05 * i, "f": (0.05 * i - 0.3) ** 2 + 1.0, "source": "2025"} for i in range(12)]  # which read 1 higher
DECLARED = {"lab": rb.Source(target=True), "2025": rb.Source(ask=False)}


@pytest.mark.slow
def test_an_old_study_is_a_source_that_is_learned_from_and_not_asked(tmp_path):
    generator = RobustGenerator(X, seed=0, num_initial=3, sources=DECLARED, journal=tmp_path / "j.jsonl")
    generator.ingest(OLD)
    generator.ingest(OLD)  # which is nothing new
    run(generator, 5)
    assert generator.sources().relation.tolist() == ["offset"]
    assert generator.best().trial.source != "2025"
    (point,) = generator.suggest(1)
    generator.ingest([{"x": 0.05, "f": OLD[1]["f"]}])  # as the old study's value there, and of the target
    trials = generator.optimizer.history.trials[:]
    assert [trial.source for trial in trials].count("2025") == len(OLD)
    assert len(trials) == len(OLD) + 7
    assert point["_id"] == trials[-2].number
    with pytest.raises(ValueError, match=r"a point that was suggested is the target's, got _id .* of source '2025'"):
        generator.ingest([point | {"f": 1.0, "source": "2025"}])
    with pytest.raises(ValueError, match=r"source must be one of those declared, .* got '2024'"):
        generator.ingest([{"x": 0.5, "f": 1.0, "source": "2024"}])
    again = RobustGenerator(X, sources=DECLARED, journal=tmp_path / "j.jsonl", if_exists="resume")
    assert again.optimizer.history.trials[:] == trials


def test_an_old_study_may_lack_variables_and_have_other_choices():
    old = rb.Source(ask=False, was={"n": 2}, had={"mode": ["c"]})
    generator = RobustGenerator(FULL, seed=0, sources={"lab": rb.Source(target=True), "old": old})
    rows = [{"x": 0.1, "mode": "c", "f": 1.0}, {"x": 0.2, "n": None, "mode": "a", "f": 2.0}]
    with pytest.warns(SpaceWarning, match="is outside the space"):
        generator.ingest([row | {"source": "old"} for row in rows])
    points = [{**trial.params} for trial in generator.optimizer.history]
    assert points == [{"x": 0.1, "n": 2, "mode": "c"}, {"x": 0.2, "n": 2, "mode": "a"}]
    with pytest.raises(ValueError, match=r"must have every variable, \['n'\] is missing"):
        generator.ingest([{"x": 0.1, "mode": "a", "f": 1.0}])
    assert {point["mode"] for point in generator.suggest(6)} <= {"a", "b"}


def test_a_source_that_may_be_asked_is_refused():
    with pytest.raises(ValueError, match="must have ask=False, got 'simulator'"):
        RobustGenerator(X, sources={"lab": rb.Source(target=True), "simulator": rb.Source(cost=0.1)})
