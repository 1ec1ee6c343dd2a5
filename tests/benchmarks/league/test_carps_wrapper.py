from types import SimpleNamespace

import pytest

pytest.importorskip("carps", reason="no carps: pip install carps")


@pytest.fixture
def task():
    from carps.objective_functions.dummy_problem import DummyObjectiveFunction
    from ConfigSpace import CategoricalHyperparameter, ConfigurationSpace, Float, InCondition, Integer

    space = ConfigurationSpace()
    kernel, degree = CategoricalHyperparameter("kernel", ["rbf", "poly"]), Integer("degree", (2, 5))
    space.add(Float("C", (1e-3, 1e3), log=True), kernel, degree)
    space.add(InCondition(degree, kernel, ["poly"]))
    return SimpleNamespace(
        objective_function=DummyObjectiveFunction(return_value=1.0, configuration_space=space),
        optimization_resources=SimpleNamespace(n_trials=4, time_budget=None),
        input_space=SimpleNamespace(fidelity_space=SimpleNamespace(max_fidelity=None, is_multifidelity=False)),
        output_space=SimpleNamespace(n_objectives=1),
    )


def test_it_runs_in_carps(load, task):
    from carps.utils.trials import StatusType, TrialValue

    wrapper = load("league.carps_wrapper")
    optimizer = wrapper.RobustboOptimizer(task, seed=1, surrogate="standard")
    info, value = optimizer.run()
    assert value.cost == 1.0
    assert set(info.config) <= {"C", "kernel", "degree"}
    trial = optimizer.ask()
    optimizer.tell(trial, TrialValue(cost=0.0, status=StatusType.TIMEOUT))
    assert optimizer.solver.history[4].state == "failed"
