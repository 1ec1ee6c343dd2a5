"""Ax search spaces as ours; needs ax-platform."""

import pytest
from ax.api.client import Client
from ax.api.configs import ChoiceParameterConfig, DerivedParameterConfig, RangeParameterConfig
from ax.core.parameter_constraint import ParameterConstraint

from robustbo.ax.space import space_of
from robustbo.errors import SpaceError
from robustbo.searchspace.parameters import Choice, Float, Int, Ordinal
from robustbo.searchspace.space import Space

pytestmark = pytest.mark.filterwarnings("ignore")  # what Ax and its libraries say to their own developers


def ranges(*names):
    return [RangeParameterConfig(name=name, parameter_type="float", bounds=(0.0, 1.0)) for name in names]


def choice(name, kind, values, is_ordered=None, **options):
    return ChoiceParameterConfig(name=name, parameter_type=kind, values=values, is_ordered=is_ordered, **options)


def read(parameters, constraints=None, equality=None):
    made = Client()
    made.configure_experiment(parameters, parameter_constraints=constraints)
    if equality:
        made._experiment.search_space.add_parameter_constraints([ParameterConstraint(equality=equality)])
    return space_of(made._experiment)


def test_kinds_of_parameters():
    space = read(
        [
            *ranges("x"),
            RangeParameterConfig(name="lr", parameter_type="float", bounds=(1e-4, 1.0), scaling="log"),
            RangeParameterConfig(name="n", parameter_type="int", bounds=(1, 8)),
            RangeParameterConfig(name="s", parameter_type="float", bounds=(0.0, 1.0), step_size=0.25),
            RangeParameterConfig(name="i", parameter_type="int", bounds=(0, 10), step_size=5),
            choice("o", "float", [0.1, 0.2, 0.5], is_ordered=True),
            choice("p", "int", [1, 10, 100], is_ordered=True),
            choice("w", "str", ["low", "mid", "high"], is_ordered=True),
            choice("c", "str", ["a", "b", "z"], is_ordered=False),
            choice("two", "str", ["a", "b"]),
            choice("b", "bool", [True, False]),
            choice("one", "str", ["z"]),
        ]
    )
    assert dict(space.parameters) == {
        "x": Float(0.0, 1.0),
        "lr": Float(1e-4, 1.0, log=True),
        "n": Int(1, 8),
        "s": Ordinal(0.0, 0.25, 0.5, 0.75, 1.0),
        "i": Ordinal(0, 5, 10),
        "o": Ordinal(0.1, 0.2, 0.5),
        "p": Ordinal(1, 10, 100, log=True),  # as Ax guesses
        "w": Ordinal("low", "mid", "high"),
        "c": Choice("a", "b", "z"),
        "two": Choice("a", "b"),
        "b": Choice(False, True),
        "one": Choice("z"),
    }


def test_constraints():
    space = read(ranges("x", "y 1", "z"), ["x + 2*y 1 <= 1.5", "z >= x"], equality="x + y 1 + z == 1")
    assert space.broken({"x": 0.25, "y 1": 0.25, "z": 0.5}) == []
    assert len(space.broken({"x": 0.5, "y 1": 0.75, "z": 0.0})) == 3
    assert space.broken({"x": 0.25, "y 1": 0.25, "z": 0.75}) == ["1.0 * `x` + 1.0 * `y 1` + 1.0 * `z` == 1.0"]


def test_an_inequality_is_as_wide_as_ax_takes_it():
    space = read(ranges("x", "y"), ["x + y <= 1"])
    assert space.broken({"x": 0.5, "y": 0.5 + 9e-9}) == []
    assert space.broken({"x": 0.5, "y": 0.5 + 3e-8})


def test_an_empty_space_is_an_error():
    with pytest.raises(SpaceError, match="can never hold"):
        read(ranges("x", "y"), ["x + y <= -1"])


def test_what_depends_on_a_choice():
    space = read(
        [
            choice("kind", "str", ["tree", "dart", "line"], dependent_parameters={"dart": ["rate", "how"]}),
            choice("how", "int", [1, 2, 3], is_ordered=True, dependent_parameters={2: ["deep"]}),
            choice("always", "bool", [True], dependent_parameters={True: ["there"]}),
            *ranges("rate", "deep", "there"),
        ]
    )
    assert space.validate({"kind": "tree", "always": True, "there": 0.5})
    assert space.validate({"kind": "dart", "how": 1, "always": True, "rate": 0.5, "there": 0.5})
    assert space.existing({"kind": "dart", "how": 2, "always": True}) == {*space.names}


def test_a_derived_parameter_is_none():
    derived = DerivedParameterConfig(name="z", expression_str="1 - x - y", parameter_type="float")
    assert read([*ranges("x", "y"), derived]) == Space(x=Float(0.0, 1.0), y=Float(0.0, 1.0))
