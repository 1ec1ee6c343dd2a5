"""What holds in every space, whatever it is made of."""

import json
import random

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import robustbo as rb
from robustbo.searchspace.encoding import decode, encode, input_columns
from robustbo.searchspace.region.factory import region_of
from robustbo.searchspace.region.sampling import sobol_points, spread_over
from robustbo.surrogates.transforms.input_encoding import one_hot_inputs
from robustbo.trials.settings import Settings
from tests.searchspace.driven import driven
from tests.searchspace.made import KINDS, made
from tests.searchspace.strategies import spaces

FAST = settings(
    deadline=None, derandomize=True, max_examples=40, database=None, suppress_health_check=[HealthCheck.too_slow]
)
SLOW = settings(FAST, max_examples=15)


@FAST
@given(spaces())
def test_a_space_returns_from_its_dict_and_from_json(given):
    back = Settings.from_dict(json.loads(json.dumps(Settings(given.space).to_dict()))).space
    assert back == given.space
    assert hash(back) == hash(given.space)
    assert back.to_dict() == given.space.to_dict()
    assert back.texts == given.space.texts
    assert repr(back) == repr(given.space)


@FAST
@given(spaces("plain", "conditional", "linear", "nonlinear", "mixture", "equation", "integers"))
def test_a_space_returns_from_what_it_shows_itself_as(given):
    names = {"Space": rb.Space, "Float": rb.Float, "Int": rb.Int, "Choice": rb.Choice, "Ordinal": rb.Ordinal}
    for name, parameter in given.space.parameters:
        assert eval(repr(parameter), names) == parameter, name


@FAST
@given(spaces())
def test_the_witness_is_in_its_region(given):
    region = region_of(given.space, given.space.partial(given.fixed))
    assert given.space.validate(given.witness) == given.witness
    assert region.contains(given.witness)


@SLOW
@given(spaces(), st.integers(0, 2**40), st.integers(0, 40))
def test_sobol_points_are_of_the_region_and_depend_on_seed_and_index_alone(given, seed, index):
    region = region_of(given.space, given.space.partial(given.fixed))
    points = sobol_points(region, seed, index, 6)
    for point in points:
        assert repr(given.space.validate(point)) == repr(point)
        assert given.space.broken(point) == []
        assert given.fixed.items() <= point.items()
    assert sobol_points(region, seed, index + 5, 1) == points[5:]


@SLOW
@given(spaces("conditional", "linear", "nonlinear", "mixture", "equation", "integers"))
def test_points_spread_over_a_region_are_of_it(given):
    region = region_of(given.space, given.space.partial(given.fixed))
    rows = spread_over(region, 64)
    assert len(rows) == 64
    assert region.holds(rows).all()
    points = [region.point(row) for row in rows.tolist()]
    assert sum(point is None for point in points) <= 3  # at the very edge
    assert all(region.contains(point) for point in points if point is not None)


def rows_of(space, count=32):
    if space.is_pool:
        return torch.as_tensor(space.unit)
    return torch.tensor([space.to_unit(space.from_unit(row)) for row in space.sobol_rows(0, 0, count).tolist()])


@FAST
@given(spaces())
def test_a_point_returns_from_the_models_inputs(given):
    rows = rows_of(given.space).double()
    X = encode(given.space, rows)
    assert X.shape == (len(rows), len(input_columns(given.space)))
    for row, back in zip(rows.tolist(), decode(given.space, X), strict=True):
        assert given.space.from_unit(back) == given.space.from_unit(row)


@pytest.mark.slow
@FAST
@given(spaces("conditional"), st.integers(0, 1000))
def test_what_does_not_exist_is_absent_and_the_model_does_not_see_it(given, seed):
    space, transform = given.space, one_hot_inputs(given.space)
    rows = space.sobol_rows(0, 0, 32)
    for row in rows.tolist():
        point, other = space.from_unit(row), list(row)
        there = space.existing(dict(zip(space.names, map(space_value, space.parameters, row), strict=True)))
        assert point.keys() == there
        for i, (name, parameter) in enumerate(space.parameters):
            if name not in point:
                other[i] = random.Random(seed + i).random()
                with pytest.raises(rb.SpaceError, match="exists only where"):
                    space.validate(point | {name: parameter.from_unit(other[i])})
        assert space.from_unit(other) == point
        seen, seen_too = (transform(encode(space, [each])) for each in (row, other))
        assert torch.equal(seen, seen_too)


def space_value(named, u):
    return named[1].from_unit(u)


@FAST
@given(spaces("conditional"))
def test_points_that_differ_in_what_exists_differ_to_the_model(given):
    space, transform = given.space, one_hot_inputs(given.space)
    points = {repr(space.from_unit(row)): row for row in space.sobol_rows(1, 0, 64).tolist()}
    rows = torch.tensor([space.to_unit(space.from_unit(row)) for row in points.values()], dtype=torch.float64)
    assert len(transform(encode(space, rows)).unique(dim=0)) == len(points)


@FAST
@given(spaces())
def test_a_point_that_is_fixed_as_a_whole_is_the_only_one(given):
    if given.space.is_pool or given.space.size is not None:
        region = region_of(given.space, given.space.partial(given.witness))
        assert region.all_points is None or region.all_points == [given.witness]


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", KINDS)
def test_every_ask_is_feasible_and_the_same_when_resumed_and_computed_again(kind, tmp_path):
    given = made(random.Random(f"asks in a space that is {kind}"), kind)
    found = driven(given, tmp_path / "run.jsonl", 8, seed=1, surrogate="standard", num_initial=3)
    assert found.faults == []
    assert found.asks >= 8
    assert found.by_model > 0


@pytest.mark.slow
def test_the_default_surrogate_too(tmp_path):
    given = made(random.Random("default"), "conditional")
    found = driven(given, tmp_path / "run.jsonl", 7, num_initial=4)
    assert found.faults == []
    assert found.by_model > 0
