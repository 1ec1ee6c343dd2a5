from itertools import combinations

import pytest
import torch

from robustbo.numerics.baselines.trimming import project_to_sum, relax_likelihood, removal, trim_by_projection
from robustbo.surrogates.baselines.standard import StandardGP
from robustbo.surrogates.baselines.trimmed import LEFT_OUT, TrimmedGP
from robustbo.surrogates.common.contract import fit


def process(n=9, wrong=(2, 6), seed=0):
    generator = torch.Generator().manual_seed(seed)
    X = torch.rand(n, 1, generator=generator)
    K = torch.exp(-20 * (X - X.mT).square())
    r = torch.sin(6 * X).squeeze(-1) + 0.1 * torch.randn(n, generator=generator)
    r[list(wrong)] += 4.0
    return K, torch.full((n,), 0.02), r


def log_likelihood(K, s2, r, rows):
    rows = torch.tensor(rows)
    normal = torch.distributions.MultivariateNormal(torch.zeros(len(rows)), K[rows][:, rows] + torch.diag(s2[rows]))
    return normal.log_prob(r[rows]).item()


def test_a_removal_changes_the_likelihood_by_what_the_closed_form_says():
    K, s2, r = process()
    P = torch.linalg.inv(K + torch.diag(s2))
    v = 1 / P.diagonal()
    gains = removal((P @ r) * v, v)
    whole = log_likelihood(K, s2, r, range(9))
    for i in range(9):
        rest = log_likelihood(K, s2, r, [j for j in range(9) if j != i])
        assert gains[i].item() == pytest.approx(rest - whole, abs=1e-9)


def test_the_relaxed_likelihood_of_a_choice_is_that_of_the_kept_and_its_gradient_is_right():
    K, s2, r = process()
    b = torch.ones(9)
    b[[2, 6]] = 0.0
    constant = -torch.log(2 * torch.pi * s2[:2]).sum() / 2
    kept = [j for j in range(9) if j not in (2, 6)]
    assert relax_likelihood(K, s2, r, b).L.item() == pytest.approx(log_likelihood(K, s2, r, kept) + constant.item())
    b, step = torch.rand(9), 1e-6
    slopes = relax_likelihood(K, s2, r, b).b
    for i, unit in enumerate(torch.eye(9)):
        up, down = (relax_likelihood(K, s2, r, b + sign * step * unit).L for sign in (1, -1))
        assert slopes[i].item() == pytest.approx(((up - down) / (2 * step)).item(), rel=1e-5, abs=1e-5)


def test_a_projection_is_the_nearest_of_its_sum():
    b = torch.tensor([2.0, 0.7, 0.1, -1.0])
    found = project_to_sum(b, 2.0)
    assert found.sum().item() == pytest.approx(2.0)
    assert ((found >= 0) & (found <= 1)).all()
    for _ in range(200):
        other = project_to_sum(torch.randn(4), 2.0)
        assert (found - b).norm() <= (other - b).norm() + 1e-9


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(10))
def test_the_projected_climb_keeps_the_likeliest_subset_of_all(seed):
    """Where values have neighbours enough; of nine on a line it found it three times of ten."""
    K, s2, r = process(14, seed=seed)
    kept = trim_by_projection(K, s2, r, 2).nonzero().flatten().tolist()
    best = max(combinations(range(14), 12), key=lambda rows: log_likelihood(K, s2, r, list(rows)))
    assert kept == list(best) == [i for i in range(14) if i not in (2, 6)]


def data(wrong=(4, 11, 23)):
    X = torch.linspace(0, 1, 30).unsqueeze(-1)
    Y = torch.sin(6 * X) + 0.02 * torch.randn(30, 1, generator=torch.Generator().manual_seed(0))
    Y[list(wrong)] += 3.0
    return X, Y


@pytest.mark.parametrize("algorithm", ["greedy", "projected-gradient"])
def test_the_wrong_ones_are_left_out_and_it_is_the_gp_of_the_rest(algorithm):
    X, Y = data()
    model = fit(TrimmedGP(X, Y, fraction=0.1, algorithm=algorithm))
    assert model.support == [4, 11, 23]
    assert set(model._rho.unique().tolist()) == {0.0, LEFT_OUT}
    rest = torch.ones(30, dtype=torch.bool)
    rest[[4, 11, 23]] = False
    plain = fit(StandardGP(X[rest], Y[rest], outcome_transform=None))
    ours = fit(TrimmedGP(X, Y, fraction=0.1, algorithm=algorithm, outcome_transform=None))
    torch.testing.assert_close(ours.posterior(X).mean, plain.posterior(X).mean, rtol=0, atol=0.02)


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["greedy", "projected-gradient"])
def test_it_leaves_out_as_many_as_it_is_told_wrong_or_not(algorithm):
    model = fit(TrimmedGP(*data(()), fraction=0.21, algorithm=algorithm))
    assert len(model.support) == 6


def test_nothing_left_out_is_the_plain_gp():
    X, Y = data(())
    ours, plain = fit(TrimmedGP(X, Y, fraction=0.0)), fit(StandardGP(X, Y, warp="asinh"))
    torch.testing.assert_close(ours.posterior(X).mean, plain.posterior(X).mean)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"fraction": 1.0}, ValueError, r"fraction must lie in \[0, 1\), got 1.0"),
        ({"fraction": "half"}, TypeError, "fraction"),
        ({"algorithm": "exact"}, ValueError, "algorithm must be one of"),
    ],
)
def test_options_that_cannot_be(options, error, message):
    with pytest.raises(error, match=message):
        TrimmedGP(*data(), **options)
