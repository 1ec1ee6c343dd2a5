import math
from typing import NamedTuple

import pytest
import torch

from robustbo.numerics.gp.covariance import stationary
from robustbo.numerics.gp.log_posterior import log_posterior
from robustbo.numerics.gp.map_fit import Fit, maximize
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.outlier_gain import group_variance
from robustbo.numerics.gp.parameters import LogNormal
from robustbo.numerics.gp.replicates import Groups
from robustbo.numerics.pursuit.penalty import ALIKE, Penalty
from robustbo.numerics.pursuit.support_fit import (
    empty,
    level_at,
    prefix_rows,
    refit,
    revalue_level,
    screen,
    suspicious_levels,
    transfer_support,
)
from robustbo.numerics.pursuit.walk import level_posterior, resume, settle, sweep, walk


def fake(F):
    return Fit(torch.zeros(1), torch.zeros(1), F, F, 0, True)


class Stop(NamedTuple):
    """A level as a walk sees it."""

    support: tuple[int, ...]
    fit: Fit
    gains: list[float]


class Additive:
    """A search whose F is a sum of known gains, so that the best support of each size is known."""

    def __init__(self, worth):
        self.worth, self.visited = worth, []

    def at(self, *support):
        return Stop(support, fake(sum(self.worth[i] for i in support)), self.worth)

    def refit(self, level, support):
        self.visited.append(support)
        return self.at(*support)


def test_a_walk_takes_the_largest_gains_in_both_directions():
    search = Additive([1.0, 5.0, 0.0, 3.0])
    forward = walk([search.at()], [0, 1, 2, 4], search.refit)
    backward = walk([search.at(0, 1, 2, 3)], [3, 2, 1, 0], search.refit)
    assert [level.support for level in forward] == [(), (1,), (1, 3), (0, 1, 3)]
    assert [level.support for level in backward] == [(0, 1, 3), (1, 3), (1,), ()]


def test_paths_that_meet_go_on_as_one():
    search = Additive([1.0, 5.0, 3.0])
    walk([search.at(0, 1, 2), search.at(0, 1, 2)._replace(fit=fake(7.0))], [2, 1, 0], search.refit)
    assert search.visited == [(1, 2), (1, 2), (1,), ()]


def test_the_best_path_counts_at_each_size():
    search = Additive([1.0, 5.0, 3.0])

    def refit(level, support):
        return search.at(*support)._replace(fit=fake(level.fit.F - 1), gains=level.gains)

    high, low = search.at(0, 1, 2), search.at(0, 1, 2)._replace(fit=fake(2.0), gains=[5.0, 1.0, 3.0])
    assert [level.fit.F for level in walk([low, high], [2, 1], refit)] == [8.0, 7.0]


GREEDY = [3.0, 2.0, 1.9]  # alone 0 looks best; together 1 and 2 are
TOGETHER = {(): 0.0, (0,): 3.0, (1,): 2.0, (2,): 2.0, (0, 1): 4.0, (0, 2): 4.0, (1, 2): 9.0}


def misleading(_, support):
    return Stop(support, fake(TOGETHER[support]), GREEDY if support in ((), (0,)) else [0.1, 5.0, 5.0])


def test_a_sweep_takes_a_wrong_choice_back():
    greedy = walk([misleading(None, ())], [0, 1, 2], misleading)
    assert [level.support for level in greedy] == [(), (0,), (0, 1)]
    poor = [*greedy[:2], misleading(None, (0, 2))]
    assert [level.support for level in sweep(poor, [0, 1, 2], misleading)] == [(), (0,), (1, 2)]
    assert [level.support for level in sweep(poor, [0, 1, 2], misleading, max_swaps=0)][-1] in ((0, 1), (0, 2))


def test_settling_keeps_those_who_pay_and_takes_those_who_would():
    search = Additive([1.0, 5.0, 0.0, 3.0])
    settled = settle(search.at(0, 2), Penalty(lambda k: 2.0 * k), search.refit)
    assert settled.support == (1, 3)
    assert settle(settled, Penalty(lambda k: 2.0 * k), search.refit) is settled


