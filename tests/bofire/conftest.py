"""Experiments in BoFire's form: Branin with three wrong values, and a mixed space with two."""

import numpy as np
import pandas as pd
import pytest
from bofire.data_models.domain.api import Domain
from bofire.data_models.features.api import (
    CategoricalDescriptorInput,
    CategoricalInput,
    ContinuousInput,
    ContinuousOutput,
    DiscreteInput,
)
from bofire.data_models.objectives.api import MaximizeObjective, MinimizeObjective

WRONG = {4: 1e5, 11: -1e3, 20: 300.0}  # what is added, by the index of the experiment


@pytest.fixture(scope="module")
def branin_of_all():
    """The domain, and 40 experiments of which `WRONG` are wrong; those of all tests of a file."""
    inputs = [ContinuousInput(key="a", bounds=(-5, 10)), ContinuousInput(key="b", bounds=(0, 15))]
    domain = Domain.from_lists(inputs, [ContinuousOutput(key="y", objective=MinimizeObjective())])
    experiments = domain.inputs.sample(40, seed=0)
    a, b = experiments["a"], experiments["b"]
    bowl = (b - 5.1 * a**2 / (4 * np.pi**2) + 5 * a / np.pi - 6) ** 2
    experiments["y"] = bowl + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10
    for index, error in WRONG.items():
        experiments.loc[index, "y"] += error
    return domain, experiments.assign(valid_y=1)


@pytest.fixture
def branin(branin_of_all):
    domain, experiments = branin_of_all
    return domain, experiments.copy()


@pytest.fixture
def mixed():
    """A domain with every kind of input and two outputs, and 30 experiments: y wrong at 3 and 9, z at 5."""
    inputs = [
        ContinuousInput(key="heat", bounds=(20, 80)),
        DiscreteInput(key="dose", values=[1, 2, 5, 10]),
        CategoricalInput(key="base", categories=["A", "B", "C"]),
        CategoricalDescriptorInput(
            key="solvent",
            categories=["water", "ethanol", "toluene"],
            descriptors=["polarity", "mass"],
            values=[[1.0, 18.0], [0.65, 46.0], [0.1, 92.0]],
        ),
    ]
    outputs = [
        ContinuousOutput(key="y", objective=MaximizeObjective()),
        ContinuousOutput(key="z", objective=MinimizeObjective()),
    ]
    domain = Domain.from_lists(inputs, outputs)
    e = domain.inputs.sample(30, seed=1)
    e["y"] = 1000 - 100 * ((e["heat"] - 50) / 20) ** 2 + 20 * e["dose"] + 100 * (e["base"] == "B")
    e["z"] = e["heat"] / 10 + (e["base"] == "C") + pd.Series(e["solvent"] == "water", dtype=float)
    e.loc[[3, 9], "y"] += [5000, -3000]
    e.loc[5, "z"] += 100
    return domain, e.assign(valid_y=1, valid_z=1)
