"""Strikes: which outcomes of a trial get wrong values."""

from dataclasses import replace

import pytest

from robustbo import seeds
from robustbo.tasks.several import build_outcome_corruption
from robustbo_problems.several import branin_currin, c2_dtlz2

P = 0.3
KINDS = {
    "constant": {"value": 100.0, "probability": P},
    "uniform": {"low": {"branin": 0.0, "currin": -5.0}, "high": {"branin": 400.0, "currin": 20.0}, "probability": P},
    "random-point": {"probability": P},
}
X = branin_currin.space.from_unit([0.4, 0.6])
CLEAN = branin_currin.truth(X)
every_kind = pytest.mark.parametrize("kind", KINDS)


def run(made, num=200, seed=0, values=CLEAN):
    return [made.apply(values, X, seeds.generator(seed, trial, "corruption")) for trial in range(num)]


def made(kind, hits="all"):
    return build_outcome_corruption(branin_currin, kind, hits, **KINDS[kind])


@every_kind
def test_a_strike_hits_one_outcome_or_all(kind):
    for _, wrong in (all_hit := run(made(kind))):
        assert wrong in ([], ["branin", "currin"])
    assert 0.2 < sum(bool(wrong) for _, wrong in all_hit) / 200 < 0.4
    for (values, wrong), (both, every) in zip(run(made(kind, "currin")), all_hit, strict=True):
        assert wrong == (["currin"] if every else [])
        assert values == CLEAN | ({"currin": both["currin"]} if every else {})


@every_kind
def test_which_trials_and_what_is_drawn_depend_on_seed_and_trial_alone(kind):
    first = run(made(kind))
    assert run(made(kind)) == first
    other = run(made(kind), values={"branin": 1.0, "currin": 2.0})
    assert [wrong for _, wrong in other] == [wrong for _, wrong in first]
    assert [values for values, wrong in other if wrong] == [values for values, wrong in first if wrong]
    assert [wrong for _, wrong in run(made(kind), seed=1)] != [wrong for _, wrong in first]


def test_the_random_point_is_one_for_all_outcomes():
    both = replace(branin_currin, outcomes=lambda params: {"branin": params["x1"], "currin": params["x1"]})
    found = [values for values, wrong in run(build_outcome_corruption(both, "random-point", probability=1.0), 20)]
    assert all(values["branin"] == values["currin"] for values in found)
    assert len({values["branin"] for values in found}) == 20


def test_uniform_values_are_drawn_for_each_outcome():
    found = [values for values, wrong in run(made("uniform")) if wrong]
    assert all(0 <= values["branin"] <= 400 and -5 <= values["currin"] <= 20 for values in found)
    shares = {(round(values["branin"] / 400, 6), round((values["currin"] + 5) / 25, 6)) for values in found}
    assert all(one != other for one, other in shares)


def test_a_failure_is_a_missing_value():
    gone = build_outcome_corruption(branin_currin, "failure", "currin", probability=1.0)
    assert run(gone, 1) == [({"branin": CLEAN["branin"]}, [])]
    assert run(build_outcome_corruption(branin_currin, "failure", probability=1.0), 1) == [({}, [])]


def test_a_rate_of_zero_is_clean():
    assert run(build_outcome_corruption(branin_currin, "constant", probability=0.0)) == [(CLEAN, [])] * 200


def test_persistent_regions_hit_whoever_measures_there():
    found = build_outcome_corruption(branin_currin, "persistent", "branin", probability=1.0)
    assert run(found, 2) == [(CLEAN | {"branin": 100.0}, ["branin"])] * 2


def test_what_does_not_go_is_said():
    with pytest.raises(ValueError, match=r"strikes must be one of \['all', 'f1', 'f2', 'slack'\], got 'f3'"):
        build_outcome_corruption(c2_dtlz2(), "constant", "f3", probability=0.1)
    with pytest.raises(ValueError, match=r"low must have a value for each outcome \['branin', 'currin'\], got \['a'\]"):
        build_outcome_corruption(branin_currin, "uniform", low={"a": 1.0}, probability=0.1)
    with pytest.raises(ValueError, match="branin-currin has several outcomes, whose corruption can be no 'repeats'"):
        build_outcome_corruption(branin_currin, "repeats")
    with pytest.raises(ValueError, match=r"probability must lie in \[0, 1\], got 2"):
        build_outcome_corruption(branin_currin, "constant", probability=2)