def test_settling_asks_of_a_group_what_it_must_pay():
    penalty = Penalty(lambda k: 3.0 * k, Groups(((0, 2, 3),)))
    for gain, support in ((3.0 + 2.1 * ALIKE, (0,)), (3.0 + 1.9 * ALIKE, ())):
        search = Additive([gain, 0.5, -math.inf, -math.inf])
        assert settle(search.at(), penalty, search.refit).support == support


def group(by):
    """Sixteen values of a smooth function, of which four are one number."""
    X = torch.linspace(0, 1, 16).unsqueeze(-1)
    y, rows = torch.sin(6 * X).squeeze(-1), (2, 6, 9, 13)
    y[list(rows)] = by
    return Model(y, stationary(X, "rbf", LogNormal(0.0, 1.0), None), LogNormal(-4.0, 1.0), groups=Groups((rows,)))


def test_a_group_is_climbed_to_whole_from_the_variances_that_it_would_have():
    model = group(5.0)
    begin = empty(model)
    level = refit(model, begin, (2,))
    assert level.support == (2,)
    assert level.fit.support == (2, 6, 9, 13)
    assert level.fit.F > begin.fit.F + 3.0
    assert [i for i in range(16) if level.gains[i] == -math.inf] == [6, 9, 13]
    assert max(range(16), key=level.gains.__getitem__) == 2


@pytest.mark.parametrize("by", [3.0, 100.0, 1e12])
def test_screening_finds_a_group(by):
    model = group(by)
    found = screen(model, model.starts[0], 5.0)
    assert found.support == (2,)
    assert found.fit.support == (2, 6, 9, 13)


def test_a_level_of_fewer_observations_is_taken_up_with_its_groups_whole():
    model = group(5.0)
    level = refit(model, empty(model), (2,))
    rows = torch.tensor([-1, 6, 9, 1, 0])  # the first and the last of the group are not among them
    covariance = stationary(torch.rand(5, 1), "rbf", LogNormal(0.0, 1.0), None)
    fewer = model._replace(y=model.y[:5], covariance=covariance, groups=Groups(((0, 1, 2),)))
    assert transfer_support(fewer, level, rows)[0] == (0,)


def test_the_support_posterior_is_a_distribution_that_prefers_the_best_score():
    levels = [Stop(tuple(range(k)), fake(F), []) for k, F in enumerate([0.0, 10.0, 11.0])]
    posterior = level_posterior(levels, Penalty(lambda k: 5.0 * k))
    assert sum(posterior) == pytest.approx(1.0)
    assert max(posterior) == posterior[1]


@pytest.mark.parametrize("magnitude", [10.0, 1e6, 1e12])
def test_screening_finds_gross_values_and_not_their_neighbours(magnitude):
    X = torch.linspace(0, 1, 15).unsqueeze(-1)
    y = torch.sin(6 * X).squeeze(-1)
    y[[4, 9]] += magnitude
    prior = LogNormal(0.0, 1.0)
    model = Model(y, stationary(X, "rbf", prior, None), LogNormal(-4.0, 1.0))
    assert screen(model, model.starts[0], 5.0).support == (4, 9)


def test_a_sweep_back_replaces_what_it_can_better():
    search = Additive([1.0, 5.0, 3.0])
    poor = [search.at(), search.at(0), search.at(1, 2)._replace(fit=fake(9.0))]
    found = sweep(poor, [0, 1, 2], search.refit)
    assert [level.support for level in found] == [(), (1,), (1, 2)]
    assert [level.fit.F for level in found] == [0.0, 5.0, 9.0]


def small(magnitude=100.0):
    X = torch.linspace(0, 1, 12).unsqueeze(-1)
    y = torch.sin(6 * X).squeeze(-1)
    y[5] += magnitude
    return Model(y, stationary(X, "rbf", LogNormal(0.0, 1.0), None), LogNormal(-4.0, 1.0))


