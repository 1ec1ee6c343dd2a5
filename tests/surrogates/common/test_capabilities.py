import pytest
import torch
from botorch.models import SingleTaskGP

from robustbo.surrogates.common.capabilities import Capabilities
from robustbo.surrogates.common.contract import capabilities, capabilities_for
from robustbo.surrogates.registry import SURROGATES, model_class

X = torch.linspace(0, 1, 6, dtype=torch.float64).unsqueeze(-1)
NOT_ROBUST = [
    ("committee", {"noise": "normal"}),
    ("conjugate", {"weights": "homoscedastic"}),
    ("computation-aware", {"robust": False}),
    ("relevance-pursuit", {"num_outliers": 0}),
    ("trimmed", {"fraction": 0}),
    ("filtered", {"detector": "relevance-pursuit", "detector_options": {"num_outliers": 0}}),
]


def test_those_that_the_loop_heeds_with_their_own_options():
    heeded = {name for name in SURROGATES if capabilities_for(model_class(name), {}).is_heeded}
    robust = {"committee", "computation-aware", "conjugate", "filtered", "relevance-pursuit", "student-t", "trimmed"}
    assert heeded == robust


@pytest.mark.parametrize(("name", "options"), NOT_ROBUST)
def test_an_option_may_take_the_robustness_away(name, options):
    assert capabilities_for(model_class(name), {}).is_robust
    found = capabilities_for(model_class(name), options)
    assert not any((found.is_robust, found.is_heeded))


@pytest.mark.parametrize(("name", "options"), [*NOT_ROBUST, *((name, {}) for name in SURROGATES)])
def test_those_of_an_instance_are_those_of_its_class_and_options(name, options):
    cls = model_class(name)
    assert capabilities(cls(X, X.sin(), **options)) == capabilities_for(cls, options)


def test_a_class_that_is_not_ours_has_the_default_ones():
    assert capabilities_for(SingleTaskGP, {}) == capabilities(SingleTaskGP(X, X.sin())) == Capabilities()
