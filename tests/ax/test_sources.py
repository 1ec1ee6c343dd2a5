"""Old experiments, simulators and other labs in Ax, through a real client; needs ax-platform."""

import json
import math

import pandas as pd
import pytest
from ax.adapter.cross_validation import cross_validate
from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig, StorageConfig
from ax.core.auxiliary import AuxiliaryExperiment, AuxiliaryExperimentPurpose
from ax.core.auxiliary_source import AuxiliarySource
from ax.storage.sqa_store.db import create_all_tables, get_engine, init_engine_and_session_factory

import robustbo as rb
from robustbo.ax import (
    OldExperiment,
    attach_trial,
    best,
    complete,
    failures,
    generation_strategy,
    next_from_source,
    next_replicate,
    outliers,
    source_of,
    sources,
)

pytestmark = pytest.mark.filterwarnings("ignore")  # what Ax and its libraries say to their own developers
LINE = [RangeParameterConfig(name="x", parameter_type="float", bounds=(0.0, 1.0))]
TRANSFERABLE = AuxiliaryExperimentPurpose.TRANSFERABLE_EXPERIMENT
LAB = {"lab": rb.Source(target=True), "simulator": rb.Source(cost=0.05)}


def objective(x):
    return round(math.sin(6 * x) + 0.3 * x, 6)  # the least is near 0.78


def client(parameters=LINE, goal="-f", name=None, **options):
    made = Client(random_seed=0)
    made.configure_experiment(parameters, name=name)
    made.configure_optimization(objective=goal)
    if options:
        made.set_generation_strategy(generation_strategy(seed=0, **options))
    return made


def told(made, points, function, source=None):
    for x in points:
        number = made.attach_trial({"x": x}) if source is None else attach_trial(made, {"x": x}, source)
        made.complete_trial(number, {"f": function(x)})
    return made


def old_client(name="2025"):
    """An old experiment that reads 2 higher, with a typing error."""
    points = [round(i / 14, 3) for i in range(15)]
    wrong = points[4]
    return told(client(name=name), points, lambda x: 40.0 if x == wrong else objective(x) + 2)


def attach(made, old):
    made._experiment.add_auxiliary_experiment(TRANSFERABLE, AuxiliaryExperiment(old._experiment))
    return made


def node(made, index):
    return made._experiment.trials[index].generator_runs[0]._generation_node_name


def test_it_decides_as_the_optimizer_does():
    """The same sources, the same values, the same points, and the same source to be asked."""
    old = old_client()
    made = client(sources={**LAB, "2025": old}, num_initial=3)
    table = pd.DataFrame([{"x": t.arm.parameters["x"]} for t in old._experiment.trials.values()])
    table["value"] = old._experiment.lookup_data().df["mean"].round(10)
    opt = rb.Optimizer(
        rb.Space(x=rb.Float(0, 1)),
        direction="minimize",
        seed=0,
        num_initial=3,
        replicate="never",
        sources={**LAB, "2025": rb.Source(ask=False)},
        prior_data={"2025": table},
    )
    asked = []
    for _ in range(6):
        trial = opt.ask()
        ((index, params),) = made.get_next_trials(max_trials=1).items()
        assert (source_of(made, index), params) == (trial.source, trial.params)
        value = objective(params["x"]) + (trial.source == "simulator")
        opt.tell(trial, value)
        complete(made, index, {"f": value})
        asked.append(trial.source)
    assert {*asked} == {"lab", "simulator"}
    report, theirs = sources(made), opt.sources()
    assert str(report) == str(theirs)
    assert report.set_index("source").loc["2025", "wrong"] == (4,)  # the number in its own experiment
    assert report.set_index("source").loc["simulator", "trials"] == tuple(
        i for i, source in enumerate(asked) if source == "simulator"
    )
    assert best(made).parameters == opt.best().trial.params
    assert best(made).mean == pytest.approx(opt.best().mean, rel=1e-12)


def test_an_attached_experiment_is_learned_from_without_a_word():
    made = told(attach(client(num_initial=3), old_client()), [0.1, 0.3, 0.55, 0.95], objective)
    index = next(iter(made.get_next_trials(max_trials=1)))
    assert (node(made, index), source_of(made, index)) == ("robustbo with sources", "this experiment")
    assert made._experiment.trials[index].arm.parameters["x"] == pytest.approx(0.78, abs=0.03)
    assert sources(made)["relation"].tolist() == ["offset"]
    ((mean, sd),) = (of["f"] for of in made.predict([{"x": 0.78}]))
    assert mean == pytest.approx(objective(0.78), abs=0.05)
    assert sd < 0.1
    assert sorted(outliers(made)["trial_index"]) == [0, 1, 2, 3]


