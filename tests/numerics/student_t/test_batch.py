import pytest
import torch

from robustbo.numerics.student_t import laplace
from robustbo.numerics.student_t.batch import evidences, factors
from robustbo.numerics.student_t.batch_mode import Modes, cold_modes, find_modes
from robustbo.numerics.student_t.laplace import Noise
from robustbo.numerics.student_t.mode import cold_starts, find_mode
from tests.numerics.student_t.laplace_cases import NAMES, load


@pytest.fixture(scope="module")
def batch():
    """All reference cases, each with its own likelihood, stacked with padding."""
    cases = [load(name) for name in NAMES]
    n = max(len(case.y) for case in cases)
    K, y, mask = torch.zeros(len(cases), n, n), torch.zeros(len(cases), n), torch.zeros(len(cases), n)
    for i, case in enumerate(cases):
        k = len(case.y)
        K[i, :k, :k], y[i, :k], mask[i, :k] = case.K, case.y - case.m, 1.0
    noise = Noise(*(torch.stack([case.noise[j] for case in cases]) for j in range(2)))
    modes = cold_modes(K, y, noise, mask)
    return cases, (K, y, noise, mask, modes)


def single(case, is_clamped):
    y = case.y - case.m
    mode = find_mode(case.K, y, case.noise, cold_starts(case.K, y, case.noise))
    return laplace.approximate(case.K, y, torch.tensor(0.0), case.noise, mode.a, is_clamped=is_clamped)


def close(found, wanted):
    torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("i", range(len(NAMES)), ids=NAMES)
class TestTheReferences:
    def test_modes_and_evidence(self, batch, i):
        cases, given = batch
        wanted, n = single(cases[i], True), len(cases[i].y)
        found = evidences(*given)
        close(given[-1].a[i, :n], wanted.a)
        close(found.f[i, :n], wanted.f)
        close(found.L[i], wanted.L)
        assert found.L[i].item() == pytest.approx(cases[i].content["modes"][0]["clamped_W"]["log_marginal"], rel=1e-9)

    def test_gradients(self, batch, i):
        cases, given = batch
        wanted, n = laplace.gradient(single(cases[i], True)), len(cases[i].y)
        found = evidences(*given)
        mine, alone = (by_K + by_K.mT for by_K in (found.K[i, :n, :n], wanted.K))  # what a pullback sees of it
        scale = alone.abs().max()
        close(mine / scale, alone / scale)
        assert not found.K[i, n:].any()
        torch.testing.assert_close(found.log_s2[i], wanted.log_s2.sum(), rtol=1e-8, atol=1e-8)
        torch.testing.assert_close(found.log_nu[i], wanted.log_nu, rtol=1e-8, atol=1e-8)
        torch.testing.assert_close(found.m[i], wanted.m.sum(), rtol=1e-8, atol=1e-8)

    def test_weights_of_predictions_keep_the_signs(self, batch, i):
        cases, given = batch
        wanted, n = single(cases[i], False).R, len(cases[i].y)
        close(weights(*given)[i, :n, :n] / wanted.abs().max(), wanted / wanted.abs().max())


def weights(*given):
    """R = J^-1 D(W)."""
    J = factors(*given)
    return torch.linalg.lu_solve(J.LU, J.pivots, torch.diag_embed(J.W))


def test_a_batch_is_its_processes(batch):
    _, (K, y, noise, mask, modes) = batch
    for i in range(len(y)):
        one = [x[i : i + 1] for x in (K, y)], Noise(*(x[i : i + 1] for x in noise)), mask[i : i + 1]
        alone = cold_modes(*one[0], one[1], one[2])
        close(alone.a[0], modes.a[i])


def test_from_a_near_mode_it_is_the_same_mode(batch):
    _, (K, y, noise, mask, modes) = batch
    again = find_modes(K, y, noise, mask, modes.f + 1e-3 * mask, em_steps=1)
    close(again.a, modes.a)


def test_without_values_of_likelihood_parameters_that_are_free_the_rest_stays(batch):
    _, given = batch
    found, less = evidences(*given), evidences(*given, is_nu_free=False)
    assert torch.equal(found.L, less.L)
    assert not less.log_nu.any()


def test_a_batch_of_padding_alone_has_the_evidence_of_nothing():
    K, y, mask = torch.zeros(1, 3, 3), torch.zeros(1, 3), torch.zeros(1, 3)
    noise = Noise(torch.tensor(0.1), torch.tensor(4.0))
    found = evidences(K, y, noise, mask, cold_modes(K, y, noise, mask))
    assert found.L.item() == 0.0
    assert not found.K.any()


@pytest.mark.parametrize("size", [1e3, 1e8, 1e150])
def test_gross_values_leave_everything_finite(size):
    generator = torch.Generator().manual_seed(0)
    X = torch.rand(2, 15, 1, generator=generator)
    K = torch.exp(-10 * (X - X.mT).square())
    y = torch.randn(2, 15, generator=generator)
    y[0, 3], y[1, :2] = size, -size
    noise, mask = Noise(torch.tensor(0.1), torch.tensor(4.0)), torch.ones(2, 15)
    modes = cold_modes(K, y, noise, mask)
    found = evidences(K, y, noise, mask, modes)
    assert modes.converged.all()
    assert all(x.isfinite().all() for x in found)
    assert weights(K, y, noise, mask, modes).isfinite().all()


def test_a_saddle_is_left_or_its_curvatures_are_clamped():
    """Thousands of small processes with gross values: some modes are saddles, where R would not be definite."""
    generator = torch.Generator().manual_seed(0)
    worst = []
    for _ in range(12):
        X = torch.rand(100, 24, 2, generator=generator)
        y = torch.sin(6 * X).sum(-1)
        y = torch.where(
            torch.rand(100, 24, generator=generator) < 0.2, y + 5 * torch.randn(100, 24, generator=generator), y
        )
        l, s2 = (torch.rand((), generator=generator) * 3 - 2).exp(), (torch.rand((), generator=generator) * 9 - 9).exp()
        K = torch.exp(-0.5 * torch.cdist(X, X).square() / l.square())
        noise, mask = Noise(s2, torch.tensor(1.5)), torch.ones(100, 24)
        modes = cold_modes(K, y, noise, mask)
        found = evidences(K, y, noise, mask, modes)
        assert all(x.isfinite().all() for x in found)
        R = weights(K, y, noise, mask, modes)
        worst.append((K.diagonal(dim1=-2, dim2=-1) - (K @ R * K).sum(-1)).min().item())
    assert min(worst) > -1e-8


def test_chunks_of_one_bound_is_what_it_says(batch):
    """The module's names are there for those who chunk: an evaluation of parts is the parts of an evaluation."""
    _, (K, y, noise, mask, modes) = batch
    whole = evidences(K, y, noise, mask, modes)
    half = len(y) // 2
    part = Modes(*(x[:half] for x in modes))
    found = evidences(K[:half], y[:half], Noise(*(x[:half] for x in noise)), mask[:half], part)
    close(found.L, whole.L[:half])
    close(found.K, whole.K[:half])
