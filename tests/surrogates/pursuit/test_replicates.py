"""Values that agree at a point: when a pursuit follows them, when it leaves them out, and what it says of them then."""

import math

import pytest
import torch

from robustbo.numerics.improvement.needles import judge_points
from robustbo.surrogates.common.contract import fit
from robustbo.surrogates.pursuit.model import RelevancePursuitGP


def data(values, n=26, place=10, noise=0.02, **changes):
    """A sine at n points, and values at one of these in place of its own; others may be changed."""
    rng = torch.Generator().manual_seed(0)
    X = torch.linspace(0, 1, n, dtype=torch.float64).unsqueeze(-1)
    Y = torch.sin(6 * X) + noise * torch.randn(n, 1, generator=rng, dtype=torch.float64)
    for i, value in changes.items():
        Y[int(i[1:])] = value
    keep = [i for i in range(n) if i != place]
    own = torch.tensor(values, dtype=torch.float64).unsqueeze(-1)
    return torch.cat([X[keep], X[place].expand(len(values), 1)]), torch.cat([Y[keep], own])


def fitted(values, *, vouched=None, **changes):
    X, Y = data(values, **changes)
    model = RelevancePursuitGP(X, Y)
    if vouched is not None:
        model.vouched = torch.arange(len(X)) == len(X) - len(values) + vouched
    return fit(model)


TRUE = math.sin(6 * 0.4)


def test_values_that_agree_and_are_a_little_off_are_followed():
    model = fitted([TRUE + 0.06, TRUE + 0.05])
    assert model.support == []
    assert model.is_cleared()[-2:].all()
    assert model.probability_right()[-2:].tolist() == [1.0, 1.0]


def test_a_pair_that_a_fit_takes_for_errors_is_followed_where_the_score_says_so(monkeypatch):
    far = [TRUE + 1.2, TRUE + 1.21]
    assert fitted(far).support == [25, 26]
    monkeypatch.setattr("robustbo.surrogates.pursuit.replicates.score", lambda level, penalty: -len(level.support))
    followed = fitted(far)
    assert not {25, 26} & {*followed.support}
    assert followed.is_cleared()[-2:].all()
    assert followed.probability_right()[-2:].tolist() == [1.0, 1.0]


def test_what_is_left_out_is_judged_by_itself_and_is_no_outlier_where_it_agrees():
    model = fitted([8.0, 8.01])
    assert model.support == [25, 26]
    assert model.probability_right()[-2:].min() > 0.8
    assert not model.diagnose().is_outlier[-2:].any()


def test_of_three_the_one_that_the_others_expect_is_right():
    model = fitted([8.0, 8.01, TRUE])
    right = model.probability_right()
    assert right[-3:-1].max() < 0.1 < 0.9 < right[-1]
    assert model.diagnose().is_outlier[-3:].tolist() == [True, True, False]


@pytest.mark.parametrize("values", [[0.3, 0.35, 0.32, 40.0], [8.0, 8.01, TRUE]])
def test_the_users_word_stands(values):
    model = fitted(values, vouched=len(values) - 1)
    assert model.probability_right()[-1] == 1.0
    assert not model.diagnose().is_outlier[-1]


def test_each_point_is_tried_by_itself(monkeypatch):
    tried = []
    search = RelevancePursuitGP._pursue
    monkeypatch.setattr(
        RelevancePursuitGP,
        "_pursue",
        lambda self, model: tried.append(model.cleared.sum().item()) or search(self, model),
    )
    X, Y = data([8.0, 8.01])
    fit(RelevancePursuitGP(torch.cat([X, X[3:4], X[3:4]]), torch.cat([Y, Y[3:4] * 0 - 9.0, Y[3:4] * 0 - 9.01])))
    assert tried == [0, 4, 2, 2]


def test_other_data_of_the_same_number_are_judged_anew():
    X, Y = data([TRUE, TRUE + 0.01])
    model = fit(RelevancePursuitGP(X, Y))
    assert model.is_cleared()[-2:].all()
    model.set_train_data(X.flip(0), model.train_targets, strict=False)
    assert model.is_cleared().tolist() == [False] * len(X)


def test_a_state_that_is_loaded_clears_what_agrees():
    X, Y = data([TRUE, TRUE + 0.01])
    model, other = fit(RelevancePursuitGP(X, Y)), RelevancePursuitGP(X, Y)
    other.load_state_dict(model.state_dict())
    assert other.is_cleared()[-2:].all()


def test_judging_is_by_what_the_others_predict():
    model = fitted([8.0, 8.01, TRUE])
    group = torch.tensor([25, 26, 27])
    ((rows, wrong),) = judge_points(model.search_model(), model.map_estimate, [group], 0.1, 5.0)
    assert torch.equal(rows, group)
    assert wrong[:2].min() > 0.9 > 0.1 > wrong[2]
