import math
from types import SimpleNamespace

import pytest
import torch
from botorch.acquisition import qLogExpectedImprovement
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.acquisition.multi_objective import logei
from torch.autograd import gradcheck
from torch.utils import cpp_extension

from robustbo.determinism.isolation import isolation
from robustbo.loop.acquisition.botorch_ehvi import LogEHVI, SampledLogNEHVI
from robustbo.loop.acquisition.build import LogNEI
from robustbo.loop.acquisition.feasibility_weight import FeasibilityWeighted, inner_closed_form, with_fewer_samples
from robustbo.loop.acquisition.log_nehvi import LogNEHVI, build_multi_outcome
from robustbo.numerics.improvement.goals import Goal
from robustbo.surrogates.baselines.standard import StandardGP
from robustbo.surrogates.common.contract import fit, quiet
from robustbo.surrogates.pursuit.model import RelevancePursuitGP
from robustbo.surrogates.registry import SURROGATES


def uniform(*shape, seed=0):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


X, POINTS = uniform(12, 2), uniform(40, 1, 2, seed=2)
Y = torch.stack([-(X - 0.2).square().sum(-1), -(X - 0.8).square().sum(-1), X.sum(-1)], -1)
FRONT = (Goal(True, reference=-0.9), Goal(True, reference=-0.9), Goal(False, low=0.6, high=1.6))
BEST = (Goal(True), Goal(False, low=-0.3), Goal(False, low=0.6))


@pytest.fixture(scope="module")
def models():
    """The second outcome is missing at two points, and the first has a wrong value."""
    wrong = Y[:, :1].clone()
    wrong[3] = 5.0
    rows = torch.arange(12) > 1
    return [
        fit(RelevancePursuitGP(X, wrong)),
        fit(RelevancePursuitGP(X[rows], Y[rows, 1:2])),
        fit(RelevancePursuitGP(X, Y[:, 2:])),
    ]


@pytest.fixture(scope="module")
def plain():
    return [fit(StandardGP(X, Y[:, [m]])) for m in range(3)]


class Certain:
    """A predictor of failures that doubts little, and the less the farther to the right."""

    def log_viable(self, Z):
        slope = torch.zeros_like(Z)
        slope[..., 0] = 0.1
        return 0.1 * Z[..., 0] - 0.2, slope


@pytest.mark.parametrize("goals", [FRONT, BEST])
@pytest.mark.parametrize("is_viable", [False, True])
def test_it_has_slopes_by_itself_and_by_automatic_differentiation(models, goals, is_viable):
    function = build_multi_outcome("auto", models, goals, X, None, seed=0)
    assert type(function) is LogNEHVI
    inner = function
    function = FeasibilityWeighted(function, Certain()) if is_viable else function
    assert inner_closed_form(function) is inner
    value, slope = function.value_and_gradient(POINTS.squeeze(1))
    at = POINTS.clone().requires_grad_()
    again = function(at)
    (its_slope,) = torch.autograd.grad(again.sum(), at)
    torch.testing.assert_close((value, slope), (again.detach(), its_slope.squeeze(1)), rtol=1e-9, atol=1e-9)
    likely = POINTS[value > value.max() - 10][:4]
    assert gradcheck(function, (likely.clone().requires_grad_(),), rtol=1e-3, atol=1e-4)


@pytest.mark.filterwarnings("ignore:A not p.d.")  # the values are exact: rounding decides
def test_thinned_it_is_nearly_the_same_and_whole_again_after(models):
    function = build_multi_outcome("auto", models, FRONT, X, None, seed=0)
    whole = function(POINTS)
    with with_fewer_samples(FeasibilityWeighted(function, Certain())):
        some = function(POINTS)
    assert torch.equal(function(POINTS), whole)
    likely = whole > whole.max() - 3
    assert 0 < (some - whole)[likely].abs().max() < 1
    with with_fewer_samples(build_multi_outcome("qLogNEI", models, FRONT, X, None, seed=0)):
        pass


