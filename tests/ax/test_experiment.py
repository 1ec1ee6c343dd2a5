"""An Ax experiment as a history: what measured a trial is in its metadata."""

import pytest

from robustbo.ax import client_for, complete
from robustbo.ax.experiment import history_of, point_in, runs_of
from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import Choice, Float
from robustbo.searchspace.space import Space

pytestmark = pytest.mark.filterwarnings("ignore")  # what Ax and its libraries say to their own developers
SPACE = Space(x=Float(0.0, 1.0))


@pytest.fixture
def experiment():
    client = client_for(SPACE, "minimize", "y", seed=0)
    for i in range(3):
        complete(client, client.attach_trial({"x": 0.25 * i}), {"y": 1.0 * i})
    return client._experiment


def test_what_measured_a_trial_is_in_its_metadata(experiment):
    experiment.trials[1].update_run_metadata({"source": {"reactor": "R3"}})
    experiment.trials[2].update_run_metadata({"source": "R4"})
    history = history_of(runs_of(experiment, SPACE, "y"))
    assert [trial.sources for trial in history] == [{}, {"reactor": "R3"}, {"source": "R4"}]


def test_an_arm_is_a_point_without_what_does_not_exist_there():
    space = Space(kind=Choice("tree", "line"), rate=Float(0, 1, when={"kind": "tree"}))
    assert point_in(space, {"kind": "line", "rate": 0.5, "other": 1}) == {"kind": "line"}
    assert point_in(space, {"kind": "tree", "rate": 1.2}) == {"kind": "tree", "rate": 1.2}
    with pytest.raises(SpaceError, match="rate"):
        point_in(space, {"kind": "tree"})