def test_the_variances_of_a_level_are_at_their_closed_form_optimum():
    model = small()
    level = refit(model, empty(model), (5,), ftol=1e-12)
    assert level.fit.rho[5] == pytest.approx(group_variance(level.e, level.v, Groups())[5].item(), rel=1e-3)
    assert level.fit.rho.count_nonzero() == 1


def test_where_everybody_is_suspicious_the_innocent_are_cleared():
    found = max(suspicious_levels(small()), key=lambda level: level.fit.F)
    assert found.support == tuple(range(12))
    assert max(range(12), key=lambda i: found.gains[i]) == 5
    assert (found.fit.rho == 0).sum() >= 6


def test_the_empty_level_is_the_best_that_any_start_leads_to():
    model = small(0.0)
    none = torch.zeros(12)
    found = [maximize(model, theta, none, torch.tensor([], dtype=torch.long), none).F for theta in model.starts]
    assert len(found) == 3
    assert max(found) - 1e-6 <= empty(model, ftol=1e-9).fit.F


def test_levels_of_fewer_observations_are_taken_up_with_the_new_ones_free_of_suspicion():
    model = small()
    shorter = model._replace(
        y=model.y[:10],
        covariance=stationary(torch.linspace(0, 1, 12)[:10].unsqueeze(-1), "rbf", LogNormal(0.0, 1.0), None),
    )
    before = refit(shorter, empty(shorter), (5,))
    taken_up = level_at(model, *transfer_support(model, before, prefix_rows(12, 10)))
    assert taken_up.support == (5,)
    assert taken_up.fit.rho.tolist() == [*before.fit.rho.tolist(), 0.0, 0.0]
    assert len(taken_up.gains) == 12
    again = level_at(model, *transfer_support(model, before, prefix_rows(12, 10)))
    torch.testing.assert_close(taken_up.e, again.e)


def test_a_resumed_walk_goes_outward_from_the_middle_size():
    search = Additive([1.0, 5.0, 3.0, 4.0])
    began = []

    def refit(level, support):
        began.append((level.support, support))
        return search.refit(level, support)

    levels, asked = [search.at(), search.at(0, 2, 3), search.at(0, 1, 2, 3)], []
    supports = [level.support for level in levels]
    found = resume(supports, lambda i: asked.append(i) or levels[i], [0, 1, 3], refit)
    assert asked == [0, 1]  # each once, and none that is nearest to no size
    assert began == [((), (1,)), ((), ()), ((0, 2, 3), (1, 2, 3))]  # as promising as the one before: from the earlier
    assert [level.support for level in found] == [(), (1,), (1, 2, 3)]


def test_a_resumed_walk_starts_each_size_at_the_more_promising_level():
    def stop(support, F, gains):
        return Stop(support, fake(F), gains)

    earlier = [stop((), 2.0, [3.0, 0.5, 0.0]), stop((0, 1), -90.0, [50.0, 1.0, 0.0])]
    later, began = {(0,): stop((0,), 5.0, [3.0, 0.5, 0.0])}, []

    def refit(level, support):
        began.append((level.fit.F, support))
        return later.setdefault(support, stop(support, 0.0, level.gains))

    resume([(), (0, 1)], earlier.__getitem__, [0, 1, 2], refit)
    # without a member 5 - 3 = 2, as the earlier one has; with another one 5 + 0.5, and the earlier one has -90
    assert began == [(2.0, (0,)), (2.0, ()), (5.0, (0, 1))]


def test_the_height_of_a_revalued_level_is_that_at_the_new_observations():
    model = small()
    level = refit(model, empty(model), (5,))
    other = model._replace(y=model.y.flip(0))
    revalued = revalue_level(other, level.support, level.fit)
    F = log_posterior(other, level.fit.theta, level.fit.rho).F
    assert abs(F - revalued.fit.F) < 1e-9
    assert abs(F - level.fit.F) > 1
    assert revalued.gains == level_at(other, level.support, level.fit).gains
