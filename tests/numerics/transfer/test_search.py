"""The search over relations: the right one for invented sources, whichever values are wrong."""

import numpy as np
import pytest
import torch

from robustbo.numerics.gp.parameters import LogNormal
from robustbo.numerics.transfer.alone import fit_alone, fit_source
from robustbo.numerics.transfer.configuration import Problem
from robustbo.numerics.transfer.relations import RELATIONS, KernelPriors, SourceRows
from robustbo.numerics.transfer.search import search_relations
from robustbo.numerics.transfer.summary import SourceRelation, source_summary

PRIORS = KernelPriors("matern52", LogNormal(2**0.5, 3**0.5), LogNormal(2.0, 2.0), LogNormal(-4.0, 1.0), 1e-4)


def objective(X):
    return np.sin(6 * X[:, 0])


def problem_of(*sources, n=8, m=24, wrong=(), allowed=RELATIONS):
    """Values of a target and of sources, each a function; wrong rows are 5 too high."""
    rng = np.random.default_rng(2)
    X = [rng.random((n, 1)), *(rng.random((m, 1)) for _ in sources)]
    y = np.concatenate([f(x) for f, x in zip((objective, *sources), X, strict=True)])
    y = y + 0.03 * rng.standard_normal(len(y))
    y[list(wrong)] += 5.0
    group = torch.from_numpy(np.repeat(np.arange(len(X)), [len(x) for x in X]))
    unknown, none = torch.full((len(y),), torch.nan, dtype=torch.float64), torch.zeros(len(y), dtype=torch.bool)
    rows = SourceRows(torch.from_numpy(np.concatenate(X)), torch.from_numpy(y), group, unknown, none)
    return Problem(rows, len(sources), PRIORS, (allowed,) * len(sources))


SOURCES = {
    "same": objective,
    "offset": lambda X: objective(X) + 1.5,
    "scaled": lambda X: -0.6 * objective(X) + 0.5,
    "biased": lambda X: objective(X) + 2.0 * np.square(X[:, 0]),
    "unrelated": lambda X: np.cos(11 * X[:, 0]),
}


@pytest.mark.parametrize("relation", SOURCES)
def test_the_likeliest_relation_is_the_one_that_holds(relation):
    averaging = search_relations(problem_of(SOURCES[relation]))
    shares = averaging.probabilities[0]
    assert max(shares, key=shares.get) == relation
    assert sum(shares.values()) == pytest.approx(1.0)
    assert sum(averaging.weights) == pytest.approx(1.0)
    evidence = source_summary(averaging, 0).evidence
    assert (evidence < 0) == (relation == "unrelated")


def test_sizes_are_those_of_the_source():
    scaled = source_summary(search_relations(problem_of(SOURCES["scaled"])), 0)
    assert abs(scaled.scale + 0.6) < 3 * scaled.scale_sd < 0.3
    assert abs(scaled.offset - 0.5) < 3 * scaled.offset_sd < 1.0
    offset = source_summary(search_relations(problem_of(SOURCES["offset"])), 0)
    assert abs(offset.offset - 1.5) < 3 * offset.offset_sd < 0.3


def test_wrong_values_of_target_and_source_are_found_together():
    averaging = search_relations(problem_of(SOURCES["offset"], wrong=(2, 15, 20)))
    best = averaging.configurations[0]
    assert best.relations == ("offset",)
    assert best.fit.wrong == {2, 15, 20}
    assert source_summary(averaging, 0).wrong == {15, 20}


def test_of_fewer_than_six_values_alone_none_is_called_wrong():
    assert not fit_alone(problem_of(objective, n=5, wrong=(1,)), 0).wrong
    assert fit_alone(problem_of(objective, n=12, wrong=(1,)), 0).wrong == {1}


def test_several_sources_are_told_apart_by_moves_of_one():
    averaging = search_relations(problem_of(SOURCES["unrelated"], SOURCES["offset"], m=16))
    assert averaging.configurations[0].relations == ("unrelated", "offset")
    assert len(averaging.heights) < 5**2


def test_a_trusted_source_is_the_same_whatever_it_reads():
    averaging = search_relations(problem_of(SOURCES["unrelated"], allowed=("same",)))
    assert averaging.probabilities == ({"same": 1.0},)
    assert averaging.configurations[0].relations == ("same",)


def test_the_walk_of_a_source_is_kept_whatever_is_told_of_the_target():
    problem, keys = problem_of(SOURCES["offset"], m=20), []

    def remember(key, make):
        keys.append(key)
        return make()

    rescaled = problem._replace(rows=problem.rows._replace(y=0.7 * problem.rows.y - 0.3))  # as other units would be
    longer = problem_of(SOURCES["offset"], m=23)
    for of in (problem, rescaled, longer):
        fit_source(of, 1, remember)
    assert keys[0] == keys[1]
    assert fit_source(problem, 1).score == pytest.approx(fit_alone(problem, 1).score, abs=0.1)
    first = problem._replace(rows=problem.rows.of(torch.arange(8 + 16)))
    fit_source(first, 1, remember)
    assert keys[3] == keys[0]  # 16 rows and 20 have the same walk


def test_levels_are_one_source_whose_errors_shrink():
    far, near = (lambda X, size=size: objective(X) + size * (0.5 + X[:, 0] ** 2) for size in (1.0, 0.3))
    problem = problem_of(far, near)
    rows = problem.rows
    depth = torch.tensor([0.0, np.log(10.0), np.log(3.0)], dtype=torch.float64)[rows.group]
    one = rows._replace(group=rows.group.clamp_max(1), depth=depth)
    allowed = tuple(relation for relation in RELATIONS if relation != "scaled")
    averaging = search_relations(problem._replace(rows=one, num_sources=1, allowed=(allowed,)))
    shares = averaging.probabilities[0]
    assert max(shares, key=shares.get) == "biased"
    summaries = [source_summary(averaging, 0, u) for u in (np.log(10.0), np.log(3.0))]
    assert [s.offset for s in summaries] == pytest.approx([0.83, 0.25], abs=0.15)
    assert summaries[0].bias > 2 * summaries[1].bias > 0


@pytest.mark.parametrize(("slope", "center", "pivot"), [(2.0, 4.0, -2.0), (2.0, 4.0, 2.0), (-1.0, 3.0, 1.5)])
def test_the_offset_of_a_scaled_source_is_as_uncertain_in_all_units(slope, center, pivot):
    generator = np.random.default_rng(0)
    error, scale = 0.3 + 0.05 * generator.standard_normal(200_000), 1.4 + 0.1 * generator.standard_normal(200_000)
    one = SourceRelation("scaled", {}, 1.0, 0.3 - 0.4 * pivot, 0.05, pivot, 1.4, 0.1, 0.0, 0.0, ())
    other = one.in_units(slope, center)
    sampled = slope * (error + pivot * (1 - scale)) + center * (1 - scale)
    assert other.offset == pytest.approx(sampled.mean(), abs=0.01)
    assert other.offset_sd == pytest.approx(sampled.std(), rel=0.01)
    assert one.in_units_of_source(10.0, 7.0).offset_sd == pytest.approx(10 * one.offset_sd)


@pytest.mark.slow
def test_the_order_of_sources_changes_little():
    names = ["offset", "scaled", "same"]
    found = []
    for order in (names, names[::-1]):
        averaging = search_relations(problem_of(*(SOURCES[name] for name in order), n=8, m=10))
        found.append({name: shares[name] for name, shares in zip(order, averaging.probabilities, strict=True)})
    assert found[0] == pytest.approx(found[1], abs=0.1)
