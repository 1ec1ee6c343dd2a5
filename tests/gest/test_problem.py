"""What a VOCS may ask for."""

import pytest
from gest_api.vocs import VOCS, BaseConstraint, BoundsConstraint, GreaterThanConstraint

from robustbo.gest import RobustGenerator
from robustbo.gest.problem import in_words, problem_of
from robustbo.searchspace.parameters import Float, Int
from robustbo.searchspace.space import Space


def test_a_vocs_is_read_whole():
    vocs = VOCS(
        variables={"x": [0.1, 1], "n": {1, 2, 3}},
        objectives={"f": "MAXIMIZE"},
        constants={"charge": 1.0},
        constraints={"c": ["LESS_THAN", 0.5]},
        observables=["temperature"],
    )
    problem = problem_of(vocs, log=["x"])
    assert problem.space == Space(x=Float(0.1, 1.0, log=True), n=Int(1, 3))
    assert (problem.direction, problem.objective, problem.constants) == ("maximize", "f", {"charge": 1.0})
    assert [*problem.constraints] == ["c"]


BAD = [
    ({"variables": {}}, "at least one variable, got none"),
    ({"objectives": {}}, "one objective, got none"),
    ({"objectives": {"f": "MINIMIZE", "g": "MINIMIZE"}}, r"one objective, got \['f', 'g'\]"),
    ({"objectives": {"f": "EXPLORE"}}, "f: must be MINIMIZE or MAXIMIZE, got ExploreObjective"),
    ({"variables": {"x": "CONTEXTUAL"}}, "x: must be a variable that can be chosen"),
    ({"variables": {"_id": [0, 1]}}, "_id is the key"),
    ({"observables": ["_id"]}, "_id is the key"),
    ({"constants": {"x": 1.0}}, "x: a name must be that of"),
    ({"observables": ["x"]}, "x: a name must be that of"),
    ({"variables": {"x": {1}}}, "more than one value"),
]


@pytest.mark.parametrize(("given", "why"), BAD)
def test_what_this_generator_does_not_have_is_refused(given, why):
    vocs = VOCS(**{"variables": {"x": [0, 1]}, "objectives": {"f": "MINIMIZE"}} | given)
    with pytest.raises(ValueError, match=why):
        RobustGenerator(vocs)


@pytest.mark.parametrize(("log", "why"), [(["X"], "did you mean 'x'"), ("x", "a list of names")])
def test_a_scale_is_that_of_a_variable(log, why):
    with pytest.raises(ValueError, match=why):
        problem_of(VOCS(variables={"x": [0.1, 1]}, objectives={"f": "MINIMIZE"}), log)


def test_constraints_in_words():
    assert in_words("c", GreaterThanConstraint(value=2)) == "c > 2.0"
    assert in_words("c", BoundsConstraint(range=[0, 1])) == "0.0 <= c <= 1.0"
    assert in_words("c", BaseConstraint()).startswith("c: BaseConstraint")
