from types import SimpleNamespace

import pytest
import torch

from robustbo.numerics.gp.covariance import stationary
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.parameters import LogNormal
from robustbo.numerics.pursuit import search
from robustbo.numerics.pursuit.penalty import Penalty
from robustbo.numerics.pursuit.search import PursuitPlan
from robustbo.numerics.pursuit.support_fit import prefix_rows

PRICE = Penalty(lambda k: 3.0 * k)


def model(n, outliers=(2, 9)):
    X = torch.linspace(0, 1, n)
    y = torch.sin(6 * X)
    y[list(outliers)] += 20.0
    return Model(y, stationary(X.unsqueeze(-1), "rbf", LogNormal(0.0, 1.0), None), LogNormal(-4.0, 1.0))


def level(size, F):
    return SimpleNamespace(support=tuple(range(size)), fit=SimpleNamespace(F=F))


@pytest.mark.parametrize("is_backward", [True, False])
def test_a_cold_search_finds_the_outliers_in_either_direction(is_backward):
    given, plan = model(12), PursuitPlan([0, 2, 4, 6], PRICE, is_backward)
    levels = search.cold_levels(given, plan)
    assert [len(found.support) <= size for found, size in zip(levels, plan.sizes, strict=True)] == [True] * 4
    assert search.best_level(given, plan, levels).support == (2, 9)


def test_a_warm_search_goes_on_where_an_earlier_one_of_fewer_observations_ended():
    plan = PursuitPlan([0, 2, 4, 6], PRICE)
    before = search.cold_levels(model(12), plan)
    given = model(13, (2, 9, 12))
    assert search.best_level(given, plan, search.warm_levels(given, plan, before, 2, prefix_rows(13, 12))).support == (
        2,
        9,
        12,
    )


def test_worth_a_visit_are_plausible_sizes_the_chosen_one_and_those_beside_them():
    plan = PursuitPlan([0, 2, 4, 6, 8, 10, 12], Penalty(lambda k: 0.0))
    before = [level(0, -100.0), level(2, 0.0), level(4, -50.0)]
    assert search.sizes_to_visit(plan, before, 2) == [0, 2, 4]
    assert search.sizes_to_visit(plan, before, 11) == [0, 2, 4, 8, 10, 12]
    assert search.sizes_to_visit(plan, [level(0, -1.0), level(5, 0.0)], 0) == [0, 2, 4, 6]


def test_more_sweeps_never_find_lower_maxima():
    given, plan = model(12), PursuitPlan([0, 2, 4, 6], PRICE)
    once, thrice = (search.cold_levels(given, plan._replace(sweeps=k)) for k in (1, 3))
    assert all(more.fit.F >= less.fit.F - 1e-9 for less, more in zip(once, thrice, strict=True))
