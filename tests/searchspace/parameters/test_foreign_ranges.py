"""Ranges as other libraries write them are answered by ours, in Python and in files."""

from types import SimpleNamespace

import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from scipy import stats

import robustbo as rb
from robustbo.errors import SpaceError
from robustbo.searchspace.parameters.reading import read_parameter


def named(name, **attributes):
    """An object of a class of that name, as other libraries have it."""
    return type(name, (SimpleNamespace,), {})(**attributes)


LOG = "rb.Float(1.0, 100.0, log=True)?"
MEANT = [
    ((1.0, 100.0, "log-uniform"), LOG),
    ([1.0, 100.0, "loguniform"], LOG),
    ((1.0, 100.0, "uniform"), "rb.Float(1.0, 100.0)?"),
    ("log-uniform(1, 100)", LOG),
    ("uniform(1, 100)", "rb.Float(1.0, 100.0)?"),
    ({"low": 1.0, "high": 100.0, "log": True}, LOG),
    ({"type": "range", "bounds": [1.0, 100.0], "log_scale": True}, LOG),
    ({"type": "choice", "values": ["a", "b"]}, "rb.Choice('a', 'b')?"),
    ({"_type": "loguniform", "_value": [1.0, 100.0]}, LOG),
    ({"_type": "choice", "_value": [1, 5]}, "rb.Choice(1, 5)?"),
    ({"distribution": "log_uniform_values", "min": 1.0, "max": 100.0}, LOG),
    ({"distribution": "int_uniform", "min": 1, "max": 8}, "rb.Int(1, 8)?"),
    ({"values": [1, 2, 4]}, "rb.Ordinal(1, 2, 4)?"),
    ({"min_value": 1.0, "max_value": 100.0, "sampling": "log"}, LOG),
    (stats.loguniform(1, 100), "rb.Float(1, 100, log=True), or rb.Int"),
    (stats.uniform(0.5, 2.0), "rb.Float(0.5, 2.5)?"),
    (stats.randint(1, 9), "rb.Int(1, 8)?"),
    (FloatDistribution(1, 100, log=True), LOG),
    (IntDistribution(1, 8), "rb.Int(1, 8)?"),
    (CategoricalDistribution(["a", None]), "rb.Choice('a', None)?"),
    (named("Real", low=1.0, high=100.0, prior="log-uniform"), LOG),
    (named("UniformIntegerHyperparameter", lower=1, upper=8, log=False), "rb.Int(1, 8)?"),
    (named("NumericalContinuousParameter", bounds=named("Interval", lower=1.0, upper=2.0)), "rb.Float(1.0, 2.0)?"),
    (named("CategoricalInput", categories=["a", "b"]), "rb.Choice('a', 'b')?"),
    (named("RangeParameterConfig", bounds=(1, 8), parameter_type="int"), "rb.Int(1, 8)?"),
    (range(1, 9), "rb.Int(1, 8)?"),
]


@pytest.mark.parametrize(("value", "meant"), MEANT, ids=map(str, range(len(MEANT))))
def test_what_is_meant_is_named(value, meant):
    with pytest.raises(SpaceError, match=r"^x: must be a Float") as caught:
        rb.Space({"x": value})
    assert f"did you mean {meant}" in str(caught.value)


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ([1, 100, "log-uniform"], {"kind": "float", "low": 1, "high": 100, "log": True}),
        ({"min": 0.0, "max": 1.0}, {"kind": "float", "low": 0.0, "high": 1.0}),
        ({"type": "choice", "values": ["a", "b"]}, {"kind": "choice", "values": ["a", "b"]}),
        ([0.0, 1.0], {"kind": "float", "low": 0.0, "high": 1.0}),
    ],
)
def test_in_a_file_it_is_a_form_that_can_be_read(value, meant):
    with pytest.raises(SpaceError, match=r"^x: must") as caught:
        read_parameter("x", value)
    assert repr(meant) in str(caught.value)
    read_parameter("x", meant)


@pytest.mark.parametrize(
    "value", [(100, 1, "log"), (1, 2, "relu"), slice(1, 2), {"a": 1}, object(), "uniform", (1, 2, 3)]
)
def test_nothing_is_guessed_where_nothing_can_be_told(value):
    with pytest.raises(SpaceError) as caught:
        rb.Space(x=value)
    assert "did you mean" not in str(caught.value)


def test_choices_may_be_called_like_scales():
    assert rb.Choice("linear", "log").values == ("linear", "log")
    assert rb.Choice("uniform", "log", "log-uniform").count == 3
