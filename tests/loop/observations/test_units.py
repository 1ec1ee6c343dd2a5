import math

import numpy as np
import pytest
import torch

from robustbo.loop.observations.units import Units


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("values", [(1.0, 2.0, 3.5), (1e300, -1e300, 3e299), (1e12, 1e12 + 1, 1e12 + 5), (7.0, 7.0)])
def test_a_model_sees_the_best_value_as_the_largest_and_gives_it_back(values, sign):
    units = Units.of(values, sign)
    inside = [units.to_model(value) for value in values]
    assert max(map(abs, inside)) < 2**11
    assert math.frexp(units.scale)[0] == 0.5
    assert values[inside.index(max(inside))] == (max if sign > 0 else min)(values)
    assert [units.to_user(number) for number in inside] == pytest.approx(values, rel=1e-15)


def test_arrays_and_tensors_are_mapped_as_numbers_are():
    units, values = Units(0.3, 0.25, -1.0), [0.1, 0.7, -3.3]
    for inside in (units.to_model(np.array(values)), units.to_model(torch.tensor(values, dtype=torch.float64))):
        assert inside.tolist() == [units.to_model(value) for value in values]
        assert units.to_user(inside).tolist() == [units.to_user(units.to_model(value)) for value in values]


def test_distances_have_no_sign_and_no_center():
    units = Units(5.0, 4.0, -1.0)
    assert (units.sd_to_model(8.0), units.sd_to_user(2.0), units.slope) == (2.0, 8.0, -4.0)
