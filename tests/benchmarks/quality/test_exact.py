import itertools
import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal


@pytest.fixture(scope="module")
def reference(load):
    return load("quality.exact_reference")


@pytest.fixture(scope="module")
def exact(load):
    return load("quality.exact")


X, Z = np.array([[0.1], [0.35], [0.6], [0.9]]), np.array([0.2, 0.5, 4.0, -0.3])


def dense(reference, errors, step, X, z):
    """The same by sums over states, the grid, the signal and the mean, each density being that of all values."""
    n, prior = len(z), reference.length_scale_prior(1)
    log_l, of_l = reference.grid_axis(*reference.LOG_L, step)
    log_g, of_g = reference.grid_axis(*reference.LOG_G, step)
    log_s2f = np.arange(reference.LOG_S2F[0], reference.LOG_S2F[1] + 1e-9, reference.STEP_S2F)
    total, wrong = 0.0, np.zeros(n)
    for states in itertools.product(range(len(errors.states)), repeat=n):
        of = [errors.states[state] for state in states]
        rows = [i for i in range(n) if math.isfinite(of[i].multiplier)]
        if len(rows) < n - n // 2:
            continue
        k = sum(state.is_wrong for state in of)
        front = errors.log_prior(k, n) + sum(math.log(state.share) for state in of)
        front += sum(of[i].log_density(z)[i] for i in range(n) if i not in rows)
        for (l, a), (g, b), s2f in itertools.product(
            zip(log_l, of_l, strict=True), zip(log_g, of_g, strict=True), log_s2f
        ):
            priors = [(l, *prior), (s2f, *reference.SIGNAL_PRIOR), (g + s2f, *reference.NOISE_PRIOR)]
            log_prior = sum(-0.5 * ((x - loc) / scale) ** 2 for x, loc, scale in priors)
            K = reference.matern52(X[rows], X[rows], np.exp([[l]]))[0]
            S = math.exp(s2f) * (K + math.exp(g) * np.diag([of[i].multiplier for i in rows]))
            flat = 1e3 * math.exp(s2f)  # variance of a mean that is as good as flat
            density = multivariate_normal(np.zeros(len(rows)), S + flat).logpdf(z[rows]) + 0.5 * math.log(flat)
            weight = a * b * math.exp(front + log_prior + density)
            total += weight
            wrong += weight * np.array([state.is_wrong for state in of])
    return wrong / total


@pytest.fixture(scope="module")
def errors(load):
    return load("quality.exact_errors")


@pytest.mark.parametrize(("multipliers", "n"), [((1.0,), 4), ((1.0, 9.0), 3)])
def test_the_enumeration_is_the_sum_over_all_densities(reference, errors, multipliers, n):
    shares = (1.0,) if len(multipliers) == 1 else (0.9, 0.1)
    prior = errors.beta_rate(1, 9) if len(multipliers) > 1 else errors.fixed_rate(0.1)
    model = errors.error_model(prior, multipliers, shares)
    posterior = reference.enumerate_sets(X[:n], Z[:n], model, step=5.0)
    at_most_half = sum(math.comb(n, k) * len(multipliers) ** (n - k) for k in range(n // 2 + 1))
    assert len(posterior.states) == at_most_half
    np.testing.assert_allclose(posterior.probability_wrong, dense(reference, model, 5.0, X[:n], Z[:n]), atol=2e-4)


def test_the_grid_is_fine_enough(reference, exact):
    draw = exact.draw_data(exact.Cell(7, 1, 0.25, 1))
    y = (draw.y - np.median(draw.y)) / draw.y.std()
    coarse, fine = (reference.enumerate_sets(draw.X, y, exact.TODAY, step).probability_wrong for step in (0.5, 0.25))
    np.testing.assert_allclose(coarse, fine, atol=2e-3)


def test_predictions_of_the_reference_go_through_values_that_are_right(reference, exact):
    x = np.linspace(0, 1, 8)[:, None]
    y = 3 * np.sin(4 * x[:, 0])
    y[5] += 40
    found = reference.enumerate_sets(x, y, exact.TODAY, 1.0)
    mean, sd = reference.predict(found, x, y, x[[2, 5]])
    np.testing.assert_allclose(mean, 3 * np.sin(4 * x[[2, 5], 0]), atol=0.5)
    assert sd[0] < sd[1] < 1


def test_a_comparison_has_a_row_a_value_and_a_table(exact):
    rows = exact.pd.DataFrame(exact.compare(exact.Cell(7, 1, 0.1, 0)))
    assert len(rows) == 7
    assert rows["is_wrong"].sum() == 1
    assert rows[["said", "exact"]].stack().between(0, 1).all()
    assert exact.compare_table(rows)["of"].tolist() == ["7 values", "rate 0.1", "all"]


def test_coverage_has_a_row_a_method(exact):
    rows = exact.pd.DataFrame(exact.cover(exact.Cell(7, 2, 0.0, 0)))
    assert rows["method"].tolist() == ["relevance-pursuit", "student-t", "standard", "exact"]
    assert rows["covered"].between(0, 1).all()


def test_a_table_of_coverage_has_means_and_their_errors(exact):
    rows = exact.pd.DataFrame(
        [{"d": 2, "n": 10, "rate": 0.0, "method": "m", "covered": c, "nlpd": 1.0} for c in (0.5, 1.0)]
    )
    (row,) = exact.cover_table(rows).to_dict("records")
    assert (row["covered"], row["covered_error"], row["nlpd_error"]) == pytest.approx((0.75, 0.25, 0.0))