def test_without_sources_nothing_is_as_with_them():
    made = told(client(num_initial=2), [0.1, 0.5], objective)
    index = next(iter(made.get_next_trials(max_trials=1)))
    assert node(made, index) == "robustbo"
    assert source_of(made, index) is None
    with pytest.raises(ValueError, match=r"must have sources, got none; generation_strategy\(sources="):
        sources(made)
    assert "robustbo with sources" not in generation_strategy("standard", seed=0).nodes_by_name
    attach(made, old_client())  # from now on
    assert node(made, next(iter(made.get_next_trials(max_trials=1)))) == "robustbo with sources"


def test_recommendations_are_of_the_target_alone():
    made = client(sources=LAB, num_initial=2)
    told(made, [0.1, 0.4, 0.7, 0.9], objective)
    told(made, [0.2, 0.5, 0.78], lambda x: -100.0 * x, source="simulator")
    ((index, params),) = made.get_next_trials(max_trials=1).items()
    complete(made, index, {"f": objective(params["x"])})
    assert best(made).trial_index in (2, 3, index)
    assert made.get_best_parameterization()[2] in (2, 3)
    assert {*outliers(made)["trial_index"]} == {0, 1, 2, 3, index}
    adapter = made._generation_strategy.adapter
    assert [trial for trial, _ in adapter.get_training_data().arm_data.index] == [0, 1, 2, 3]
    folds = cross_validate(adapter, folds=-1)
    assert len(folds) == 4
    assert all(math.isfinite(fold.predicted.means[0]) for fold in folds)
    assert folds[0].predicted.means[0] != folds[0].observed.data.means[0]


def test_a_source_is_asked_by_name_and_what_it_lacks_is_fixed():
    square = [*LINE, RangeParameterConfig(name="stirring", parameter_type="int", bounds=(100, 900))]
    lacking = {"lab": rb.Source(target=True), "simulator": rb.Source(cost=0.1, was={"stirring": 300})}
    made = client(square, sources={**lacking, "2024": rb.Source(ask=False)}, num_initial=2)
    params = next_from_source(made, "simulator")
    assert (params["stirring"], next_from_source(made, "simulator", {"x": 0.5})) == (300, {"x": 0.5, "stirring": 300})
    index = attach_trial(made, {"x": 0.4}, "simulator")
    trial = made._experiment.trials[index]
    assert (trial.arm.parameters, source_of(made, index)) == ({"x": 0.4, "stirring": 300}, "simulator")
    assert made.get_next_trials(1, {"stirring": 500})[1]["stirring"] == 500
    with pytest.raises(ValueError, match=r"source must be one of those declared, .*, got 'simulater'; .*simulator"):
        attach_trial(made, {"x": 0.4}, "simulater")
    with pytest.raises(ValueError, match="declared with ask=False"):
        next_from_source(made, "2024")
    trial.update_run_metadata({"source": "nobody"})
    with pytest.raises(ValueError, match="trial 0: source must be one of those declared"):
        made.get_next_trials(max_trials=1)
    with pytest.raises(ValueError, match="trial_index must be one of the 2 trials"):
        source_of(made, 9)


def test_several_at_once_are_distinct_and_a_crash_of_the_simulator_is_its_own():
    made = told(client(sources=LAB, num_initial=2), [0.1, 0.5], objective)
    for x in (0.15, 0.2, 0.8):
        number = attach_trial(made, {"x": x}, "simulator")
        made.mark_trial_failed(number) if x < 0.5 else made.complete_trial(number, {"f": 1.0})
    batch = made.get_next_trials(max_trials=3)
    assert len({(source_of(made, index), params["x"]) for index, params in batch.items()}) == 3
    assert failures(made).empty
    assert next_replicate(made) is None
    made.mark_trial_failed(index := next(iter(batch)))
    if source_of(made, index) == "lab":
        assert failures(made)["trial_index"].tolist() == [index]


def two(x):
    return {"f": objective(x), "g": round((x - 0.4) ** 2, 6)}


@pytest.mark.few(1)
@pytest.mark.parametrize("goal", ["-f, -g", "-f subject to g"])
def test_several_metrics_each_learn_from_their_own_values(goal):
    made = Client(random_seed=0)
    made.configure_experiment(LINE)
    is_front = goal == "-f, -g"
    made.configure_optimization(goal if is_front else "-f", None if is_front else ["g <= 0.1"])
    made.set_generation_strategy(generation_strategy(seed=0, sources=LAB, num_initial=2))
    for source, points in (("lab", [0.1, 0.35, 0.6, 0.9]), ("simulator", [0.0, 0.2, 0.5, 0.7, 1.0])):
        for x in points:
            values = two(x) if source == "lab" else {name: value + 1 for name, value in two(x).items()}
            made.complete_trial(attach_trial(made, {"x": x}, source), values)
    assert sources(made)["outcome"].tolist() == ["f", "g"]
    ((index, _),) = made.get_next_trials(max_trials=1).items()
    assert source_of(made, index) in LAB
    assert {*made.predict([{"x": 0.5}])[0]} == {"f", "g"}


