"""Which parameter each kind of variable is, and what is refused."""

import numpy as np
import pytest
from gest_api.vocs import ContextualVariable, ContinuousVariable, DiscreteVariable

from robustbo.gest.variables import parameter_of
from robustbo.searchspace.parameters import Choice, Float, Int, Ordinal
from robustbo.searchspace.space import Space

CASES = [
    (ContinuousVariable(domain=[-1, 2]), False, Float(-1.0, 2.0)),
    (ContinuousVariable(domain=[0.1, 10], dtype=float), True, Float(0.1, 10.0, log=True)),
    (ContinuousVariable(domain=[0.5, 4.2], dtype=int), False, Int(1, 4)),
    (ContinuousVariable(domain=[1, 100], dtype="int64"), True, Int(1, 100, log=True)),
    (DiscreteVariable(values={3, 1, 2}), False, Int(1, 3)),
    (DiscreteVariable(values={np.int64(3), np.int64(2)}), False, Int(2, 3)),
    (DiscreteVariable(values={10, 1, 2}), True, Ordinal(1, 2, 10, log=True)),
    (DiscreteVariable(values={2.5, 0.5}), False, Ordinal(0.5, 2.5)),
    (DiscreteVariable(values={7}), False, Ordinal(7)),
    (DiscreteVariable(values={"steel", "brass", "copper"}), False, Choice("brass", "copper", "steel")),
    (DiscreteVariable(values={True, False}), False, Choice(False, True)),
    (DiscreteVariable(values={"off", 2, None}), False, Choice(None, 2, "off")),
]


@pytest.mark.parametrize(("variable", "is_log", "parameter"), CASES)
def test_each_variable_is_a_parameter(variable, is_log, parameter):
    space = Space.from_dict({"x": parameter_of("x", variable, is_log=is_log), "other": Float(0, 1)})
    assert space.parameters[0] == ("x", parameter)


@pytest.mark.parametrize(
    ("variable", "is_log", "why"),
    [
        (ContextualVariable(), False, "x: must be a variable that can be chosen, got a contextual one"),
        (ContinuousVariable(domain=[0, 1], dtype=(float, (3,))), False, "x: must be a scalar, got an array"),
        (ContinuousVariable(domain=[0, 1], dtype="integer"), False, "x: dtype must be one of NumPy's, got 'integer'"),
        (ContinuousVariable(domain=[0, 1], dtype=complex), False, "x: dtype must be that of real or whole numbers"),
        (ContinuousVariable(domain=[0, float("inf")], dtype=int), False, "x: bounds must be finite"),
        (DiscreteVariable(values={"a", "b"}), True, "x: a log scale needs numbers"),
        ({"domain": [0, 1]}, False, "x: must be a continuous or discrete variable"),
    ],
)
def test_what_cannot_be_chosen_is_refused(variable, is_log, why):
    with pytest.raises(ValueError, match=why):
        parameter_of("x", variable, is_log=is_log)


@pytest.mark.parametrize("variable", [ContinuousVariable(domain=[0, float("inf")]), DiscreteVariable(values={(1, 2)})])
def test_what_no_space_has_is_refused_by_name(variable):
    with pytest.raises(ValueError, match=r"^x"):
        Space.from_dict({"x": parameter_of("x", variable, is_log=False), "other": Float(0, 1)})
