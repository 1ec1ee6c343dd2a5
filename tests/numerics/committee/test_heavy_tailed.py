import pytest
import torch

from robustbo.numerics.committee.heavy_tailed import evidences, weights
from robustbo.numerics.student_t import laplace
from robustbo.numerics.student_t.laplace import Noise
from robustbo.numerics.student_t.mode import cold_starts, find_mode
from tests.numerics.student_t.laplace_cases import NAMES, load

PADDING = 3


def alone(name):
    """A reference case, and the same as the second of two experts, the first of which is larger."""
    case = load(name)
    y, n = case.y - case.m, len(case.y)
    K, r, mask = torch.zeros(2, n + PADDING, n + PADDING), torch.zeros(2, n + PADDING), torch.ones(2, n + PADDING)
    K[0] = torch.eye(n + PADDING)
    K[1, :n, :n], r[1, :n], mask[1, n:] = case.K, y, 0.0
    return case, y, (K, r, case.noise, mask)


def single(case, y, is_clamped):
    mode = find_mode(case.K, y, case.noise, cold_starts(case.K, y, case.noise))
    return laplace.approximate(case.K, y, torch.tensor(0.0), case.noise, mode.a, is_clamped=is_clamped)


def close(found, wanted):
    torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
class TestTheReferences:
    def test_mode_evidence_and_gradient(self, name):
        case, y, given = alone(name)
        at, n = single(case, y, True), len(y)
        wanted, found = laplace.gradient(at), evidences(*given, None)
        close(found.f[1, :n], at.f)
        close(found.L[1], at.L)
        assert found.L[1].item() == pytest.approx(case.content["modes"][0]["clamped_W"]["log_marginal"], rel=1e-9)
        close(found.K[1, :n, :n], wanted.K)
        close(torch.stack([found.log_s2[1], found.m[1]]), torch.stack([wanted.log_s2.sum(), wanted.m.sum()]))
        close(found.log_nu[1], wanted.log_nu)
        assert not found.K[1, n:].any()
        assert not found.f[1, n:].any()

    def test_weights_of_predictions_keep_the_signs(self, name):
        case, y, given = alone(name)
        wanted, n = single(case, y, False), len(y)
        a, W = weights(*given, None)
        close(a[1, :n], wanted.a)
        close(W[1, :n], wanted.W)
        assert not W[1, n:].any()

    def test_from_a_near_mode_it_is_the_same_mode(self, name):
        _, _, (K, r, noise, mask) = alone(name)
        found = evidences(K, r, noise, mask, None)
        again = evidences(K, r, noise, mask, found.f + 1e-3 * mask)
        close(again.L, found.L)
        close(again.f, found.f)


def test_each_observation_may_have_a_scale_of_its_own():
    _, _, (K, r, noise, mask) = alone(NAMES[0])
    found, same = (evidences(K, r, Noise(s2, noise.nu), mask, None) for s2 in (noise.s2, noise.s2.expand_as(r)))
    close(found.L, same.L)
    close(found.log_s2, same.log_s2)


@pytest.mark.parametrize("size", [1e3, 1e8, 1e150])
def test_gross_values_leave_everything_finite(size):
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(2, 15, 1, generator=generator)
    K = torch.exp(-10 * (X - X.mT).square())
    y = torch.randn(2, 15, generator=generator)
    y[0, 3], y[1, :2] = size, -size
    given = K, y, Noise(torch.tensor(0.1), torch.tensor(4.0)), torch.ones(2, 15), None
    assert all(x.isfinite().all() for x in (*evidences(*given), *weights(*given)))


def test_curvatures_are_such_that_no_variance_is_negative():
    """Many small processes with gross values: some modes are saddles, where the posterior would not be definite."""
    generator = torch.Generator().manual_seed(0)
    worst = []
    for _ in range(12):
        X = torch.rand(25, 24, 2, generator=generator)
        y = torch.sin(6 * X).sum(-1)
        wrong = torch.rand(25, 24, generator=generator) < 0.2
        y = torch.where(wrong, y + 5 * torch.randn(25, 24, generator=generator), y)
        l, s2 = (torch.rand((), generator=generator) * 3 - 2).exp(), (torch.rand((), generator=generator) * 9 - 9).exp()
        K = torch.exp(-0.5 * torch.cdist(X, X).square() / l.square())
        given = K, y, Noise(s2, torch.tensor(1.5)), torch.ones(25, 24), None
        assert all(x.isfinite().all() for x in evidences(*given))
        _, W = weights(*given)
        R = torch.linalg.solve(torch.eye(24) + W.unsqueeze(-1) * K, torch.diag_embed(W))
        worst.append((K.diagonal(dim1=-2, dim2=-1) - (K @ R * K).sum(-1)).min().item())
    assert min(worst) > -1e-8
