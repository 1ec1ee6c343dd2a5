import pytest
import torch

from robustbo.numerics.gp import map_fit
from robustbo.numerics.gp.covariance import stationary
from robustbo.numerics.gp.log_posterior import log_posterior
from robustbo.numerics.gp.model import Model
from robustbo.numerics.gp.parameters import LogNormal
from robustbo.numerics.gp.replicates import Groups
from robustbo.numerics.pursuit import growth, search, walk
from robustbo.numerics.pursuit.penalty import Penalty, corrected_rule
from robustbo.numerics.pursuit.search import PursuitPlan
from robustbo.numerics.pursuit.support_fit import Level, prefix_rows, transfer_fit


def everything(n, seed=0):
    """A smooth function of two inputs, a tenth of whose values are off; and which."""
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(n, 2, generator=generator)
    y = torch.sin(5 * X[:, 0]) + X[:, 1].square() + 0.02 * torch.randn(n, generator=generator)
    wrong = torch.rand(n, generator=generator) < 0.1
    y = torch.where(wrong, y + 2 + torch.rand(n, generator=generator), y)
    return X, y, set(wrong.nonzero().flatten().tolist())


def part_of(X, y):
    def part(rows):
        covariance = stationary(X[rows], "matern52", LogNormal(0.0, 1.0), LogNormal(0.0, 1.0))
        return Model(y[rows], covariance, LogNormal(-4.0, 1.0))

    return part


def plan(model):
    n = len(model.y)
    return PursuitPlan([int(share * n) for share in (0, 0.05, 0.1, 0.15, 0.2, 0.3)], Penalty(corrected_rule(n, 5)))


def scored(model, level):
    return walk.score(level, plan(model).penalty)


@pytest.mark.few(1)
@pytest.mark.parametrize("n", [63, 300, 520])
def test_it_finds_what_a_search_of_all_at_once_finds(n):
    X, y, wrong = everything(n)
    part = part_of(X, y)
    model = part(torch.arange(len(y)))
    found = growth.pursue_from_nothing(part, plan, n)
    at_once = search.best_level(model, plan(model), search.cold_levels(model, plan(model)))
    assert len({*at_once.support} ^ {*found.best.support}) <= 1
    assert len(wrong ^ {*found.best.support}) <= 1
    assert scored(model, found.best) > scored(model, at_once) - 0.1


@pytest.mark.slow
def test_it_does_so_in_a_fraction_of_the_evaluations(monkeypatch):
    X, y, _ = everything(520)
    part, sizes = part_of(X, y), []
    original = map_fit.log_posterior

    def counted(model, *arguments, **options):
        sizes.append(len(model.y))
        return original(model, *arguments, **options)

    monkeypatch.setattr(map_fit, "log_posterior", counted)
    growth.pursue_from_nothing(part, plan, 520)
    grown = sum((n / 520) ** 3 for n in sizes)
    sizes.clear()
    model = part(torch.arange(520))
    search.cold_levels(model, plan(model))
    assert grown < len(sizes) / 3


def test_many_observations_go_on_at_held_hyperparameters_unless_it_is_to_climb():
    X, y, wrong = everything(320)
    part = part_of(X, y)
    before = growth.pursue_from_nothing(part_of(X[:200], y[:200]), plan, 200)
    model = part(torch.arange(len(y)))
    held = growth.continue_pursuit(model, plan(model), before, prefix_rows(320, 200), is_climbing=False)
    assert torch.equal(held.best.fit.theta, before.best.fit.theta)
    assert set(held.best.support) == wrong
    assert held.levels == [held.best]
    climbed = growth.continue_pursuit(model, plan(model), before, prefix_rows(320, 200), is_climbing=True)
    assert scored(model, climbed.best) > scored(model, held.best)


@pytest.mark.slow
def test_it_begins_at_others_of_which_some_are_left_out():
    X, y, wrong = everything(310)
    before = growth.pursue_from_nothing(part_of(X, y), plan, 310)
    kept = torch.tensor([i for i in range(310) if i % 7])
    model = part_of(X, y)(kept)
    found = growth.continue_pursuit(model, plan(model), before, kept)
    assert len({kept[i].item() for i in found.best.support} ^ (wrong & set(kept.tolist()))) <= 1


def test_a_fit_to_others_has_no_variance_for_what_it_has_not_seen_but_that_of_its_group():
    fit = map_fit.Fit(torch.zeros(1), torch.tensor([1.0, 0.0, 3.0]), 0.0, 0.0, 1, True)
    assert transfer_fit(fit, torch.tensor([2, -1, 0, 1])).rho.tolist() == [3.0, 0.0, 1.0, 0.0]
    assert transfer_fit(fit, torch.tensor([2, -1, 0, -1]), Groups(((0, 3),))).rho.tolist() == [3.0, 0.0, 1.0, 3.0]
    assert prefix_rows(4, 2).tolist() == [0, 1, -1, -1]


def test_what_is_another_word_on_the_data_grows_beside_the_best():
    def level(size, F):
        return Level(tuple(range(size)), map_fit.Fit(torch.zeros(1), torch.zeros(200), F, F, 1, True), None, None, [])

    best, near, far, worse = level(0, 0.0), level(10, 5.0), level(60, 150.0), level(80, 100.0)
    given = PursuitPlan([0], Penalty(lambda k: 3.0 * k))
    assert growth._levels_to_grow(growth.Pursuit([best, near, far, worse], best), given) == [best, far]
    assert growth._levels_to_grow(growth.Pursuit([best, near], best), given) == [best]


class TestTheLevelAtHyperparameters:
    """The best support where hyperparameters stay as they are."""

    @pytest.fixture
    def found(self):
        X, y, wrong = everything(80)
        model = part_of(X, y)(torch.arange(len(y)))
        begin = growth.pursue_from_nothing(part_of(X, y), plan, len(y)).best.fit
        begin = begin._replace(rho=torch.zeros_like(begin.rho))
        return model, begin, wrong, growth.level_at_hyperparameters(model, plan(model).penalty, begin)

    def test_hyperparameters_stay(self, found):
        _, begin, _, level = found
        assert torch.equal(level.fit.theta, begin.theta)

    def test_the_wrong_are_its_support(self, found):
        _, _, wrong, level = found
        assert len({*level.support} ^ wrong) <= 1

    def test_its_height_is_that_of_the_model(self, found):
        model, _, _, level = found
        assert float(level.fit.F) == pytest.approx(float(log_posterior(model, level.fit.theta, level.fit.rho).F))

    def test_it_is_no_worse_than_where_it_began(self, found):
        model, begin, _, level = found
        empty = log_posterior(model, begin.theta, begin.rho).F
        assert scored(model, level) >= float(empty)

    def test_from_there_nothing_changes(self, found):
        model, _, _, level = found
        again = growth.level_at_hyperparameters(model, plan(model).penalty, level.fit)
        assert again.support == level.support
        assert float(again.fit.F) == pytest.approx(float(level.fit.F))
