"""Optuna's own tests of samplers, on ours; by the cheapest surrogate, since they are about parameters and trials."""

import pytest
from optuna.testing.pytest_samplers import BasicSamplerTestCase, MultiObjectiveSamplerTestCase, RelativeSamplerTestCase

from robustbo.optuna import RobustSampler


@pytest.mark.few(2)
class TestRobustSampler(BasicSamplerTestCase, RelativeSamplerTestCase, MultiObjectiveSamplerTestCase):
    @pytest.fixture
    def sampler(self):
        return lambda: RobustSampler(num_initial=1, seed=0, surrogate="standard")
