import pytest
import torch


@pytest.mark.usefixtures("double_precision")
def test_the_second_derivatives_of_figure_4_are_derivatives(load):
    convexity = load("papers.convexity")
    r, x, step = torch.tensor(1.5), torch.linspace(0.05, 0.8, 7), 1e-6
    for one in (convexity.in_rho, convexity.in_s):
        value, first, second = one(r, x)
        up, down = one(r, x + step), one(r, x - step)
        torch.testing.assert_close(first, (up[0] - down[0]) / (2 * step), rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(second, (up[1] - down[1]) / (2 * step), rtol=1e-5, atol=1e-6)
        assert value.isfinite().all()


def test_figure_4_is_convex_in_s_and_not_in_rho(load):
    convexity = load("papers.convexity")
    grid = torch.cartesian_prod(torch.linspace(0, 0.9, 10), torch.linspace(0, 0.9, 10)).view(10, 10, 2)
    assert torch.linalg.eigvalsh(convexity.hessian_in_s(grid)).min() > 0
    assert torch.linalg.eigvalsh(convexity.hessian_in_rho(4 * grid)).min() < 0


def test_the_sine_example_is_drawn_and_its_outliers_are_found(load, tmp_path):
    sine = load("papers.sine")
    _, _, bad = sine.data()
    support = sine.fit_example(sine.RelevancePursuitGP).support
    assert set(support) <= set(bad.nonzero().flatten().tolist())
    assert len(support) >= 4
    with torch.no_grad():
        sine.figure_2(tmp_path / "figure-2.png")
    assert (tmp_path / "figure-2.png").stat().st_size > 10_000