def test_the_same_seed_gives_the_same_bits(models):
    one, two, other = (build_multi_outcome("auto", models, FRONT, X, None, seed=seed)(POINTS) for seed in (0, 0, 1))
    assert torch.equal(one, two)
    assert not torch.equal(one, other)


@pytest.mark.few(1)
@pytest.mark.parametrize("goals", [FRONT, BEST])
def test_it_is_botorchs_within_the_error_of_sampling(plain, goals):
    """Where an improvement is likely; bounds are not smoothed here, and the units are the values'."""
    own, points = [fit(StandardGP(X, Y[:, [m]], outcome_transform=None)) for m in range(3)], uniform(1000, 1, 2)
    ours = build_multi_outcome("auto", own, goals, X, None, seed=0)(points)
    with quiet():
        theirs = build_multi_outcome("qLogNEI", own, goals, X, None, seed=0)(points).detach()
    likely = theirs > theirs.max() - 2
    assert likely.sum() > 3
    assert (ours - theirs)[likely].abs().mean() < 0.25


def test_one_objective_alone_is_the_noisy_improvement(models):
    """With the same samples to rounding where there is one component; else each has a share of them."""
    alone = [fit(StandardGP(X, Y[:, :1]))]
    expected = LogNEI(alone[0], X, seed=0)(POINTS)
    torch.testing.assert_close(build_multi_outcome("auto", alone, (Goal(True),), X, None, 0)(POINTS), expected)
    some = LogNEI(models[0], X, seed=0)(POINTS)
    ours = build_multi_outcome("auto", models[:1], (Goal(True),), X, None, 0)(POINTS)
    likely = some > some.max() - 2
    assert (ours - some)[likely].abs().max() < 0.5


def test_what_the_units_are_does_not_matter():
    """Bounds and reference go through the same transform as the values."""
    goals = tuple(
        Goal(g.is_objective, 5 * g.low + 3, 5 * g.high + 3, g.reference and 5 * g.reference + 3) for g in FRONT
    )
    one, two = (
        build_multi_outcome("auto", [fit(StandardGP(X, of[:, [m]])) for m in range(3)], given, X, None, 0)(POINTS)
        for of, given in ((Y, FRONT), (5 * Y + 3, goals))
    )
    torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-4)


