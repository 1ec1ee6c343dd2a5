"""A Choice of very many values is one all the same: no order, no number, and the first surrogate decides."""

import pickle

import pytest
import torch

import robustbo as rb
from robustbo.searchspace.columns import is_continuous
from robustbo.searchspace.parameters import MAX_LEVELS
from robustbo.surrogates.transforms.inputs import as_category, width

MANY = MAX_LEVELS + 1


@pytest.mark.parametrize("count", [2, MAX_LEVELS, MANY, 5000])
def test_no_two_values_look_the_same(count):
    seen = as_category(torch.arange(count), count)
    assert seen.shape == (count, width(count))
    assert len(seen.unique(dim=0)) == count


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
