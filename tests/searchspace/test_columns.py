"""Values of many rows at once are those of each row."""

import random

import pytest
import torch

import robustbo as rb
from robustbo.searchspace.columns import cell_middles, cell_numbers, existence, is_continuous, value_slopes, values_at
from robustbo.searchspace.parameters import MAX_LEVELS

PARAMETERS = {
    "float": rb.Float(-3, 7),
    "log": rb.Float(1e-4, 10, log=True),
    "step": rb.Float(0, 1, step=0.1),
    "many steps": rb.Float(-1, 9, step=0.001),
    "one": rb.Float(2.5, 2.5),
    "int": rb.Int(-2, 9),
    "one int": rb.Int(4, 4),
    "even": rb.Int(1, 13, step=3),
    "log int": rb.Int(1, 300, log=True),
    "log even": rb.Int(2, 58, log=True, step=4),
    "huge": rb.Int(0, 10**6),
    "huge log": rb.Int(1, 10**6, log=True),
    "ordinal": rb.Ordinal(0.1, 0.2, 5),
    "log ordinal": rb.Ordinal(1, 10, 1000, log=True),
    "numbers": rb.Choice(3, 1, 2.5),
}
U = [0.0, 1e-12, 0.1, 0.25, 0.3333333, 0.5, 0.7, 0.75, 0.999, 1.0, *(random.Random(0).random() for _ in range(200))]


def rounding(parameter):
    low, high = parameter.interval
    return 1e-9 * max(abs(low), abs(high))


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_column_of_values_is_that_of_from_unit(name):
    parameter = PARAMETERS[name]
    found = values_at(parameter, torch.tensor(U, dtype=torch.float64)).tolist()
    assert found == pytest.approx([float(parameter.from_unit(u)) for u in U], abs=rounding(parameter), rel=1e-9)


@pytest.mark.parametrize("name", [name for name, p in PARAMETERS.items() if not is_continuous(p)])
def test_the_middle_of_a_cell_is_the_coordinate_of_its_value(name):
    parameter = PARAMETERS[name]
    u = torch.tensor(U, dtype=torch.float64)
    there = cell_middles(parameter, cell_numbers(parameter, u)).tolist()
    assert there == [parameter.to_unit(parameter.from_unit(each)) for each in U]
    assert (
        cell_numbers(parameter, torch.tensor(there, dtype=torch.float64)).tolist()
        == cell_numbers(parameter, u).tolist()
    )


@pytest.mark.parametrize("name", [name for name, p in PARAMETERS.items() if not is_continuous(p)])
def test_just_below_and_above_an_edge_are_the_two_cells(name):
    parameter = PARAMETERS[name]
    levels = torch.tensor(parameter.levels, dtype=torch.float64)
    assert cell_numbers(parameter, levels).tolist() == list(range(parameter.count))
    assert (levels.diff() > 0).all()


@pytest.mark.parametrize("name", PARAMETERS)
def test_what_has_no_coordinate_has_no_value(name):
    assert values_at(PARAMETERS[name], torch.tensor([torch.nan], dtype=torch.float64)).isnan().all()


@pytest.mark.parametrize("name", ["float", "log", "huge", "huge log", "many steps"])
def test_values_of_continuous_ones_have_slopes(name):
    parameter = PARAMETERS[name]
    h = 1e-2 if parameter.count else 1e-5  # steps are to be many
    exact = [(float(parameter.from_unit(a + h)) - float(parameter.from_unit(a - h))) / (2 * h) for a in (0.5, 0.8)]
    slopes = value_slopes(parameter, torch.tensor([0.5, 0.8], dtype=torch.float64)).tolist()
    assert slopes == pytest.approx(exact, rel=2e-2 if parameter.count else 1e-4)


@pytest.mark.parametrize("name", [name for name, p in PARAMETERS.items() if not is_continuous(p)])
def test_values_of_others_have_none(name):
    assert not value_slopes(PARAMETERS[name], torch.tensor([0.5, 0.8], dtype=torch.float64)).any()


def test_what_is_searched_as_if_continuous():
    assert MAX_LEVELS == 1000
    assert {name for name, p in PARAMETERS.items() if is_continuous(p)} == {
        "float", "log", "huge", "huge log", "many steps",
    }  # fmt: skip


SPACE = rb.Space(
    kind=rb.Choice("tree", "dart", True, 1),
    rate=rb.Float(0, 1, when={"kind": ["dart", True]}),
    mode=rb.Choice("p", "q", when={"kind": "dart"}),
    deep=rb.Int(1, 5, when={"mode": "q"}),
)


def test_presence_of_many_rows_is_that_of_each():
    rows = torch.as_tensor(SPACE.sobol_rows(0, 0, 128))
    there = existence(SPACE, rows)
    for i, row in enumerate(rows.tolist()):
        assert {"kind", *(name for name in there if there[name][i])} == SPACE.from_unit(row).keys()
