import math

import numpy as np
import pytest

from robustbo.censored import value_at_limit
from robustbo.loop.observations.table import Observations
from robustbo.loop.observations.units import Units
from robustbo.loop.surrogate.bounds import bound_rows


@pytest.mark.parametrize("far", [0.0, 10.0, 1e6, 1e17, 1e100])
def test_a_bound_however_far_may_be_wrong(far):
    values = (-1.0, 0.0, 1.0)
    told = Observations((0, 1), ((0.1,), (0.2,)), (value_at_limit(">", far), value_at_limit("<", far)), None)
    rows = bound_rows(told, Units(0.0, 1.0), values, 0.1)
    spread = 1.4826
    beyond = math.atan2(spread, far) / math.pi  # of a Cauchy distribution, exact far out
    np.testing.assert_allclose(np.exp(rows.log_b) / 0.1, [beyond, 1 - beyond], rtol=1e-6)