def went_on(made, loaded):
    """Both clients ask for the same, twice."""
    for _ in range(2):
        asked = [one.get_next_trials(max_trials=1) for one in (made, loaded)]
        assert asked[0] == asked[1]
        ((index, params),) = asked[0].items()
        assert source_of(made, index) == source_of(loaded, index)
        for one in (made, loaded):
            one.complete_trial(index, {"f": objective(params["x"]) / 3})


@pytest.mark.slow
def test_a_client_that_was_loaded_goes_on_alike(tmp_path):
    old = OldExperiment(old_client(), trusted=True)
    made = client(sources={"simulator": rb.Source(cost=0.05), "2025": old}, num_initial=2)
    told(told(made, [0.1, 0.5, 0.9], lambda x: objective(x) / 3), [0.2, 0.8], objective, source="simulator")
    made.save_to_json_file(str(tmp_path / "client.json"))
    loaded = Client.load_from_json_file(str(tmp_path / "client.json"))
    went_on(made, loaded)
    assert str(sources(made)) == str(sources(loaded))
    assert "2025" in str(sources(loaded))
    snapshot = made._to_json_snapshot()  # no run has all old arms again
    texts = [json.dumps(of) for of in (snapshot["experiment"], snapshot["generation_strategy"]["generator_runs"])]
    assert all('"simulator"' in text and '"old"' not in text for text in texts)


def test_what_json_does_not_keep_is_missed(tmp_path):
    made = told(attach(client(num_initial=2), old_client()), [0.1, 0.5], objective)
    made.get_next_trials(max_trials=1)
    made.save_to_json_file(str(tmp_path / "client.json"))
    loaded = Client.load_from_json_file(str(tmp_path / "client.json"))
    with pytest.raises(ValueError, match=r"'2025' was learned from, and is not attached any more: Ax's JSON"):
        loaded.get_next_trials(max_trials=1)
    with pytest.raises(ValueError, match="attach it again"):
        best(loaded)
    went_on(made, attach(loaded, old_client()))
    old = AuxiliaryExperiment(old_client()._experiment, is_active=False)
    dropped = Client.load_from_json_file(str(tmp_path / "client.json"))
    dropped._experiment.add_auxiliary_experiment(TRANSFERABLE, old)
    dropped.get_next_trials(max_trials=1)
    with pytest.raises(ValueError, match="must have sources, got none"):
        sources(dropped)


@pytest.mark.slow
def test_a_database_keeps_both(tmp_path):
    url = f"sqlite:///{tmp_path / 'ax.db'}"
    init_engine_and_session_factory(url=url, force_init=True)
    create_all_tables(get_engine())
    storage = StorageConfig(url=url)
    old, new = old_client(), told(client(name="new"), [0.1, 0.5, 0.9], objective)
    told(new, [0.2, 0.8], objective, source="simulator")
    Client(storage_config=storage).set_experiment(old._experiment)  # which saves it, all at once
    made = Client(storage_config=storage, random_seed=0)
    made.set_experiment(attach(new, old)._experiment)
    made.set_generation_strategy(generation_strategy(seed=0, sources=LAB, num_initial=2))
    ((index, _),) = made.get_next_trials(max_trials=1).items()
    made.complete_trial(attach_trial(made, {"x": 0.3}, "simulator"), {"f": 1.3})
    loaded = Client.load_from_database("new", storage_config=storage)
    assert source_of(loaded, index) == source_of(made, index)
    assert [source_of(loaded, i) for i in (2, 3, 6)] == ["lab", "simulator", "simulator"]
    assert loaded.get_next_trials(max_trials=1) == made.get_next_trials(max_trials=1)
    assert str(sources(loaded)) == str(sources(made))


CHOICES = [
    ChoiceParameterConfig(
        name="kind", parameter_type="str", values=["a", "b"], dependent_parameters={"a": ["x"], "b": ["n"]}
    ),
    *LINE,
    RangeParameterConfig(name="n", parameter_type="int", bounds=(1, 5)),
    ChoiceParameterConfig(name="site", parameter_type="str", values=["here"]),
]


