"""A Choice of very many values is one all the same: no order, no number, and the first surrogate decides."""

import pickle

import pytest
import torch

import robustbo as rb
from robustbo.loop import maximizer
from robustbo.searchspace.columns import is_continuous
from robustbo.searchspace.parameters import MAX_LEVELS
from robustbo.surrogates.transforms.inputs import ONE_HOT, as_category, most_alike, width

MANY = MAX_LEVELS + 1


@pytest.mark.parametrize("count", [2, ONE_HOT, ONE_HOT + 1, MAX_LEVELS, MANY, 5000])
def test_no_two_values_look_the_same(count):
    seen = as_category(torch.arange(count), count)
    assert seen.shape == (count, width(count))
    assert len(seen.unique(dim=0)) == count


def test_a_model_has_no_more_inputs_for_many_values_than_for_few():
    assert max(width(count) for count in range(2, MANY)) <= ONE_HOT


@pytest.mark.parametrize("count", [2, ONE_HOT, ONE_HOT + 1, 900])
def test_those_that_are_most_alike_are_few_and_lead_to_all(count):
    reached, going = {0}, [0]
    while going:
        others = most_alike(going.pop(), count)
        assert len(others) < ONE_HOT
        new = {*others} - reached
        reached |= new
        going += new
    assert reached == {*range(count)}


def test_of_few_values_those_that_are_most_alike_are_all_others():
    assert most_alike(1, 4) == [0, 2, 3]


@pytest.mark.parametrize("index", [0, 7, 899])
def test_of_many_they_differ_in_one_digit(index):
    mine, *others = as_category(torch.tensor([index, *most_alike(index, 900)]), 900)
    assert {int((mine != other).sum()) for other in others} == {2}  # a one is elsewhere


def test_a_maximization_looks_at_a_bounded_number_of_points(monkeypatch):
    looked = {}
    for count in (ONE_HOT, 15 * ONE_HOT):
        rows, values = [], maximizer._values
        counted = lambda score, at, rows=rows, values=values: rows.append(len(at)) or values(score, at)  # noqa: E731
        monkeypatch.setattr(maximizer, "_values", counted)
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
