"""A Choice of very many values is one all the same: no order, no number, and the first surrogate decides."""

import pickle

import pytest
import torch

import robustbo as rb
from robustbo.loop.optimize_acqf import discrete, maximizer
from robustbo.searchspace.columns import cell_middles, cell_numbers, is_continuous
from robustbo.searchspace.parameters import MAX_LEVELS
from robustbo.searchspace.region.region import Region
from robustbo.surrogates.transforms.input_encoding import BITS, ONE_HOT, as_category, width

MANY = MAX_LEVELS + 1


@pytest.mark.parametrize("count", [2, ONE_HOT, ONE_HOT + 1, MAX_LEVELS, MANY, 5000])
def test_no_two_values_look_the_same(count):
    seen = as_category(torch.arange(count), count)
    assert seen.shape == (count, width(count))
    assert len(seen.unique(dim=0)) == count


def test_a_model_has_no_more_inputs_for_many_values_than_for_few():
    assert max(width(count) for count in range(2, MANY)) <= ONE_HOT


def test_any_two_of_many_differ_in_about_half_of_what_a_model_sees():
    words = as_category(torch.arange(1000), 1000).double()
    apart = torch.cdist(words, words, p=1)[tuple(torch.triu_indices(1000, 1000, 1))] / BITS
    assert apart.mean() == pytest.approx(0.5, abs=0.01)
    assert apart.min() > 0.15
    assert apart.max() < 0.85


def test_a_longer_list_leaves_the_words_of_a_shorter_one_as_they_are():
    index = torch.arange(200)
    assert torch.equal(as_category(index, 200), as_category(index, 900))


@pytest.mark.parametrize("count", [2, 3, ONE_HOT, ONE_HOT + 1, 900])
def test_from_one_value_to_the_next_tried_every_one_is_reached_and_few_are_tried(count):
    parameter = rb.Choice(*range(count))
    reached, going = {0}, [0]
    while going:
        place = going.pop()
        others = cell_numbers(
            parameter, discrete._neighbor_levels(parameter, cell_middles(parameter, torch.tensor(place)), [])
        ).tolist()
        assert len({*others} - {place}) == len(others) < ONE_HOT
        new = {*others} - reached
        reached |= new
        going += new
    assert reached == {*range(count)}


def test_what_was_measured_at_the_best_points_is_tried_and_of_few_values_all():
    space = rb.Space(few=rb.Choice(*range(4)), many=rb.Choice(*range(900)), x=rb.Float(0, 1))
    best = torch.tensor([space.to_unit({"few": 1, "many": k, "x": 0.5}) for k in (700, 3, 700, 41)])
    region = Region(space)
    assert [discrete.levels_to_try(region, i, best) for i in range(3)] == [[0, 1, 2, 3], [700, 3, 41], []]
    many = space.parameters[1][1]
    others = discrete._neighbor_levels(many, cell_middles(many, torch.tensor(12)), [700, 12, 41])
    assert {700, 41, 11, 13, 10, 14} <= {*cell_numbers(many, others).tolist()}


@pytest.mark.slow
def test_a_value_measured_is_found_again_wherever_it_stands_in_the_list():
    space = rb.Space(x=rb.Float(0, 1), kind=rb.Choice(*range(5000)))
    kind = space.parameters[1][1]
    best = torch.tensor([space.to_unit({"x": 0.5, "kind": k}) for k in (*range(8), 4321)], dtype=torch.float64)
    score = lambda rows: (cell_numbers(kind, rows[:, 1]) == 4321).double() - (rows[:, 0] - 0.2).square()  # noqa: E731
    point = maximizer.maximize(score, Region(space), best, 0)
    assert point["kind"] == 4321
    assert point["x"] == pytest.approx(0.2, abs=1e-3)
    assert maximizer.maximize(score, Region(space), best[:-1], 0)["kind"] != 4321  # nor is it met by chance


def test_a_maximization_looks_at_a_bounded_number_of_points(monkeypatch):
    looked = {}
    for count in (ONE_HOT, 15 * ONE_HOT):
        rows, values = [], discrete.values_of
        counted = lambda score, at, rows=rows, values=values: rows.append(len(at)) or values(score, at)  # noqa: E731
        monkeypatch.setattr(maximizer, "values_of", counted)
        monkeypatch.setattr(discrete, "values_of", counted)
        opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1), kind=rb.Choice(*range(count))), direction="minimize", seed=0)
        for k in range(12):
            opt.tell({"x": (k * 0.37) % 1, "kind": k % 3}, float(k % 3))
        opt.ask()
        monkeypatch.undo()
        looked[count] = sum(rows)
    assert 0 < looked[15 * ONE_HOT] < 2 * looked[ONE_HOT]


def test_what_is_listed_is_no_number_however_many_there_are():
    many = rb.Choice(*range(MANY))
    assert not is_continuous(many)
    assert is_continuous(rb.Int(1, MANY))
    assert [many.from_unit(u) for u in many.levels] == list(range(MANY))
    assert pickle.loads(pickle.dumps(many)) == many


def test_the_first_surrogate_decides_and_learns_which_are_good():
    names = [f"m{k}" for k in range(2 * MAX_LEVELS)]
    opt = rb.Optimizer(rb.Space(x=rb.Float(0, 1), kind=rb.Choice(*names)), direction="minimize", seed=0, num_initial=4)
    for k in range(12):
        opt.tell({"x": (k * 0.37) % 1, "kind": names[k % 3]}, (k % 3) * 10.0 + ((k * 0.37) % 1 - 0.5) ** 2)
    trial = opt.ask()
    assert trial.fallback is None
    assert trial.params["kind"] in names
    good, bad = (opt.predict({"x": 0.5, "kind": name}).mean for name in (names[0], names[2]))
    assert good < bad - 5
    assert len(opt.outliers()) == 12
