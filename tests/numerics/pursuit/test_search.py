import pytest
import torch

from robustbo.numerics.gp.covariance import stationary
from robustbo.numerics.gp.log_posterior import Model
from robustbo.numerics.gp.parameters import LogNormal
from robustbo.numerics.pursuit import search, walk
from robustbo.numerics.pursuit.averaging import REACH
from robustbo.numerics.pursuit.penalty import Penalty
from robustbo.numerics.pursuit.search import Plan
from robustbo.numerics.pursuit.support_fit import first

PRICE = Penalty(lambda k: 3.0 * k)


def model(n, outliers=(2, 9)):
    X = torch.linspace(0, 1, n)
    y = torch.sin(6 * X)
    y[list(outliers)] += 20.0
    return Model(y, stationary(X.unsqueeze(-1), "rbf", LogNormal(0.0, 1.0), None), LogNormal(-4.0, 1.0))


@pytest.mark.parametrize("is_backward", [True, False])
def test_a_cold_search_finds_the_outliers_in_either_direction(is_backward):
    given, plan = model(12), Plan([0, 2, 4, 6], PRICE, is_backward)
    levels = search.cold(given, plan)
    assert [len(found.support) <= size for found, size in zip(levels, plan.sizes, strict=True)] == [True] * 4
    assert search.best(given, plan, levels).support == (2, 9)


def test_a_warm_search_goes_on_where_an_earlier_one_of_fewer_observations_ended():
    plan = Plan([0, 2, 4, 6], PRICE)
    before = search.best(model(12), plan, search.cold(model(12), plan))
    after = model(13, (2, 9, 12))
    assert search.best(after, plan, search.warm(after, plan, before, first(13, 12))).support == (2, 9, 12)


def test_a_warm_search_visits_the_sizes_that_are_plausible_and_those_next_to_them():
    outliers, plan = (2, 9, 14, 17), Plan(range(11), PRICE)
    before = search.best(model(20, outliers), plan, search.cold(model(20, outliers), plan))
    levels = search.warm(model(21, outliers), plan, before, first(21, 20))
    assert [len(level.support) for level in levels[:2]] == [3, 4]
    scores = [walk.score(level, PRICE) for level in levels]
    assert scores[0] < max(scores) - REACH < min(scores[1:-1])
    assert len(levels) < len(plan.sizes)


def test_it_takes_outliers_to_be_as_much_more_as_observations(monkeypatch):
    sizes, reach = [], walk.reach
    monkeypatch.setattr(
        walk, "reach", lambda levels, *rest, **more: sizes.append(levels) or reach(levels, *rest, **more)
    )
    plan = Plan(range(11), PRICE)
    before = search.best(model(12), plan, search.cold(model(12), plan))
    search.warm(model(24, (2, 9, 15, 20)), plan, before, first(24, 12))
    assert len(sizes[0][0].support) == 2 * len(before.support)
