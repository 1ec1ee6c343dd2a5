"""Where Ax's trials fail, through a real client; needs ax-platform."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, RangeParameterConfig
from ax.core.trial_status import TrialStatus
from botorch.acquisition import AcquisitionFunction

from robustbo.ax import best, complete, failures, generation_strategy
from robustbo.ax.experiment import iterate_ended_arms
from robustbo.ax.viability import OPTION, Ended, HandOverFailures, Viable
from robustbo.loop.acquisition.log_nehvi import LogNEHVI

pytestmark = pytest.mark.filterwarnings("ignore")  # what Ax and its libraries say to their own developers
SQUARE = [RangeParameterConfig(name=name, parameter_type="float", bounds=(0.0, 1.0)) for name in "xy"]


def client(failures="learn", seed=0, parameters=SQUARE, objective="-f", **options):
    made = Client(random_seed=seed)
    made.configure_experiment(parameters)
    made.configure_optimization(objective=objective)
    made.set_generation_strategy(generation_strategy("standard", seed=seed, failures=failures, **options))
    return made


def slope(p):
    return (p["x"] - 0.3) ** 2 - p["y"]


def go_on(made, trials, does_fail=lambda p: p["x"] > 0.5, end=Client.mark_trial_failed, value=slope):
    """Go on; returns the points."""
    points = []
    for _ in range(trials):
        ((index, params),) = made.get_next_trials(max_trials=1).items()
        points.append(params)
        if does_fail(params):
            end(made, index)
        else:
            made.complete_trial(index, {"f": value(params)})
    return points


def acquisition(made):
    """Where it generated from: adapter and acquisition."""
    adapter = made._generation_strategy.adapter
    return adapter, adapter.generator._acquisition


@pytest.mark.slow
def test_it_keeps_away_from_a_half_of_the_square_that_fails():
    failed = {"learn": 0, "ignore": 0}
    for how in failed:
        for seed in range(3):
            made = client(how, seed)
            go_on(made, 14)
            failed[how] += sum(
                trial.status.is_failed and trial.generator_runs[0]._generation_node_name == "robustbo"
                for trial in made._experiment.trials.values()
            )
    assert failed["ignore"] >= 10  # of 14
    assert failed["learn"] <= 0.7 * failed["ignore"]


def test_where_none_has_failed_nothing_changes():
    points = [go_on(client(how), 8, does_fail=lambda p: False) for how in ("learn", "ignore")]
    assert points[0] == points[1]


@pytest.mark.slow
@pytest.mark.parametrize("surrogate", ["standard", "relevance-pursuit", "student-t"])
def test_a_client_that_was_loaded_goes_on_alike(tmp_path, surrogate):
    made = client()
    made.set_generation_strategy(generation_strategy(surrogate, seed=0))
    go_on(made, 11)
    made.save_to_json_file(str(tmp_path / "client.json"))
    loaded = Client.load_from_json_file(str(tmp_path / "client.json"))
    assert go_on(made, 3) == go_on(loaded, 3)
    assert isinstance(acquisition(loaded)[1].acqf, Viable)
    assert HandOverFailures in loaded._generation_strategy._nodes[1].generator_specs[0].generator_kwargs["transforms"]
    made.save_to_json_file(str(tmp_path / "client.json"))  # what was handed over is kept nowhere
    assert OPTION not in (tmp_path / "client.json").read_text()


def nan(made, index):
    assert not complete(made, index, {"f": math.nan})


def test_failed_abandoned_and_not_finite_are_alike():
    tables = []
    for end in (Client.mark_trial_failed, Client.mark_trial_abandoned, nan):
        made = client()
        go_on(made, 10, end=end)
        handed = acquisition(made)[1].options[OPTION]
        tables.append(failures(made))
        assert len(handed.X) == len(handed.is_ok) == 9
        assert handed.is_ok[:4] == tuple(p["x"] <= 0.5 for p in (t.arm.parameters for t in list_of(made)[:4]))
    assert len(tables[0]) > 2
    first = len(tables[0]["trial_index"][tables[0]["trial_index"] < 7])
    for other in tables[1:]:
        assert other["trial_index"][:first].tolist() == tables[0]["trial_index"][:first].tolist()


def list_of(made):
    return [*made._experiment.trials.values()]


def test_the_points_are_where_the_acquisition_looks():
    parameters = [
        RangeParameterConfig(name="lr", parameter_type="float", bounds=(1e-4, 1e-1), scaling="log"),
        RangeParameterConfig(name="n", parameter_type="int", bounds=(1, 8)),
        ChoiceParameterConfig(name="c", parameter_type="str", values=["a", "b", "z"]),
        ChoiceParameterConfig(name="d", parameter_type="int", values=[1, 2, 4, 8], is_ordered=True),
    ]
    made = client(parameters=parameters)
    go_on(made, 9, lambda p: p["c"] == "a", value=lambda p: math.log10(p["lr"]) + p["n"])
    made.get_next_trials(max_trials=1)
    adapter, found = acquisition(made)
    handed, bounds = found.options[OPTION], torch.tensor(found.search_space_digest.bounds)
    assert 0 < sum(handed.is_ok) < 9
    assert torch.equal(handed.X[torch.tensor(handed.is_ok)], adapter.generator.surrogate.Xs[0])
    assert bool(((bounds[:, 0] <= handed.X) & (bounds[:, 1] >= handed.X)).all())
    p, is_ok = found.acqf._predictor.log_viable(found.acqf._to_unit(handed.X))[0].exp(), torch.tensor(handed.is_ok)
    assert p[is_ok].min() > 0.8  # where "c" is not "a"
    assert p[~is_ok].max() < 0.2


def test_who_counts_and_who_does_not():
    made = client()
    attached = [made.attach_trial({"x": x, "y": 0.5}) for x in (0.1, 0.2, 0.2, 1.5, 0.4, 0.6, 0.7)]
    values = {attached[0]: {"f": 1.0}, attached[2]: {"f": 2.0}, attached[5]: {"f": math.nan}}
    made.mark_trial_failed(attached[1])  # the same arm gives a value in another trial
    made.mark_trial_failed(attached[3])  # outside
    made.mark_trial_abandoned(attached[6])
    for index, told in values.items():
        made.complete_trial(index, told)
    arms = [(arm.parameters["x"], ok) for arm, _, ok in iterate_ended_arms(made._experiment)]
    assert arms == [(0.1, True), (0.2, False), (0.2, True), (1.5, False), (0.6, False), (0.7, False)]
    table = failures(made)
    assert table["trial_index"].tolist() == [attached[1], attached[3], attached[5], attached[6]]
    assert table["again"].fillna("-").tolist() == ["told", "-", "-", "-"]
    assert best(made).parameters["x"] in (0.1, 0.2)
    go_on(made, 6, does_fail=lambda p: False)
    handed = acquisition(made)[1].options[OPTION]
    assert [row[0] for row in handed.X.tolist()][:5] == [0.1, 0.2, 0.2, 0.6, 0.7]


def test_a_stale_trial_has_never_run():
    made = client()
    index = made.attach_trial({"x": 0.1, "y": 0.5})
    made._experiment.trials[index].mark_as(TrialStatus.STALE, unsafe=True)
    assert len(failures(made)) == 0
    assert not [*iterate_ended_arms(made._experiment)]


def test_several_objectives():
    made = client(objective="-f, g")
    for _ in range(10):
        ((index, p),) = made.get_next_trials(max_trials=1).items()
        if p["x"] > 0.6:
            made.mark_trial_failed(index)
        else:
            made.complete_trial(index, {"f": slope(p), "g": p["x"]})
    found = acquisition(made)[1].acqf
    assert isinstance(found, Viable)
    assert isinstance(found._function, LogNEHVI)  # the next candidate is a single one
    assert found._log
    assert set(failures(made)["looks_like"]) <= {"region", "flake"}
    assert len(failures(made)) >= 2


def test_batches_know_their_pending_points():
    made = client()
    go_on(made, 9)
    batch = made.get_next_trials(max_trials=3)
    assert len({tuple(p.values()) for p in batch.values()}) == 3


class Bowl(AcquisitionFunction):
    def __init__(self, is_log):
        super().__init__(torch.nn.Identity())
        self.X_pending, self._log = None, is_log

    def forward(self, X):
        return 1.0 + X.square().sum((-2, -1))


@pytest.mark.parametrize("is_log", [True, False])
def test_logarithms_get_a_summand_and_others_a_factor(is_log):
    X = torch.tensor(np.random.default_rng(0).uniform(size=(20, 2)) * 4 - 1)
    ended = Ended(X, tuple((X[:, 0] < 1).tolist()))
    found = Viable(Bowl(is_log), ended, torch.tensor([[-1.0, 3.0], [-1.0, 3.0]], dtype=torch.float64), seed=1)
    there, not_there = torch.tensor([[[-0.5, 1.0]], [[2.9, 1.0]]], dtype=torch.float64)
    alone = Bowl(is_log)(torch.stack([there, not_there]))
    p = (
        found(torch.stack([there, not_there])) - alone
        if is_log
        else (found(torch.stack([there, not_there])) / alone).log()
    )
    assert p[0] > math.log(0.7)
    assert p[1] < math.log(0.3)
    both = found(torch.cat([there, not_there]))
    alone = Bowl(is_log)(torch.cat([there, not_there]))
    assert (both - alone if is_log else (both / alone).log()).item() == pytest.approx(p.sum().item())
    Z = torch.tensor([[[0.9, 0.3]]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(found, (Z,))
    found.set_X_pending(there)
    assert torch.equal(found._function.X_pending, there)
    assert found.X_pending is found._function.X_pending


def test_a_bad_choice_is_refused():
    with pytest.raises(ValueError, match="failures must be"):
        generation_strategy(failures="avoid")
    made = Client()
    made.configure_experiment(SQUARE)
    with pytest.raises(ValueError, match="must have an objective"):
        failures(made)


@pytest.mark.slow
def test_the_page_on_failures_runs():
    page = (Path(__file__).parents[2] / "docs" / "howto" / "failures.md").read_text(encoding="utf-8")
    (block,) = [block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "robustbo.ax" in block]
    names = {}
    exec(block, names)
    assert set(names["failures"](names["client"])["looks_like"]) == {"region"}