def test_an_old_experiment_in_another_space():
    """Other names, a value of a choice that is gone, another site; a row that lacks a parameter is left out."""
    before = Client(random_seed=0)
    before.configure_experiment(
        [
            ChoiceParameterConfig(name="kind", parameter_type="str", values=["a", "c"]),
            RangeParameterConfig(name="was_x", parameter_type="float", bounds=(-1.0, 2.0)),
            ChoiceParameterConfig(name="site", parameter_type="str", values=["there"]),
        ],
        name="2025",
    )
    before.configure_optimization("-loss")
    for kind, x in (("a", 0.2), ("c", 0.5), ("a", 1.8)):
        number = before.attach_trial({"kind": kind, "was_x": x, "site": "there"})
        before.complete_trial(number, {"loss": objective(x)})
    renamed = AuxiliarySource(
        before._experiment,
        transfer_param_config={"x": "was_x"},
        transfer_metric_config={"f": {"loss"}},
        update_fixed_params=False,
    )
    old = OldExperiment(renamed, had={"kind": ["c"]}, was={"n": 2})
    made = client(CHOICES, sources={"2025": old}, num_initial=2)
    params = made.get_next_trials(max_trials=1)[0]
    assert {*params} == ({"kind", "site", "x"} if params["kind"] == "a" else {"kind", "site", "n"})
    made.complete_trial(0, {"f": 0.1})
    assert sources(made)["trials"].tolist() == [(0, 1, 2)]
    lacking = client(CHOICES[1:3], sources={"2025": OldExperiment(renamed)}, num_initial=2)
    with pytest.warns(rb.NumericsWarning, match=r"3 of 3 arms of '2025' have no place .*was=\{'n': \.\.\.\}"):
        lacking.get_next_trials(max_trials=1)


def test_what_sources_cannot_be_is_refused_at_once():
    for wrong in (3, "2025.csv", [1]):
        with pytest.raises(TypeError, match=r"sources must be robustbo.Source, or old experiments .* for '2025'"):
            generation_strategy(sources={"2025": wrong})
    with pytest.raises(ValueError, match="sources need the surrogate 'relevance-pursuit', got 'standard'"):
        generation_strategy("standard", sources=LAB)
    with pytest.raises(ValueError, match="one of the sources must be the target"):
        generation_strategy(sources={"a": rb.Source(target=True), "b": rb.Source(target=True)})
    made = told(client(sources=LAB), [0.1, 0.5], objective)
    with pytest.raises(ValueError, match="sources need the surrogate"):
        next_replicate(made, surrogate="standard")
    with pytest.raises(ValueError, match="was of source 'simulator' must be of parameters of the space"):
        client(sources={"simulator": rb.Source(was={"y": 1})}).get_next_trials(max_trials=1)
    nameless = attach(client(num_initial=2), old_client(name=None))
    with pytest.raises(ValueError, match=r"an auxiliary experiment must have a name, .*name='2025'"):
        nameless.get_next_trials(max_trials=1)
    twice = attach(client(sources={"2025": old_client()}), old_client())
    with pytest.raises(ValueError, match="'2025' is attached to the experiment and given to the strategy, too"):
        twice.get_next_trials(max_trials=1)
    several = AuxiliarySource(old_client()._experiment, transfer_metric_config={"f": {"f", "g"}})
    with pytest.raises(ValueError, match=r"one metric of an old experiment must stand for 'f', got \['f', 'g'\]"):
        generation_strategy(sources={"2025": several})


def at_levels(status):
    """A trial with values on its way, and what became of it."""
    levels = rb.fidelity_levels("epochs", [3, 9, 27])
    made = client(sources=levels, num_initial=2)
    index = made.attach_trial({"x": 0.3})
    for epochs in (1, 3, 27 if status == "at the end" else 9):
        made.attach_data(index, {"f": objective(0.3) + 1 / epochs}, progression=epochs)
    if status == "stopped":
        made.mark_trial_early_stopped(index)
    elif status == "failed":
        made.mark_trial_failed(index)
    elif status == "completed":
        made.complete_trial(index)
    return made


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("status", "at", "of_target"),
    [
        ("completed", {"epochs=3": (0,), "epochs=9": (0,)}, [0]),  # at 9: what it came to is the objective
        ("at the end", {"epochs=3": (0,), "epochs=9": ()}, [0]),
        ("running", {"epochs=3": (0,), "epochs=9": (0,)}, []),
        ("stopped", {"epochs=3": (0,), "epochs=9": (0,)}, []),
        ("failed", {"epochs=3": (), "epochs=9": ()}, []),
    ],
)
def test_values_on_the_way_are_those_of_levels(status, at, of_target):
    made = at_levels(status)
    told_to = attach_trial(made, {"x": 0.5}, "epochs=27")
    made.complete_trial(told_to, {"f": 0.2})
    frame = sources(made)
    assert dict(zip(frame["source"], frame["trials"], strict=True)) == at
    assert sorted(outliers(made)["trial_index"]) == [*of_target, told_to]
    assert failures(made)["trial_index"].tolist() == ([0] if status == "failed" else [])
    made.get_next_trials(max_trials=1)
    rows = made._generation_strategy.adapter.get_training_data().arm_data.index
    assert [trial for trial, _ in rows] == [*of_target, told_to]
