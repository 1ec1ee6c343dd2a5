import math
from dataclasses import replace
from functools import cache

import pytest
import torch
from botorch.acquisition import AcquisitionFunction, LogExpectedImprovement, qLogExpectedImprovement
from botorch.acquisition.logei import qLogNoisyExpectedImprovement
from botorch.models import SingleTaskGP

import robustbo as rb
from robustbo.loop.acquisition.build import LogNEI, build_acquisition, maximize_with_botorch
from robustbo.loop.candidates.search import Search
from robustbo.loop.candidates.target import SingleTarget
from robustbo.loop.feasibility.model import _fit_trials
from robustbo.loop.surrogate.cache import FitCache
from robustbo.loop.surrogate.fit import fit as fit_history
from robustbo.searchspace.encoding import decode
from robustbo.searchspace.parameters import Choice, Float, Int, Ordinal
from robustbo.searchspace.region.factory import region_of
from robustbo.searchspace.space import Space
from robustbo.surrogates.baselines.standard import StandardGP
from robustbo.surrogates.common.contract import fit, quiet
from robustbo.surrogates.registry import SURROGATES
from robustbo.trials.history import History
from robustbo.trials.settings import Settings

X = torch.rand(8, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.fixture(scope="module")
def model():
    return SingleTaskGP(X, -(X - 0.3).square().sum(-1, keepdim=True)).eval()


@pytest.mark.parametrize(
    ("name", "pending", "kind"),
    [
        ("auto", None, qLogNoisyExpectedImprovement),
        ("qLogNEI", X[:2], qLogNoisyExpectedImprovement),
        ("qLogEI", X[:2], qLogExpectedImprovement),
        ("LogEI", None, LogExpectedImprovement),
        ("LogEI", X[:2], qLogExpectedImprovement),
    ],
)
def test_a_name_gives_its_function(model, name, pending, kind):
    assert type(build_acquisition(name, model, X, pending, seed=0)) is kind


@pytest.fixture(scope="module", params=sorted(SURROGATES))
def fitted(request):
    with quiet():
        return fit(SURROGATES[request.param](X, -(X - 0.3).square().sum(-1, keepdim=True)))


@pytest.mark.few(24)
@pytest.mark.parametrize("name", ["auto", "qLogNEI", "qLogEI", "LogEI"])
def test_every_surrogate_has_every_function_and_its_slopes(fitted, name):
    with quiet():
        function = build_acquisition(name, fitted, X, None, seed=0)
        points = torch.rand(3, 1, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64).requires_grad_()
        for _ in range(2):  # nothing that the first evaluation leaves behind spoils the second
            (slopes,) = torch.autograd.grad(function(points).sum(), points)
            assert slopes.isfinite().all()


def test_an_unknown_name_is_refused(model):
    with pytest.raises(ValueError, match=r"acquisition must be one of \['auto', .*got 'UCB'"):
        build_acquisition("UCB", model, X, None, seed=0)


def test_the_incumbent_is_a_posterior_mean_not_the_best_value():
    noisy = SingleTaskGP(X, torch.arange(8.0).to(X).unsqueeze(-1) % 2, torch.full_like(X[:, :1], 4.0)).eval()
    best = build_acquisition("LogEI", noisy, X, None, seed=0).best_f
    assert best == noisy.posterior(X).mean.max()
    assert best < 1.0


def test_the_analytic_and_the_monte_carlo_function_agree(model):
    points = torch.rand(20, 1, 2, dtype=torch.float64)
    analytic, sampled = (build_acquisition(name, model, X, None, seed=0)(points) for name in ("LogEI", "qLogEI"))
    good = analytic > -5
    assert (analytic - sampled)[good].abs().max() < 0.2


@pytest.fixture(scope="module")
def ours():
    noise = torch.randn(8, 1, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    Y = -(X - 0.3).square().sum(-1, keepdim=True) + 0.1 * noise
    return fit(StandardGP(X, Y, torch.full_like(Y, 0.01), outcome_transform=None))


@pytest.mark.parametrize("pending", [None, torch.tensor([[0.31, 0.29]], dtype=torch.float64)])
def test_our_noisy_improvement_is_the_monte_carlo_one(ours, pending):
    """Where an improvement is likely: elsewhere the Monte Carlo one sees hardly any sample that improves."""
    points = torch.rand(400, 1, 2, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    exact, sampled = (build_acquisition(name, ours, X, pending, seed=0)(points) for name in ("auto", "qLogNEI"))
    likely = exact > exact.max() - 1
    assert likely.sum() > 5
    if pending is None:
        assert (exact - sampled)[likely].abs().max() < 0.2
    assert sampled[likely].min() > sampled.median()


def test_our_noisy_improvement_has_gradients_everywhere(ours):
    function = build_acquisition("auto", ours, X, None, seed=0)
    assert type(function) is LogNEI
    points = torch.cat([X[:2], torch.rand(3, 2, dtype=torch.float64)]).unsqueeze(1).requires_grad_()
    function(points).sum().backward()
    assert points.grad.isfinite().all()
    assert points.grad[2:].abs().sum() > 0


def test_a_choice_goes_through_the_models_own_encoding():
    space = Space(x=Float(0.0, 1.0), c=Choice("a", "b"))
    made = History()
    for i in range(8):
        params = space.sobol(0, i)
        value = params["x"] + (params["c"] == "b")
        made = made.apply({"event": "tell", "trial": i, "params": params, "value": value, "sd": None})
    fitted = fit_history(Settings(space, direction="maximize", surrogate="standard"), made)
    best = Search("auto", SingleTarget(fitted), None, [], region_of(space), 0).next_point()
    assert best["c"] == "b"


class Peak(torch.nn.Module):
    """A function with one known peak, in place of an acquisition function."""

    X_pending = None

    def __init__(self, at):
        super().__init__()
        self.at = torch.tensor(at)
        self.model = None

    def forward(self, X):
        return -(X - self.at).abs().sum((-2, -1))


@pytest.mark.parametrize(
    ("space", "at"),
    [
        (Space(x=Float(0, 1), y=Float(0, 1)), [0.25, 0.75]),
        (Space(x=Float(0, 1), k=Int(0, 4)), [0.25, 0.7]),
        (Space(c=Choice(*range(5)), k=Int(0, 9999)), [3.0, 0.5]),
        (Space(c=Choice("a", "b"), d=Choice("a", "b")), [1.0, 0.0]),
        (Space(k=Int(0, 1), l=Int(3, 7)), [0.75, 0.1]),
    ],
    ids=repr,
)
def test_the_peak_is_found_in_every_kind_of_space(space, at):
    torch.manual_seed(0)
    with quiet():
        found = maximize_with_botorch(Peak(at), space)
    assert found.tolist() == pytest.approx(at, abs=1e-2)


class Cone(AcquisitionFunction):
    """Flat but for a small neighbourhood of one point."""

    def __init__(self, model, at):
        super().__init__(model)
        self.at = at

    def forward(self, X):
        return (1 - 5 * (X.squeeze(-2) - self.at).norm(dim=-1)).clamp_min(0.0)


def test_a_narrow_maximum_near_the_best_point_is_found():
    """A share of 0.0003 of the cube: samples everywhere hardly ever fall there."""
    inputs = torch.rand(30, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    model = fit(StandardGP(inputs, -(inputs - 0.4).square().sum(-1, keepdim=True)))
    best = inputs[model.posterior(inputs).mean.argmax()]
    space = Space(**{f"x{i}": Float(0.0, 1.0) for i in range(6)})
    torch.manual_seed(0)
    with quiet():
        found = maximize_with_botorch(Cone(model, (best + 0.01).clamp(0, 1)), space)
    assert (found - best).norm() < 0.1


BOX = {"x": Float(0.0, 1.0), "y": Float(0.0, 1.0)}
SPACES = {
    "continuous": Space(**BOX),
    "mixed": Space(**BOX, k=Int(0, 12), c=Choice("a", "b", "c")),
    "with steps": Space(x=Float(0.0, 1.0, step=0.05), y=Ordinal(0.1, 0.3, 0.9), k=Int(0, 60)),
    "conditional": Space(c=Choice("a", "b"), x=Float(0.0, 1.0, when={"c": "b"}), y=Float(0.0, 1.0)),
}


def height(space, params):
    x, y, k, *_ = [*space.to_unit(params), 0.5]
    return math.sin(5 * x) - (y - 0.4) ** 2 + math.cos(4 * k) * x + (params.get("c") == "b")


@cache
def fitted_to(kind, seed):
    space, made = SPACES[kind], History()
    for i in range(20):
        params = space.sobol(seed, i)
        value = height(space, params) if i != 7 else 9.0
        made = made.apply({"event": "tell", "trial": i, "params": params, "value": value, "sd": None})
    return fit_history(Settings(space, direction="maximize", seed=seed), made)


def searching(kind, seed, pending=()):
    return Search("auto", SingleTarget(fitted_to(kind, seed)), None, list(pending), region_of(SPACES[kind]), seed)


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", sorted(SPACES))
def test_the_next_point_is_at_least_as_high_as_where_botorch_finds_one(kind, seed):
    space, search = SPACES[kind], searching(kind, seed)
    point = search.next_point()
    assert search.next_point() == point == space.validate(point)
    with search._apart(), quiet():
        theirs = decode(space, maximize_with_botorch(search._function(), space).unsqueeze(0))[0]
    ours, botorchs = search.values_at([space.to_unit(point), theirs])
    assert ours >= botorchs - 1e-3


@pytest.mark.few(4)
@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("kind", sorted(SPACES))
def test_explicit_gradients_are_those_of_automatic_differentiation(kind, fails):
    space, search = SPACES[kind], searching(kind, 0)
    rows = [space.to_unit(space.sobol(1, i)) for i in range(12)]
    if fails:
        ended = tuple((i, tuple(row), i % 3 > 0, False) for i, row in enumerate(rows))
        search = replace(search, feasibility=_fit_trials(space, ended, 0, FitCache()))
    with search._apart(), quiet():
        function = search._function()
        at = search.target.fitted.encoded(rows).requires_grad_()
        (slopes,) = torch.autograd.grad(function(at.unsqueeze(1)).sum(), at)
        value, slope = function.value_and_gradient(at.detach())
        torch.testing.assert_close(value, function(at.unsqueeze(1)).detach())
        torch.testing.assert_close(slope, slopes)


def test_a_pending_point_is_kept_away_from():
    space, alone = SPACES["continuous"], searching("continuous", 0)
    row = tuple(space.to_unit(alone.next_point()))
    beside = searching("continuous", 0, [row])
    (before,), (after,) = (search.values_at([row]).tolist() for search in (alone, beside))
    assert after < before - 1


def test_hundreds_of_points_leave_few_in_the_baseline():
    inputs = torch.rand(300, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    noise = torch.randn(300, 1, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    Y = -(inputs - 0.3).square().sum(-1, keepdim=True) + 0.01 * noise
    model = fit(StandardGP(inputs, Y, torch.full_like(Y, 1e-4)))
    pending = torch.tensor([[0.95, 0.95]], dtype=torch.float64)  # where nothing is expected
    with quiet():
        function = build_acquisition("auto", model, inputs, pending, seed=0)
    baseline = function._to.processes.XZ[300:]
    assert len(baseline) < 100
    assert pending.tolist()[0] in baseline.tolist()


def test_where_the_function_is_no_number_there_is_no_next_point(monkeypatch):
    search = searching("continuous", 0)
    nothing = lambda to, x, **_: (x.sum(-1) * math.nan, x * math.nan)  # noqa: E731
    monkeypatch.setattr("robustbo.loop.acquisition.log_nei.log_improvement", nothing)
    with pytest.raises(ArithmeticError, match="must be finite at one point"):
        search.next_point()


def test_what_is_pending_is_not_asked_for_again_where_a_constraint_holds():
    opt = rb.Optimizer(
        rb.Space(x=rb.Float(0, 1), y=rb.Float(0, 1), constraints=["x + y <= 1.9"]), direction="minimize", seed=0
    )
    for i in range(12):
        x, y = (0.37 * i) % 1, (0.61 * i) % 1
        if x + y <= 1.9:
            opt.tell({"x": x, "y": y}, (x - 0.5) ** 2 + (y - 0.6) ** 2)
    asked = torch.tensor([list(opt.ask().params.values()) for _ in range(5)], dtype=torch.float64)
    apart = torch.cdist(asked, asked) + torch.eye(5)
    assert apart.min() > 0.03
