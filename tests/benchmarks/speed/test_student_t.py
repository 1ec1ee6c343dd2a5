import math

import pytest
import torch

from robustbo.numerics.student_t.map_fit import evaluate, search


@pytest.fixture(scope="module")
def benchmark_script(load):
    return load("speed.student_t")


def test_a_fit_is_timed(benchmark_script, monkeypatch):
    monkeypatch.setattr(benchmark_script, "GPy", None)  # a guest of the benchmark only
    row = benchmark_script.compare(12, 0, with_variational=False)
    assert set(row) == {"n", "seed", "fit_s"}
    assert row["fit_s"] > 0


def test_the_model_beside_gpys_has_no_priors_and_no_mean(benchmark_script):
    X, Y = benchmark_script.standardized_data(12, 0)
    model = benchmark_script.without_priors(X, Y)
    found = search(model)
    assert found.x[-1] == 0
    assert math.isclose(found.F, found.value.L.item())
    assert found.F > evaluate(model, torch.cat([model.starts[0][:-1], torch.zeros(1)])).F