def test_outcomes_that_are_to_be_minimized_are_turned():
    turned = [Goal(g.is_objective, -g.high, -g.low, g.reference and -g.reference) for g in FRONT]
    models = [fit(StandardGP(X, sign * Y[:, [m]])) for m, sign in enumerate((-1, 1, -1))]
    goals = [turned[0], FRONT[1], turned[2]]
    found = LogNEHVI(models, goals, X, 0, signs=[-1.0, 1.0, -1.0])(POINTS)
    plain = [fit(StandardGP(X, Y[:, [m]])) for m in range(3)]
    torch.testing.assert_close(found, LogNEHVI(plain, FRONT, X, 0)(POINTS), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_has_no_bound_has_none_however_bent_the_outcomes_are(sign):
    model = fit(StandardGP(X, (6 * X.sum(-1, keepdim=True)).exp()))
    assert model.outcome_transform.t[:2].amax() > 0.1
    (outcome, bounded) = LogNEHVI([model] * 2, [Goal(True), Goal(False, low=1.0)], X, 0, signs=[sign] * 2)._to.outcomes
    assert outcome.goal == Goal(True)
    assert (bounded.goal.low > -math.inf, bounded.goal.high < math.inf) == (sign > 0, sign < 0)


def test_what_is_pending_is_not_asked_for_again(models):
    before = build_multi_outcome("auto", models, FRONT, X, None, seed=0)
    best = POINTS[before(POINTS).argmax()]
    for pending in (best, X[:1]):  # a new point, and one of which an outcome is quarantined
        after = build_multi_outcome("auto", models, FRONT, X, pending, seed=0)
        n = after._to.outcomes[0].processes.al.shape[-1]
        assert (after._to.outcomes[0].processes.XZ[n:] == pending.numpy()).all(-1).any()
        assert after(pending[:, None]).item() < before(pending[:, None]).item() + 1e-9
    assert (
        build_multi_outcome("auto", models, FRONT, X, best, seed=0)(best[:, None]).item()
        < before(best[:, None]).item() - 1
    )


def test_of_some_points_the_front_is_to_be_improved_upon(models):
    function = build_multi_outcome("auto", models, FRONT, X, None, seed=0, X_best=X[:4])
    assert function._to.Y.shape[1] == 4


def test_far_from_every_bound_all_is_finite(models):
    goals = (Goal(True, reference=100.0), Goal(True, reference=100.0), Goal(False, low=50.0))
    function = build_multi_outcome("auto", models, goals, X, None, seed=0)
    assert all(part.isfinite().all() for part in function.value_and_gradient(POINTS.squeeze(1)))


@pytest.mark.parametrize(
    ("name", "goals", "kind"),
    [
        ("qLogNEI", FRONT, SampledLogNEHVI),
        ("qLogEI", FRONT, LogEHVI),
        ("LogEI", FRONT, LogEHVI),
        ("qLogNEI", BEST, qLogNoisyExpectedImprovement),
        ("qLogEI", BEST, qLogExpectedImprovement),
        ("LogEI", BEST, qLogExpectedImprovement),
    ],
)
@pytest.mark.parametrize("pending", [None, POINTS[:1, 0]])
def test_a_name_gives_its_function(plain, name, goals, kind, pending):
    with quiet():
        function = build_multi_outcome(name, plain, goals, X, pending, seed=0)
        assert isinstance(function, kind)
        assert function(POINTS[:3]).isfinite().all()


@pytest.fixture(scope="module", params=sorted(SURROGATES))
def fitted(request):
    with quiet():
        return fit(SURROGATES[request.param](X, Y[:, :1]))


@pytest.mark.few(12)
@pytest.mark.parametrize("goals", [FRONT, BEST])
def test_every_surrogate_has_its_function_and_slopes(plain, fitted, goals):
    with quiet():
        mixed = [fitted, *plain[1:]]
        function = build_multi_outcome("auto", mixed, goals, X, None, seed=0)
        points = POINTS[:3].clone().requires_grad_()
        for _ in range(2):
            (slopes,) = torch.autograd.grad(function(points).sum(), points)
            assert slopes.isfinite().all()


@pytest.mark.parametrize("name", ["qLogEI", "qLogNEI"])
def test_where_nothing_keeps_the_bounds_there_is_a_function_too(plain, name):
    for goals in (FRONT, BEST):
        none = (*goals[:2], Goal(False, low=100.0))
        with quiet():
            assert not build_multi_outcome(name, plain, none, X, None, seed=0)(POINTS[:3]).isnan().any()


def test_an_unknown_name_is_refused(plain):
    for name in ("sobol", "UCB"):
        with pytest.raises(ValueError, match="acquisition must be one of"):
            build_multi_outcome(name, plain, FRONT, X, None, seed=0)


def test_a_goal_says_by_how_much_it_is_missed():
    goal = Goal(False, low=0.0, high=2.0)
    assert goal.violation(torch.tensor([-1.0, 1.0, 2.5])).tolist() == [1.0, 0.0, 0.5]
    assert goal.is_bounded
    assert not Goal(True, reference=-math.inf).is_bounded


@pytest.mark.filterwarnings("ignore:A not p.d.")  # the values are exact: rounding decides
@pytest.mark.parametrize("name", ["qLogNEI", "qLogEI"])
def test_botorchs_is_the_same_to_the_last_bit_whether_it_could_compile_its_kernel(models, name, monkeypatch):
    def kernel(*_):
        raise AssertionError("used, or made")

    def values():
        with isolation(0):  # BoTorch draws when it prunes the baseline
            return build_multi_outcome(name, models, FRONT, X, None, seed=0)(POINTS)

    monkeypatch.setattr(logei, "_load_attempted", False)
    monkeypatch.setattr(cpp_extension, "load", kernel)
    plain = values()
    assert logei._load_attempted is False
    monkeypatch.setattr(logei, "_C", SimpleNamespace(forward=kernel, backward=kernel))
    assert torch.equal(values(), plain)
