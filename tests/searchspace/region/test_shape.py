"""A region as arrays: what follows, what is kept, and slopes, beside what each point says by itself."""

import random

import numpy as np
import pytest
import torch

import robustbo as rb
from robustbo.searchspace.region.dependent import complete
from robustbo.searchspace.region.factory import region_of
from robustbo.searchspace.region.shape import ParameterColumns
from tests.searchspace.made import KINDS, made

SPACES = [(kind, seed) for kind in KINDS if kind != "pool" for seed in range(4)]
SMOOTH = [(kind, seed) for kind in ("linear", "nonlinear", "mixture", "equation", "all at once") for seed in range(4)]


def region_and_rows(kind, seed, count=96):
    given = made(random.Random(f"{kind} {seed}"), kind)
    region = region_of(given.space, given.space.partial(given.fixed))
    return region, region.shape.complete(region.space.sobol_rows(0, 0, count))


@pytest.mark.parametrize(("kind", "seed"), SPACES)
def test_slack_is_not_below_zero_exactly_where_it_holds(kind, seed):
    region, rows = region_and_rows(kind, seed)
    slack = region.shape.slack(rows)
    assert slack.shape == (len(rows), region.shape.num_slacks)
    near = (np.abs(slack) < 1e-6).any(-1)  # where rounding decides
    assert np.array_equal((slack >= -1e-8).all(-1) | near, region.shape.holds(rows) | near)


@pytest.mark.parametrize(("kind", "seed"), SMOOTH)
def test_slopes_are_those_of_finite_differences(kind, seed):
    """Of slacks, and of completed rows, along what has no steps."""
    region, rows = region_and_rows(kind, seed, 64)
    shape, searched = region.shape, region.continuous
    rows = rows[np.isfinite(rows).all(-1) & shape.holds(rows)][:4]
    for row in rows:
        x = row[searched]
        for k, i in enumerate(searched):
            if region.space.parameters[i][1].count is None:
                step = 1e-6 * (np.arange(len(x)) == k)
                ahead, behind = (shape.place(row, x + sign * step) for sign in (1, -1))
                np.testing.assert_allclose(shape.tangents(row)[:, k], (ahead - behind) / 2e-6, rtol=1e-4, atol=1e-4)
                change = shape.slack(ahead[None])[0] - shape.slack(behind[None])[0]
                np.testing.assert_allclose(shape.slopes(row)[:, k], change / 2e-6, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(("kind", "seed"), SPACES)
def test_many_rows_are_completed_as_one_by_one(kind, seed):
    region, rows = region_and_rows(kind, seed, 24)
    alone = np.concatenate([region.shape.complete(row[None]) for row in region.space.sobol_rows(0, 0, 24)])
    np.testing.assert_allclose(rows, alone, rtol=0, atol=1e-12)


def test_what_does_not_exist_keeps_a_constraint_and_has_no_slope():
    space = rb.Space(k=rb.Choice("t", "d"), x=rb.Float(0, 1, when={"k": "d"}), y=rb.Float(0, 1), constraints=["x <= y"])
    shape = region_of(space).shape
    rows = np.array([[0.25, 0.9, 0.1], [0.75, 0.9, 0.1]])
    assert shape.slack(rows)[0] == 1.0
    assert shape.slack(rows)[1] < 0
    assert shape.holds(rows).tolist() == [True, False]
    assert not shape.slopes(rows[0]).any()
    assert shape.slopes(rows[1]).any()


def test_values_and_slopes_of_columns():
    space = rb.Space(a=rb.Float(-1, 3), b=rb.Float(1, 100, log=True), n=rb.Int(0, 4), c=rb.Choice("p", "q"))
    columns, rows = ParameterColumns(space, ["n", "b", "a"]), space.sobol_rows(0, 0, 16)
    values = [[point[name] for point in map(space.from_unit, rows)] for name in ("n", "b", "a")]
    np.testing.assert_allclose(columns.values(rows), values, rtol=1e-9)
    assert columns.slopes(np.full(4, 0.5)).tolist() == pytest.approx([0.0, 10 * np.log(100), 4.0])


def test_a_region_of_tensors_says_the_same():
    region, rows = region_and_rows("mixture", 0)
    U = torch.from_numpy(region.space.sobol_rows(0, 0, len(rows)))
    assert np.array_equal(region.complete(U).numpy(), rows, equal_nan=True)
    assert np.array_equal(region.holds(torch.from_numpy(rows)).numpy(), region.shape.holds(rows))


FOLLOWING = [(kind, seed) for kind, seed in SPACES if kind in ("mixture", "equation", "all at once")]


@pytest.mark.parametrize(("kind", "seed"), FOLLOWING)
def test_rows_are_completed_as_the_values_of_a_point_are(kind, seed):
    region, rows = region_and_rows(kind, seed)
    space, parameters = region.space, dict(region.space.parameters)
    columns = {dependent.name: space.names.index(dependent.name) for dependent in region.dependents}
    assert columns
    for row, start in zip(rows, space.sobol_rows(0, 0, len(rows)), strict=True):
        values = {name: p.from_unit(float(u)) for (name, p), u in zip(space.parameters, start, strict=True)}
        completion = complete(values | dict(region.fixed), region.dependents, parameters)
        for i, (name, column) in enumerate(columns.items()):
            low, high = parameters[name].interval
            if max(completion.excess[2 * i : 2 * i + 2]) > 1e-6 * (high - low):
                assert not completion.is_whole
                assert not 0 <= row[column] <= 1
            elif completion.is_whole:
                assert row[column] == pytest.approx(parameters[name].to_unit(completion.values[name]), abs=1e-7)
