import torch

from robustbo.numerics.student_t.laplace import approximate
from robustbo.numerics.student_t.mode import cold_starts, find_mode
from robustbo.numerics.student_t.paths import draw_weights
from tests.numerics.student_t.test_laplace import NOISE, covariance, values


def test_paths_have_mean_and_covariance_of_the_posterior_though_a_curvature_is_negative():
    K, y = covariance(), values(outlier=1.5)
    mode = find_mode(K, y, NOISE, cold_starts(K, y, NOISE))
    at = approximate(K, y, torch.zeros(()).to(K), NOISE, mode.a)
    assert at.W.min() < 0
    torch.manual_seed(0)
    u = torch.randn(200_000, len(y), dtype=K.dtype) @ torch.linalg.cholesky(K).mT
    f = u + draw_weights(at, u) @ K
    torch.testing.assert_close(f.mean(0), at.f, rtol=0, atol=0.02)
    torch.testing.assert_close(f.T.cov(), K - K @ at.R @ K, rtol=0.05, atol=0.01)
